use crate::support::client::{self, Answer, get, request};
use crate::support::{Server, config, eventually, route_to, start, timely};
use http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_go_by_the_new_plan_and_those_under_way_by_the_old() {
    let (old, new) = (Server::http1().await, Server::http1().await);
    let (gateway, gate) = start(&route_to(&[old.address], ""));
    let address = gateway.local_addr();
    let under_way = tokio::spawn(get(address, "/gate"));
    eventually("the old server has it", || old.requests() == 1).await;
    gateway.reload(config(&route_to(&[new.address], ""))).await.unwrap();
    for _ in 0..5 {
        assert_eq!(get(address, "/").await.status, StatusCode::OK);
    }
    old.seen.open.notify_waiters();
    assert_eq!(timely(under_way).await.unwrap().text(), "open");
    assert_eq!((old.requests(), new.requests()), (1, 5));
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_change_is_said_and_nothing_changes() {
    let server = Server::http1().await;
    let text = route_to(&[server.address], "");
    let (gateway, _gate) = start(&text);
    let mut other = config("");
    other.listen.set_port(1);
    other.threads = Some(7);
    let errors = gateway.reload(other).await.unwrap_err();
    let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["listen.gateway", "gateway.threads"]);
    assert_eq!(get(gateway.local_addr(), "/").await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_to_servers_that_stay_are_kept() {
    let (server, other) = (Server::http1().await, Server::http1().await);
    let (gateway, _gate) = start(&format!("gateway.threads = 1\n{}", route_to(&[server.address], "")));
    let mut client = client::http1(gateway.local_addr()).await;
    for round in 0..4 {
        client.ready().await.unwrap();
        let response = client.send_request(request("GET", "/", b"")).await.unwrap();
        assert_eq!(Answer::of(response).await.status, StatusCode::OK);
        let servers = if round % 2 == 0 { vec![server.address] } else { vec![server.address, other.address] };
        let text = format!("gateway.threads = 1\n{}", route_to(&servers, "balance = 'least_in_flight'"));
        gateway.reload(config(&text)).await.unwrap();
    }
    assert!(server.connections() <= 2, "the terms changed once, the servers often: {}", server.connections());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_no_request_is_lost() {
    let servers = [Server::http1().await, Server::http1().await, Server::http1().await];
    let addresses = servers.each_ref().map(|server| server.address);
    let (gateway, gate) = start(&route_to(&addresses[..1], ""));
    let to = gateway.local_addr();
    let stop = Arc::new(AtomicBool::new(false));
    let good = Arc::new(AtomicU64::new(0));
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let (stop, good) = (Arc::clone(&stop), Arc::clone(&good));
        crowd.spawn(async move {
            let mut client = client::http1(to).await;
            while !stop.load(Ordering::SeqCst) {
                client.ready().await.unwrap();
                let response = client.send_request(request("POST", "/echo", b"ping")).await.unwrap();
                assert_eq!(Answer::of(response).await.text(), "ping");
                good.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    for round in 0..30_usize {
        let goal = good.load(Ordering::SeqCst) + 20;
        eventually("requests go on", || good.load(Ordering::SeqCst) >= goal).await;
        let which = &addresses[round % 3..=(round % 3).max(round % 2)];
        gateway.reload(config(&route_to(which, ""))).await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    crowd.join_all().await;
    gate.balanced().await;
    let stats = gateway.stats();
    assert_eq!((stats.upstream_errors, stats.responses_5xx, gate.rolled_back()), (0, 0, 0));
    assert!(servers.iter().all(|server| server.requests() > 0));
}
