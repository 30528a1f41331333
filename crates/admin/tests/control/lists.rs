//! Every list is asked for in the same words: which page of it, which entries, in which order.

use crate::support::{PASSWORD, World};
use serde_json::{Value, json};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::Millis;
use tollgate_ledger::board::{Board, Note};
use tollgate_ledger::connection::{Counts, EventKind, NewEvent, Report, Slots};

const LISTS: [&str; 10] = [
    "/api/v1/apps",
    "/api/v1/clusters",
    "/api/v1/users",
    "/api/v1/tokens",
    "/api/v1/webhooks",
    "/api/v1/alert-rules",
    "/api/v1/nodes",
    "/api/v1/connections/app-a/events",
    "/api/v1/config/versions",
    "/api/v1/emergency/history",
];

/// The lists that are sorted by time, and nothing else: a database does it.
const BY_TIME: [&str; 2] = ["/api/v1/config/versions", "/api/v1/emergency/history"];

pub(crate) async fn lists(database: &str) {
    let world = World::start_with(database, |settings| settings.private_webhooks = true).await;
    let token = &world.admin().await;
    fill(&world, token).await;
    for list in LISTS {
        let get = async |query: &str| world.call("GET", &format!("{list}?{query}"), token, None).await;
        let total = get("").await.expect(200).body["total"].as_u64().unwrap();
        assert!(total > 0, "{list} is empty");
        let second = get(&format!("limit=1&page={total}")).await.expect(200).body;
        assert_eq!((&second["total"], &second["page"]), (&json!(total), &json!(total)), "{list}");
        assert_eq!(second["data"].as_array().unwrap().len(), 1, "{list}");
        let beyond = get(&format!("limit=1&page={}", total + 1)).await.expect(200).body;
        assert_eq!((&beyond["total"], &beyond["data"]), (&json!(total), &json!([])), "{list}");
        let (up, down) = (get("descending=false").await.body, get("descending=true").await.body);
        let reversed: Value = up["data"].as_array().unwrap().iter().rev().map(name).collect();
        let names: Value = down["data"].as_array().unwrap().iter().map(name).collect();
        assert_eq!(names, reversed, "{list}");
        let nothing = get("search=no+such+thing").await.expect(200).body;
        assert_eq!((&nothing["total"], &nothing["data"]), (&json!(0), &json!([])), "{list}");
        for (wrong, field) in [("limit=0", "limit"), ("page=0", "page"), ("limit=1001", "limit")] {
            assert_eq!(get(wrong).await.expect(400).wrong_fields(), [field], "{list}?{wrong}");
        }
        let long = get(&format!("search={}", "x".repeat(129))).await.expect(400);
        assert_eq!(long.wrong_fields(), ["search"], "{list}");
        get("descending=perhaps").await.expect(400);
        if !BY_TIME.contains(&list) {
            get("sort=no_such_thing").await.expect(400);
        }
    }
    let found = async |query: &str| {
        let body = world.call("GET", &format!("/api/v1/{query}"), token, None).await.expect(200).body;
        body["data"].as_array().unwrap().iter().map(name).collect::<Value>()
    };
    let expected = [
        ("users?search=B&enabled=true", json!(["bob"])),
        ("users?role=viewer", json!(["bob", "cleo"])),
        ("users?sort=role&limit=1", json!(["bob"])),
        ("users?sort=created_at", json!(["cleo", "bob", "admin"])),
        ("users?sort=created_at&descending=false", json!(["admin", "bob", "cleo"])),
        ("tokens?role=operator", json!(["an operator"])),
        ("tokens?sort=name", json!(["a viewer", "an operator"])),
        ("tokens?created_by=nobody", json!([])),
        ("webhooks?sort=url", json!(["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"])),
        ("webhooks?enabled=false", json!([])),
        ("alert-rules?severity=critical", json!(["drift", "emergency", "ledger_degraded"])),
        ("alert-rules?sort=severity&limit=1", json!(["connection_leak"])),
        ("nodes?sort=requests&descending=true", json!(["node-02", "node-01"])),
        ("nodes?cluster=elsewhere", json!([])),
        ("clusters?emergency=true", json!([])),
        ("clusters?search=CLUSTER&sort=capacity", json!(["cluster-01"])),
        ("connections/app-a/events?sort=count", json!(["cluster_limit_exceeded", "app_limit_exceeded"])),
        ("connections/app-a/events?node=node-09&search=app_", json!(["app_limit_exceeded"])),
        ("connections/app-a/events?node=node-01", json!([])),
        ("config/versions?kind=update&search=MORE", json!(["more", "more"])),
        ("config/versions?author=admin&limit=1&descending=false", json!(["more"])),
        ("emergency/history?cause=usage", json!([])),
        ("emergency/history?cluster_id=cluster-01&search=fire", json!(["a fire"])),
    ];
    for (query, names) in expected {
        assert_eq!(found(query).await, names, "{query}");
    }
    let nodes = world.call("GET", "/api/v1/nodes?search=node-02", token, None).await.expect(200).body;
    assert_eq!(
        (&nodes["total"], &nodes["heard"]),
        (&json!(1), &json!(2)),
        "who is heard of is no matter of pages"
    );
}

/// What the tests know an entry by: the first of these that it has.
fn name(entry: &Value) -> Value {
    let keys = ["app_id", "username", "name", "url", "reason", "cluster_id", "kind", "node", "id"];
    keys.iter().find_map(|key| entry.get(*key)).unwrap().clone()
}

/// At least two of everything that there is not from the start.
async fn fill(world: &World, token: &str) {
    let post = async |path: &str, body: Value| {
        let answer = world.call("POST", path, token, Some(body)).await;
        assert!(answer.status < 300, "{path}: {}", answer.body);
    };
    for username in ["bob", "cleo"] {
        post("/api/v1/users", json!({"username": username, "role": "viewer", "password": PASSWORD})).await;
    }
    post("/api/v1/tokens", json!({"name": "an operator", "role": "operator"})).await;
    post("/api/v1/tokens", json!({"name": "a viewer", "role": "viewer"})).await;
    for url in ["http://127.0.0.1:9/b", "http://127.0.0.1:9/a"] {
        post("/api/v1/webhooks", json!({"url": url})).await;
    }
    for burst in [60_000, 70_000] {
        let body = json!({"guaranteed_quota": 10_000, "burst_quota": burst, "reason": "more"});
        world.call("PUT", "/api/v1/apps/app-a", token, Some(body)).await.expect(200);
    }
    for reason in ["a fire", "a flood"] {
        post("/api/v1/emergency/activate", json!({"reason": reason})).await;
        post("/api/v1/emergency/deactivate", json!({})).await;
    }
    let cluster = world.node.standing().into_keys().next().unwrap();
    let report = json!({"node": "node-02", "timestamp": 1, "requests": 7, "refused": 0, "held": 0, "connections": 0,
                        "clusters": {}});
    let note = Note { node: NodeId::new("node-02").unwrap(), text: report.to_string() };
    world.node.ledger().pin(&cluster, &note).await.unwrap();
    let event = |kind, count| NewEvent {
        app: AppId::new("app-a").unwrap(),
        age: Millis::ZERO,
        kind,
        count,
        client: None,
    };
    let events = vec![event(EventKind::AppLimitExceeded, 5), event(EventKind::ClusterLimitExceeded, 3)];
    let told =
        Report { node: NodeId::new("node-09").unwrap(), totals: Counts::default(), apps: Vec::new(), events };
    world.node.ledger().report_connections(&cluster, &told).await.unwrap();
}
