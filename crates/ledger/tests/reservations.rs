//! How many reservations an application may have open, on the book in Rust and on the book kept by scripts.

#![cfg(feature = "mlua")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod connection_world;

use connection_world::{cluster, wait};
use tollgate_core::id::AppId;
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::reason::Reason;
use tollgate_core::reservation::{MOST_OPEN, Reservation};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Refusal, Seed};
use tollgate_ledger::script::{MluaEngine, ScriptLedger};
use tollgate_ledger::{Ledger, LedgerError, MemoryLedger};

const HOUR: Millis = Millis::from_secs(3_600);

fn clock() -> Millis {
    Millis::from_secs(1_700_000_000)
}

fn app(name: &str) -> AppId {
    AppId::new(name).unwrap()
}

fn seed(ledger: &impl Ledger) {
    let policy = |name| {
        let quota = Quota {
            guaranteed: Rate::per_second(100),
            burst: Tokens::whole(100),
            burst_window: Quota::DEFAULT_BURST_WINDOW,
            priority: Priority::P1,
            loan: LoanTerms::default(),
        };
        AppPolicy { app: app(name), quota, enabled: true, body: "{}".into() }
    };
    let apps = vec![policy("greedy"), policy("modest")];
    wait(ledger.seed(&cluster(), &Seed { capacity: Capacity::default(), apps, remembered: None })).unwrap();
}

fn reserve(ledger: &impl Ledger, name: &str, id: &str) -> Result<Reservation, LedgerError> {
    wait(ledger.reserve(&cluster(), &app(name), id, Tokens::ZERO, HOUR))
}

/// What costs nothing is bounded too, for each application by itself, and an end makes room.
fn there_are_so_many_and_no_more(ledger: &impl Ledger) {
    seed(ledger);
    for number in 0..MOST_OPEN {
        reserve(ledger, "greedy", &format!("held {number}")).unwrap();
    }
    let refused = Err(LedgerError::Refused(Refusal {
        reason: Reason::AppExhausted,
        wait: Some(Millis::from_secs(1)),
        available: Tokens::whole(100),
    }));
    assert_eq!(reserve(ledger, "greedy", "one more"), refused);
    assert!(reserve(ledger, "greedy", "held 7").is_ok(), "the same call again is no other reservation");
    assert!(reserve(ledger, "modest", "of another").is_ok());

    wait(ledger.cancel(&cluster(), "held 7")).unwrap();
    assert_eq!(wait(ledger.cancel(&cluster(), "held 7")), Err(LedgerError::NoReservation));
    assert!(reserve(ledger, "greedy", "one more").is_ok());
    assert_eq!(reserve(ledger, "greedy", "yet one more"), refused);
    wait(ledger.complete(&cluster(), "held 8", Tokens::whole(3))).unwrap();
    assert!(reserve(ledger, "greedy", "yet one more").is_ok());
}

#[test]
fn there_are_so_many_and_no_more_in_memory() {
    there_are_so_many_and_no_more(&MemoryLedger::with_clock(clock));
}

#[test]
fn there_are_so_many_and_no_more_in_scripts() {
    there_are_so_many_and_no_more(&ScriptLedger::new(MluaEngine::new(clock).unwrap()));
}

/// Everything but the cluster's own record is still there, as a store may lose it that drops what it has no room for.
#[test]
fn reservations_of_a_cluster_that_was_lost_do_not_count_against_the_next() {
    let ledger = ScriptLedger::new(MluaEngine::new(clock).unwrap());
    seed(&ledger);
    for number in 0..MOST_OPEN {
        reserve(&ledger, "greedy", &format!("held {number}")).unwrap();
    }
    let mut store = ledger.engine().store();
    store.forget("ratelimit:{cluster-01}");
    ledger.engine().restore(store);
    seed(&ledger);
    assert!(reserve(&ledger, "greedy", "one of the next").is_ok());
}
