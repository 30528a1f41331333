//! Whoever asks for a change and hangs up has still changed something.

use crate::support::World;
use serde_json::json;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tollgate_core::id::ClusterId;
use tollgate_ledger::Ledger;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_written_down_although_nobody_waits_for_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("admin.db").display().to_string();
    let world = World::start(&place).await;
    let token = world.admin().await;
    let count =
        async |path: &str| world.call("GET", path, &token, None).await.expect(200).body["total"].clone();
    world.wait(async || count("/api/v1/config/versions").await == json!(1)).await;

    // While somebody else writes to the database, what was done to the ledger cannot be written down.
    let pool = sqlx::AnyPool::connect(&format!("sqlite://{place}")).await.unwrap();
    let mut writer = pool.acquire().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *writer).await.unwrap();
    let mut caller = TcpStream::connect(world.address()).await.unwrap();
    let body = r#"{"guaranteed_quota": 50, "burst_quota": 60}"#;
    let request = format!(
        "PUT /api/v1/apps/brand-new HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    caller.write_all(request.as_bytes()).await.unwrap();
    let cluster = ClusterId::new("cluster-01").unwrap();
    world
        .wait(async || {
            let apps = world.node.ledger().apps(&cluster, None, 100).await.unwrap();
            apps.iter().any(|app| &*app.policy.policy.app == "brand-new")
        })
        .await;
    drop(caller);
    // Nothing shows that the server has noticed; if it has not, this tries less, and never fails.
    tokio::time::sleep(Duration::from_millis(300)).await;
    sqlx::query("COMMIT").execute(&mut *writer).await.unwrap();
    drop(writer);
    pool.close().await;
    world.wait(async || count("/api/v1/audit?target=brand-new").await == json!(1)).await;
    assert_eq!(count("/api/v1/config/versions").await, json!(2));
}
