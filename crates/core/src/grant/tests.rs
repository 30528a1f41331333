use super::*;
use crate::borrow::Loan;
use crate::quota::LoanTerms;
use crate::test::{any_account, quota};
use crate::units::Rate;
use proptest::prelude::*;
use std::vec::Vec;

const CAPACITY: Capacity = Capacity {
    rate: Rate::per_second(100_000),
    reserved: Ratio::percent(10),
    burst_ratio: Ratio::percent(120),
    emergency_threshold: Ratio::percent(95),
    connections: 5_000,
};

fn counter(quota: &Quota, climate: Climate) -> Counter<'_> {
    Counter { quota, capacity: &CAPACITY, climate, now: Millis::from_secs(100) }
}

fn pool(slack: u64) -> Pool {
    Pool { slack: Tokens::whole(slack), ..Pool::default() }
}

fn account(rights: u64, meter: u64) -> Account {
    Account { rights: Tokens::whole(rights), meter: Tokens::whole(meter), ..Account::default() }
}

#[test]
fn goes_from_the_bucket_to_the_allowance_to_a_loan() {
    let quota = quota(1_000, 3_000);
    let grant = counter(&quota, Climate::FAIR).plan(
        &account(500, 200),
        &pool(50_000),
        Ask::exactly(Tokens::whole(4_000)),
    );
    assert_eq!(grant.bucket, Tokens::whole(500));
    assert_eq!(grant.allowance, Tokens::whole(2_000));
    assert_eq!(grant.loan, Tokens::whole(1_500));
    assert_eq!(grant.meter, Tokens::whole(200));
    assert_eq!(grant.slack, Tokens::whole(3_800));
}

#[test]
fn a_lease_ahead_never_borrows() {
    let quota = quota(1_000, 1_000);
    let ask = Ask { need: Tokens::whole(10), want: Tokens::whole(5_000) };
    let grant = counter(&quota, Climate::FAIR).plan(&account(4, 4), &pool(50_000), ask);
    assert_eq!((grant.bucket, grant.loan), (Tokens::whole(4), Tokens::whole(6)));
}

#[test]
fn slack_is_used_down_to_the_reserve() {
    let quota = quota(1_000, 50_000);
    let counter = counter(&quota, Climate::FAIR);
    let grant = counter.plan(&account(40_000, 1_000), &pool(12_000), Ask::exactly(Tokens::whole(40_000)));
    assert_eq!((grant.meter, grant.slack), (Tokens::whole(1_000), Tokens::whole(2_000)));
    assert_eq!(
        counter.plan_exactly(&account(40_000, 1_000), &pool(12_000), Tokens::whole(40_000)),
        Err(Reason::ClusterExhausted)
    );
}

#[test]
fn an_empty_account_is_told_so() {
    let mut quota = quota(1_000, 1_000);
    quota.loan.automatic = false;
    assert_eq!(
        counter(&quota, Climate::FAIR).plan_exactly(&account(4, 4), &pool(50_000), Tokens::whole(5)),
        Err(Reason::AppExhausted)
    );
}

#[test]
fn overload_cuts_only_what_is_above_the_guarantee() {
    let quota = quota(1_000, 50_000);
    let climate = Climate::Normal { factor: Ratio::percent(50), slack_share: Tokens::MAX };
    let grant = counter(&quota, climate).plan(
        &account(40_000, 1_000),
        &pool(90_000),
        Ask { need: Tokens::ZERO, want: Tokens::whole(9_000) },
    );
    assert_eq!((grant.meter, grant.slack), (Tokens::whole(1_000), Tokens::whole(4_000)));
}

#[test]
fn an_emergency_leaves_the_meter_only() {
    let quota = quota(1_000, 50_000);
    let half = counter(&quota, Climate::Emergency(Ratio::percent(50)));
    let grant = half.plan(&account(40_000, 500), &pool(90_000), Ask::exactly(Tokens::whole(9_000)));
    assert_eq!(grant.total(), Tokens::whole(500));
    assert_eq!(
        half.plan_exactly(&account(40_000, 500), &pool(90_000), Tokens::whole(501)),
        Err(Reason::EmergencyQuotaExceeded)
    );
    let none = counter(&quota, Climate::Emergency(Ratio::ZERO));
    assert_eq!(
        none.plan_exactly(&account(40_000, 0), &pool(90_000), Tokens::whole(1)),
        Err(Reason::EmergencyBlocked)
    );
}

fn any_climate() -> impl Strategy<Value = Climate> {
    prop_oneof![
        Just(Climate::FAIR),
        (0..=100u32, 0..200_000u64).prop_map(|(factor, share)| Climate::Normal {
            factor: Ratio::percent(factor),
            slack_share: Tokens::whole(share)
        }),
        prop::sample::select(&[0u32, 10, 50, 100][..])
            .prop_map(|percent| Climate::Emergency(Ratio::percent(percent))),
    ]
}

proptest! {
    #[test]
    fn a_grant_balances(
        (quota, before) in any_account(), slack in 0..120_000u64, climate in any_climate(),
        need in 0..50_000u64, more in 0..200_000u64,
    ) {
        let counter = counter(&quota, climate);
        let ask = Ask { need: Tokens::whole(need), want: Tokens::whole(need + more) };
        let (mut account, mut pool) = (before, pool(slack));
        let grant = counter.plan(&account, &pool, ask);
        counter.grant(&mut account, &mut pool, &grant);

        prop_assert!(grant.total() <= ask.want);
        prop_assert_eq!(grant.total(), grant.meter.plus(grant.slack), "a right for each token of headroom");
        prop_assert_eq!(before.rights, account.rights.plus(grant.bucket));
        prop_assert_eq!(before.meter, account.meter.plus(grant.meter));
        prop_assert_eq!(Tokens::whole(slack), pool.slack.plus(grant.slack));
        prop_assert_eq!(account.outstanding, before.outstanding.plus(grant.total()));
        prop_assert!(grant.slack.is_zero() || pool.slack >= CAPACITY.reserve(), "the reserve is not touched");
        prop_assert!(grant.loan.is_zero() || grant.total() <= ask.need, "a loan is for the need only");
        prop_assert!(account.loan.borrowed <= quota.loan.limit.max(before.loan.borrowed));
        prop_assert!(account.allowance.drawn <= quota.allowance().max(before.allowance.drawn));
    }

    #[test]
    fn all_or_nothing_grants_exactly_the_cost(
        (quota, account) in any_account(), slack in 0..120_000u64, climate in any_climate(), cost in 1..100_000u64,
    ) {
        let cost = Tokens::whole(cost);
        if let Ok(grant) = counter(&quota, climate).plan_exactly(&account, &pool(slack), cost) {
            prop_assert_eq!(grant.total(), cost);
        }
    }

    /// A client that waits as long as it is told, alone, is let through.
    #[test]
    fn the_wait_is_true((quota, mut account) in any_account(), climate in any_climate(), cost in 1..100_000u64) {
        let mut counter = counter(&quota, climate);
        let cost = Tokens::whole(cost);
        account.outstanding = Tokens::ZERO;
        account.refill(&quota, climate.in_force(), counter.now);
        if let Some(wait) = counter.wait(&account, cost) {
            counter.now = counter.now.plus(wait);
            account.refill(&quota, climate.in_force(), counter.now);
            prop_assert!(counter.plan_exactly(&account, &pool(0), cost).is_ok());
        }
    }
}

/// A cluster of applications, as a ledger keeps it.
struct Cluster {
    promised: Rate,
    pool: Pool,
    apps: Vec<(Quota, Account)>,
}

impl Cluster {
    fn new(guarantees: &[u64]) -> Self {
        let promised = guarantees.iter().fold(Rate::ZERO, |sum, &g| sum.plus(Rate::per_second(g)));
        let mut pool = Pool::open(&CAPACITY, promised, Millis::ZERO);
        let open = |&g: &u64| {
            let quota = quota(g, g * 5);
            let headroom = pool.slack.min(quota.guaranteed.per_one_second());
            pool.slack = pool.slack.minus(headroom);
            (quota, Account::open(&quota, headroom, Millis::ZERO))
        };
        let apps = guarantees.iter().map(open).collect();
        Self { promised, pool, apps }
    }

    fn take(&mut self, app: usize, ask: Ask, now: Millis) -> Tokens {
        self.pool.refill(&CAPACITY, self.promised, now);
        let (quota, account) = &mut self.apps[app];
        let refill = account.refill(quota, Ratio::ONE, now);
        self.pool.absorb(refill.spilled, &CAPACITY, self.promised);
        let counter = Counter { quota, capacity: &CAPACITY, climate: Climate::FAIR, now };
        let grant = counter.plan(account, &self.pool, ask);
        counter.grant(account, &mut self.pool, &grant);
        // Spent at once: leases are not what this is about.
        account.outstanding = Tokens::ZERO;
        grant.total()
    }
}

proptest! {
    /// Whatever the neighbours take, an application inside its guarantee gets all of it; and all together
    /// never get more than the capacity and the depth.
    #[test]
    fn a_guarantee_is_never_eaten_and_the_capacity_never_exceeded(
        guarantees in prop::collection::vec(1..20_000u64, 2..4),
        steps in prop::collection::vec((1..100u64, 0..3usize, 1..200_000u64), 1..200),
    ) {
        let mut cluster = Cluster::new(&guarantees);
        let mut now = Millis::ZERO;
        let mut granted = Tokens::ZERO;
        for (ms, greedy, want) in steps {
            now = now.plus(Millis::new(ms));
            let neighbour = 1 + greedy % (guarantees.len() - 1);
            granted = granted.plus(cluster.take(neighbour, Ask::exactly(Tokens::whole(want)), now));

            let modest = Rate::per_second(guarantees[0]).over(Millis::new(ms));
            let got = cluster.take(0, Ask::exactly(modest), now);
            prop_assert_eq!(got, modest, "at {}", now);
            granted = granted.plus(got);
            prop_assert!(granted <= CAPACITY.rate.over(now).plus(CAPACITY.depth()));
        }
    }

    #[test]
    fn borrowing_ends_paid_back(guarantee in 100..10_000u64, amount in 1..5_000u64) {
        let mut cluster = Cluster::new(&[guarantee, 1]);
        cluster.apps[0].1.loan.lend(&LoanTerms::default(), Tokens::whole(amount));
        let quota = cluster.apps[0].0;
        let debt = cluster.apps[0].1.loan.debt;
        let enough = quota.guaranteed.scaled(quota.loan.repay_share).time_to_mint(debt).unwrap();
        let mut now = Millis::ZERO;
        while now < enough.plus(Millis::from_secs(1)) {
            now = now.plus(Millis::new(500));
            cluster.take(0, Ask { need: Tokens::ZERO, want: Tokens::ZERO }, now);
        }
        prop_assert_eq!(cluster.apps[0].1.loan, Loan::default());
    }
}
