//! Several nodes that share a ledger on Redis, each with accounts and a database of its own.

use crate::support::{PASSWORD, call_at, token_of};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tollgate_admin::{FIRST_USER, Handle, Settings};
use tollgate_config::Policy;
use tollgate_core::id::NodeId;
use tollgate_ledger::{RedisEngine, RedisLedger};
use tollgate_node::{Node, Setup};
use tollgate_testkit::RedisServer;

struct Peer {
    node: Node<RedisLedger>,
    handle: Handle,
    token: String,
}

impl Peer {
    async fn start(name: &str, redis: &RedisServer, folder: &Path) -> Self {
        let policy = json!({"apps": [{"id": "app-a", "guaranteed_quota": 100, "burst_quota": 200}]});
        let engine = RedisEngine::new(&redis.url(), Duration::from_secs(5)).unwrap();
        let id = NodeId::new(name).unwrap();
        let policy = Policy::from_value(&policy).unwrap();
        let node = Node::start(RedisLedger::new(engine), Setup::new(id.clone()), &policy);
        let mut settings = Settings::new(id);
        settings.listen = "127.0.0.1:0".parse().unwrap();
        settings.database = folder.join(name).display().to_string();
        let handle = tollgate_admin::start(node.clone(), settings, Vec::new()).await.unwrap();
        let token = enter(&handle).await;
        Self { node, handle, token }
    }

    fn address(&self) -> SocketAddr {
        self.handle.local_addr()
    }

    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let answer = call_at(self.address(), method, path, &self.token, body, &[]).await;
        assert!(answer.status < 300, "{method} {path}: {}", answer.body);
        answer.body
    }

    /// Waits until a path answers so.
    async fn wait(&self, path: &str, is_so: impl Fn(&Value) -> bool) {
        let all = async {
            loop {
                let body = self.call("GET", path, None).await;
                if is_so(&body) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), all).await.expect("waited in vain");
    }
}

/// The token of the first account, whose password is changed.
async fn enter(handle: &Handle) -> String {
    let (address, first) = (handle.local_addr(), handle.first_password().unwrap());
    let login = json!({"username": FIRST_USER, "password": first});
    let session = call_at(address, "POST", "/api/v1/login", "", Some(login), &[]).await.expect(200);
    let change = json!({"current": first, "new": PASSWORD});
    let path = "/api/v1/me/password";
    token_of(&call_at(address, "PUT", path, &token_of(&session), Some(change), &[]).await.expect(200))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_is_told_to_be_applied_by_all_who_share_the_ledger() {
    let redis = RedisServer::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let first = Peer::start("node-01", &redis, folder.path()).await;
    let second = Peer::start("node-02", &redis, folder.path()).await;
    for peer in [&first, &second] {
        peer.wait("/api/v1/nodes", |nodes| nodes["data"].as_array().unwrap().len() == 2).await;
    }
    // The first version is what was found.
    first.wait("/api/v1/config/versions", |versions| versions["total"] == 1).await;
    let body = json!({"guaranteed_quota": 300, "burst_quota": 400});
    first.call("PUT", "/api/v1/apps/app-a", Some(body)).await;
    let both = json!({"nodes": 2, "of": 2, "names": ["node-01", "node-02"]});
    first.wait("/api/v1/config/versions/2", |version| version["applied"] == both).await;
    assert_eq!(second.call("GET", "/api/v1/apps/app-a", None).await["guaranteed_quota"], 300);
    for peer in [first, second] {
        peer.handle.drain(Duration::from_secs(5)).await;
        peer.node.shut_down(Duration::from_secs(1)).await;
    }
}
