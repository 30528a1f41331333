//! Borrowing and paying back by hand.

use crate::support::{Answer, World};
use serde_json::{Value, json};

/// A control plane with an application that mints next to nothing, so that what it has is what it borrowed.
async fn start(folder: &tempfile::TempDir, policy: Value) -> (World, String) {
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let admin = world.admin().await;
    world.call("PUT", "/api/v1/apps/poor", &admin, Some(policy)).await.expect(201);
    let token = world.token(&admin, "operator").await;
    (world, token)
}

async fn post(world: &World, token: &str, what: &str, amount: Value) -> Answer {
    let path = format!("/api/v1/apps/{what}");
    world.call("POST", &path, token, Some(json!({"amount": amount}))).await
}

/// The reason at the end of its kind, and how much would be lent.
#[track_caller]
fn refused(answer: Answer) -> (String, u64) {
    let answer = answer.expect(409);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let reason = answer.body["type"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    (reason, answer.body["available"].as_u64().unwrap())
}

fn policy(max_borrow: u64) -> Value {
    json!({"guaranteed_quota": 1, "burst_quota": 4_000_000_000_u64, "max_borrow": max_borrow, "repay_share": 0, "borrow": false})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_borrowed_is_owed_with_interest_and_paid_back_by_call() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = start(&folder, policy(1_000)).await;
    let lent = post(&world, &token, "poor/borrow", json!(600)).await.expect(200).body;
    assert_eq!((&lent["owed"], &lent["borrowed"], &lent["debt"]), (&json!(720), &json!(600), &json!(720)));
    assert!((600..700).contains(&lent["tokens"].as_u64().unwrap()), "{lent}");
    let answer = post(&world, &token, "poor/borrow", json!(401)).await;
    assert_eq!(refused(answer), ("borrow_limit_exceeded".to_owned(), 400));
    // The same again borrows more: it is no state that is set.
    post(&world, &token, "poor/borrow", json!(100)).await.expect(200);
    let repaid = post(&world, &token, "poor/repay", json!(84)).await.expect(200).body;
    assert_eq!((&repaid["paid"], &repaid["principal"]), (&json!(84), &json!(70)), "{repaid}");
    assert_eq!((&repaid["borrowed"], &repaid["debt"]), (&json!(630), &json!(756)), "{repaid}");
    // No more than there is.
    let repaid = post(&world, &token, "poor/repay", json!(4_000_000_000_u64)).await.expect(200).body;
    assert!((610..756).contains(&repaid["paid"].as_u64().unwrap()), "{repaid}");
    // A token a second is minted meanwhile; what was not paid would be hundreds.
    assert!(repaid["tokens"].as_u64().unwrap() < 60, "{repaid}");

    let balance =
        world.call("GET", "/api/v1/clusters/cluster-01/balance", &token, None).await.expect(200).body;
    assert_eq!(balance["balances"], true, "{balance}");
    let audit = world.call("GET", "/api/v1/audit?limit=100", &token, None).await.expect(200).body;
    let entries = audit["data"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["action"] == "app.borrow").unwrap();
    assert_eq!((&entry["target"], &entry["actor_kind"]), (&json!("poor"), &json!("token")));
    assert_eq!(
        (&entry["before"], &entry["after"]),
        (&json!({"borrowed": 600, "debt": 720}), &json!({"amount": 100, "owed": 120}))
    );
    assert_eq!(
        entries.iter().filter(|entry| entry["action"] == "app.borrow").count(),
        2,
        "a refusal changes nothing"
    );
    assert_eq!(entries.iter().filter(|entry| entry["action"] == "app.repay").count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_lends_what_is_above_its_reserve_and_nothing_in_an_emergency() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = start(&folder, policy(4_000_000_000)).await;
    let (reason, available) = refused(post(&world, &token, "poor/borrow", json!(3_000_000_000_u64)).await);
    assert_eq!(reason, "cluster_insufficient");
    assert!(available <= 1_100_000, "{available}");
    let body = json!({"reason": "disks burn", "duration": 60});
    world.call("POST", "/api/v1/emergency/activate", &token, Some(body)).await.expect(200);
    let answer = post(&world, &token, "poor/borrow", json!(1)).await;
    assert_eq!(refused(answer), ("emergency_quota_exceeded".to_owned(), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_neither_borrowed_nor_paid_back() {
    let folder = tempfile::tempdir().unwrap();
    let (world, token) = start(&folder, policy(1_000)).await;
    for what in ["borrow", "repay"] {
        let own = format!("poor/{what}");
        for odd in [json!(0), json!(-1), json!(0.5), json!(4_000_000_001_u64), json!("1"), Value::Null] {
            let answer = post(&world, &token, &own, odd.clone()).await.expect(400);
            assert_eq!(answer.wrong_fields(), ["amount"], "{odd}");
        }
        let both = json!({"amount": 1, "colour": 1});
        let answer = world.call("POST", &format!("/api/v1/apps/{own}"), &token, Some(both)).await.expect(400);
        assert_eq!(answer.wrong_fields(), ["colour"]);
        post(&world, &token, &format!("nobody/{what}"), json!(1)).await.expect(404);
    }
    let repaid = post(&world, &token, "poor/repay", json!(5)).await.expect(200).body;
    assert_eq!((&repaid["paid"], &repaid["debt"]), (&json!(0), &json!(0)), "who owes nothing pays nothing");
}
