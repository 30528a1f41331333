//! The life of policies, on every database: clusters, going back, and changes that are scheduled.

use crate::support::World;
use serde_json::{Value, json};
use tollgate_core::id::AppId;
use tollgate_core::units::{Millis, Rate};
use tollgate_ledger::Ledger;
use tollgate_ledger::protocol::{Carry, PutApp};
use tollgate_node::connection::Connections;

/// Waits until there is something to go back to.
async fn first_version(world: &World, token: &str) {
    let total = async || {
        world.call("GET", "/api/v1/config/versions", token, None).await.expect(200).body["total"].clone()
    };
    world.wait(async || total().await == 1).await;
}

/// What a cluster can stand is data: changed by a call, applied by nodes, and a version like any other.
pub(crate) async fn clusters(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    first_version(&world, token).await;
    let path = "/api/v1/clusters/cluster-01";
    let put = async |body: Value, tag: &str| {
        world.call_with("PUT", path, token, Some(body), &[("if-match", tag)]).await
    };
    let before = world.call("GET", path, token, None).await.expect(200);
    assert_eq!(before.body["max_connections"], 5_000);
    let changed = put(json!({"max_connections": 9}), before.header("etag")).await.expect(200);
    assert_eq!((&changed.body["max_connections"], &changed.body["capacity"]), (&json!(9), &json!(1_000_000)));
    put(json!({"max_connections": 8}), before.header("etag")).await.expect(412);
    let most = || world.node.connections("cluster-01").map(Connections::cluster_max);
    world.wait(async || most() == Some(9)).await;
    let refused = put(json!({"max_connections": 0, "capacity": 0}), "*").await.expect(400);
    assert_eq!(refused.wrong_fields(), ["capacity", "max_connections"]);
    let diff = world.call("GET", "/api/v1/config/versions/1/diff/2", token, None).await.expect(200);
    let change = json!({"kind": "cluster", "id": "cluster-01", "field": "max_connections", "before": 5_000, "after": 9});
    assert_eq!(diff.body["changes"], json!([change]));
}

/// Going back restores clusters and applications, in an order in which everything fits, all or nothing.
pub(crate) async fn rollback(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    first_version(&world, token).await;
    let put = async |path: &str, body: Value| world.call("PUT", path, token, Some(body)).await;
    let set = async |app: &str, guaranteed: u64| {
        let body = json!({"guaranteed_quota": guaranteed, "burst_quota": 900_000});
        let answer = put(&format!("/api/v1/apps/{app}"), body).await;
        assert!(answer.status < 300, "{}", answer.body);
    };
    let back = async |version: u64, token: &str| {
        let path = format!("/api/v1/config/versions/{version}/rollback");
        world.call("POST", &path, token, Some(json!({}))).await
    };
    let guarantees = async || {
        let mut all = Vec::new();
        for app in ["a", "b", "z"] {
            let found = world.call("GET", &format!("/api/v1/apps/{app}"), token, None).await;
            all.push(found.body["guaranteed_quota"].as_u64().unwrap_or(0));
        }
        all
    };
    let latest = async || {
        let list = world.call("GET", "/api/v1/config/versions?limit=1", token, None).await.expect(200);
        list.body["data"][0]["version"].as_u64().unwrap()
    };
    // Of 900,000 that may be promised, 30,100 are taken.
    for (app, guaranteed) in [("a", 600_000), ("b", 50_000), ("z", 200_000)] {
        set(app, guaranteed).await;
    }
    let then = latest().await;
    for (app, guaranteed) in [("a", 100_000), ("b", 100_000), ("z", 600_000)] {
        set(app, guaranteed).await;
    }
    put("/api/v1/clusters/cluster-01", json!({"max_connections": 9})).await.expect(200);
    back(then, &world.token(token, "operator").await).await.expect(403);
    back(then, token).await.expect(200);
    assert_eq!(guarantees().await, [600_000, 50_000, 200_000], "what shrinks made room for what grows");
    let cluster = world.call("GET", "/api/v1/clusters/cluster-01", token, None).await.expect(200);
    assert_eq!(cluster.body["max_connections"], 5_000);

    // The cluster must not shrink before the applications do, nor they grow before it does.
    let large = latest().await;
    for app in ["a", "b", "z"] {
        world.call("DELETE", &format!("/api/v1/apps/{app}"), token, None).await.expect(204);
    }
    put("/api/v1/clusters/cluster-01", json!({"capacity": 40_000})).await.expect(200);
    let small = latest().await;
    back(large, token).await.expect(200);
    assert_eq!(guarantees().await, [600_000, 50_000, 200_000]);
    back(small, token).await.expect(200);
    assert_eq!(guarantees().await, [0, 0, 0]);

    // What does not fit is refused before anything is done: here somebody else, who keeps no versions, has taken the room.
    back(large, token).await.expect(200);
    let at = latest().await;
    world.call("DELETE", "/api/v1/apps/a", token, None).await.expect(204);
    set("b", 10).await;
    let cluster = world.node.standing().into_keys().next().unwrap();
    let mut other = world.node.ledger().apps(&cluster, None, 1).await.unwrap().remove(0).policy.policy;
    other.app = AppId::new("other").unwrap();
    other.quota.guaranteed = Rate::per_second(500_000);
    let theirs = PutApp { policy: other, replaces: None, carry: Carry::Keep, effective_at: Millis::ZERO };
    world.node.ledger().put_app(&cluster, &theirs).await.unwrap();
    let before = latest().await;
    let refused = back(at, token).await.expect(400);
    assert_eq!(refused.wrong_fields(), ["apps"]);
    assert_eq!((guarantees().await, latest().await), (vec![0, 10, 200_000], before), "nothing in part");
}

/// A change may be scheduled: nothing happens before its time.
pub(crate) async fn schedule(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    first_version(&world, token).await;
    let soon = world.call("GET", "/api/v1/metrics", token, None).await.expect(200).body["timestamp"]
        .as_i64()
        .unwrap();
    let body = json!({"guaranteed_quota": 12_000, "burst_quota": 60_000, "effective_time": soon + 3_600_000});
    let answer = world.call("PUT", "/api/v1/apps/app-a", token, Some(body)).await.expect(200);
    assert_eq!(answer.body["guaranteed_quota"], 10_000);
    assert_eq!(answer.body["pending"]["policy"]["guaranteed_quota"], 12_000);
    let versions = world.call("GET", "/api/v1/config/versions?limit=1", token, None).await.expect(200);
    assert_eq!(versions.body["data"][0]["effective_time"], soon + 3_600_000);
    let number = versions.body["data"][0]["version"].as_i64().unwrap();
    let version =
        world.call("GET", &format!("/api/v1/config/versions/{number}"), token, None).await.expect(200);
    assert_eq!(version.body["applied"]["nodes"], 0, "nobody applies what is not due");

    // Going back, or importing, takes back what was scheduled, and says so.
    let pending = async || {
        world.call("GET", "/api/v1/apps/app-a", token, None).await.expect(200).body["pending"].clone()
    };
    let back = async |version: i64| {
        let path = format!("/api/v1/config/versions/{version}/rollback");
        world.call("POST", &path, token, Some(json!({}))).await.expect(200).body
    };
    let taken_back = json!([{"app_id": "app-a", "effective_time": soon + 3_600_000}]);
    let answer = back(number - 1).await;
    assert_eq!((&answer["unscheduled"], &answer["not_restored"]), (&taken_back, &json!([])), "{answer}");
    assert_eq!(pending().await, Value::Null);
    // Going back to where it was scheduled does not schedule it again, and says so too.
    let answer = back(number).await;
    assert_eq!((&answer["unscheduled"], &answer["not_restored"]), (&json!([]), &taken_back), "{answer}");
    assert_eq!(pending().await, Value::Null);
    let export = world.call("GET", "/api/v1/config/export", token, None).await.expect(200).body;
    let later = |name: &str| json!({"app_id": name, "guaranteed_quota": 12_000, "burst_quota": 60_000, "effective_time": soon + 3_600_000});
    let mut body = later("app-a");
    body.as_object_mut().unwrap().remove("app_id");
    world.call("PUT", "/api/v1/apps/app-a", token, Some(body)).await.expect(200);
    assert_ne!(pending().await, Value::Null);
    let import = json!({"apps": export["apps"]});
    let answer = world.call("POST", "/api/v1/config/import", token, Some(import)).await.expect(200).body;
    assert_eq!((&answer["unscheduled"], pending().await), (&taken_back, Value::Null));

    // One that is not there yet can be seen and taken back.
    world.call("POST", "/api/v1/apps", token, Some(later("to-come"))).await.expect(202);
    let seen = world.call("GET", "/api/v1/apps/to-come", token, None).await.expect(200);
    assert_eq!(
        (&seen.body["version"], &seen.body["pending"]["effective_time"]),
        (&json!(0), &json!(soon + 3_600_000))
    );
    let listed = world.call("GET", "/api/v1/apps?search=to-come", token, None).await.expect(200);
    assert_eq!(listed.body["total"], 1);
    world.call("POST", "/api/v1/apps", token, Some(later("to-come"))).await.expect(409);
    world.call("DELETE", "/api/v1/apps/to-come", token, None).await.expect(204);
    world.call("GET", "/api/v1/apps/to-come", token, None).await.expect(404);
    let cluster = world.node.standing().into_keys().next().unwrap();
    assert_eq!(world.node.ledger().scheduled(&cluster, 0, 10).await, Ok(Vec::new()));
    connections_keep_what_is_scheduled(&world, token, soon + 3_600_000).await;
}

/// Limits on connections are in force at once, and what is scheduled stays: with those limits, unless it has its own.
async fn connections_keep_what_is_scheduled(world: &World, token: &str, due: i64) {
    let path = "/api/v1/apps/app-a";
    let put = async |path: &str, body: Value| world.call("PUT", path, token, Some(body)).await.expect(200);
    put("/api/v1/connections/app-a", json!({"max_connections": 1_000})).await;
    // At first 1,000 are in force, which the change leaves as they are; then 7, which it does not.
    for (scheduled, max, kept) in [(1_000, 7, 7), (55, 8, 55)] {
        let body = json!({"guaranteed_quota": 12_000, "burst_quota": 60_000, "effective_time": due,
                          "max_connections": scheduled, "burst_connections": scheduled});
        put(path, body).await;
        put("/api/v1/connections/app-a", json!({"max_connections": max})).await;
        let app = world.call("GET", path, token, None).await.expect(200).body;
        assert_eq!((&app["max_connections"], &app["guaranteed_quota"]), (&json!(max), &json!(10_000)));
        let pending = &app["pending"];
        assert_eq!(
            (&pending["effective_time"], &pending["policy"]["max_connections"]),
            (&json!(due), &json!(kept))
        );
        assert_eq!(pending["policy"]["guaranteed_quota"], 12_000);
    }
    let latest = world.call("GET", "/api/v1/config/versions?limit=1", token, None).await.expect(200).body;
    let number = latest["data"][0]["version"].as_i64().unwrap();
    assert_eq!(latest["data"][0]["effective_time"], due, "that it is scheduled again is a version too");
    for version in [number, number - 2] {
        let shown =
            world.call("GET", &format!("/api/v1/config/versions/{version}"), token, None).await.expect(200);
        assert_eq!(shown.body["applied"]["nodes"], 0, "nobody applies what is not due");
    }
}

/// A change that was scheduled takes effect, on the node too, and is applied from then on.
pub(crate) async fn schedule_due(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    first_version(&world, token).await;
    let get = async |path: &str| world.call("GET", path, token, None).await.expect(200).body;
    let now = get("/api/v1/metrics").await["timestamp"].as_i64().unwrap();
    let body = json!({"guaranteed_quota": 12_000, "burst_quota": 60_000, "effective_time": now + 1_500});
    world.call("PUT", "/api/v1/apps/app-a", token, Some(body)).await.expect(200);
    world.wait(async || get("/api/v1/apps/app-a").await["guaranteed_quota"] == 12_000).await;
    let app = get("/api/v1/apps/app-a").await;
    assert_eq!((&app["pending"], &app["burst_quota"]), (&Value::Null, &json!(60_000)));
    let quota = || world.node.app("app-a").map(|app| app.terms().policy.quota.guaranteed.floor());
    world.wait(async || quota() == Some(12_000)).await;
    world.wait(async || get("/api/v1/config/versions/2").await["applied"]["nodes"] == 1).await;
}
