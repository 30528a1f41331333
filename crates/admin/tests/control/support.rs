//! A control plane of our own, and a client that speaks plain HTTP to it.

use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tollgate_admin::{FIRST_USER, Handle, Settings, Upkeep};
use tollgate_config::Policy;
use tollgate_core::id::NodeId;
use tollgate_core::units::Millis;
use tollgate_ledger::MemoryLedger;
use tollgate_listen::Listeners;
use tollgate_node::{Node, Setup};

/// The password that everybody has in the tests.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A control plane with its node.
pub(crate) struct World {
    pub(crate) node: Node<MemoryLedger>,
    pub(crate) settings: Settings,
    handle: Option<Handle>,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The same, if it has that status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// The fields that were wrong, sorted.
    pub(crate) fn wrong_fields(&self) -> Vec<String> {
        let errors = self.body["errors"].as_array().cloned().unwrap_or_default();
        let mut paths: Vec<String> =
            errors.iter().map(|error| error["path"].as_str().unwrap().to_owned()).collect();
        paths.sort();
        paths
    }
}

impl World {
    /// Starts one on an empty database.
    pub(crate) async fn start(database: &str) -> Self {
        Self::start_with(database, |_| {}).await
    }

    pub(crate) async fn start_with(database: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let policy = Policy::from_value(&json!({
            "apps": [
                {"id": "video-service", "guaranteed_quota": 20_000, "burst_quota": 80_000, "priority": 0},
                {"id": "app-a", "guaranteed_quota": 10_000, "burst_quota": 50_000, "priority": 1},
                {"id": "app-c", "guaranteed_quota": 100, "burst_quota": 100, "borrow": false},
            ],
        }))
        .unwrap();
        let id = NodeId::new("node-01").unwrap();
        let mut setup = Setup::new(id.clone());
        // It is not asked here how soon a busy machine is.
        setup.manners.patience = Millis::from_secs(5);
        let node = Node::start(MemoryLedger::new(), setup, &policy);
        let mut settings = Settings::new(id);
        settings.listen = "127.0.0.1:0".parse().unwrap();
        settings.database = database.to_owned();
        (settings.calls_per_second, settings.logins_per_minute) = (100_000, 100_000);
        change(&mut settings);
        let handle =
            tollgate_admin::start(node.clone(), settings.clone(), &Listeners::default()).await.unwrap();
        let world = Self { node, settings, handle: Some(handle) };
        world.wait(async || world.call("GET", "/ready", "", None).await.status == 200).await;
        world
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.handle.as_ref().unwrap().local_addr()
    }

    pub(crate) fn first_password(&self) -> Option<String> {
        self.handle.as_ref().unwrap().first_password().map(ToOwned::to_owned)
    }

    pub(crate) fn upkeep(&self) -> Arc<Upkeep> {
        Arc::clone(self.handle.as_ref().unwrap().upkeep())
    }

    pub(crate) async fn stop(&mut self) {
        self.handle.take().unwrap().drain(Duration::from_secs(5)).await;
    }

    /// Stops it and starts another on the same database.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        let handle = tollgate_admin::start(self.node.clone(), self.settings.clone(), &Listeners::default())
            .await
            .unwrap();
        self.handle = Some(handle);
    }

    /// Waits until something is so.
    pub(crate) async fn wait(&self, is_so: impl AsyncFn() -> bool) {
        let all = async {
            while !is_so().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), all).await.expect("waited in vain");
    }

    pub(crate) async fn call(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Answer {
        self.call_with(method, path, token, body, &[]).await
    }

    pub(crate) async fn call_with(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> Answer {
        call_at(self.address(), method, path, token, body, headers).await
    }

    pub(crate) async fn log_in(&self, name: &str, password: &str) -> Answer {
        self.call("POST", "/api/v1/login", "", Some(json!({"username": name, "password": password}))).await
    }

    /// The access token of the first user, whose password is [`PASSWORD`] from now on.
    pub(crate) async fn admin(&self) -> String {
        let token = match self.first_password() {
            Some(first) => {
                let answer = self.log_in(FIRST_USER, &first).await;
                if answer.status == 200 {
                    let token = answer.body["access_token"].as_str().unwrap().to_owned();
                    let body = json!({"current": first, "new": PASSWORD});
                    return token_of(
                        &self.call("PUT", "/api/v1/me/password", &token, Some(body)).await.expect(200),
                    );
                }
                self.log_in(FIRST_USER, PASSWORD).await
            }
            None => self.log_in(FIRST_USER, PASSWORD).await,
        };
        token_of(&token.expect(200))
    }

    /// A machine's token of that role.
    pub(crate) async fn token(&self, admin: &str, role: &str) -> String {
        let body = json!({"name": format!("a {role}"), "role": role});
        let answer = self.call("POST", "/api/v1/tokens", admin, Some(body)).await.expect(201);
        answer.body["secret"].as_str().unwrap().to_owned()
    }
}

/// Calls any server.
pub(crate) async fn call_at(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: Option<Value>,
    headers: &[(&str, &str)],
) -> Answer {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = http::Request::builder().method(method).uri(path).header("host", address.to_string());
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let bytes = body.map(|body| body.to_string()).unwrap_or_default();
    let request = request.body(Full::new(bytes::Bytes::from(bytes))).unwrap();
    let response = sender.send_request(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Answer { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// The access token of a session.
pub(crate) fn token_of(answer: &Answer) -> String {
    answer.body["access_token"].as_str().unwrap().to_owned()
}

/// The cookie that an answer sets, as it is sent back.
pub(crate) fn cookie_of(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}
