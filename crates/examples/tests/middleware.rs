//! The rules of the middleware, one by one.
#![allow(clippy::unwrap_used, reason = "tests")]

use http::request::Parts;
use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_limiter::middleware::{ClientAddress, Counts, RateLimitLayer};
use tollgate_limiter::{Limit, Limiter, ManualClock, Outcome, Throttle};
use tower::util::BoxCloneSyncService;
use tower::{Layer, ServiceExt};

type Front = BoxCloneSyncService<Request<()>, Response<String>, Infallible>;

fn front<T: Throttle>(layer: &RateLimitLayer<T>) -> Front {
    let serve =
        tower::service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new("served".to_owned())));
    BoxCloneSyncService::new(layer.layer(serve))
}

fn from(address: &str) -> Request<()> {
    let peer: SocketAddr = address.parse().unwrap();
    Request::builder().extension(peer).body(()).unwrap()
}

async fn status(front: &Front, request: Request<()>) -> StatusCode {
    front.clone().oneshot(request).await.unwrap().status()
}

fn two(_: &Parts) -> Option<Limit> {
    Limit::new(1, 2).ok()
}

#[tokio::test]
async fn each_client_has_a_limit_of_its_own() {
    let layer = RateLimitLayer::new(Arc::new(Limiter::default()), two);
    let front = front(&layer);
    for expected in [200, 200, 429] {
        assert_eq!(status(&front, from("203.0.113.7:1")).await, expected);
    }
    assert_eq!(status(&front, from("203.0.113.8:1")).await, 200);
    assert_eq!(layer.counts(), Counts { passed: 3, refused: 1, ..Counts::default() });
}

#[tokio::test]
async fn a_client_behind_a_trusted_proxy_is_told_apart() {
    let client = ClientAddress::new().trust(["10.0.0.0/8"]).unwrap();
    let front = front(&RateLimitLayer::new(Arc::new(Limiter::default()), two).client(client));
    let by = |proxy: &str, client: &str| {
        let mut request = from(proxy);
        request.headers_mut().insert("x-forwarded-for", client.parse().unwrap());
        request
    };
    for client in ["203.0.113.1", "203.0.113.2", "203.0.113.3"] {
        assert_eq!(status(&front, by("10.0.0.1:1", client)).await, 200);
    }
    // Anybody can say anything: who is not trusted is one client, whatever the header says.
    for (client, expected) in [("1.1.1.1", 200), ("1.1.1.2", 200), ("1.1.1.3", 429)] {
        assert_eq!(status(&front, by("192.0.2.1:1", client)).await, expected);
    }
}

#[tokio::test]
async fn without_a_key_or_a_rule_a_request_passes() {
    let no_rule = RateLimitLayer::new(Arc::new(Limiter::default()), |parts: &Parts| {
        Limit::new(parts.headers.get("rate")?.to_str().ok()?.parse().ok()?, 1).ok()
    });
    let front_without = front(&no_rule);
    for rate in ["0", "none", ""] {
        let mut request = from("203.0.113.7:1");
        request.headers_mut().insert("rate", rate.parse().unwrap());
        assert_eq!(status(&front_without, request).await, 200);
    }
    assert_eq!(no_rule.counts().skipped, 3);
    let no_key = RateLimitLayer::new(Arc::new(Limiter::default()), two).key(|_| None);
    let front_without = front(&no_key);
    for _ in 0..5 {
        assert_eq!(status(&front_without, from("203.0.113.7:1")).await, 200);
    }
    assert_eq!(no_key.counts().skipped, 5);
}

/// A throttle that never has an answer.
struct Broken;

#[derive(Debug)]
struct Silence;

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer")
    }
}

impl std::error::Error for Silence {}

impl Throttle for Broken {
    type Rule = ();
    type Error = Silence;

    async fn charge(&self, _: &str, (): &()) -> Result<Outcome, Silence> {
        Err(Silence)
    }
}

#[tokio::test]
async fn a_limiter_that_fails_lets_pass_and_is_counted() {
    let broken = RateLimitLayer::new(Broken, |_| Some(()));
    assert_eq!(status(&front(&broken), from("203.0.113.7:1")).await, 200);
    // So does one that is closed.
    let closed = Arc::new(Limiter::default());
    closed.close();
    let layer = RateLimitLayer::new(closed, two);
    assert_eq!(status(&front(&layer), from("203.0.113.7:1")).await, 200);
    assert_eq!((broken.counts().failed, layer.counts().failed), (1, 1));
}

#[tokio::test]
async fn headers_are_told_if_wanted() {
    let clock = ManualClock::default();
    let limiter = Arc::new(Limiter::builder().build_with_clock(clock.clone()));
    let told = front(&RateLimitLayer::new(Arc::clone(&limiter), two).headers(true));
    let silent = front(&RateLimitLayer::new(limiter, two));
    let get = async |front: &Front| front.clone().oneshot(from("203.0.113.7:1")).await.unwrap();
    let first = get(&told).await;
    let header = |response: &Response<String>, name: &str| {
        response.headers().get(name).map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map(|name| header(&first, name)),
        ["2", "1", "1"]
    );
    assert_eq!(get(&silent).await.headers().len(), 0);
    let refused = get(&told).await;
    assert_eq!((refused.status().as_u16(), header(&refused, "retry-after").as_str()), (429, "1"));
    assert_eq!(header(&refused, "x-ratelimit-remaining"), "0");
    // Also those that are not told what is left are told when to come back, and are let in then.
    assert_eq!(header(&get(&silent).await, "retry-after"), "1");
    clock.advance(Duration::from_secs(1));
    assert_eq!(get(&silent).await.status(), 200);
}

#[tokio::test]
async fn a_call_of_grpc_is_refused_in_its_own_words() {
    let front = front(&RateLimitLayer::new(Arc::new(Limiter::default()), |_| Limit::new(1, 1).ok()));
    let call = |kind: &str| {
        let mut request = from("203.0.113.7:1");
        request.headers_mut().insert("content-type", kind.parse().unwrap());
        front.clone().oneshot(request)
    };
    assert_eq!(call("application/grpc").await.unwrap().headers().get("grpc-status"), None);
    for kind in ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"] {
        let refused = call(kind).await.unwrap();
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["grpc-status"]),
            (200, &"8".parse().unwrap())
        );
    }
    assert_eq!(call("application/grpc-web").await.unwrap().status(), 429);
}
