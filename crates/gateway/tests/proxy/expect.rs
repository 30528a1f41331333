use crate::support::raw::{Raw, status};
use crate::support::{Server, gateway};

const HEAD: &str = "PUT /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_admitted_request_may_send_its_body() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say(format!("{HEAD}\r\n")).await;
    assert_eq!(status(&raw.hear().await.0), 100);
    raw.say("hello").await;
    let (head, body) = raw.hear().await;
    assert_eq!((status(&head), body.as_str()), (200, "5"));
    gate.balanced().await;
    // The connection goes on.
    raw.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(status(&raw.hear().await.0), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_one_hears_it_before_it_sends_anything() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say(format!("{HEAD}X-Tollgate-App: refused\r\n\r\n")).await;
    let all = raw.hear_all().await;
    assert_eq!((status(&all), all.matches("HTTP/1.1").count()), (429, 1), "{all}");
    assert!(all.contains("connection: close"), "{all}");
    assert_eq!((gate.admitted(), server.requests()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_too_large_is_never_asked_for() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway.limits]\nbody_bytes = 4\n");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say(format!("{HEAD}\r\n")).await;
    assert_eq!(status(&raw.hear_all().await), 413);
    assert_eq!(gate.asked(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_else_can_be_expected() {
    let server = Server::http1().await;
    let (gateway, _gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: miracles\r\n\r\n").await;
    assert_eq!(status(&raw.hear_all().await), 417);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_comes_anyway_does_not_hide_the_refusal() {
    let server = Server::http1().await;
    let (gateway, _gate) = gateway(&server, "");
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("PUT /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\nX-Tollgate-App: refused\r\n\r\n")
        .await;
    // It would be reset in the middle of this if the gateway just closed.
    raw.say(vec![b'x'; 2_000_000]).await;
    assert_eq!(status(&raw.hear_all().await), 429);
}
