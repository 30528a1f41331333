//! Three applications on one cluster, under the arithmetic of the tiers.

use std::cmp::Reverse;
use tollgate_core::account::Account;
use tollgate_core::emergency::{self, Emergency};
use tollgate_core::grant::{Ask, Climate, Counter, Grant};
use tollgate_core::pool::Pool;
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Rate, Tokens};

/// How many applications there are.
pub(super) const APPS: usize = 3;

/// An application and the state of its account.
pub(super) struct Tenant {
    pub(super) name: &'static str,
    pub(super) quota: Quota,
    pub(super) account: Account,
}

impl Tenant {
    /// A new application, with all the headroom that its guarantee needs.
    fn new(name: &'static str, priority: Priority, guaranteed: u64, burst: u64) -> Self {
        let quota = Quota {
            guaranteed: Rate::per_second(guaranteed),
            burst: Tokens::whole(burst),
            burst_window: Quota::DEFAULT_BURST_WINDOW,
            priority,
            loan: LoanTerms::default(),
        };
        Self { name, quota, account: Account::open(&quota, Tokens::MAX, Millis::ZERO) }
    }
}

/// A cluster and those who share it.
pub(super) struct Cluster {
    capacity: Capacity,
    promised: Rate,
    pool: Pool,
    emergency: Emergency,
    pub(super) tenants: [Tenant; APPS],
}

/// What an application got of what it asked for, and why not all of it.
#[derive(Clone, Copy, Default)]
pub(super) struct Served {
    pub(super) grant: Grant,
    pub(super) refused: Option<Reason>,
}

impl Cluster {
    /// A cluster that can stand `capacity` tokens per second, at time zero.
    pub(super) fn new(capacity: u64) -> Self {
        let capacity = Capacity { rate: Rate::per_second(capacity), ..Capacity::default() };
        let tenants = [
            Tenant::new("video-service", Priority::P0, 20_000, 80_000),
            Tenant::new("app-a", Priority::P1, 10_000, 50_000),
            Tenant::new("app-c", Priority::P2, 5_000, 20_000),
        ];
        let promised = tenants.iter().fold(Rate::ZERO, |sum, tenant| sum.plus(tenant.quota.guaranteed));
        let pool = Pool::open(&capacity, promised, Millis::ZERO);
        Self { capacity, promised, pool, emergency: Emergency::default(), tenants }
    }

    /// What the cluster can stand.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity.rate.floor()
    }

    /// An operator declares an emergency, or ends it.
    pub(super) fn set_emergency(&mut self, on: bool, now: Millis) {
        match (on, self.emergency.is_on()) {
            (true, false) => drop(self.emergency.activate(emergency::DEFAULT_DURATION, now)),
            (false, true) => drop(self.emergency.deactivate(now)),
            _ => {}
        }
    }

    /// Serves everybody once. Whoever asks for most comes first, which is the worst order for the others.
    pub(super) fn serve(&mut self, asks: [Tokens; APPS], now: Millis) -> [Served; APPS] {
        self.pool.refill(&self.capacity, self.promised, now);
        let mut order: [usize; APPS] = std::array::from_fn(|app| app);
        order.sort_by_key(|&app| Reverse(asks[app]));
        let mut served = [Served::default(); APPS];
        for app in order {
            served[app] = self.take(app, asks[app], now);
        }
        served
    }

    fn take(&mut self, app: usize, ask: Tokens, now: Millis) -> Served {
        let Tenant { quota, account, .. } = &mut self.tenants[app];
        let climate = match self.emergency {
            Emergency::On { .. } => Climate::Emergency(emergency::ratio(quota.priority)),
            Emergency::Off { .. } => Climate::FAIR,
        };
        let refill = account.refill(quota, climate.in_force(), now);
        self.pool.absorb(refill.spilled, &self.capacity, self.promised);

        let counter = Counter { quota, capacity: &self.capacity, climate, now };
        let refused = counter.plan_exactly(account, &self.pool, ask).err();
        let grant = counter.plan(account, &self.pool, Ask::exactly(ask));
        counter.grant(account, &mut self.pool, &grant);
        // Spent at once: leases belong to nodes, and there are none here.
        account.outstanding = Tokens::ZERO;
        Served { grant, refused }
    }
}
