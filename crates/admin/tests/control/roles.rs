//! Every route against every role: who may not do something is told so, and nobody else is.

use crate::support::{PASSWORD, World, cookie_of, token_of};
use serde_json::{Value, json};

const ROLES: [&str; 4] = ["known", "viewer", "operator", "admin"];

/// Routes that need nobody to be known, each for its own reason.
const OPEN: [&str; 5] = ["/health", "/ready", "/api/v1/login", "/api/v1/session/refresh", "/api/v1/ws"];

struct Route {
    method: String,
    path: String,
    /// Which of [`ROLES`] it needs.
    role: usize,
    has_body: bool,
}

/// All routes, from the description that the server gives of itself.
fn routes(document: &Value) -> Vec<Route> {
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["security"] == json!([{}]) {
                assert!(OPEN.contains(&path.as_str()), "{path} is open to anybody");
                continue;
            }
            let role = operation["x-required-role"]
                .as_str()
                .unwrap_or_else(|| panic!("{method} {path} names no role"));
            let role = ROLES.iter().position(|known| *known == role).unwrap();
            let has_body = operation.get("requestBody").is_some();
            let path = path
                .replace("{app_id}", "no-such-app")
                .replace("{cluster_id}", "no-such-cluster")
                .replace("{username}", "nobody")
                .replace("{version}", "999")
                .replace("{from}", "998")
                .replace("{to}", "999")
                .replace("{id}", "no-such-thing");
            assert!(!path.contains('{'), "{path}");
            routes.push(Route { method: method.to_uppercase(), path, role, has_body });
        }
    }
    routes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_is_open_to_its_roles_and_to_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let admin = world.admin().await;
    let document = world.call("GET", "/api/v1/openapi.json", "", None).await.expect(200).body;
    let routes = routes(&document);
    assert!(routes.len() > 45, "{} routes", routes.len());
    let mut tokens = Vec::new();
    for role in &ROLES[1..] {
        tokens.push(world.token(&admin, role).await);
    }
    for Route { method, path, role: needed, has_body } in &routes {
        let body = has_body.then(|| json!({"no_such_field": 1}));
        for wrong in ["", "x", "tgt_", "tgt_0_0", "a.b.c"] {
            let answer = world.call(method, path, wrong, body.clone()).await;
            assert_eq!(answer.status, 401, "{method} {path} as {wrong:?}: {}", answer.body);
        }
        for (token, role) in tokens.iter().zip(1..) {
            let answer = world.call(method, path, token, body.clone()).await;
            let is_refused = answer.status == 403;
            assert_eq!(is_refused, role < *needed, "{method} {path} as {}: {}", ROLES[role], answer.body);
            assert!(
                answer.status != 401 && answer.status < 500,
                "{method} {path}: {} {}",
                answer.status,
                answer.body
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_must_change_the_password_can_do_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let first = world.first_password().unwrap();
    let document = world.call("GET", "/api/v1/openapi.json", "", None).await.expect(200).body;
    for Route { method, path, role, has_body } in routes(&document) {
        let token = token_of(&world.log_in("admin", &first).await.expect(200));
        let body = has_body.then(|| json!({"no_such_field": 1}));
        let status = world.call(&method, &path, &token, body).await.status;
        assert_eq!(status == 403, role > 0, "{method} {path}: {status}");
    }
}

/// Whoever knows a name and has a dozen addresses can keep others from logging in under it, and does nothing to who is inside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_inside_goes_on_while_a_name_is_guessed_at_from_many_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start_with(folder.path().join("admin.db").to_str().unwrap(), |settings| {
        settings.logins_per_minute = 5;
        settings.trusted_proxies = vec![tollgate_config::gateway::Network::new("127.0.0.0/8").unwrap()];
    })
    .await;
    let admin = world.admin().await;
    let machine = world.token(&admin, "viewer").await;
    let bob = json!({"username": "bob", "role": "viewer", "password": PASSWORD});
    world.call("POST", "/api/v1/users", &admin, Some(bob)).await.expect(201);
    let log_in = async |name: &str, password: &str, from: &str| {
        let body = json!({"username": name, "password": password});
        world.call_with("POST", "/api/v1/login", "", Some(body), &[("x-forwarded-for", from)]).await
    };
    let opened = log_in("admin", PASSWORD, "198.51.100.1").await.expect(200);
    for last in 1..=12 {
        for _ in 0..5 {
            log_in("admin", "wrong", &format!("203.0.113.{last}")).await;
        }
    }
    log_in("admin", PASSWORD, "198.51.100.1").await.expect(429);
    log_in("bob", PASSWORD, "198.51.100.1").await.expect(200);
    world.call("GET", "/api/v1/apps", &machine, None).await.expect(200);
    let cookie = cookie_of(&opened);
    let again = world.call_with("POST", "/api/v1/session/refresh", "", None, &[("cookie", &cookie)]).await;
    let change = json!({"current": PASSWORD, "new": format!("{PASSWORD}!")});
    let token = token_of(&again.expect(200));
    world.call("PUT", "/api/v1/me/password", &token, Some(change)).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_odd_header_is_unauthorized_and_never_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    for odd in [
        "",
        "B",
        "Bearer",
        "Bearer ",
        "bearer  ",
        "Basic YTpi",
        "Bearer \u{e9}",
        "Bearertoken",
        &"x".repeat(8_000),
    ] {
        let answer = world.call_with("GET", "/api/v1/apps", "", None, &[("authorization", odd)]).await;
        assert_eq!(answer.status, 401, "{odd:?}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
    let page = world.call("GET", "/", "", None).await.expect(200);
    for header in ["content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy"]
    {
        assert_ne!(page.header(header), "", "{header}");
    }
    let cors = world.call_with("GET", "/api/v1/apps", "", None, &[("origin", "http://evil.example")]).await;
    assert_eq!(cors.header("access-control-allow-origin"), "");
    world.call("GET", "/api/v1/nothing", "", None).await.expect(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_token_is_nobodys() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::start(folder.path().join("admin.db").to_str().unwrap()).await;
    let (ours, again) = (world.admin().await, world.log_in("admin", PASSWORD).await.expect(200));
    let again = token_of(&again);
    world.call("GET", "/api/v1/apps", &again, None).await.expect(200);
    let parts = |token: &str| token.split('.').map(ToOwned::to_owned).collect::<Vec<String>>();
    let (ours, again) = (parts(&ours), parts(&again));
    // What it is signed by: "none" in three spellings, a public key in place of a secret, and a key that it brings along.
    let heads = [
        r#"{"alg":"none"}"#,
        r#"{"alg":"nOnE","typ":"JWT"}"#,
        r#"{"alg":""}"#,
        r#"{"alg":"RS256","typ":"JWT"}"#,
        r#"{"alg":"HS256","jwk":{"kty":"oct","k":"AA"}}"#,
        r#"{"alg":"HS256","kid":"../../dev/null"}"#,
    ];
    let mut forged = Vec::new();
    for head in heads.map(encoded) {
        forged.extend(["", ours[2].as_str()].map(|signature| format!("{head}.{}.{signature}", ours[1])));
    }
    // What it says: more than was signed, of another session, for longer, for another audience, signed by somebody else.
    let claims =
        json!({"sub": "admin", "sid": "s", "generation": 1, "exp": 9_999_999_999_u64, "iat": 0, "aud": "x"});
    let key = jsonwebtoken::EncodingKey::from_secret(b"another secret");
    forged.push(jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key).unwrap());
    forged.push(format!("{}.{}.{}", ours[0], encoded(&claims.to_string()), ours[2]));
    forged.push(format!("{}.{}.{}", again[0], again[1], ours[2]));
    forged.push(format!("{}.{}.{}", again[0], again[1], &again[2][1..]));
    forged.push(format!("{}.{}", again[0], again[1]));
    for token in forged {
        assert_eq!(world.call("GET", "/api/v1/apps", &token, None).await.status, 401, "{token}");
    }
}

/// As parts of a token are written: base64 for addresses, without padding.
fn encoded(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letters = text.as_bytes().chunks(3).flat_map(|three| {
        let bits = three.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte))
            << (8 * (3 - three.len()));
        (0..=three.len()).map(move |place| char::from(LETTERS[bits >> (18 - 6 * place) & 63]))
    });
    letters.collect()
}
