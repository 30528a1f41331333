//! Many threads at once: nobody gets more than there is, and nothing is lost.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod connection_world;

use connection_world::{CLIENT, Node, Time, app, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread;
use tollgate_core::units::Nanos;
use tollgate_ledger::MemoryLedger;

const THREADS: usize = 8;

/// A node that holds `slots` for each of two applications.
fn node(
    slots: u32,
    cluster_max: u32,
) -> Node<MemoryLedger<impl Fn() -> tollgate_core::units::Millis + Send + Sync>> {
    let time = Time::start();
    let ledger = Arc::new(MemoryLedger::with_clock(time.ledger_clock()));
    let mut node = Node::new("node-0", 1, &time, &ledger, 10_000);
    for index in 0..2 {
        node.set_limits(index, slots, slots);
    }
    run(async {
        let mut guards = Vec::new();
        for index in 0..2 {
            while let Ok(guard) = node.open(index).await {
                guards.push(guard);
            }
        }
    });
    node.connections.set_cluster_max(cluster_max);
    node
}

#[test]
fn p16_threads_never_hold_more_than_the_limits() {
    let node = node(40, 60);
    let (open, most) = ([AtomicI64::new(0), AtomicI64::new(0)], AtomicI64::new(0));
    let (all, opened, refused) = (AtomicI64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (node, open, most, all) = (&node, &open, &most, &all);
            let (opened, refused) = (&opened, &refused);
            scope.spawn(move || {
                for round in 0..400 {
                    let index = (thread + round) % 2;
                    let mut guards = Vec::new();
                    for _ in 0..12 {
                        match node.connections.try_open(&app(index), CLIENT, node.now()) {
                            Ok(guard) => {
                                guards.push(guard);
                                opened.fetch_add(1, Ordering::Relaxed);
                                let now = open[index].fetch_add(1, Ordering::SeqCst) + 1;
                                assert!(now <= 40, "{now} connections of one application");
                                most.fetch_max(all.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            }
                            Err(_) => _ = refused.fetch_add(1, Ordering::Relaxed),
                        }
                    }
                    for guard in guards {
                        all.fetch_sub(1, Ordering::SeqCst);
                        open[index].fetch_sub(1, Ordering::SeqCst);
                        drop(guard);
                    }
                }
            });
        }
    });
    assert!(most.into_inner() <= 60);
    let (totals, opened) = (node.connections.totals(), opened.into_inner());
    assert_eq!((totals.open, totals.untracked), (0, 0));
    assert_eq!(totals.opened, opened + 80, "with those that filled it");
    assert!((1..=80).contains(&totals.peak));
    assert_eq!(opened + refused.into_inner(), (THREADS * 400 * 12) as u64);
    assert_eq!(node.connections.list(None, 0, 10).total, 0);
}

/// A connection is released by its holder and by the cleanup at the same time, over and over: one of them does it.
#[test]
fn p20_release_and_cleanup_at_once_release_once() {
    let node = node(40, 80);
    let late = Nanos::from_secs(100_000);
    let (is_over, released) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let sweeping: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut leaked = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        leaked += node.connections.sweep(1_000, late).leaked as u64;
                    }
                    leaked
                })
            })
            .collect();
        let opening: Vec<_> = (0..4)
            .map(|thread| {
                let (node, released) = (&node, &released);
                scope.spawn(move || {
                    let mut opened = 0;
                    for _ in 0..5_000 {
                        if let Ok(guard) = node.connections.try_open(&app(thread % 2), CLIENT, node.now()) {
                            opened += 1;
                            released.fetch_add(u64::from(guard.release()), Ordering::Relaxed);
                            assert!(!guard.release());
                        }
                    }
                    opened
                })
            })
            .collect();
        let opened: u64 = opening.into_iter().map(|thread| thread.join().unwrap()).sum();
        is_over.store(true, Ordering::Relaxed);
        let leaked: u64 = sweeping.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(opened, released.load(Ordering::Relaxed) + leaked);
        assert_eq!(leaked, node.connections.totals().leaked);
    });
    assert_eq!(node.connections.totals().open, 0);
    for index in 0..2 {
        let counts = node.connections.counts(&app(index)).unwrap();
        assert_eq!((counts.open, counts.held), (0, 40));
    }
}
