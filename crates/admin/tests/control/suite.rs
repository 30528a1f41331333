//! What must hold on every database: one function for each story, each on a database of its own.

pub(crate) use crate::lists::lists;
pub(crate) use crate::policies::{clusters, rollback, schedule, schedule_due};
use crate::support::{PASSWORD, World, cookie_of, token_of};
use crate::websocket::{open_at, reason_of_end};
use serde_json::{Value, json};
use tollgate_admin::Task;
use tollgate_core::cost::Operation;
use tollgate_ledger::Ledger;
use tollgate_node::{Permit, Request};

/// The first start prints a password that must be changed; after that it is good for nothing.
pub(crate) async fn first_run(database: &str) {
    let mut world = World::start(database).await;
    let first = world.first_password().expect("a password is made");
    let token = token_of(&world.log_in("admin", &first).await.expect(200));
    let me = world.call("GET", "/api/v1/me", &token, None).await.expect(200);
    assert_eq!(me.body, json!({"username": "admin", "role": "admin", "must_change_password": true}));
    let refused = world.call("GET", "/api/v1/apps", &token, None).await.expect(403);
    assert_eq!(refused.body["type"], "urn:tollgate:problem:password_change_required");
    let change = |current: &str, new: &str| Some(json!({"current": current, "new": new}));
    let short = world.call("PUT", "/api/v1/me/password", &token, change(&first, "short")).await.expect(400);
    assert_eq!(short.wrong_fields(), ["new"]);
    let wrong =
        world.call("PUT", "/api/v1/me/password", &token, change("not it", PASSWORD)).await.expect(400);
    assert_eq!(wrong.wrong_fields(), ["current"]);
    let changed =
        world.call("PUT", "/api/v1/me/password", &token, change(&first, PASSWORD)).await.expect(200);
    world.call("GET", "/api/v1/apps", &token, None).await.expect(401);
    world.call("GET", "/api/v1/apps", &token_of(&changed), None).await.expect(200);
    world.log_in("admin", &first).await.expect(401);
    world.restart().await;
    assert_eq!(world.first_password(), None, "the second start makes none");
    // The key that signs tokens is kept, so sessions survive a restart.
    world.call("GET", "/api/v1/apps", &token_of(&changed), None).await.expect(200);
}

/// Refresh tokens rotate; one that is used again later ends the session; logging out ends it at once.
pub(crate) async fn sessions(database: &str) {
    let world = World::start(database).await;
    world.admin().await;
    let login = world.log_in("admin", PASSWORD).await.expect(200);
    let cookie = login.header("set-cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/api/v1/session"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let refresh = async |cookie: &str, headers: &[(&str, &str)]| {
        let headers = [&[("cookie", cookie)], headers].concat();
        world.call_with("POST", "/api/v1/session/refresh", "", None, &headers).await
    };
    let old = cookie_of(&login);
    let second = refresh(&old, &[]).await.expect(200);
    let new = cookie_of(&second);
    assert_ne!(old, new);
    // Two tabs at the same time: the second gets an access token, and the cookie stays.
    let twin = refresh(&old, &[]).await.expect(200);
    assert_eq!(twin.header("set-cookie"), "");
    refresh(&new, &[("origin", "http://evil.example")]).await.expect(403);
    let own = format!("http://{}", world.address());
    let third = refresh(&new, &[("origin", &own)]).await.expect(200);
    // The first one is older than the one that was replaced last: somebody else has it.
    refresh(&old, &[]).await.expect(401);
    refresh(&cookie_of(&third), &[]).await.expect(401);
    world.call("GET", "/api/v1/me", &token_of(&third), None).await.expect(401);
    for wrong in ["tollgate_refresh=x", "tollgate_refresh=a.b", "other=1", ""] {
        refresh(wrong, &[]).await.expect(401);
    }
    let token = token_of(&world.log_in("admin", PASSWORD).await.expect(200));
    world.call("POST", "/api/v1/logout", &token, None).await.expect(204);
    world.call("GET", "/api/v1/me", &token, None).await.expect(401);
}

/// Nobody can try passwords without end, under a name or from an address.
pub(crate) async fn throttling(database: &str) {
    let world = World::start_with(database, |settings| settings.logins_per_minute = 5).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(world.log_in("admin", "wrong").await.status);
    }
    assert_eq!(statuses[..5], [401; 5]);
    assert_eq!(statuses[5..], [429; 3]);
    let limited = world.log_in("admin", "wrong").await.expect(429);
    assert!(limited.header("retry-after").parse::<u64>().unwrap() >= 1);
    let world = World::start_with(&format!("{database}-2"), |settings| settings.calls_per_second = 1).await;
    let mut limited = 0;
    for _ in 0..20 {
        limited += u32::from(world.call("GET", "/api/v1/apps", "", None).await.status == 429);
    }
    assert!(limited > 0);
    world.call("GET", "/health", "", None).await.expect(200);
}

/// Applications: made, changed with care for others, removed; every change is a version and in the audit.
pub(crate) async fn applications(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    let body = json!({"app_id": "new", "guaranteed_quota": 100, "burst_quota": 500, "priority": 1, "reason": "a try"});
    let made = world.call("POST", "/api/v1/apps", token, Some(body.clone())).await.expect(201);
    assert_eq!(made.header("location"), "/api/v1/apps/new");
    world.call("POST", "/api/v1/apps", token, Some(body)).await.expect(409);
    let wrong = json!({"app_id": "no good", "guaranteed_quota": 0, "burst_quota": "x", "priority": 4, "extra": 1, "carry": "x"});
    let refused = world.call("POST", "/api/v1/apps", token, Some(wrong)).await.expect(400);
    let expected = ["app_id", "burst_quota", "carry", "extra", "guaranteed_quota", "priority"];
    assert_eq!(refused.wrong_fields(), expected);
    assert_eq!(refused.header("content-type"), "application/problem+json");

    let first = world.call("GET", "/api/v1/apps/new", token, None).await.expect(200);
    let tag = first.header("etag").to_owned();
    let put = async |tag: &str, burst: u64| {
        let body = json!({"guaranteed_quota": 100, "burst_quota": burst, "priority": 1});
        world.call_with("PUT", "/api/v1/apps/new", token, Some(body), &[("if-match", tag)]).await
    };
    let second = put(&tag, 600).await.expect(200);
    put(&tag, 700).await.expect(412);
    let again = put(second.header("etag"), 600).await.expect(200);
    assert_eq!(again.header("etag"), second.header("etag"), "the same again changes nothing");
    let too_much = json!({"guaranteed_quota": 900_000, "burst_quota": 900_000});
    let refused = world.call("PUT", "/api/v1/apps/new", token, Some(too_much)).await.expect(400);
    assert_eq!(refused.wrong_fields(), ["guaranteed_quota"]);

    let listed = world.call("GET", "/api/v1/apps?search=NEW&limit=5", token, None).await.expect(200);
    assert_eq!(
        (listed.body["total"].clone(), listed.body["data"][0]["burst_quota"].clone()),
        (json!(1), json!(600))
    );
    let sorted = world
        .call("GET", "/api/v1/apps?sort=guaranteed_quota&descending=true", token, None)
        .await
        .expect(200);
    assert_eq!(sorted.body["data"][0]["app_id"], "video-service");
    world.call("GET", "/api/v1/apps?limit=0", token, None).await.expect(400);

    world.call_with("DELETE", "/api/v1/apps/new", token, None, &[("if-match", &tag)]).await.expect(412);
    world.call("DELETE", "/api/v1/apps/new", token, None).await.expect(204);
    world.call("DELETE", "/api/v1/apps/new", token, None).await.expect(204);
    world.call("GET", "/api/v1/apps/new", token, None).await.expect(404);

    let audit = world.call("GET", "/api/v1/audit?action=app&target=new", token, None).await.expect(200);
    let actions: Vec<&str> = audit.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["app.delete", "app.update", "app.create"]);
    assert_eq!(audit.body["data"][1]["before"]["burst_quota"], 500);
    assert_eq!(audit.body["data"][1]["after"]["burst_quota"], 600);
    assert_eq!(audit.body["data"][1]["ip"], "127.0.0.1");
}

/// Versions can be compared and gone back to; policies can be exported and imported, all or nothing.
pub(crate) async fn versions(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    let list = async || world.call("GET", "/api/v1/config/versions", token, None).await.expect(200).body;
    world.wait(async || list().await["total"] == 1).await;
    assert_eq!(list().await["data"][0]["kind"], "found");
    let put = async |app: &str, guaranteed: u64| {
        let body =
            json!({"guaranteed_quota": guaranteed, "burst_quota": 60_000, "priority": 1, "reason": "more"});
        world.call("PUT", &format!("/api/v1/apps/{app}"), token, Some(body)).await
    };
    put("app-a", 11_000).await.expect(200);
    put("brand-new", 500).await.expect(201);
    let diff = world.call("GET", "/api/v1/config/versions/1/diff/3", token, None).await.expect(200);
    let fields: Vec<(&str, &str)> = diff.body["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["id"].as_str().unwrap(), change["field"].as_str().unwrap()))
        .collect();
    assert_eq!(fields, [("app-a", "burst_quota"), ("app-a", "guaranteed_quota"), ("brand-new", "")]);
    // Every node applies it once it has read that far: there is one.
    world
        .wait(async || {
            let version = world.call("GET", "/api/v1/config/versions/3", token, None).await.expect(200);
            version.body["applied"] == json!({"nodes": 1, "of": 1, "names": ["node-01"]})
        })
        .await;

    let rolled =
        world.call("POST", "/api/v1/config/versions/1/rollback", token, Some(json!({}))).await.expect(200);
    assert_eq!(rolled.body["version"], 4);
    let app = world.call("GET", "/api/v1/apps/app-a", token, None).await.expect(200);
    assert_eq!(app.body["guaranteed_quota"], 10_000);
    world.call("GET", "/api/v1/apps/brand-new", token, None).await.expect(404);
    world.call("POST", "/api/v1/config/versions/99/rollback", token, Some(json!({}))).await.expect(404);

    let export = world.call("GET", "/api/v1/config/export", token, None).await.expect(200).body;
    let import = async |body: Value| world.call("POST", "/api/v1/config/import", token, Some(body)).await;
    let same = import(json!({"apps": export["apps"], "prune": true})).await.expect(200);
    assert_eq!(same.body, json!({"version": null, "changes": [], "unscheduled": []}));
    let mut apps = export["apps"].as_array().unwrap().clone();
    apps[0]["guaranteed_quota"] = json!(9_000);
    apps.pop();
    let dry = import(json!({"apps": apps, "prune": true, "dry_run": true})).await.expect(200);
    assert_eq!(
        (dry.body["version"].clone(), dry.body["changes"].as_array().unwrap().len()),
        (Value::Null, 2)
    );
    let real = import(json!({"apps": apps, "prune": true})).await.expect(200);
    assert_eq!(real.body["changes"], dry.body["changes"]);
    (apps[0]["guaranteed_quota"], apps[0]["burst_quota"]) = (json!(900_000), json!(900_000));
    let refused = import(json!({"apps": [apps[0], {"app_id": "x"}, 7]})).await.expect(400);
    assert_eq!(refused.wrong_fields(), ["apps[1].burst_quota", "apps[1].guaranteed_quota", "apps[2]"]);
    let too_much = import(json!({"apps": apps})).await.expect(400);
    assert_eq!(too_much.wrong_fields(), ["apps"]);
    import_clusters(&world, token).await;
}

/// What clusters can stand is part of an import, which fits as a whole or not at all, and only admins change it.
async fn import_clusters(world: &World, token: &str) {
    let operator = &world.token(token, "operator").await;
    let import =
        async |token: &str, body: Value| world.call("POST", "/api/v1/config/import", token, Some(body)).await;
    let cluster = |capacity: u64| json!([{"id": "cluster-01", "capacity": capacity}]);
    let large = json!([{"id": "app-c", "guaranteed_quota": 1_500_000, "burst_quota": 1_500_000}]);
    import(token, json!({"apps": large})).await.expect(400);
    import(operator, json!({"apps": [], "clusters": cluster(1_000_000)})).await.expect(200);
    import(operator, json!({"apps": large, "clusters": cluster(2_000_000)})).await.expect(403);
    let both = json!({"apps": large, "clusters": cluster(2_000_000)});
    let mut dry = both.clone();
    dry["dry_run"] = json!(true);
    let foreseen = import(token, dry).await.expect(200).body["changes"].clone();
    let change = json!({"kind": "cluster", "id": "cluster-01", "field": "capacity", "before": 1_000_000, "after": 2_000_000});
    assert!(foreseen.as_array().unwrap().contains(&change), "{foreseen}");
    assert_eq!(import(token, both).await.expect(200).body["changes"], foreseen);
    let export = world.call("GET", "/api/v1/config/export", token, None).await.expect(200).body;
    assert_eq!(
        (&export["clusters"][0]["capacity"], &export["clusters"][0]["id"]),
        (&json!(2_000_000), &json!("cluster-01"))
    );
    import(token, json!({"apps": [], "clusters": cluster(1_000_000)})).await.expect(400);
    let odd = json!([{"id": "nowhere"}, {"id": "cluster-01", "capacity": 0, "colour": 1}, 7, {"id": "cluster-01"}, {"id": "cluster-01"}]);
    let refused = import(token, json!({"apps": [], "clusters": odd})).await.expect(400);
    let wrong =
        ["clusters[0].id", "clusters[1].capacity", "clusters[1].colour", "clusters[2]", "clusters[4].id"];
    assert_eq!(refused.wrong_fields(), wrong);
}

/// Every token of a cluster is told by name and to the millionth, and what came is what is there and what went.
pub(crate) async fn balance(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    let cluster = world.node.standing().into_keys().next().unwrap();
    let app = tollgate_core::id::AppId::new("app-a").unwrap();
    let cost = tollgate_core::units::Tokens::from_micros(2_500_000);
    world.wait(async || world.node.ledger().acquire(&cluster, &app, cost).await.is_ok()).await;
    let told = world.call("GET", "/api/v1/clusters/cluster-01/balance", token, None).await.expect(200).body;
    assert_eq!((&told["balances"], told["depth"].as_f64()), (&json!(true), Some(1_200_000.0)), "{told}");
    assert!(told["slack"].as_f64().unwrap() + told["meters"].as_f64().unwrap() <= 1_200_000.0, "{told}");
    let line = told["apps"].as_array().unwrap().iter().find(|line| line["app_id"] == "app-a").unwrap();
    assert_eq!((&line["balances"], &line["spent"]), (&json!(true), &json!(2.5)), "{line}");
    let sum = |names: &[&str]| names.iter().map(|name| line[name].as_f64().unwrap()).sum::<f64>();
    let came = sum(&["opened", "minted", "drawn", "loaned", "adopted", "overrun"]);
    let there = sum(&["rights", "outstanding"]);
    let went = sum(&["spent", "lost", "repaid", "expired", "suspected", "dropped"]);
    assert!((came - there - went).abs() < 1e-6, "{line}");
    assert_eq!(line["leased"], line["outstanding"]);
}

/// An emergency is declared with a reason, seen by everybody, ended, and kept in the history.
pub(crate) async fn emergency(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    let status = world.call("GET", "/api/v1/emergency", token, None).await.expect(200);
    assert_eq!(status.body["active"], false);
    let effects = &status.body["clusters"][0]["effects"];
    assert_eq!(
        (effects[1]["guaranteed"].clone(), effects[1]["in_force"].clone()),
        (json!(10_000), json!(5_000))
    );
    let refused = world
        .call("POST", "/api/v1/emergency/activate", token, Some(json!({"duration": 0})))
        .await
        .expect(400);
    assert_eq!(refused.wrong_fields(), ["duration", "reason"]);
    let body = json!({"reason": "disks burn", "duration": 60});
    let on = world.call("POST", "/api/v1/emergency/activate", token, Some(body)).await.expect(200);
    assert_eq!(
        (on.body["active"].clone(), on.body["clusters"][0]["reason"].clone()),
        (json!(true), json!("disks burn"))
    );
    world.wait(async || world.node.standing().values().all(|standing| standing.is_emergency)).await;
    let off = world.call("POST", "/api/v1/emergency/deactivate", token, Some(json!({}))).await.expect(200);
    assert_eq!(off.body["active"], false);
    let history = world.call("GET", "/api/v1/emergency/history", token, None).await.expect(200);
    assert_eq!(history.body["total"], 1);
    let entry = &history.body["data"][0];
    assert_eq!((entry["actor"].clone(), entry["ended_by"].clone()), (json!("admin"), json!("admin")));
}

/// Accounts and tokens: made, changed, revoked; somebody is always left who can let others in.
pub(crate) async fn accounts(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    let body = json!({"username": "ann", "role": "viewer"});
    let made = world.call("POST", "/api/v1/users", token, Some(body.clone())).await.expect(201);
    let password = made.body["password"].as_str().unwrap().to_owned();
    world.call("POST", "/api/v1/users", token, Some(body)).await.expect(409);
    let ann = token_of(&world.log_in("ann", &password).await.expect(200));
    world.call("GET", "/api/v1/apps", &ann, None).await.expect(403);
    let change = json!({"current": password, "new": PASSWORD});
    let ann = token_of(&world.call("PUT", "/api/v1/me/password", &ann, Some(change)).await.expect(200));
    world.call("GET", "/api/v1/apps", &ann, None).await.expect(200);
    world.call("PUT", "/api/v1/users/ann", token, Some(json!({"role": "operator"}))).await.expect(200);
    world.call("GET", "/api/v1/apps", &ann, None).await.expect(401);
    let ann = token_of(&world.log_in("ann", PASSWORD).await.expect(200));
    world.call("DELETE", "/api/v1/users/ann/sessions", token, None).await.expect(204);
    world.call("GET", "/api/v1/apps", &ann, None).await.expect(401);
    world.call("PUT", "/api/v1/users/ann", token, Some(json!({"enabled": false}))).await.expect(200);
    world.log_in("ann", PASSWORD).await.expect(401);
    world.call("PUT", "/api/v1/users/admin", token, Some(json!({"role": "viewer"}))).await.expect(409);
    world.call("DELETE", "/api/v1/users/admin", token, None).await.expect(409);
    world.call("DELETE", "/api/v1/users/ann", token, None).await.expect(204);
    world.call("DELETE", "/api/v1/users/ann", token, None).await.expect(204);

    let machine = world.token(token, "operator").await;
    world.call("GET", "/api/v1/apps", &machine, None).await.expect(200);
    world.call("GET", "/api/v1/users", &machine, None).await.expect(403);
    let (head, tail) = machine.split_at(machine.len() - 1);
    let forged = format!("{head}{}", if tail == "0" { "1" } else { "0" });
    world.call("GET", "/api/v1/apps", &forged, None).await.expect(401);
    let tokens = world.call("GET", "/api/v1/tokens", token, None).await.expect(200);
    assert!(!tokens.body.to_string().contains(machine.rsplit('_').next().unwrap()), "a secret is told once");
    let id = tokens.body["data"][0]["id"].as_str().unwrap().to_owned();
    world.call("DELETE", &format!("/api/v1/tokens/{id}"), token, None).await.expect(204);
    world.call("GET", "/api/v1/apps", &machine, None).await.expect(401);
    let audit = world.call("GET", "/api/v1/audit?limit=100", token, None).await.expect(200);
    assert!(!audit.body.to_string().contains(PASSWORD));
    for (action, key, was) in
        [("token.delete", "role", json!("operator")), ("user.delete", "enabled", json!(false))]
    {
        let entry = audit.body["data"].as_array().unwrap().iter().find(|entry| entry["action"] == action);
        assert_eq!(entry.unwrap()["before"][key], was, "{action}");
    }
    tokens_end(&world, token, database).await;
    lost_updates(&world, token).await;
}

/// Whoever has seen an account or a rule as it was, and says so, does not change it as it is.
async fn lost_updates(world: &World, token: &str) {
    let call = async |method: &str, path: &str, body: Option<Value>, tag: &str| {
        world.call_with(method, path, token, body, &[("if-match", tag)]).await
    };
    let body = json!({"username": "cleo", "role": "viewer", "password": PASSWORD});
    world.call("POST", "/api/v1/users", token, Some(body)).await.expect(201);
    let places = [
        ("/api/v1/users/cleo", json!({"role": "operator"}), json!({"enabled": false})),
        ("/api/v1/alert-rules/debt", json!({"threshold": 0.7}), json!({"enabled": false})),
    ];
    for (path, first, second) in places {
        let seen = world.call("GET", path, token, None).await.expect(200).header("etag").to_owned();
        assert!(seen.len() > 2, "{path} has no tag");
        let changed = call("PUT", path, Some(first.clone()), &seen).await.expect(200);
        let late = call("PUT", path, Some(second.clone()), &seen).await.expect(412);
        assert_eq!(late.header("content-type"), "application/problem+json");
        assert_eq!(late.body["type"], "urn:tollgate:problem:changed_meanwhile");
        let now = world.call("GET", path, token, None).await.expect(200);
        assert_eq!((now.header("etag"), &now.body["enabled"]), (changed.header("etag"), &json!(true)));
        assert_ne!(now.header("etag"), seen);
        call("PUT", path, Some(second), now.header("etag")).await.expect(200);
    }
    world.call("GET", "/api/v1/alert-rules/nothing", token, None).await.expect(404);
    // Logging in is no change that anybody could lose.
    let path = "/api/v1/users/admin";
    let seen = world.call("GET", path, token, None).await.expect(200).header("etag").to_owned();
    world.log_in("admin", PASSWORD).await.expect(200);
    assert_eq!(world.call("GET", path, token, None).await.expect(200).header("etag"), seen);
    call("DELETE", "/api/v1/users/cleo", None, &seen).await.expect(412);
    call("DELETE", "/api/v1/users/cleo", None, "*").await.expect(204);
    call("DELETE", "/api/v1/users/cleo", None, "*").await.expect(412);
}

/// Does something to the database behind the back of the control plane.
async fn execute(database: &str, statement: &'static str) {
    let url = if database.contains("://") { database.to_owned() } else { format!("sqlite://{database}") };
    let pool = sqlx::AnyPool::connect(&url).await.unwrap();
    sqlx::query(statement).execute(&pool).await.unwrap();
    pool.close().await;
}

/// A token ends with its time, and with the account of whoever made it.
async fn tokens_end(world: &World, token: &str, database: &str) {
    let body = json!({"username": "bob", "role": "admin", "password": PASSWORD});
    world.call("POST", "/api/v1/users", token, Some(body)).await.expect(201);
    let bob = token_of(&world.log_in("bob", PASSWORD).await.expect(200));
    let change = json!({"current": PASSWORD, "new": format!("{PASSWORD}!")});
    let bob = token_of(&world.call("PUT", "/api/v1/me/password", &bob, Some(change)).await.expect(200));
    let (short, long) = (world.token(token, "viewer").await, world.token(&bob, "viewer").await);
    for machine in [&short, &long] {
        world.call("GET", "/api/v1/apps", machine, None).await.expect(200);
    }
    execute(database, "UPDATE tokens SET expires_at = 1 WHERE created_by = 'admin'").await;
    world.call("GET", "/api/v1/apps", &short, None).await.expect(401);
    world.call("GET", "/api/v1/apps", &long, None).await.expect(200);
    world.call("DELETE", "/api/v1/users/bob", token, None).await.expect(204);
    world.call("GET", "/api/v1/apps", &long, None).await.expect(401);
    tokens_follow_their_account(world, token).await;
}

/// A token may do no more than the account that it belongs to, and one that a token made belongs to the same account.
async fn tokens_follow_their_account(world: &World, token: &str) {
    let body = json!({"username": "dora", "role": "admin", "password": PASSWORD});
    world.call("POST", "/api/v1/users", token, Some(body.clone())).await.expect(201);
    let dora = token_of(&world.log_in("dora", PASSWORD).await.expect(200));
    let change = json!({"current": PASSWORD, "new": format!("{PASSWORD}!")});
    let dora = token_of(&world.call("PUT", "/api/v1/me/password", &dora, Some(change)).await.expect(200));
    // It has the name of a person, which is not whose it is.
    let named = Some(json!({"name": "admin", "role": "admin"}));
    let first = world.call("POST", "/api/v1/tokens", &dora, named).await.expect(201);
    let first = first.body["secret"].as_str().unwrap().to_owned();
    let second = world.token(&first, "admin").await;
    let mine = world.call("GET", "/api/v1/tokens?created_by=dora", token, None).await.expect(200);
    assert_eq!(mine.body["total"], 2, "{}", mine.body);
    let set = async |change: Value| {
        world.call("PUT", "/api/v1/users/dora", token, Some(change)).await.expect(200);
    };
    let statuses = async |path: &str| {
        (
            world.call("GET", path, &first, None).await.status,
            world.call("GET", path, &second, None).await.status,
        )
    };
    assert_eq!(statuses("/api/v1/users").await, (200, 200));
    set(json!({"role": "viewer"})).await;
    assert_eq!(statuses("/api/v1/users").await, (403, 403));
    assert_eq!(statuses("/api/v1/apps").await, (200, 200));
    set(json!({"enabled": false})).await;
    assert_eq!(statuses("/api/v1/apps").await, (401, 401));
    set(json!({"enabled": true, "role": "admin"})).await;
    assert_eq!(statuses("/api/v1/users").await, (200, 200));
    tokens_wait_for_the_password(world, token, &first).await;
    assert_eq!(statuses("/api/v1/me").await, (200, 200));
    world.call("DELETE", "/api/v1/users/dora", token, None).await.expect(204);
    world.call("POST", "/api/v1/users", token, Some(body)).await.expect(201);
    assert_eq!(statuses("/api/v1/apps").await, (401, 401), "the account is another one");
}

/// Whoever made themselves a token with the account of another may do nothing with it once that account has to change its password,
/// not even go on listening.
async fn tokens_wait_for_the_password(world: &World, token: &str, machine: &str) {
    let mut listens = open_at(world.address(), machine).await;
    let reset = world.call("POST", "/api/v1/users/dora/password", token, None).await.expect(200);
    for (method, path) in [("GET", "/api/v1/apps"), ("GET", "/api/v1/me"), ("POST", "/api/v1/ws/ticket")] {
        let refused = world.call(method, path, machine, None).await.expect(403);
        assert_eq!(refused.body["type"], "urn:tollgate:problem:password_change_required", "{method} {path}");
    }
    assert_eq!(reason_of_end(&mut listens).await, "the session is over");
    let given = reset.body["password"].as_str().unwrap();
    let dora = token_of(&world.log_in("dora", given).await.expect(200));
    let change = json!({"current": given, "new": PASSWORD});
    world.call("PUT", "/api/v1/me/password", &dora, Some(change)).await.expect(200);
}

/// What happens is in the history, also after a restart, and can be explained.
pub(crate) async fn history(database: &str) {
    let mut world = World::start(database).await;
    let token = world.admin().await;
    let mut refused = None;
    for _ in 0..300 {
        match world.node.admit(&Request::new("app-c", Operation::Get)).await {
            Ok(permit) => permit.keep(),
            Err(decision) => refused = Some(world.node.record("app-c", &decision)),
        }
    }
    let refused = refused.expect("the guarantee is a hundred");
    let explained =
        world.call("GET", &format!("/api/v1/decisions/{refused}"), &token, None).await.expect(200);
    assert_eq!(
        (explained.body["verdict"].clone(), explained.body["app_id"].clone()),
        (json!("refused"), json!("app-c"))
    );
    assert_eq!(explained.body["cost"]["total"], 1);
    world.call("GET", "/api/v1/decisions/0000", &token, None).await.expect(400);
    let unknown = format!("/api/v1/decisions/{}", "0".repeat(32));
    world.call("GET", &unknown, &token, None).await.expect(404);
    world.call("GET", "/api/v1/decisions?limit=1000", &token, None).await.expect(200);
    let too_many = world.call("GET", "/api/v1/decisions?limit=1001", &token, None).await.expect(400);
    assert_eq!(too_many.wrong_fields(), ["limit"]);
    let passed = async |world: &World| {
        let dashboard = world.call("GET", "/api/v1/dashboard", &token, None).await.expect(200).body;
        dashboard["overview"]["total_requests_1h"].as_u64().unwrap()
    };
    world.wait(async || passed(&world).await >= 100).await;
    ledger_calls(&world, &token).await;
    let before = passed(&world).await;
    world.restart().await;
    world.wait(async || passed(&world).await > 0).await;
    assert_eq!(passed(&world).await, before);
    for range in ["5m", "1h", "6h", "24h", "7d"] {
        let path = format!("/api/v1/metrics/apps/app-c?range={range}");
        let metrics = world.call("GET", &path, &token, None).await.expect(200).body;
        assert!(range == "5m" || !metrics["points"].as_array().unwrap().is_empty(), "{range}");
    }
    world.call("GET", "/api/v1/metrics?range=2h", &token, None).await.expect(400);
    let body = json!({"policy": {"guaranteed_quota": 10_000, "burst_quota": 10_000}, "range": "1h"});
    let answer = world.call("POST", "/api/v1/apps/app-c/what-if", &token, Some(body)).await.expect(200).body;
    assert_eq!(answer["app"]["after"]["refused"], 0, "{answer}");
    assert_eq!(answer["demand"], json!({"nodes": ["node-01"], "of": 1}));
    what_if_neighbours(&world, &token).await;
    let wrong = json!({"policy": {"guaranteed_quota": 0}, "range": "7d"});
    let refused = world.call("POST", "/api/v1/apps/app-c/what-if", &token, Some(wrong)).await.expect(400);
    assert_eq!(refused.wrong_fields(), ["policy.burst_quota", "policy.guaranteed_quota", "range"]);
}

/// How the ledger is doing is told from every call to it.
async fn ledger_calls(world: &World, token: &str) {
    let dashboard = world.call("GET", "/api/v1/dashboard", token, None).await.expect(200).body;
    let health = &dashboard["redis_health"];
    let number = |key: &str| health[key].as_f64().unwrap();
    assert!(number("latency_p50") > 0.0, "{health}");
    assert!(number("latency_p50") <= number("latency_p95") && number("latency_p95") <= number("latency_p99"));
    assert!((0.0..=1.0).contains(&number("connection_pool_usage")), "{health}");
    let page = world.call("GET", "/metrics", token, None).await.expect(200).body;
    let read = |name: &str| {
        let row = format!("{name}{{cluster=\"cluster-01\"}} ");
        let line = page.as_str().unwrap().lines().find_map(|line| line.strip_prefix(&row)).unwrap();
        line.parse::<u64>().unwrap()
    };
    let (made, counted) = (read("tollgate_ledger_calls_total"), read("tollgate_ledger_call_seconds_count"));
    assert!(
        counted > 0 && (made - 1..=made).contains(&counted),
        "{counted} of {made}: one may be on its way"
    );
}

/// What is tried is all of the policy, and what it does to others is told.
async fn what_if_neighbours(world: &World, token: &str) {
    let tried = async |policy: Value| {
        let body = json!({"policy": policy, "range": "1h"});
        world.call("POST", "/api/v1/apps/app-c/what-if", token, Some(body)).await.expect(200).body
    };
    let same = json!({"guaranteed_quota": 100, "burst_quota": 100, "borrow": false});
    let with = |key: &str, value: Value| {
        let mut policy = same.clone();
        policy[key] = value;
        policy
    };
    let off = tried(with("enabled", json!(false))).await;
    assert_eq!((&off["app"]["after"]["granted"], &off["price_ratio"]), (&json!(0), &json!(1.0)), "{off}");
    let busy = || async {
        let request = Request::new("app-a", Operation::Get).with_cost(500);
        world.node.admit(&request).await.map(Permit::keep).is_ok()
    };
    world
        .wait(async || {
            busy().await;
            let answer = tried(same.clone()).await;
            let neighbours = answer["neighbours"].as_array().unwrap().clone();
            neighbours
                .iter()
                .any(|app| app["app_id"] == "app-a" && app["after"]["granted"].as_u64() > Some(0))
        })
        .await;
    // The ledger learns by and by what was spent on which operation.
    let dear = with("cost", json!({"base": {"GET": 3}}));
    world.wait(async || tried(dear.clone()).await["price_ratio"] == json!(3.0)).await;
    let answer = tried(dear).await;
    let demanded = |when: &str| answer["app"][when]["demanded"].as_u64().unwrap();
    assert_eq!(demanded("after"), 3 * demanded("before"), "{answer}");
}

/// An alert is raised once, told, acknowledged and resolved.
pub(crate) async fn alerts(database: &str) {
    let world = World::start(database).await;
    let token = &world.admin().await;
    let list = async |state: &str| {
        world.call("GET", &format!("/api/v1/alerts?state={state}"), token, None).await.expect(200).body
    };
    let body = json!({"reason": "a drill", "duration": 600});
    world.call("POST", "/api/v1/emergency/activate", token, Some(body)).await.expect(200);
    world.wait(async || list("open").await["total"] == 1).await;
    let alert = list("open").await["data"][0].clone();
    assert_eq!((alert["rule"].clone(), alert["severity"].clone()), (json!("emergency"), json!("critical")));
    let path = format!("/api/v1/alerts/{}/acknowledge", alert["id"].as_str().unwrap());
    let seen = world.call("POST", &path, token, None).await.expect(200);
    assert_eq!(seen.body["acknowledged_by"], "admin");
    assert_eq!(list("acknowledged").await["total"], 1);
    world.call("POST", "/api/v1/emergency/deactivate", token, Some(json!({}))).await.expect(200);
    world.wait(async || list("open").await["total"] == 0).await;
    assert_eq!(list("resolved").await["total"], 1);
    world.call("POST", "/api/v1/alerts/nothing/acknowledge", token, None).await.expect(404);
    let rule = json!({"threshold": 0.5, "for_s": 5, "severity": "info", "enabled": false});
    let changed = world.call("PUT", "/api/v1/alert-rules/refusal_ratio", token, Some(rule)).await.expect(200);
    assert_eq!(
        (changed.body["threshold"].clone(), changed.body["enabled"].clone()),
        (json!(0.5), json!(false))
    );
    let rules = world.call("GET", "/api/v1/alert-rules", token, None).await.expect(200);
    assert_eq!(rules.body["data"].as_array().unwrap().len(), 8);
    let private = json!({"url": "http://127.0.0.1:9/"});
    world.call("POST", "/api/v1/webhooks", token, Some(private)).await.expect(400);
}

/// What fails beside requests is told, for as long as it does.
pub(crate) async fn upkeep(database: &str) {
    let mut world = World::start(database).await;
    let token = &world.admin().await;
    let upkeep = world.upkeep();
    let open = async || world.call("GET", "/api/v1/alerts?state=open", token, None).await.expect(200).body;
    let fails = async |task: &str| {
        let page = world.call("GET", "/metrics", "", None).await.expect(200).body;
        let line = format!("tollgate_upkeep_failing{{task=\"{task}\"}} ");
        page.as_str().unwrap().lines().find_map(|found| found.strip_prefix(&line)).unwrap() == "1.0"
    };
    assert!(!fails("reload").await && !fails("snapshot").await && !fails("database").await);
    upkeep.note(Task::Snapshot, false);
    assert!(fails("snapshot").await && !fails("reload").await);
    world.wait(async || open().await["total"] == 1).await;
    let alert = open().await["data"][0].clone();
    assert_eq!((&alert["rule"], &alert["subject"]), (&json!("upkeep_failing"), &json!("node-01/snapshot")));
    upkeep.note(Task::Snapshot, true);
    world.wait(async || open().await["total"] == 0).await;

    // Where nodes share a database each writes to it once a second.
    if database.contains("://") {
        for (statement, is_so) in
            [("ALTER TABLE nodes RENAME TO away", true), ("ALTER TABLE away RENAME TO nodes", false)]
        {
            execute(database, statement).await;
            world.wait(async || fails("database").await == is_so).await;
        }
    }
    execute(database, "DROP TABLE history_pieces").await;
    world.stop().await;
    assert!(upkeep.is_failing(Task::Database));
}
