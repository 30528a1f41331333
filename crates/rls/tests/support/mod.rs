//! What the tests of the service share: a policy, a clock, and a browser that can do very little.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part of it")]

use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::Duration;
use tokio::time::Instant;
use tollgate_config::Policy;
use tollgate_config::rls::Rls;
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::Millis;
use tollgate_ledger::{Ledger, LedgerClock, MemoryLedger, Slots};
use tollgate_listen::Listeners;
use tollgate_node::{Node, Setup};
use tollgate_rls::Handle;

/// A bucket of ten that gets ten a second, and some others.
pub(crate) fn policy() -> Policy {
    Policy::from_value(&json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [
            {"id": "ten", "guaranteed_quota": 10, "burst_quota": 10, "borrow": false},
            {"id": "hundred", "guaranteed_quota": 100, "burst_quota": 100, "borrow": false},
            {"id": "plenty", "guaranteed_quota": 1_000, "burst_quota": 1_000, "borrow": false},
            {"id": "shadow", "guaranteed_quota": 1, "burst_quota": 1, "borrow": false, "shadow": true},
            {"id": "debtor", "guaranteed_quota": 1, "burst_quota": 1},
            {"id": "open", "guaranteed_quota": 100, "burst_quota": 100, "fail_open_tokens": 50, "borrow": false},
            {"id": "closed", "guaranteed_quota": 100, "burst_quota": 100, "outage": "closed", "borrow": false},
        ],
    }))
    .unwrap()
}

/// The runtime's clock, as a ledger sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl LedgerClock for Clock {
    fn now(&self) -> Millis {
        Millis::new(1_000_000 + u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

pub(crate) fn memory() -> MemoryLedger<Clock> {
    MemoryLedger::with_clock(Clock(Instant::now()))
}

pub(crate) fn node<L: Ledger + Slots + 'static>(ledger: L) -> Node<L> {
    node_with(ledger, None)
}

/// The same, where strangers are counted as that application.
pub(crate) fn node_with<L: Ledger + Slots + 'static>(ledger: L, strangers: Option<AppId>) -> Node<L> {
    let mut setup = Setup::new(NodeId::new("n").unwrap());
    // What has come up is there at the next report: where there was plenty it may be late, and then so is the arithmetic.
    setup.manners.calm_interval = setup.manners.sync_interval;
    // Nor is it asked here how soon a busy machine is.
    setup.manners.patience = Millis::from_secs(5);
    setup.strangers = strangers;
    Node::start(ledger, setup, &policy())
}

pub(crate) fn serve<L: Ledger + Slots + 'static>(node: &Node<L>, settings: Rls) -> Handle {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    tollgate_rls::start(node.clone(), Rls { listen, ..settings }, &Listeners::default()).unwrap()
}

/// As long as this is kept, a clock that is paused stands still: it would move by itself while everybody waits for a socket, but
/// not while a thread is at work.
pub(crate) fn still() -> mpsc::Sender<()> {
    let (held, release) = mpsc::channel();
    tokio::task::spawn_blocking(move || release.recv());
    held
}

/// A connection that requests are made on, one after another.
pub(crate) struct Browser {
    stream: BufReader<TcpStream>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Browser {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn get(&mut self, headers: &[(&str, &str)]) -> Page {
        self.send("GET", headers, 0)
    }

    pub(crate) fn send(&mut self, method: &str, headers: &[(&str, &str)], bytes: usize) -> Page {
        let mut head = format!("{method} / HTTP/1.1\r\nhost: test\r\n");
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if bytes > 0 {
            let _ = write!(head, "content-length: {bytes}\r\n");
        }
        let mut request = (head + "\r\n").into_bytes();
        request.resize(request.len() + bytes, b'x');
        self.stream.get_mut().write_all(&request).unwrap();
        self.read()
    }

    fn read(&mut self) -> Page {
        let status = self.line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.insert(name.to_owned(), value.to_owned());
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        Page { status, headers, body: String::from_utf8(body).unwrap() }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}
