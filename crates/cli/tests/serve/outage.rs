//! A ledger that is gone makes answers rougher, not slower, and never a failure of ours.

use crate::support::{Tollgate, Upstream, ask, eventually};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use tollgate_testkit::RedisServer;

#[test]
fn redis_is_killed_under_load() {
    let mut redis = RedisServer::start().unwrap();
    let upstream = Upstream::start();
    let app = "[[apps]]\nid = 'app'\nguaranteed_quota = 1000\nburst_quota = 2000\nfail_open_tokens = 100\n";
    let tollgate = Tollgate::start(&format!("[ledger]\nurl = '{}'\n{}{app}", redis.url(), upstream.route()));
    let gateway = tollgate.gateway;
    let is_over = Arc::new(AtomicBool::new(false));
    let passed = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (is_over, passed) = (Arc::clone(&is_over), Arc::clone(&passed));
            thread::spawn(move || {
                let mut others = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    match ask(gateway, "GET /", &["x-tollgate-app: app"], "").status {
                        200 => drop(passed.fetch_add(1, Ordering::Relaxed)),
                        429 => {}
                        other => others.push(other),
                    }
                }
                others
            })
        })
        .collect();
    let more = |what: &str| {
        let before = passed.load(Ordering::Relaxed);
        eventually(what, || passed.load(Ordering::Relaxed) > before + 20);
    };
    more("requests pass");
    redis.kill();
    more("requests pass without a ledger");
    redis.restart().unwrap();
    more("requests pass with an empty ledger");
    is_over.store(true, Ordering::Relaxed);
    for client in clients {
        assert_eq!(client.join().unwrap(), Vec::<u16>::new(), "nothing but 200 and 429");
    }
}

#[test]
fn starts_without_its_ledger() {
    let mut redis = RedisServer::start().unwrap();
    redis.kill();
    let upstream = Upstream::start();
    let app = "[[apps]]\nid = 'app'\nguaranteed_quota = 1000\nburst_quota = 2000\n";
    let tollgate = Tollgate::start(&format!("[ledger]\nurl = '{}'\n{}{app}", redis.url(), upstream.route()));
    let get = || ask(tollgate.gateway, "GET /", &["x-tollgate-app: app"], "").status;
    eventually("it lets some pass on its own", || get() == 200);
    redis.restart().unwrap();
    eventually("it finds its ledger", || redis.cli(&["KEYS", "*"]).unwrap().contains("ratelimit"));
    assert!([200, 429].contains(&get()));
}
