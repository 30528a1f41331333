//! A real Envoy in front of the service.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::mpsc;
use std::time::Duration;
use support::{Browser, memory, node, serve};
use tokio::task::spawn_blocking;
use tollgate_config::rls::Rls;
use tollgate_ledger::RedisLedger;
use tollgate_testkit::{Envoy, RedisServer};

#[tokio::test(flavor = "multi_thread")]
async fn envoy_lets_pass_and_refuses_with_headers() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let address = service.local_addr();
    let paid = spawn_blocking(move || {
        let envoy = Envoy::start(address).unwrap();
        let mut browser = Browser::new(envoy.address());
        let page = browser.get(&[("x-app", "ten")]);
        assert_eq!((page.status, page.body.as_str()), (200, "served"));
        assert_eq!((page.header("x-ratelimit-limit"), page.header("x-ratelimit-cost")), ("10", "1"));
        assert!(page.header("ratelimit").starts_with("\"app\";r="), "{page:?}");

        // Five for the operation and one for the bytes: not twice in a bucket of ten.
        let mut paid = 0;
        let refused = loop {
            let page = browser.send("PUT", &[("x-app", "ten")], 10_240);
            if page.status != 200 {
                break page;
            }
            paid += 1;
            assert!(paid < 20, "there are six tokens whenever they are asked for");
        };
        assert!(paid > 0, "{refused:?}");
        assert_eq!(refused.status, 429, "{refused:?}");
        assert_eq!(refused.header("x-ratelimit-cost"), "6");
        assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
        assert_eq!(refused.header("content-type"), "application/json");
        let told: serde_json::Value = serde_json::from_str(&refused.body).unwrap();
        assert_eq!((&told["reason"], &told["cost"]), (&"app_exhausted".into(), &6.into()));
        assert_eq!(refused.header("x-tollgate-decision"), told["decision_id"].as_str().unwrap());

        // Whoever passes alone gets back what was paid if another is refused; and no application is no limit.
        assert_eq!(browser.get(&[("x-app", "plenty")]).status, 200);
        let also = browser.get(&[("x-app", "plenty"), ("x-also", "nobody")]);
        assert_eq!((also.status, also.header("x-ratelimit-cost")), (429, "1"));
        assert_eq!(browser.get(&[]).status, 200);
        paid
    })
    .await
    .unwrap();
    assert_eq!(node.app("plenty").unwrap().counts().rolled_back, 1);
    let counts = service.counts();
    assert_eq!((counts.passed, counts.refused, counts.invalid), (2 + paid, 2, 0));
    service.drain(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shadow_mode_lets_everything_pass_and_says_so() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let address = service.local_addr();
    let pages = spawn_blocking(move || {
        let envoy = Envoy::start(address).unwrap();
        let mut browser = Browser::new(envoy.address());
        [(); 3].map(|()| browser.send("PUT", &[("x-app", "shadow")], 0))
    })
    .await
    .unwrap();
    for page in pages {
        assert_eq!((page.status, page.header("x-tollgate-shadow")), (200, "app_exhausted"), "{page:?}");
    }
    assert_eq!(node.app("shadow").unwrap().counts().shadowed.iter().sum::<u64>(), 3);
}

/// Answers go on, each application's by its own policy, and none is a failure of the service.
#[tokio::test(flavor = "multi_thread")]
async fn without_redis_envoy_is_still_answered() {
    let mut redis = RedisServer::start().unwrap();
    let node = node(RedisLedger::new(
        tollgate_ledger::RedisEngine::new(&redis.url(), Duration::from_millis(500)).unwrap(),
    ));
    let service = serve(&node, Rls::default());
    let address = service.local_addr();
    spawn_blocking(move || {
        let envoy = Envoy::start(address).unwrap();
        let mut browser = Browser::new(envoy.address());
        for app in ["open", "closed"] {
            assert_eq!(browser.get(&[("x-app", app)]).status, 200);
        }
        redis.kill();
        let mut statuses =
            |app| -> Vec<u16> { (0..500).map(|_| browser.get(&[("x-app", app)]).status).collect() };
        let (open, closed) = (statuses("open"), statuses("closed"));
        assert!(open.iter().chain(&closed).all(|status| [200, 429].contains(status)), "{open:?} {closed:?}");
        assert!(open.contains(&200) && open.contains(&429), "limited, neither shut nor wide open: {open:?}");
        assert_eq!(closed.last(), Some(&429), "shut once the lease is used up");
    })
    .await
    .unwrap();
}

/// A thousand requests at moments and costs that are always the same: Envoy passes on exactly those that a bucket of a
/// hundred with a hundred a second has tokens for. Time moves only when the test says so.
#[tokio::test(start_paused = true)]
async fn a_thousand_requests_pass_as_the_arithmetic_says() {
    let node = node(memory());
    let service = serve(&node, Rls::default());
    let address = service.local_addr();
    let (ask, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let (tell, told) = mpsc::channel();
    // While this runs, the runtime's clock stands still.
    let driver = spawn_blocking(move || {
        let envoy = Envoy::start(address).unwrap();
        let mut browser = Browser::new(envoy.address());
        let mut bucket = Bucket { tokens: 100_000 };
        let (mut expected, mut seen) = (Vec::new(), Vec::new());
        for request in 0..1_000 {
            let (pause, method, cost) = schedule(request);
            if pause > 0 {
                ask.send(Duration::from_millis(pause)).unwrap();
                told.recv().unwrap();
            }
            expected.push(if bucket.passes(pause, cost) { 200 } else { 429 });
            seen.push(browser.send(method, &[("x-app", "hundred")], 0).status);
        }
        assert_eq!(seen, expected);
        expected.iter().filter(|&&status| status == 200).count()
    });
    while let Some(pause) = asked.recv().await {
        tokio::time::advance(pause).await;
        // Whatever is due by now gets its turn.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        tell.send(()).unwrap();
    }
    let passed = driver.await.unwrap();
    assert!((400..900).contains(&passed), "a schedule with both answers: {passed}");
}

/// The pause before a request in milliseconds, its method and its cost. The bucket is emptied first, and never full again: what
/// comes while the ledger believes it to be full is not minted, though some of it may have been spent without the
/// ledger knowing yet.
fn schedule(request: usize) -> (u64, &'static str, u64) {
    let pause = match (request, request % 20) {
        (0..=60, _) => 0,
        (_, 3) => 211,
        (_, 12) => 137,
        _ => 0,
    };
    let (method, cost) = [("GET", 1), ("PUT", 5), ("DELETE", 2), ("PATCH", 3)][request * 7 / 3 % 4];
    (pause, method, cost)
}

/// A token bucket, in thousandths.
struct Bucket {
    tokens: u64,
}

impl Bucket {
    fn passes(&mut self, pause: u64, cost: u64) -> bool {
        self.tokens = (self.tokens + pause * 100).min(100_000);
        let is_enough = self.tokens >= cost * 1_000;
        self.tokens -= if is_enough { cost * 1_000 } else { 0 };
        is_enough
    }
}
