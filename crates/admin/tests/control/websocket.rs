//! The WebSocket: a ticket that is good once, events as they happen, and no pages of other sites.

use crate::support::{PASSWORD, World, call_at, token_of};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};
use tollgate_core::cost::Operation;
use tollgate_node::Request;

async fn ticket(world: &World, token: &str) -> String {
    ticket_at(world.address(), token).await
}

async fn ticket_at(address: SocketAddr, token: &str) -> String {
    let answer = call_at(address, "POST", "/api/v1/ws/ticket", token, None, &[]).await.expect(201);
    answer.body["ticket"].as_str().unwrap().to_owned()
}

/// A socket of somebody at any server.
pub(crate) async fn open_at(address: SocketAddr, token: &str) -> WebSocketStream<TcpStream> {
    connect(address, &ticket_at(address, token).await, None).await.unwrap()
}

async fn open(world: &World, ticket: &str, origin: Option<&str>) -> Result<WebSocketStream<TcpStream>, u16> {
    connect(world.address(), ticket, origin).await
}

async fn connect(
    address: SocketAddr,
    ticket: &str,
    origin: Option<&str>,
) -> Result<WebSocketStream<TcpStream>, u16> {
    let mut request = format!("ws://{address}/api/v1/ws?ticket={ticket}").into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    match client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// Why the server ends it, when it does.
pub(crate) async fn reason_of_end(socket: &mut WebSocketStream<TcpStream>) -> String {
    let ended = async {
        loop {
            if let Message::Close(frame) = socket.next().await.unwrap().unwrap() {
                return frame.unwrap().reason.to_string();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.expect("it goes on")
}

/// The next event of that kind.
pub(crate) async fn next(socket: &mut WebSocketStream<TcpStream>, kind: &str) -> Value {
    let found = async {
        loop {
            let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
            let event: Value = serde_json::from_str(&text).unwrap();
            if event["type"] == kind {
                return event;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), found).await.expect("no such event")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_opens_it_once_and_only_for_our_own_pages() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let token = world.admin().await;
    assert_eq!(open(&world, "made-up", None).await.err(), Some(401));
    let good = ticket(&world, &token).await;
    assert_eq!(open(&world, &good, Some("http://evil.example")).await.err(), Some(403));
    let own = format!("http://{}", world.address());
    assert!(open(&world, &good, Some(&own)).await.is_ok());
    assert_eq!(open(&world, &good, Some(&own)).await.err(), Some(401));
    let plain =
        world.call("GET", &format!("/api/v1/ws?ticket={}", ticket(&world, &token).await), "", None).await;
    assert_eq!(plain.status, 426);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_come_as_they_happen() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let token = world.admin().await;
    let mut socket = open(&world, &ticket(&world, &token).await, None).await.unwrap();
    let metrics = next(&mut socket, "metrics").await;
    assert!(metrics["data"]["clusters"]["cluster-01"]["capacity"].as_u64().unwrap() > 0);

    let body = json!({"guaranteed_quota": 50, "burst_quota": 60});
    world.call("PUT", "/api/v1/apps/brand-new", &token, Some(body)).await.expect(201);
    let change = next(&mut socket, "config_change").await;
    assert_eq!(change["data"]["changes"][0]["id"], "brand-new");

    let body = json!({"reason": "a drill"});
    world.call("POST", "/api/v1/emergency/activate", &token, Some(body)).await.expect(200);
    assert_eq!(next(&mut socket, "emergency").await["data"]["active"], true);
    assert_eq!(next(&mut socket, "alert").await["data"]["rule"], "emergency");
}

/// Waits until the socket is closed.
async fn closed(socket: &mut WebSocketStream<TcpStream>) {
    let closed = async {
        while let Some(Ok(message)) = socket.next().await {
            if message.is_close() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), closed).await.expect("it stays open");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_logs_out_or_is_revoked_hears_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let admin = world.admin().await;
    let session = token_of(&world.log_in("admin", PASSWORD).await.expect(200));
    let machine = world.token(&admin, "viewer").await;
    let mut person = open(&world, &ticket(&world, &session).await, None).await.unwrap();
    let mut program = open(&world, &ticket(&world, &machine).await, None).await.unwrap();
    next(&mut person, "metrics").await;
    next(&mut program, "metrics").await;
    world.call("POST", "/api/v1/logout", &session, None).await.expect(204);
    closed(&mut person).await;
    next(&mut program, "metrics").await;
    let tokens = world.call("GET", "/api/v1/tokens", &admin, None).await.expect(200);
    let path = format!("/api/v1/tokens/{}", tokens.body["data"][0]["id"].as_str().unwrap());
    world.call("DELETE", &path, &admin, None).await.expect(204);
    closed(&mut program).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_told_to_those_who_ask_and_filtered() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let token = world.admin().await;
    let mut socket = open(&world, &ticket(&world, &token).await, None).await.unwrap();
    let wanted = json!({"subscribe": ["refusals"], "app_id": "app-c"}).to_string();
    socket.send(Message::Text(wanted.into())).await.unwrap();
    let refused = async {
        loop {
            for app in ["app-c", "no-such-app"] {
                match world.node.admit(&Request::new(app, Operation::Get).with_cost(60)).await {
                    Ok(permit) => permit.keep(),
                    Err(decision) => drop(world.node.record(app, &decision)),
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let event = tokio::select! {
        event = next(&mut socket, "refusals") => event,
        () = refused => panic!("it goes on for ever"),
    };
    let refusals = event["data"].as_array().unwrap();
    assert!(refusals.iter().all(|refusal| refusal["app_id"] == "app-c"), "{event}");
    socket.send(Message::Text("nonsense".into())).await.unwrap();
    closed(&mut socket).await;
}
