//! Several nodes that share a ledger on Redis, each with accounts and a database of its own.

use crate::support::{Answer, PASSWORD, call_at, token_of};
use crate::websocket::{next, open_at};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tollgate_admin::{FIRST_USER, Handle, Settings};
use tollgate_config::Policy;
use tollgate_core::cost::Operation;
use tollgate_core::id::NodeId;
use tollgate_ledger::{Ledger, RedisEngine, RedisLedger};
use tollgate_listen::Listeners;
use tollgate_node::connection::Connections;
use tollgate_node::{Node, Request, Setup};
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
        settings.reconcile_s = 1;
        let handle = tollgate_admin::start(node.clone(), settings, &Listeners::default()).await.unwrap();
        let token = enter(&handle).await;
        Self { node, handle, token }
    }

    fn address(&self) -> SocketAddr {
        self.handle.local_addr()
    }

    async fn stop(self) {
        self.handle.drain(Duration::from_secs(5)).await;
        self.node.shut_down(Duration::from_secs(1)).await;
    }

    async fn explain(&self, id: &str) -> Answer {
        let path = format!("/api/v1/decisions/{id}");
        call_at(self.address(), "GET", &path, &self.token, None, &[]).await
    }

    /// The same, until it is found: a machine that has much to do may take longer than others wait.
    async fn find(&self, id: &str) -> Value {
        let all = async {
            loop {
                let answer = self.explain(id).await;
                if answer.status == 200 {
                    return answer.body;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), all).await.expect("nobody has it")
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
        peer.stop().await;
    }
}

/// Whoever watches one node hears of what is done at another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_and_emergencies_are_told_at_every_node() {
    let redis = RedisServer::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let first = Peer::start("node-01", &redis, folder.path()).await;
    let second = Peer::start("node-02", &redis, folder.path()).await;
    let mut socket = open_at(second.address(), &second.token).await;
    // Two looks: what is there at the first one is no news.
    for _ in 0..2 {
        next(&mut socket, "metrics").await;
    }
    first
        .call("PUT", "/api/v1/apps/brand-new", Some(json!({"guaranteed_quota": 10, "burst_quota": 10})))
        .await;
    let told = next(&mut socket, "config_change").await["data"].clone();
    assert_eq!(told["changes"], json!([{"kind": "app", "id": "brand-new", "cluster": "cluster-01"}]));
    first.call("PUT", "/api/v1/clusters/cluster-01", Some(json!({"max_connections": 9}))).await;
    let told = next(&mut socket, "config_change").await["data"].clone();
    assert_eq!(told["changes"], json!([{"kind": "cluster", "id": "cluster-01", "cluster": "cluster-01"}]));
    let most = || second.node.connections("cluster-01").map(Connections::cluster_max);
    second.wait("/api/v1/clusters", |_| most() == Some(9)).await;
    first.call("POST", "/api/v1/emergency/activate", Some(json!({"reason": "a drill"}))).await;
    let told = next(&mut socket, "emergency").await["data"].clone();
    assert_eq!((&told["active"], &told["reason"]), (&json!(true), &json!("a drill")));
    first.call("POST", "/api/v1/emergency/deactivate", Some(json!({}))).await;
    assert_eq!(next(&mut socket, "emergency").await["data"]["active"], false);
    for peer in [first, second] {
        peer.stop().await;
    }
}

/// Sets what is booked as out of an application to so many tokens, as a mistake of ours would.
fn set_outstanding(redis: &RedisServer, app: &str, tokens: u64) {
    let script = "local row = redis.call('HGET', KEYS[1], ARGV[1]) \
                  local changed = row:sub(1, 14 * 8) .. struct.pack('<d', tonumber(ARGV[2])) .. row:sub(15 * 8 + 1) \
                  return redis.call('HSET', KEYS[1], ARGV[1], changed)";
    let amount = (tokens * 1_000_000).to_string();
    redis.cli(&["EVAL", script, "1", "ratelimit:{cluster-01}", app, &amount]).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_is_corrected_without_being_asked_for_and_counted() {
    let redis = RedisServer::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let peer = Peer::start("node-01", &redis, folder.path()).await;
    let has = |line: &'static str| move |page: &Value| page.as_str().is_some_and(|page| page.contains(line));
    peer.wait("/metrics", has("tollgate_drift_ratio{cluster=\"cluster-01\"} 0")).await;
    peer.wait("/metrics", has("tollgate_reconciliations_total{cluster=\"cluster-01\"} 0")).await;
    set_outstanding(&redis, "app-a", 77);
    peer.wait("/metrics", has("tollgate_reconciliations_total{cluster=\"cluster-01\"} 1")).await;
    peer.wait("/metrics", has("tollgate_drift_ratio{cluster=\"cluster-01\"} 0")).await;
    peer.stop().await;
}

/// Two nodes that hear of each other.
async fn pair(redis: &RedisServer, folder: &Path) -> (Peer, Peer) {
    let first = Peer::start("node-01", redis, folder).await;
    let second = Peer::start("node-02", redis, folder).await;
    until_heard_by(redis, 2).await;
    (first, second)
}

/// Waits until so many listen to questions.
async fn until_heard_by(redis: &RedisServer, listeners: u64) {
    let channel = "ratelimit:questions:{cluster-01}";
    let all = async {
        loop {
            let told = redis.cli(&["PUBSUB", "NUMSUB", channel]).unwrap();
            if told.lines().nth(1).is_some_and(|count| count.trim() == listeners.to_string()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all).await.expect("waited in vain");
}

fn made_up(number: u128) -> String {
    format!("{number:032x}")
}

/// The nodes share a Redis and nothing else: each has a database and accounts of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_is_explained_by_a_node_that_did_not_make_it() {
    let redis = RedisServer::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = pair(&redis, folder.path()).await;
    let request = Request::new("app-a", Operation::Put).with_cost(1_000_000);
    let decision = first.node.admit(&request).await.expect_err("it costs more than there ever is");
    let id = first.node.record("app-a", &decision).to_string();
    let own = first.explain(&id).await.expect(200);
    assert_eq!((&own.body["verdict"], &own.body["cost"]["total"]), (&json!("refused"), &json!(1_000_000)));
    assert!(!own.body["trace"].as_array().unwrap().is_empty(), "{}", own.body);
    assert_eq!(second.find(&id).await, own.body);
    let path = format!("/api/v1/decisions/{id}");
    call_at(second.address(), "GET", &path, "nobody", None, &[]).await.expect(401);
    let unknown = second.explain(&made_up(7)).await.expect(404);
    let detail = "this node keeps no such decision, and the other node did not say that it does";
    assert_eq!(unknown.body["detail"], detail);
    for peer in [first, second] {
        peer.stop().await;
    }
}

/// How often a server was given a command, by scripts or otherwise.
fn times(redis: &RedisServer, command: &str) -> u64 {
    let stats = redis.cli(&["INFO", "commandstats"]).unwrap();
    let line = stats.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
    line.and_then(|rest| rest.split(',').next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_made_up_ids_does_not_reach_redis() {
    let redis = RedisServer::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = pair(&redis, folder.path()).await;
    let before = times(&redis, "publish");
    let second = Arc::new(second);
    let asking: Vec<_> = (0..100)
        .map(|number| {
            let second = Arc::clone(&second);
            tokio::spawn(async move { second.explain(&made_up(number)).await })
        })
        .collect();
    let (mut unknown, mut turned_away) = (0, 0);
    for answer in asking {
        match answer.await.unwrap() {
            answer if answer.status == 404 => unknown += 1,
            answer if answer.header("retry-after") == "1" => turned_away += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(unknown >= 4 && unknown + turned_away == 100, "{unknown} asked, {turned_away} turned away");
    let published = times(&redis, "publish") - before;
    // Each question is published once. There may be more than four if the machine was too slow to ask all at once.
    assert!(published <= unknown, "{published} messages for {unknown} questions");
    Arc::into_inner(second).unwrap().stop().await;
    first.stop().await;
}

/// Whoever can write to Redis can answer, but only what a node would say, about what was asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_strangers_leave_in_redis_is_not_shown() {
    let redis = RedisServer::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = pair(&redis, folder.path()).await;
    let cluster = second.node.standing().into_keys().next().unwrap();
    let key = format!("ratelimit:{{{cluster}}}:answers");
    let mut notices = first.node.ledger().notices(&cluster);
    until_heard_by(&redis, 3).await;
    // As a node would tell it.
    let told = |id: &str| {
        json!({"id": id, "at": 1_700_000_000_000_u64, "app": "app-a", "verdict": "refused", "reason": "app_exhausted",
               "tier": "l2", "operation": "PUT", "bytes": 0, "units": 0, "base": 5, "bandwidth": 0, "limit": 1, "remaining": 0,
               "retry_after": 1, "reset_after": 1, "policy_version": 1})
    };
    let id = made_up(7);
    let mut strange = told(&id);
    strange["tier"] = json!("<b>l2</b>");
    let whole = told(&id).to_string();
    let too_long = whole.clone() + &" ".repeat(5_000);
    let other = told(&made_up(8)).to_string();
    let answers = [
        ("", ""),
        ("", "{\"id\":"),
        ("", &strange.to_string()),
        ("", &too_long),
        ("", &other),
        ("ff", &whole),
    ];
    let (redis, second) = (&redis, Arc::new(second));
    let mut leave = async |suffix: &str, answer: &str| {
        let asking = tokio::spawn({
            let (second, id) = (Arc::clone(&second), id.clone());
            async move { second.explain(&id).await }
        });
        let question = tokio::time::timeout(Duration::from_secs(30), notices.next_question()).await.unwrap();
        redis.cli(&["HSET", &key, &format!("{:032x}{suffix}", question.name), answer]).unwrap();
        asking.await.unwrap().status
    };
    for (suffix, answer) in answers {
        assert_eq!(leave(suffix, answer).await, 404, "{suffix} {answer:.60}");
    }
    let mut last = 404;
    for _ in 0..10 {
        last = leave("", &whole).await;
        if last == 200 {
            break;
        }
    }
    assert_eq!(last, 200, "as a node would have told it");
    Arc::into_inner(second).unwrap().stop().await;
    first.stop().await;
}
