use crate::support::client::{self, Answer, get, request, request2};
use crate::support::raw::{Raw, status};
use crate::support::{Recorder, Server, config, eventually, gateway, route_to, start, timely};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::Full;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tollgate_gateway::Gateway;
use tollgate_listen::{Listeners, Predecessor, offer};

const DEADLINE: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_under_way_are_finished() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "");
    let address = gateway.local_addr();
    let first = tokio::spawn(get(address, "/gate"));
    let second = tokio::spawn(async move { client::send2(address, request2("GET", "/gate", b"")).await });
    eventually("the server has them", || server.requests() == 2).await;
    let draining = tokio::spawn(gateway.drain(DEADLINE));
    eventually("nobody is let in", || std::net::TcpStream::connect(address).is_err()).await;
    server.seen.open.notify_waiters();
    let (first, second) = (timely(first).await.unwrap(), timely(second).await.unwrap());
    assert_eq!((first.text().as_str(), first.header("connection")), ("open", Some("close")));
    assert_eq!(second.text(), "open");
    assert_eq!(timely(draining).await.unwrap().cut_off, 0);
    gate.balanced().await;
    assert_eq!((gate.finished(), gate.visits()), (2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_finish_is_cut_off_and_settled() {
    let server = Server::http1().await;
    let (gateway, gate) = gateway(&server, "[gateway]\nupgrades = ['raw']\n");
    let address = gateway.local_addr();
    let hanging = tokio::spawn(async move {
        let mut client = client::http1(address).await;
        client.send_request(request("GET", "/hang", b"")).await.is_err()
    });
    let mut tunnel = Raw::connect(address).await;
    tunnel.say("GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\n").await;
    assert_eq!(status(&tunnel.hear().await.0), 101);
    eventually("the server has it", || server.requests() == 2).await;
    let drained = timely(gateway.drain(Duration::from_millis(50))).await;
    assert_eq!(drained.cut_off, 2);
    assert!(timely(hanging).await.unwrap(), "the client is told");
    assert!(tunnel.is_closed().await);
    gate.balanced().await;
    assert_eq!(gate.finished(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_are_closed() {
    let server = Server::http1().await;
    let (gateway, _gate) = gateway(&server, "");
    let mut silent = Raw::connect(gateway.local_addr()).await;
    let mut idle = Raw::connect(gateway.local_addr()).await;
    idle.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(status(&idle.hear().await.0), 200);
    let mut client = client::http2::<Full<Bytes>>(gateway.local_addr()).await;
    let answer = client.send_request(request2("GET", "/", b"")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    eventually("all are there", || gateway.stats().connections_active == 3).await;
    assert_eq!(timely(gateway.drain(DEADLINE)).await.cut_off, 0);
    assert!(silent.is_closed().await && idle.is_closed().await);
    assert!(client.ready().await.is_err());
}

/// Clients that keep their connections, open new ones when told to, and never stop.
struct Crowd {
    stop: Arc<AtomicBool>,
    good: Arc<AtomicU64>,
    tasks: tokio::task::JoinSet<Vec<String>>,
}

impl Crowd {
    fn gather(address: SocketAddr, size: usize) -> Self {
        let (stop, good) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut tasks = tokio::task::JoinSet::new();
        for member in 0..size {
            tasks.spawn(visit(address, member % 2 == 0, Arc::clone(&stop), Arc::clone(&good)));
        }
        Self { stop, good, tasks }
    }

    async fn until_good(&self, more: u64) {
        let goal = self.good.load(Ordering::SeqCst) + more;
        eventually("requests are answered", || self.good.load(Ordering::SeqCst) >= goal).await;
    }

    /// What went wrong, for anybody.
    async fn disperse(self) -> Vec<String> {
        self.stop.store(true, Ordering::SeqCst);
        self.tasks.join_all().await.into_iter().flatten().collect()
    }
}

async fn visit(address: SocketAddr, keeps: bool, stop: Arc<AtomicBool>, good: Arc<AtomicU64>) -> Vec<String> {
    let mut problems = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let Ok(stream) = TcpStream::connect(address).await else {
            problems.push("refused".into());
            continue;
        };
        let io = hyper_util::rt::TokioIo::new(stream);
        let (mut client, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        for _ in 0..if keeps { 1_000 } else { 1 } {
            if stop.load(Ordering::SeqCst) || client.ready().await.is_err() {
                break;
            }
            match client.send_request(request("POST", "/echo", b"ping")).await {
                Ok(response) => {
                    let answer = Answer::of(response).await;
                    if answer.text() == "ping" {
                        good.fetch_add(1, Ordering::SeqCst);
                    } else {
                        problems.push(format!("{answer:?}"));
                    }
                    if answer.header("connection") == Some("close") {
                        break;
                    }
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
    }
    problems
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_restart_loses_no_request() {
    let server = Server::http1().await;
    let gate = Recorder::default();
    let text = route_to(&[server.address], "");
    let mut listeners = Listeners::default();
    let mut running = Gateway::start(config(&text), gate.clone(), &listeners).unwrap();
    let address = running.local_addr();
    let mut offered = tokio::spawn(offer(address, listeners.clone()));
    let crowd = Crowd::gather(address, 6);
    for _ in 0..4 {
        crowd.until_good(100).await;
        // The new one listens on the sockets of the old one before that one stops.
        let (predecessor, inherited) = Predecessor::find(address).await.unwrap().unwrap();
        let mut next = config(&text);
        next.listen = address;
        let next = Gateway::start(next, gate.clone(), &inherited).unwrap();
        predecessor.relieve().await.unwrap();
        offered.await.unwrap().unwrap();
        offered = tokio::spawn(offer(address, inherited.clone()));
        listeners.close();
        listeners = inherited;
        let drained = timely(running.drain(DEADLINE)).await;
        assert_eq!(drained.cut_off, 0);
        running = next;
    }
    crowd.until_good(100).await;
    assert_eq!(crowd.disperse().await, Vec::<String>::new());
    assert_eq!(timely(running.drain(DEADLINE)).await.cut_off, 0);
    gate.balanced().await;
    assert_eq!(gate.rolled_back(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_a_gateway_ends_it_at_once() {
    let server = Server::http1().await;
    let (gateway, gate) = start(&route_to(&[server.address], ""));
    let mut raw = Raw::connect(gateway.local_addr()).await;
    raw.say("GET /hang HTTP/1.1\r\nHost: a\r\n\r\n").await;
    eventually("the server has it", || server.requests() == 1).await;
    drop(gateway);
    assert!(raw.is_closed().await);
    gate.balanced().await;
}
