//! The book in Rust and the book kept by scripts, under the same random history: every answer is the same, to the
//! millionth of a token, and so is the balance after every step.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod script_world;

use proptest::prelude::*;
use script_world::{EntryPlan, Step, World};

fn any_entry() -> impl Strategy<Value = EntryPlan> {
    let amounts = prop_oneof![3 => 0..40_000_000_000u64, 1 => 0..3_000_000u64, 1 => Just(0)];
    let shares = (0..=100u64, 0..=100u64);
    let lie = prop::option::weighted(0.15, 0..60_000_000_000u64);
    let count = prop_oneof![9 => 0..1_000u64, 1 => any::<u64>()];
    let operations = prop::collection::vec((0..20usize, count, 0..9_000_000_000u64), 0..4);
    let operations = prop_oneof![2 => Just(Vec::new()), 1 => operations];
    (0..200usize, shares, amounts, 0..30_000_000_000u64, lie, 0..500_000u64, operations).prop_map(
        |(app, (spent, returned), need, more, lie, fallback, operations)| EntryPlan {
            app,
            spent,
            returned,
            need,
            more,
            lie,
            fallback,
            operations,
        },
    )
}

fn any_span() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..50u64,
        4 => 50..1_500u64,
        3 => 1_500..12_000u64,
        // Where things end: a second, a lease, a burst window, a suspicion.
        3 => prop::sample::select(vec![999u64, 1_000, 4_999, 5_000, 30_000, 60_000, 65_000]),
        1 => 12_000..200_000u64,
        1 => 200_000..9_000_000u64,
        // Where a node is forgotten.
        1 => 86_390_000..86_410_000u64,
    ]
}

fn any_call() -> impl Strategy<Value = Step> {
    let entries = || prop::collection::vec(any_entry(), 0..5);
    prop_oneof![
        20 => (0..4usize, entries(), prop::bool::weighted(0.15))
            .prop_map(|(node, entries, is_lost)| Step::Sync { node, entries, is_lost }),
        3 => (0..4usize, 0..3usize).prop_map(|(node, age)| Step::Again { node, age }),
        2 => (0..4usize).prop_map(|node| Step::Crash { node }),
        1 => (0..4usize, entries()).prop_map(|(node, entries)| Step::Depart { node, entries }),
        6 => (0..200usize, 0..60_000_000_000u64).prop_map(|(app, cost)| Step::Acquire { app, cost }),
        2 => (0..200usize, 0..12_000_000_000u64).prop_map(|(app, amount)| Step::Borrow { app, amount }),
        2 => (0..200usize, 0..12_000_000_000u64).prop_map(|(app, amount)| Step::Repay { app, amount }),
        3 => (0..6usize, 0..200usize, 0..20_000_000_000u64, any_span())
            .prop_map(|(id, app, estimate, timeout)| Step::Reserve { id, app, estimate, timeout }),
        2 => (0..6usize, 0..40_000_000_000u64).prop_map(|(id, actual)| Step::Complete { id, actual }),
        1 => (0..6usize).prop_map(|id| Step::Cancel { id }),
    ]
}

fn any_order() -> impl Strategy<Value = Step> {
    let terms = (0..60_000_000u64, 0..100_000_000_000u64, 0..20_000u32, 0..=10_000u32, any::<u8>());
    prop_oneof![
        4 => (0..200usize, terms, 0..3usize, prop::option::of(any_span()), prop::option::weighted(0.2, 0..8u64))
            .prop_map(|(app, terms, carry, after, replaces)| Step::Put { app, terms, carry, after, replaces }),
        2 => (0..200usize).prop_map(|app| Step::Delete { app }),
        1 => (100_000..400_000u64, 0..2_000u32, 10_000..15_000u32, 5_000..30_000u32, any::<u32>())
            .prop_map(|(rate, reserved, burst, threshold, connections)| {
                Step::Capacity { rate, reserved, burst, threshold, connections }
            }),
        1 => any_span().prop_map(|duration| Step::Declare { duration }),
        1 => Just(Step::EndEmergency),
        1 => (0..200usize).prop_map(|app| Step::Reset { app }),
        1 => Just(Step::Reconcile),
        1 => Just(Step::Audit),
        3 => (0..20u64, 0..5u32).prop_map(|(since, limit)| Step::Read { since, limit }),
        1 => (prop::option::of(0..200usize), prop::sample::select(vec![0, 1, 3, 100, u32::MAX]))
            .prop_map(|(after, limit)| Step::Look { after, limit }),
        1 => Just(Step::Save),
        1 => Just(Step::Lose),
        1 => any::<bool>().prop_map(|is_remembered| Step::Wipe { is_remembered }),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => any_span().prop_map(Step::Wait),
        1 => any_span().prop_map(Step::SetBack),
        14 => any_call(),
        4 => any_order(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn both_books_tell_the_same(steps in prop::collection::vec(any_step(), 1..90)) {
        let mut world = World::new(5);
        for step in &steps {
            world.step(step);
            world.compare();
        }
    }
}

/// What a node within its guarantees does all day, which the scripts have a short cut for, among what ends it.
fn any_plain_step() -> impl Strategy<Value = Step> {
    let operations = prop::collection::vec((0..20usize, 0..9u64, 0..9_000_000u64), 0..2);
    let entry =
        (0..5usize, 0..=100u64, 0..300_000_000u64, operations).prop_map(|(app, spent, more, operations)| {
            EntryPlan {
                app,
                spent,
                returned: 0,
                need: more / 2,
                more,
                lie: None,
                fallback: 1_000,
                operations,
            }
        });
    let entries = prop::collection::vec(entry, 0..5);
    prop_oneof![
        20 => (0..200u64).prop_map(Step::Wait),
        40 => (0..2usize, entries, prop::bool::weighted(0.05))
            .prop_map(|(node, entries, is_lost)| Step::Sync { node, entries, is_lost }),
        1 => any_step(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn both_books_tell_the_same_of_plain_calls(steps in prop::collection::vec(any_plain_step(), 1..120)) {
        let mut world = World::new(5);
        for node in 0..2 {
            world.lease_everything(node);
        }
        for step in &steps {
            world.step(step);
            world.compare();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    /// More applications than one call looks at on the side.
    #[test]
    fn both_books_put_off_the_same_chores(steps in prop::collection::vec(any_step(), 1..40)) {
        let mut world = World::new(150);
        for node in 0..3 {
            world.lease_everything(node);
        }
        // The answers are compared at every step, the balance of so many now and then.
        for steps in steps.chunks(5) {
            for step in steps {
                world.step(step);
            }
            world.compare();
        }
    }
}

/// What ends the plain life of a node, each in the middle of it.
#[test]
fn both_books_notice_what_is_not_plain() {
    let plan = |app| EntryPlan {
        app,
        // Some have nothing to report, so that it adds up whatever happened meanwhile.
        spent: if app == 1 { 0 } else { 50 },
        returned: 0,
        need: 1_000_000,
        more: 2_000_000,
        lie: None,
        fallback: 1_000,
        operations: Vec::new(),
    };
    let sync = Step::Sync { node: 0, entries: (0..3).map(plan).collect(), is_lost: false };
    let put = |flags, after| Step::Put {
        app: 1,
        terms: (3_000_000, 9_000_000_000, 2_000, 5_000, flags),
        carry: 1,
        after,
        replaces: None,
    };
    let (switched_off, later) = (put(0, None), put(1, Some(1_730)));
    let nothing = Step::Sync { node: 0, entries: Vec::new(), is_lost: false };
    let events: [&[Step]; 15] = [
        // Node 1 falls silent after five seconds, and is suspected for another minute.
        &[],
        &[Step::Wait(4_900), sync.clone(), Step::Wait(4_900), sync.clone(), Step::Wait(4_900)],
        &[switched_off],
        &[later],
        &[Step::Delete { app: 1 }, put(1, None)],
        &[Step::Reserve { id: 1, app: 1, estimate: 5_000_000, timeout: 1_510 }],
        &[Step::Borrow { app: 1, amount: 700_000_000 }],
        &[Step::Declare { duration: 700 }],
        &[Step::Crash { node: 0 }],
        &[Step::Wait(4_000_000)],
        &[Step::SetBack(3_000)],
        &[Step::Again { node: 0, age: 0 }, Step::Again { node: 0, age: 1 }],
        &[Step::SetBack(3_000), nothing.clone()],
        &[Step::Lose],
        &[Step::Save, nothing, Step::Lose],
    ];
    for event in events {
        let mut world = World::new(5);
        for node in 0..2 {
            world.lease_everything(node);
        }
        for turn in 0..140 {
            let steps = match turn {
                30 => vec![Step::Save],
                45 => event.to_vec(),
                _ => vec![],
            };
            for step in steps.iter().chain([&Step::Wait(53), &sync]) {
                world.step(step);
                world.compare();
            }
        }
    }
}

/// To the millisecond, and in the same order where several things are due at once.
#[test]
fn both_books_do_what_is_due_when_it_is() {
    let put = |app| Step::Put {
        app,
        terms: (3_000_000, 9_000_000_000, 2_000, 5_000, 1),
        carry: 1,
        after: Some(2_000),
        replaces: None,
    };
    let reserve = |id| Step::Reserve { id, app: id, estimate: 1_000_000_000, timeout: 2_000 };
    for dues in [vec![put(0)], vec![put(3), put(1)], vec![reserve(2)], vec![reserve(4), put(4), reserve(0)]] {
        let mut world = World::new(5);
        for step in dues {
            world.step(&step);
        }
        for step in [Step::Wait(1_999), Step::Audit, Step::Wait(1), Step::Audit] {
            world.step(&step);
            world.compare();
        }
    }
}
