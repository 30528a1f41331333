//! The very snippets of `docs/integrations`, in the proxies that they are for.

use crate::support::{APPS, Program, Reply, Tollgate, Upstream, ask, docs_block};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use tempfile::TempDir;
use tollgate_testkit::free_port;

/// A proxy between clients and a server, which asks a tollgate.
struct Site {
    front: SocketAddr,
    upstream: Upstream,
    tollgate: Tollgate,
    home: TempDir,
}

impl Site {
    fn new() -> Self {
        Self {
            front: SocketAddr::from(([127, 0, 0, 1], free_port().unwrap())),
            upstream: Upstream::start(),
            tollgate: Tollgate::start(APPS),
            home: TempDir::new().unwrap(),
        }
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    /// Saves a snippet, with the addresses and folders of this test in place of those that are in the document.
    fn save(&self, document: &str, file: &str, change: impl FnOnce(String) -> String) -> String {
        let text = docs_block(document, file)
            .replace("127.0.0.1:8081", &self.tollgate.check.to_string())
            .replace("127.0.0.1:9000", &self.upstream.address.to_string())
            .replace("127.0.0.1:8000", &self.front.to_string())
            .replace("/etc/nginx/", &format!("{}/", self.home().display()))
            .replace("/etc/haproxy/", &format!("{}/", self.home().display()));
        let path = self.home().join(file);
        std::fs::write(&path, change(text)).unwrap();
        path.display().to_string()
    }

    fn ask(&self, method: &str, app: &str, body: &str) -> Reply {
        ask(self.front, &format!("{method} /some/file?a=b"), &[&format!("x-tollgate-app: {app}")], body)
    }

    /// What every proxy must do: let pass what may pass, and refuse what may not by 429 with the reason and when to
    /// come back.
    fn prove(&self, tells_size: bool) {
        let passed = self.ask("GET", "tiny", "");
        assert_eq!((passed.status, passed.text().as_str()), (200, "ok"));
        let before = self.upstream.requests();
        let answers: Vec<Reply> = (0..20).map(|_| self.ask("GET", "tiny", "")).collect();
        let passed = answers.iter().filter(|answer| answer.status == 200).count();
        assert!((2..15).contains(&passed), "{passed} of 20 passed");
        assert_eq!(self.upstream.requests() - before, passed as u64, "a refused request goes no further");
        let refused = answers.iter().find(|answer| answer.status != 200).unwrap();
        assert_eq!(refused.status, 429, "{refused:?}");
        assert!(["1", "2"].contains(&refused.header("retry-after")), "{refused:?}");
        assert_eq!(refused.header("x-ratelimit-cost"), "1");
        assert_eq!(refused.header("x-ratelimit-limit"), "3");
        assert_eq!(refused.json()["reason"], "app_exhausted");
        assert_eq!(refused.json()["error"], "rate_limit_exceeded");

        // A PUT costs 5, and one more for its bytes where the proxy tells of them; the next is refused.
        let first = self.ask("PUT", "writer", "some bytes");
        assert_eq!(first.status, 200, "{first:?}");
        let refused = self.ask("PUT", "writer", "some bytes");
        assert_eq!(refused.status, 429);
        assert_eq!(refused.header("x-ratelimit-cost"), if tells_size { "6" } else { "5" });

        // Nobody gets a better price by saying so.
        let names = ["x-tollgate-app: writer", "x-tollgate-operation: HEAD", "x-tollgate-bytes: 0"];
        let lies = [&names[..], &["x-original-method: HEAD", "x-forwarded-method: HEAD"]].concat();
        let answer = ask(self.front, "PUT /x", &lies, "some bytes");
        assert_eq!(answer.status, 429, "{answer:?}");
        assert_eq!(self.ask("GET", "nobody", "").status / 100, 4, "strangers are refused");
    }

    /// What a client is told whose path the check cannot read: nothing that sounds like coming back later.
    fn prove_ambiguity_is_told(&self, status: u16) {
        let before = self.upstream.requests();
        let told = ask(self.front, "GET /some/..%2ffile", &["x-tollgate-app: large"], "");
        assert_eq!((told.status, told.header("retry-after")), (status, ""), "{told:?}");
        if status == 400 {
            assert_eq!(told.json()["reason"], "invalid_input", "{told:?}");
        }
        assert_eq!(self.upstream.requests(), before, "it goes no further");
    }

    /// What a proxy does that writes refusals anew: it leaves out nothing that clients go by.
    fn prove_all_is_told(&self) {
        let passed = self.ask("GET", "large", "");
        assert_eq!((passed.status, passed.header("x-ratelimit-cost")), (200, "1"), "{passed:?}");
        assert!(passed.number("x-ratelimit-remaining") > 0 && passed.number("x-ratelimit-reset") > 0);
        assert_eq!(passed.header("ratelimit-policy"), r#""app";q=500000;qu="tokens";pk=:bGFyZ2U=:"#);
        assert!(passed.header("ratelimit").starts_with("\"app\";r="), "{passed:?}");
        assert_eq!((passed.header("x-tollgate-decision").len(), passed.header("retry-after")), (32, ""));

        let refused =
            (0..20).map(|_| self.ask("GET", "tiny", "")).find(|answer| answer.status != 200).unwrap();
        let content = refused.json();
        assert_eq!((refused.status, &content["error"]), (429, &json!("rate_limit_exceeded")), "{refused:?}");
        assert_eq!(content["cost"], 1);
        assert_eq!(content["retry_after"], refused.number("retry-after"));
        assert_eq!(content["remaining"], refused.number("x-ratelimit-remaining"));
        assert_eq!(content["decision_id"], refused.header("x-tollgate-decision"));
        assert_eq!(refused.header("x-tollgate-reason"), content["reason"].as_str().unwrap());
        assert!(refused.header("ratelimit").contains(";pk=:dGlueQ==:"), "{refused:?}");

        let stranger = self.ask("GET", "nobody", "");
        assert_eq!((stranger.status, stranger.header("retry-after")), (403, ""), "{stranger:?}");
        assert_eq!(stranger.header("x-tollgate-reason"), "unknown_app");
        let content = stranger.json();
        assert_eq!(
            (&content["error"], &content["reason"]),
            (&json!("request_refused"), &json!("unknown_app"))
        );
        assert_eq!(content["decision_id"], stranger.header("x-tollgate-decision"));
        assert_eq!((&content["retry_after"], &content["remaining"]), (&Value::Null, &json!(0)));
    }
}

#[test]
fn nginx() {
    let site = Site::new();
    site.save("nginx.md", "tollgate.conf", |text| text);
    let config = site.save("nginx.md", "site.conf", |text| {
        let home = site.home().display();
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {home}/{name};\n"))
            .concat();
        format!(
            "daemon off; master_process off; pid {home}/pid; error_log {home}/error.log;\n\
             events {{}}\nhttp {{\naccess_log off;\n{paths}\n{text}\n}}"
        )
    });
    let _nginx = Program::start("nginx", &["-c", &config, "-p", "."], site.home(), site.front);
    site.prove(true);
    site.prove_ambiguity_is_told(500);
    site.prove_all_is_told();
}

#[test]
fn caddy() {
    let site = Site::new();
    let config = site.save("caddy.md", "Caddyfile", |text| {
        let text = text.replace(":8000", &format!(":{}", site.front.port()));
        format!("{{\n\tadmin off\n}}\n{text}")
    });
    let _caddy = Program::start("caddy", &["run", "--config", &config], site.home(), site.front);
    site.prove(true);
    site.prove_ambiguity_is_told(400);
}

#[test]
fn traefik() {
    let site = Site::new();
    let config = site.save("traefik.md", "tollgate.yaml", |text| text);
    let entry = format!("--entryPoints.web.address={}", site.front);
    let file = format!("--providers.file.filename={config}");
    let quiet = ["--global.checkNewVersion=false", "--global.sendAnonymousUsage=false"];
    let _traefik = Program::start("traefik", &[&entry, &file, quiet[0], quiet[1]], site.home(), site.front);
    // It listens before it has read its routes.
    crate::support::eventually("a route", || site.ask("GET", "large", "").status == 200);
    site.prove(false);
    site.prove_ambiguity_is_told(400);
}

#[test]
fn haproxy() {
    let site = Site::new();
    site.save("haproxy.md", "tollgate.lua", |text| text);
    let config = site.save("haproxy.md", "haproxy.cfg", |text| text);
    let _haproxy = Program::start("haproxy", &["-db", "-f", &config], site.home(), site.front);
    site.prove(true);
    site.prove_ambiguity_is_told(400);
}
