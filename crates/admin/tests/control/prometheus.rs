//! `/metrics` and the rules, held against a real Prometheus.

use crate::support::World;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tollgate_core::cost::Operation;
use tollgate_node::Request;
use tollgate_testkit::Prometheus;

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path)
}

/// Some requests of each kind: some that pass and some that do not.
async fn traffic(world: &World) {
    for app in ["video-service", "app-a", "app-c", "app-c"] {
        for operation in [Operation::Get, Operation::Put, Operation::List] {
            if let Ok(permit) = world.node.admit(&Request::new(app, operation).with_bytes(600_000)).await {
                permit.keep();
            }
        }
    }
}

fn promtool(words: &[&str], input: Option<&str>) {
    let mut command = Command::new("promtool");
    let mut child = command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(input) = input {
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_shadow_mode_lets_through_is_not_told_as_refused() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let token = world.admin().await;
    let body = json!({"guaranteed_quota": 100, "burst_quota": 100, "borrow": false, "shadow": true});
    world.call("PUT", "/api/v1/apps/app-c", &token, Some(body)).await.expect(200);
    world.wait(async || world.node.app("app-c").is_some_and(|app| app.terms().policy.shadow)).await;
    for _ in 0..5 {
        world.node.admit(&Request::new("app-c", Operation::Get).with_cost(90)).await.unwrap().keep();
    }
    let page = world.call("GET", "/metrics", "", None).await.expect(200);
    let of = |result: &str| {
        let label = format!("result=\"{result}\"");
        let lines =
            page.body.as_str().unwrap().lines().filter(|line| line.starts_with("tollgate_decisions_total{"));
        lines.filter(|line| line.contains("app=\"app-c\"") && line.contains(&label)).count()
    };
    assert_eq!((of("allowed"), of("refused")), (1, 0), "{}", page.body);
    assert!(of("shadowed") > 0, "{}", page.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_histogram_of_waits_has_those_who_asked_the_ledger_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    for _ in 0..100 {
        world.node.admit(&Request::new("video-service", Operation::Get)).await.unwrap().keep();
    }
    let page = world.call("GET", "/metrics", "", None).await.expect(200);
    let sum = |name: &str| {
        let lines = page.body.as_str().unwrap().lines().filter(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ') || rest.starts_with('{'))
        });
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("tollgate_decisions_total"), 100);
    let waited = sum("tollgate_ledger_wait_seconds_count");
    assert_eq!(waited, sum("tollgate_ledger_misses_total"));
    assert!((1..100).contains(&waited), "{waited}: the first had to ask, and some of the others did not");
}

#[test]
fn the_rules_are_right_and_do_what_they_say() {
    promtool(&["check", "rules", deploy("prometheus/rules.yml").to_str().unwrap()], None);
    promtool(&["test", "rules", deploy("prometheus/rules.test.yml").to_str().unwrap()], None);
    promtool(&["check", "config", deploy("prometheus/prometheus.yml").to_str().unwrap()], None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_as_prometheus_wants_them_and_tell_of_other_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    traffic(&world).await;
    let page = world.call("GET", "/metrics", "", None).await.expect(200);
    promtool(&["check", "metrics"], Some(page.body.as_str().unwrap()));
    let prometheus = Prometheus::start(world.address(), &deploy("prometheus/rules.yml")).unwrap();
    let charts = charts_of_another_node(folder.path(), prometheus.address());
    let busy = async {
        loop {
            traffic(&world).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::select! { () = charts => {}, () = busy => {} }
}

/// A node that has seen no request shows those of the others, if Prometheus tells it.
async fn charts_of_another_node(folder: &Path, prometheus: std::net::SocketAddr) {
    let world = World::start_with(folder.join("other.db").to_str().unwrap(), |settings| {
        settings.prometheus = Some(format!("http://{prometheus}"));
    })
    .await;
    let token = world.admin().await;
    for (path, points) in [
        ("/api/v1/metrics?range=5m", "/request_rate"),
        ("/api/v1/dashboard?range=1h", "/metrics/request_rate"),
        ("/api/v1/metrics/apps/app-c?range=5m", "/points"),
    ] {
        world
            .wait(async || {
                let body = world.call("GET", path, &token, None).await.expect(200).body;
                let points = body.pointer(points).unwrap().as_array().unwrap();
                let is_some = |key: &str| points.iter().any(|point| point[key].as_f64().unwrap() > 0.0);
                is_some("requests") && is_some("cost") && is_some("refused")
            })
            .await;
    }
}
