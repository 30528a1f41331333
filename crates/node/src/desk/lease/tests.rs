use super::*;
use crate::app::{Retry, Terms};
use tollgate_config::policy;
use tollgate_core::id::ClusterId;
use tollgate_core::quota::{LoanTerms, Quota};
use tollgate_core::units::Rate;

/// No emergency.
const CALM: Alarm = Alarm::NONE;

/// So many tokens, and the last that there were.
fn granted(amount: u64) -> Granted {
    Granted {
        granted: Tokens::whole(amount),
        remaining: Tokens::ZERO,
        wait: Some(Millis::ZERO),
        policy_version: 1,
        refusal: None,
    }
}

fn lease() -> Lease<()> {
    let quota = Quota {
        guaranteed: Rate::per_second(1_000),
        burst: Tokens::whole(1_000),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: tollgate_core::priority::Priority::P1,
        loan: LoanTerms::default(),
    };
    let policy = policy::App::plain(ClusterId::new("c").unwrap(), quota, true);
    let app =
        App::new(tollgate_core::id::AppId::new("a").unwrap(), Terms { policy, version: 1 }, Arc::default());
    Lease::new(Arc::new(app), Nanos::ZERO)
}

/// Alone, the node mints a hundred and spends them; then a grant arrives. What was granted is not taken for what
/// was minted: it ends with the lease.
#[test]
fn what_was_minted_and_spent_is_gone_when_a_grant_arrives() {
    let mut lease = lease();
    lease.mint(Tokens::ZERO, CALM, Nanos::from_secs(1));
    lease.mint(Tokens::ZERO, CALM, Nanos::from_secs(2));
    assert!(lease.app.pay(&Price::named(Operation::Get, lease.app.held().floor())));
    lease.receive(&granted(50), Tokens::ZERO, CALM, Nanos::from_secs(2), &mut Vec::new());
    assert_eq!(lease.app.held(), Tokens::whole(50));
    lease.void();
    assert_eq!(lease.app.held(), Tokens::ZERO);
}

/// The lease ended here before it did at the ledger: as long as nobody has told the ledger, it is not over.
#[test]
fn what_the_ledger_believes_to_be_out_is_reported_even_if_nobody_asks_any_more() {
    let stock = Stock { reserve: Tokens::ZERO, interval: Millis::new(100) };
    let mut lease = lease();
    lease.receive(&granted(50), Tokens::ZERO, CALM, Nanos::ZERO, &mut Vec::new());
    lease.void();
    let later = Nanos::from_secs(60);
    assert!(!lease.is_over(later));
    assert_eq!(lease.report(&stock, CALM, later).holding, Tokens::ZERO);
    assert!(lease.is_over(later));
    lease.receive_late(&granted(50));
    assert!(!lease.is_over(later), "nor is a grant that came too late");
}

/// A request of five tokens has waited, and what came of it was reported.
fn asked_once(remaining: u64) -> Lease<()> {
    let mut lease = lease();
    let price = Price::named(Operation::Get, 5);
    lease.enqueue((), price, Nanos::ZERO).unwrap();
    let remaining = Tokens::whole(remaining);
    let granted = Granted {
        granted: Tokens::whole(5),
        remaining,
        wait: Some(Millis::ZERO),
        policy_version: 1,
        refusal: None,
    };
    lease.receive(&granted, Tokens::ZERO, CALM, Nanos::ZERO, &mut Vec::new());
    lease.report(&STOCK, CALM, Nanos::new(100_000_000));
    lease
}

const STOCK: Stock = Stock { reserve: Tokens::whole(1_000), interval: Millis::new(100) };

/// Another request like it is due in a second or later: its tokens may be needed elsewhere until then.
#[test]
fn nothing_is_kept_for_a_request_now_and_then_where_little_is_left() {
    let now = Nanos::new(200_000_000);
    for remaining in [0, 15, 100] {
        let lease = asked_once(remaining);
        assert_eq!(lease.target(&STOCK, now), Tokens::ZERO, "{remaining} left");
        assert!(!lease.has_news(&STOCK, now), "{remaining} left");
    }
    assert_eq!(asked_once(1_000).target(&STOCK, now), Tokens::whole(30), "out of plenty");
}

#[test]
fn what_is_asked_for_all_the_time_is_kept_until_the_next_report() {
    let mut lease = asked_once(0);
    for step in 2..30 {
        let now = Nanos::new(step * 100_000_000);
        lease.receive(&granted(50), Tokens::ZERO, CALM, now, &mut Vec::new());
        assert!(lease.app.pay(&Price::named(Operation::Get, 50)));
        lease.report(&STOCK, CALM, now);
    }
    assert!(lease.target(&STOCK, Nanos::from_secs(3)) > Tokens::whole(50));
}

#[test]
fn one_large_request_is_forgotten_among_many_small_ones() {
    let tokens = Tokens::whole;
    assert_eq!(follow(Tokens::ZERO, tokens(1_000)), tokens(1_000));
    let usual = (0..60).fold(tokens(1_000), |usual, _| follow(usual, tokens(1)));
    assert!(usual < tokens(2), "{usual:?}");
}

/// A request was reported as spent before it was undone. The ledger takes back no more than it gave: what was undone stays here and is spent
/// first, of which the ledger need not hear.
#[test]
fn p08_what_is_undone_after_it_was_reported_is_spent_first() {
    let mut lease = lease();
    lease.receive(&granted(50), Tokens::ZERO, CALM, Nanos::ZERO, &mut Vec::new());
    let app = Arc::clone(&lease.app);
    let permit = app.check(Price::named(Operation::Put, 6)).unwrap();
    let stock = Stock { reserve: Tokens::ZERO, interval: Millis::new(100) };
    // Nobody has asked for a long time, so that everything goes back.
    let mut later = [60, 61, 62, 63, 64].map(Nanos::from_secs).into_iter();
    let mut report = || lease.report(&stock, CALM, later.next().unwrap());
    let first = report();
    drop(permit);
    let second = report();
    assert_eq!(first.spent.plus(second.spent), Tokens::whole(6));
    assert_eq!(
        first.returned.plus(second.returned).plus(second.holding),
        Tokens::whole(44),
        "no more than there was"
    );
    assert_eq!(app.held(), Tokens::whole(6).plus(second.holding));
    assert!(app.pay(&Price::named(Operation::Put, 6)));
    let third = report();
    assert_eq!((third.spent, third.returned), (Tokens::ZERO, second.holding));
    assert_eq!(app.held(), Tokens::ZERO);
}

/// What is left of it is no reason to call.
#[test]
fn what_was_undone_is_no_news() {
    let mut lease = lease();
    lease.app.purse().put(Tokens::whole(6), Tokens::MAX);
    lease.report(&STOCK, CALM, Nanos::from_secs(60));
    lease.present();
    assert!(lease.has_news(&STOCK, Nanos::from_secs(61)), "as long as the ledger has not heard of it");
    lease.receive(
        &Granted {
            granted: Tokens::ZERO,
            remaining: Tokens::ZERO,
            wait: None,
            policy_version: 1,
            refusal: None,
        },
        Tokens::ZERO,
        CALM,
        Nanos::from_secs(61),
        &mut Vec::new(),
    );
    assert!(!lease.has_news(&STOCK, Nanos::from_secs(70)));
}

#[test]
fn p08_what_is_undone_after_the_application_was_switched_off_goes_back_unspent() {
    let mut lease = lease();
    lease.receive(&granted(50), Tokens::ZERO, CALM, Nanos::ZERO, &mut Vec::new());
    let app = Arc::clone(&lease.app);
    let permit = app.check(Price::named(Operation::Put, 6)).unwrap();
    let mut terms = Terms::clone(&app.terms());
    terms.policy.enabled = false;
    app.set_terms(terms);
    lease.give_back(Tokens::MAX);
    drop(permit);
    assert!(!app.pay(&Price::named(Operation::Get, 1)), "nothing is there to be spent");
    assert!(lease.has_news(&STOCK, Nanos::from_secs(1)));
    let entry = lease.report(&STOCK, CALM, Nanos::from_secs(1));
    assert_eq!((entry.spent, entry.returned), (Tokens::ZERO, Tokens::whole(50)));
}

/// What was put back and not collected before the lease ended was not spent either.
#[test]
fn p08_nor_is_it_taken_for_spent_if_the_lease_has_ended_meanwhile() {
    let mut lease = lease();
    lease.receive(&granted(50), Tokens::ZERO, CALM, Nanos::ZERO, &mut Vec::new());
    let app = Arc::clone(&lease.app);
    assert!(app.pay(&Price::named(Operation::Put, 4)));
    let permit = app.check(Price::named(Operation::Put, 6)).unwrap();
    app.retire();
    drop(permit);
    lease.void();
    assert_eq!(lease.report(&STOCK, CALM, Nanos::from_secs(6)).spent, Tokens::whole(4));
}

#[test]
fn an_application_that_owes_something_is_not_forgotten() {
    let mut lease = lease();
    let app = Arc::clone(&lease.app);
    lease.receive(&granted(6), Tokens::ZERO, CALM, Nanos::ZERO, &mut Vec::new());
    let permit = app.check(Price::named(Operation::Put, 6)).unwrap();
    lease.report(&STOCK, CALM, Nanos::from_secs(1));
    permit.settle(Price::named(Operation::Put, 9));
    let later = Nanos::from_secs(60);
    assert!(!lease.is_over(later));
    assert_eq!(lease.report(&STOCK, CALM, later).spent, Tokens::whole(3));
    assert!(lease.is_over(Nanos::from_secs(120)));
}

fn alone(ms: u64) -> Alone {
    Alone { alarm: CALM, trouble: Reason::RedisConnectionFailed, now: Nanos::new(ms * 1_000_000) }
}

/// Asks for that at a node that is cut off; returns when to come back if it does not pass.
fn ask_alone(lease: &mut Lease<()>, cost: u64, ms: u64) -> Option<Refused> {
    let (alone, cost) = (alone(ms), Tokens::whole(cost));
    lease.mint(cost, alone.alarm, alone.now);
    let passes = lease.app.pay(&Price::named(Operation::Put, cost.floor()));
    (!passes).then(|| lease.refuse_alone(cost, Tokens::ZERO, alone))
}

/// A hundred a second are minted here. A tenth of a second is there at once.
#[test]
fn what_costs_more_than_a_second_of_the_fallback_passes_when_it_was_told_to_come_back() {
    let mut lease = lease();
    let refused = ask_alone(&mut lease, 165, 10_000).unwrap();
    assert_eq!(
        (refused.reason, refused.retry),
        (Reason::LocalExhausted, Retry::after(Nanos::new(1_550_000_000)))
    );
    assert_eq!(ask_alone(&mut lease, 165, 11_549).unwrap().retry, Retry::after(Nanos::new(1_000_000)));
    assert_eq!(ask_alone(&mut lease, 165, 11_550), None);
}

#[test]
fn others_who_ask_meanwhile_do_not_end_what_is_saved_up() {
    let mut lease = lease();
    assert!(ask_alone(&mut lease, 300, 10_000).is_some());
    assert_eq!(ask_alone(&mut lease, 10, 12_500), None, "out of what was minted");
    assert_eq!(ask_alone(&mut lease, 300, 12_900).unwrap().retry, Retry::after(Nanos::new(100_000_000)));
    assert_eq!(ask_alone(&mut lease, 300, 13_900), None, "later than it was told");
}

/// Whoever went away leaves no more behind than there is anyway.
#[test]
fn nothing_is_saved_up_for_a_request_that_does_not_come_back() {
    let mut lease = lease();
    assert!(ask_alone(&mut lease, 300, 10_000).is_some());
    assert_eq!(ask_alone(&mut lease, 1, 20_000), None);
    assert_eq!(lease.app.held(), Tokens::whole(99), "a second");
}

#[test]
fn saving_up_changes_nothing_about_the_rate() {
    let mut lease = lease();
    let passed: u64 = (0..6_000)
        .zip([1, 250, 7].into_iter().cycle())
        .map(|(step, cost)| ask_alone(&mut lease, cost, 10_000 + step * 10).map_or(cost, |_| 0))
        .sum();
    assert!((5_700..=6_010).contains(&passed), "a hundred a second for a minute: {passed}");
}

#[test]
fn what_costs_more_than_the_burst_never_passes_and_is_told_so() {
    let mut lease = lease();
    assert_eq!(ask_alone(&mut lease, 1_001, 10_000).unwrap().retry, Retry::NEVER);
    assert_ne!(ask_alone(&mut lease, 1_000, 10_000).unwrap().retry, Retry::NEVER);
}

/// Also those who were waiting when the ledger was lost: each when those before it have had what they need. Who can never pass keeps
/// nobody waiting.
#[test]
fn those_who_waited_are_told_when_their_turn_comes() {
    let mut lease = lease();
    for cost in [2_000, 5, 30, 20] {
        lease.enqueue((), Price::named(Operation::Put, cost), Nanos::ZERO).unwrap();
    }
    let mut out = Vec::new();
    lease.serve_alone(alone(10_000), &mut out);
    let told: Vec<_> =
        out.iter().map(|((), outcome)| outcome.as_ref().err().map(|refused| refused.retry)).collect();
    let after = |ms: u64| Some(Retry::after(Nanos::new(ms * 1_000_000)));
    assert_eq!(told, [Some(Retry::NEVER), None, after(250), after(450)]);
    assert!(!lease.is_waited_for() && lease.need.is_zero());
}

/// By the policy a node keeps half of what it had, which was two hundred a second.
#[test]
fn a_share_says_when_to_come_back_too() {
    let mut lease = lease();
    let mut terms = Terms::clone(&lease.app.terms());
    terms.policy.outage = tollgate_core::fallback::Outage::Share(Ratio::percent(50));
    lease.app.set_terms(terms);
    for second in 1..=20 {
        lease.receive(&granted(200), Tokens::ZERO, CALM, Nanos::from_secs(second), &mut Vec::new());
    }
    lease.app.purse().take_up_to(Tokens::MAX);
    let refused = ask_alone(&mut lease, 60, 30_000).unwrap();
    let (rate, missing) = (lease.fallback(CALM, Nanos::ZERO), Tokens::whole(60).minus(lease.app.held()));
    assert!((95..=105).contains(&rate.floor()), "{rate}");
    assert_eq!(refused.retry, Retry::after(rate.time_to_mint(missing).unwrap().into()));
}

/// What was counted before the last report lies elsewhere than what came after it.
#[test]
fn what_a_request_turns_out_to_cost_after_it_was_reported_is_counted() {
    let mut lease = lease();
    let app = Arc::clone(&lease.app);
    lease.receive(&granted(50), Tokens::ZERO, CALM, Nanos::ZERO, &mut Vec::new());
    let permit = app.check(Price::named(Operation::Put, 6)).unwrap();
    lease.report(&STOCK, CALM, Nanos::from_secs(1));
    permit.settle(Price::named(Operation::Put, 9));
    let all = Spending { requests: 1, cost: 9 };
    assert_eq!(app.counts().passed(), all);
    lease.report(&STOCK, CALM, Nanos::from_secs(2));
    assert_eq!(app.counts().passed(), all, "a counter never falls");
}

/// The emergency lasts until the tenth second and lets half of a hundred a second through.
#[test]
fn p06_what_is_minted_when_an_emergency_is_over_is_cut_for_as_long_as_it_lasted() {
    let mut lease = lease();
    let alarm = Alarm::lasting(Nanos::from_secs(10));
    let secs = Nanos::from_secs;
    lease.mint(Tokens::ZERO, alarm, secs(1));
    assert_eq!(lease.app.held(), Tokens::whole(5), "of a tenth of a second");
    lease.mint(Tokens::whole(1_000), alarm, secs(12));
    assert_eq!(lease.app.held(), Tokens::whole(5 + 9 * 50 + 2 * 100));
}

/// What it gets in an emergency says nothing about what it gets after it, however long it took.
#[test]
fn p06_an_emergency_leaves_the_share_as_it_was() {
    let mut lease = lease();
    let (secs, alarm) = (Nanos::from_secs, Alarm::lasting(Nanos::from_secs(300)));
    let mut get = |amount, alarm, second| {
        lease.receive(&granted(amount), Tokens::ZERO, alarm, secs(second), &mut Vec::new());
        lease.share.rate()
    };
    let usual = (1..=20).map(|second| get(200, CALM, second)).last().unwrap();
    for second in 21..300 {
        assert_eq!(get(100, alarm, second), usual);
    }
    let after = get(200, CALM, 300);
    assert!(after.millis() * 10 >= usual.millis() * 9, "{usual:?} before, {after:?} after");
}
