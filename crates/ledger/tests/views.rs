//! Pages of policies, on the book in Rust and on the book kept by scripts: many at once, and many deleted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tollgate_core::cost::Operation;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};
use tollgate_ledger::protocol::{
    AppPolicy, Carry, Changes, Entry, OperationTotal, OperationUse, PutApp, Seed, Sync,
};
use tollgate_ledger::script::{MluaEngine, ScriptLedger};
use tollgate_ledger::{Ledger, MemoryLedger};

fn clock() -> Millis {
    Millis::from_secs(1_700_000_000)
}

/// Neither ledger ever waits.
fn wait<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a ledger in this process made its caller wait"),
    }
}

fn cluster() -> ClusterId {
    ClusterId::new("c").unwrap()
}

fn app(index: usize) -> AppId {
    AppId::new(&format!("app-{index}")).unwrap()
}

fn policy(index: usize, guaranteed: u64) -> AppPolicy {
    let quota = Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(500),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    AppPolicy { app: app(index), quota, enabled: true, body: format!("{{\"index\":{index}}}") }
}

fn seed(ledger: &impl Ledger, apps: usize, remembered: Option<u64>) -> u64 {
    let apps = (0..apps).map(|index| policy(index, 10)).collect();
    wait(ledger.seed(&cluster(), &Seed { capacity: Capacity::default(), apps, remembered })).unwrap()
}

fn put(ledger: &impl Ledger, index: usize, guaranteed: u64, effective_at: Millis) -> u64 {
    let put = PutApp { policy: policy(index, guaranteed), replaces: None, carry: Carry::Keep, effective_at };
    wait(ledger.put_app(&cluster(), &put)).unwrap()
}

fn delete(ledger: &impl Ledger, index: usize) -> u64 {
    wait(ledger.delete_app(&cluster(), &app(index))).unwrap()
}

fn page(ledger: &impl Ledger, since: u64) -> Changes {
    wait(ledger.changes(&cluster(), since, u32::MAX)).unwrap()
}

/// Reads on until there is no more; returns all pages.
fn read(ledger: &impl Ledger, mut since: u64) -> Vec<Changes> {
    let mut pages = Vec::new();
    loop {
        let page = page(ledger, since);
        since = page.next;
        pages.push(page);
        if !pages[pages.len() - 1].more {
            return pages;
        }
    }
}

fn listed(pages: &[Changes]) -> Vec<AppId> {
    pages.iter().flat_map(|page| &page.apps).map(|app| app.policy.app.clone()).collect()
}

/// Each story on both.
macro_rules! stories {
    ($($story:ident)+) => {
        mod in_memory {
            $(#[test] fn $story() { super::$story(&super::MemoryLedger::with_clock(super::clock)); })+
        }

        mod by_scripts {
            $(#[test] fn $story() {
                let engine = super::MluaEngine::new(super::clock).unwrap();
                super::$story(&super::ScriptLedger::new(engine));
            })+
        }
    };
}

stories! {
    a_large_seed_is_read_page_by_page
    a_reader_gets_what_changed_and_nothing_else
    who_missed_deletions_that_are_forgotten_starts_over
    a_reader_that_is_half_way_starts_over_when_deletions_are_forgotten
    who_knows_another_history_starts_over
    applications_are_seen_with_what_is_scheduled
    what_is_scheduled_is_listed_the_earliest_first
    a_cluster_is_seen_with_its_emergency
    what_is_leased_is_in_use_once_it_is_spent
    what_was_spent_is_told_by_operation
}

fn a_large_seed_is_read_page_by_page(ledger: &impl Ledger) {
    assert_eq!(seed(ledger, 2_000, None), 2_000);
    let pages = read(ledger, 0);
    assert_eq!(pages.len(), 8);
    assert!(pages[0].is_whole && pages[1..].iter().all(|page| !page.is_whole));
    assert_eq!(
        listed(&pages),
        (0..2_000).map(app).collect::<Vec<_>>(),
        "each once, in the order of the seed"
    );
    assert_eq!(pages[7].apps[207].policy, policy(1_999, 10));
    assert_eq!((pages[7].version, pages[7].next), (2_000, 2_000));
    let none = page(ledger, 2_000);
    assert!(none.apps.is_empty() && none.gone.is_empty() && !none.is_whole && none.next == 2_000);
}

fn a_reader_gets_what_changed_and_nothing_else(ledger: &impl Ledger) {
    let seeded = seed(ledger, 5, None);
    let changed = put(ledger, 3, 20, Millis::ZERO);
    let deleted = delete(ledger, 1);
    put(ledger, 0, 30, clock().plus(Millis::from_secs(60)));
    let capacity = Capacity { rate: Rate::per_second(2_000_000), connections: 9, ..Capacity::default() };
    let version = wait(ledger.put_cluster(&cluster(), &capacity)).unwrap();

    let news = page(ledger, seeded);
    assert_eq!((news.version, news.next, news.capacity), (version, version, capacity));
    assert!(!news.is_whole);
    assert_eq!(listed(std::slice::from_ref(&news)), [app(3)], "what is scheduled is no news yet");
    assert_eq!((news.apps[0].version, news.apps[0].policy.clone()), (changed, policy(3, 20)));
    assert_eq!(news.gone, [app(1)]);
    assert_eq!(page(ledger, changed).gone, [app(1)]);
    assert_eq!(page(ledger, deleted).gone, []);

    put(ledger, 1, 40, Millis::ZERO);
    let news = page(ledger, seeded);
    assert_eq!(
        (listed(std::slice::from_ref(&news)), news.gone),
        (vec![app(3), app(1)], vec![]),
        "it is back"
    );
}

fn who_missed_deletions_that_are_forgotten_starts_over(ledger: &impl Ledger) {
    let seeded = seed(ledger, 1_500, None);
    for index in 0..1_000 {
        delete(ledger, index);
    }
    assert!(!page(ledger, seeded).is_whole, "a thousand are remembered");
    let before = page(ledger, seeded + 499);
    delete(ledger, 1_000);
    assert!(!before.is_whole && page(ledger, seeded + 499).is_whole);
    assert!(!page(ledger, seeded + 500).is_whole);

    let pages = read(ledger, seeded);
    assert!(pages[0].is_whole && pages[1..].iter().all(|page| !page.is_whole));
    assert_eq!(listed(&pages), (1_001..1_500).map(app).collect::<Vec<_>>());
}

fn a_reader_that_is_half_way_starts_over_when_deletions_are_forgotten(ledger: &impl Ledger) {
    seed(ledger, 1_500, None);
    let first = page(ledger, 0);
    assert!(first.is_whole && first.more);
    for index in 0..1_001 {
        delete(ledger, index);
    }
    let second = page(ledger, first.next);
    assert!(second.is_whole, "it knows of applications whose deletion is forgotten");
    let rest = read(ledger, second.next);
    assert!(rest.iter().all(|page| !page.is_whole));
    assert_eq!(listed(&[vec![second], rest].concat()), (1_001..1_500).map(app).collect::<Vec<_>>());
}

fn who_knows_another_history_starts_over(ledger: &impl Ledger) {
    let version = seed(ledger, 2, Some(70));
    assert_eq!(version, 72);
    for since in [0, 1, 70, 73, 2 << 42, u64::MAX] {
        let page = page(ledger, since);
        assert!(page.is_whole && page.next == 72 && page.apps.len() == 2, "{since}: {page:?}");
    }
    assert!(!page(ledger, 71).is_whole);
}

fn applications_are_seen_with_what_is_scheduled(ledger: &impl Ledger) {
    seed(ledger, 20, None);
    let at = clock().plus(Millis::from_secs(60));
    put(ledger, 11, 70, at);
    wait(ledger.acquire(&cluster(), &app(11), Tokens::whole(4))).unwrap();
    wait(ledger.borrow(&cluster(), &app(11), Tokens::whole(5))).unwrap();
    // In the order of their bytes: app-0, app-1, app-10, app-11, app-12...
    let views = wait(ledger.apps(&cluster(), Some(&app(10)), 2)).unwrap();
    let ids: Vec<_> = views.iter().map(|view| view.policy.policy.app.clone()).collect();
    assert_eq!(ids, [app(11), app(12)]);
    let [view, other] = views.as_slice() else { panic!("{views:?}") };
    assert_eq!((view.policy.version, view.policy.policy.clone()), (12, policy(11, 10)));
    assert_eq!((view.total_consumed, view.total_requests), (4, 1));
    assert_eq!(view.account.rights, Tokens::whole(11));
    assert_eq!(view.account.loan.debt, Tokens::whole(6));
    let pending = view.pending.clone().unwrap();
    assert_eq!((pending.at, pending.carry, pending.policy), (at, Carry::Keep, policy(11, 70)));
    assert_eq!(other.pending, None);

    let all = wait(ledger.apps(&cluster(), None, 100)).unwrap();
    let ids: BTreeSet<_> = all.iter().map(|view| view.policy.policy.app.clone()).collect();
    assert_eq!(ids, (0..20).map(app).collect());
    assert_eq!(wait(ledger.apps(&cluster(), Some(&app(9)), 100)), Ok(Vec::new()), "the end");
}

fn what_is_scheduled_is_listed_the_earliest_first(ledger: &impl Ledger) {
    seed(ledger, 2, None);
    let later = |secs| clock().plus(Millis::from_secs(secs));
    // Of those, only the second is there.
    for (index, secs) in [(9, 70), (1, 60), (8, 60), (7, 50)] {
        put(ledger, index, 20, later(secs));
    }
    let ids = |skip, limit| -> Vec<AppId> {
        let page = wait(ledger.scheduled(&cluster(), skip, limit)).unwrap();
        page.into_iter().map(|change| change.policy.app).collect()
    };
    assert_eq!(ids(0, 10), [app(7), app(1), app(8), app(9)]);
    assert_eq!(ids(1, 2), [app(1), app(8)]);
    assert_eq!(ids(4, 10), []);
    let first = wait(ledger.scheduled(&cluster(), 0, 1)).unwrap().remove(0);
    assert_eq!((first.at, first.carry, first.policy), (later(50), Carry::Keep, policy(7, 20)));
    delete(ledger, 7);
    assert_eq!(ids(0, 1), [app(1)], "what is not there yet can be taken back");
}

fn a_cluster_is_seen_with_its_emergency(ledger: &impl Ledger) {
    seed(ledger, 20, None);
    let calm = wait(ledger.cluster(&cluster())).unwrap();
    assert_eq!((calm.now, calm.version, calm.epoch, calm.apps), (clock(), 20, clock().get(), 20));
    assert_eq!((calm.capacity, calm.promised), (Capacity::default(), Rate::per_second(200)));
    assert!(!calm.emergency.is_on() && calm.emergency_reason.is_empty());
    wait(ledger.declare_emergency(&cluster(), "disks on fire", Millis::from_secs(30))).unwrap();
    let view = wait(ledger.cluster(&cluster())).unwrap();
    assert!(view.emergency.is_on());
    assert_eq!((view.version, view.emergency_reason.as_str()), (21, "disks on fire"));
    assert_eq!((view.nodes, view.silent_nodes), (0, 0));
}

/// A node that holds tokens in case somebody asks, and gives them back, keeps nothing busy.
fn what_is_leased_is_in_use_once_it_is_spent(ledger: &impl Ledger) {
    let capacity = Capacity { rate: Rate::per_second(200), ..Capacity::default() };
    let apps = (0..6).map(|index| policy(index, 10)).collect();
    wait(ledger.seed(&cluster(), &Seed { capacity, apps, remembered: None })).unwrap();
    let used = || wait(ledger.cluster(&cluster())).unwrap().usage;
    let tokens = Tokens::whole;
    let say = |seq: u64, entry: &dyn Fn(Entry) -> Entry| {
        let entries = (0..6).map(|index| entry(Entry::idle(app(index)))).collect();
        let node = NodeId::new("n").unwrap();
        let silence = Millis::from_secs(5);
        let call = Sync { node, incarnation: 1, seq, acked: seq - 1, epoch: clock().get(), silence, entries };
        wait(ledger.sync(&cluster(), &call)).unwrap()
    };
    let reply = say(1, &|entry| Entry { want: tokens(10), ..entry });
    assert!(reply.entries.iter().all(|granted| granted.granted == tokens(10)), "{reply:?}");
    assert_eq!(used(), Ratio::ZERO, "a third of the capacity is leased, and nothing is used");
    say(2, &|entry| Entry { returned: tokens(10), want: tokens(10), ..entry });
    assert_eq!(used(), Ratio::ZERO);
    say(3, &|entry| Entry { spent: tokens(4), returned: tokens(1), holding: tokens(5), ..entry });
    assert_eq!(used(), Ratio::percent(12));
    wait(ledger.acquire(&cluster(), &app(0), tokens(1))).unwrap();
    assert_eq!(used(), Ratio::from_parts(1_250));
    // More than was leased: what a node did by itself, and when, is no news of what is done just now.
    say(4, &|entry| Entry { spent: tokens(7), requests: 1, ..entry });
    assert_eq!(used(), Ratio::from_parts(2_750));
}

fn what_was_spent_is_told_by_operation(ledger: &impl Ledger) {
    seed(ledger, 2, None);
    let used =
        |operation, requests, micros| OperationUse { operation, requests, cost: Tokens::from_micros(micros) };
    let reports = [
        vec![
            used(Operation::Put, 2, 10_400_000),
            used(Operation::Get, 5, 5_000_000),
            used(Operation::Put, 1, 600_000),
        ],
        vec![],
        vec![used(Operation::Put, u64::MAX, 4_999_999), used(Operation::Other, 0, 999_999)],
    ];
    for (seq, by_operation) in (1..).zip(reports) {
        let entries = vec![Entry { by_operation, ..Entry::idle(app(1)) }];
        let node = NodeId::new("node-1").unwrap();
        let call = Sync {
            node,
            incarnation: 1,
            seq,
            acked: seq - 1,
            epoch: 0,
            silence: Millis::from_secs(5),
            entries,
        };
        wait(ledger.sync(&cluster(), &call)).unwrap();
        // Told twice, counted once.
        wait(ledger.sync(&cluster(), &call)).unwrap();
    }
    let views = wait(ledger.apps(&cluster(), None, 2)).unwrap();
    let total = |operation, requests, consumed| OperationTotal { operation, requests, consumed };
    assert_eq!(views[0].by_operation, []);
    let expected = [total(Operation::Get, 5, 5), total(Operation::Put, (1 << 52) + 3, 15)];
    assert_eq!(views[1].by_operation, expected, "a fraction of a token is not told yet");
    delete(ledger, 1);
    put(ledger, 1, 10, Millis::ZERO);
    assert_eq!(
        wait(ledger.apps(&cluster(), Some(&app(0)), 2)).unwrap()[0].by_operation,
        [],
        "another of that name"
    );
}
