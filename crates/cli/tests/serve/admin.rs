//! Commands that speak to the control plane.

use crate::support::{APPS, Tollgate, ask, eventually, run};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Output;
use tempfile::TempDir;

/// A running system whose accounts are in a folder of their own.
struct System {
    tollgate: Tollgate,
    folder: TempDir,
}

impl System {
    fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let config = format!("[admin]\ndatabase = '{}'\n{APPS}", folder.path().join("accounts.db").display());
        Self { tollgate: Tollgate::start(&config), folder }
    }

    /// Runs `tollgate user WORDS` on its database.
    fn user(&self, words: &[&str]) -> Output {
        let config = self.tollgate.config.to_str().unwrap();
        run(&[&["user"][..], words, &["--json", "--config", config]].concat())
    }

    fn call(&self, line: &str, token: &str, body: &Value) -> (u16, Value) {
        call(self.tollgate.admin, line, token, body)
    }

    /// A token for machines, in a file.
    fn token_file(&self) -> String {
        let password = password(&self.user(&["reset-password", "admin"]));
        let (_, session) =
            self.call("POST /api/v1/login", "", &json!({"username": "admin", "password": password}));
        let token = session["access_token"].as_str().unwrap();
        let change = json!({"current": password, "new": "another password"});
        let (_, session) = self.call("PUT /api/v1/me/password", token, &change);
        let token = session["access_token"].as_str().unwrap();
        let (status, made) = self.call("POST /api/v1/tokens", token, &json!({"name": "a", "role": "admin"}));
        assert_eq!(status, 201, "{made}");
        let file = self.folder.path().join("token");
        std::fs::write(&file, format!("{}\n", made["secret"].as_str().unwrap())).unwrap();
        file.to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }
}

fn call(address: SocketAddr, line: &str, token: &str, body: &Value) -> (u16, Value) {
    let bearer = format!("authorization: Bearer {token}");
    let reply = ask(address, line, &["content-type: application/json", &bearer], &body.to_string());
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn password(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    value["password"].as_str().unwrap().to_owned()
}

#[test]
fn a_forgotten_password_is_reset_while_it_runs() {
    let system = System::start();
    let log_in = |name: &str, password: &str| {
        system.call("POST /api/v1/login", "", &json!({"username": name, "password": password}))
    };
    let first = password(&system.user(&["reset-password", "admin"]));
    let (status, session) = log_in("admin", &first);
    assert_eq!((status, &session["user"]["must_change_password"]), (200, &json!(true)), "{session}");
    let token = session["access_token"].as_str().unwrap();
    let second = password(&system.user(&["reset-password", "admin"]));
    assert_eq!(log_in("admin", &first).0, 401);
    assert_eq!(log_in("admin", &second).0, 200);
    assert_eq!(system.call("GET /api/v1/me", token, &Value::Null).0, 401, "its sessions are over");

    let made = password(&system.user(&["add", "ann", "--role", "operator"]));
    assert_eq!(log_in("ann", &made).0, 200);
    assert_eq!(system.user(&["add", "ann"]).status.code(), Some(1), "the name is taken");
    assert_eq!(system.user(&["set-role", "ann", "viewer"]).status.code(), Some(0));
    let list: Value = serde_json::from_slice(&system.user(&["list"]).stdout).unwrap();
    let roles: Vec<_> =
        list.as_array().unwrap().iter().map(|user| (&user["username"], &user["role"])).collect();
    assert_eq!(roles, [(&json!("admin"), &json!("admin")), (&json!("ann"), &json!("viewer"))]);
    assert_eq!(system.user(&["remove", "ann"]).status.code(), Some(0));
    assert_eq!(log_in("ann", &made).0, 401);
    for words in [&["remove", "ann"][..], &["reset-password", "ann"], &["set-role", "ann", "admin"]] {
        assert_eq!(system.user(words).status.code(), Some(1), "{words:?}");
    }
    assert_eq!(system.user(&["set-role", "admin", "emperor"]).status.code(), Some(2));
}

#[test]
fn the_balance_of_a_ledger_in_the_process_is_asked_for() {
    let system = System::start();
    let (url, token) = (format!("http://{}", system.tollgate.admin), system.token_file());
    let question = r#"{"app": "large", "cost": 7}"#;
    eventually("tokens", || ask(system.tollgate.check, "POST /v1/check", &[], question).status == 200);
    let audit =
        |words: &[&str]| run(&[&["audit", "--url", &url, "--token-file", &token][..], words].concat());
    let spent = || {
        let output = audit(&["--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&told["balances"], &told["clusters"]["cluster-01"]["depth"]),
            (&json!(true), &json!(1_200_000.0))
        );
        told["clusters"]["cluster-01"]["apps"]["large"]["spent"].clone()
    };
    eventually("what was spent to be reported", || spent() == json!(7.0));
    let output = audit(&[]);
    let text = said(&output);
    assert!(
        text.starts_with("cluster-01: adds up; headroom ") && text.contains("  large: adds up: "),
        "{text}"
    );
    // Whoever says where to ask is not answered from a file, and a configuration that says nothing of a ledger is enough.
    let config = system.file("elsewhere.toml", "[ledger]\nsnapshot = '/nowhere/at/all'\n");
    assert_eq!(audit(&["--config", &config]).status.code(), Some(0));
    let output = run(&["audit", "--url", &url]);
    assert_eq!(output.status.code(), Some(2), "nobody is let in without a token");
    assert!(said(&output).contains("--token-file"), "{}", said(&output));
    let closed = format!("http://127.0.0.1:{}", tollgate_testkit::free_port().unwrap());
    let output = run(&["audit", "--url", &closed, "--token-file", &token]);
    assert!(output.status.code() == Some(2) && said(&output).contains("cannot ask"), "{}", said(&output));
}

#[test]
fn a_file_is_compared_with_the_running_system_and_applied() {
    let system = System::start();
    let url = format!("http://{}", system.tollgate.admin);
    let token = system.token_file();
    let tollgate = |words: &[&str]| run(&[words, &["--url", &url, "--token-file", &token]].concat());
    let same = system.file("same.toml", APPS);
    let output = tollgate(&["diff", &same, "--prune"]);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""));

    let other = system.file(
        "other.toml",
        "[[clusters]]\nid = 'cluster-01'\ncapacity = 2000000\nmax_connections = 77\n\
         [[apps]]\nid = 'tiny'\nguaranteed_quota = 1\nburst_quota = 4\nborrow = false\n\
         [[apps]]\nid = 'large'\nguaranteed_quota = 1500000\nburst_quota = 2000000\n",
    );
    let expected = "~ apps.large.burst_quota: 500000 -> 2000000\n~ apps.large.guaranteed_quota: 100000 -> 1500000\n\
                    ~ apps.tiny.burst_quota: 3 -> 4\n- apps.writer\n\
                    ~ clusters.cluster-01.capacity: 1000000 -> 2000000\n\
                    ~ clusters.cluster-01.max_connections: 5000 -> 77\n";
    let output = tollgate(&["diff", &other, "--prune"]);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(1), expected));
    let output = tollgate(&["diff", &other]);
    assert_eq!((output.status.code(), said(&output)), (Some(1), expected.replace("- apps.writer\n", "")));

    let output = tollgate(&["replay", &other, "--app", "tiny", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = tollgate(&["apply", &other, "--prune", "--reason", "more to do"]);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), expected));
    let output = tollgate(&["diff", &other, "--prune"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = tollgate(&["apply", &same]);
    assert_eq!(output.status.code(), Some(0), "back again, what is not named stays: {}", said(&output));

    let secret = std::fs::read_to_string(&token).unwrap();
    let (_, versions) = system.call("GET /api/v1/config/versions?limit=50", secret.trim(), &Value::Null);
    let reasons: Vec<&Value> =
        versions["data"].as_array().unwrap().iter().map(|version| &version["reason"]).collect();
    assert_eq!(
        reasons.iter().filter(|reason| **reason == "more to do").count(),
        1,
        "all at once: {versions}"
    );
}

#[test]
fn what_an_export_gives_can_be_kept_as_a_file_and_applied() {
    let system = System::start();
    let url = format!("http://{}", system.tollgate.admin);
    let token = system.token_file();
    let secret = std::fs::read_to_string(&token).unwrap();
    let call = |line: &str, body: &Value| system.call(line, secret.trim(), body);
    let tollgate = |words: &[&str]| run(&[words, &["--url", &url, "--token-file", &token]].concat());
    let (status, export) = call("GET /api/v1/config/export", &Value::Null);
    assert_eq!((status, &export["clusters"][0]["id"]), (200, &json!("cluster-01")), "{export}");
    let kept = system.file("kept.json", &export.to_string());
    let output = tollgate(&["diff", &kept, "--prune"]);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""));

    let cluster = json!({"max_connections": 9, "burst_ratio": 1.5});
    assert_eq!(call("PUT /api/v1/clusters/cluster-01", &cluster).0, 200);
    let app = json!({"guaranteed_quota": 2, "burst_quota": 7, "shadow": true, "cost": {"base": {"GET": 4}}});
    assert_eq!(call("PUT /api/v1/apps/tiny", &app).0, 200);
    assert_eq!(call("PUT /api/v1/apps/late", &app).0, 201);
    let output = tollgate(&["apply", &kept, "--prune"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("~ clusters.cluster-01.max_connections: 9 -> 5000"), "{}", said(&output));
    assert_eq!(call("GET /api/v1/config/export", &Value::Null).1, export, "it is as it was");
}

#[test]
fn what_the_system_refuses_is_told() {
    let system = System::start();
    let url = format!("http://{}", system.tollgate.admin);
    let token = system.token_file();
    // Each file is right by itself: what is there already takes the room.
    let too_much = system
        .file("too-much.toml", "[[apps]]\nid = 'new'\nguaranteed_quota = 850000\nburst_quota = 850000\n");
    let output = run(&["apply", &too_much, "--url", &url, "--token-file", &token]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("more than 90 %"), "{}", said(&output));
    let output = run(&["diff", &too_much, "--url", &url]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--token-file"), "{}", said(&output));
    let elsewhere = system.file("elsewhere.toml", "[[clusters]]\nid = 'cluster-02'\n");
    let output = run(&["apply", &elsewhere, "--url", &url, "--token-file", &token]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("does not know cluster-02"), "{}", said(&output));
}
