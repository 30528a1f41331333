//! Starting, reading the configuration again, and stopping.

use crate::support::{APPS, Tollgate, Upstream, ask, eventually, exchange, open, run};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use tollgate_rls::api::{Client, Entry, RateLimitDescriptor, RateLimitRequest};
use tollgate_testkit::free_port;
use tonic::transport::Endpoint;

#[test]
fn a_port_that_is_taken_is_told_with_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    for key in ["listen.gateway", "listen.check"] {
        let other = if key == "listen.check" { "listen.gateway" } else { "listen.check" };
        let (key_set, other_set) = (format!("{key}={address}"), format!("{other}=127.0.0.1:0"));
        let output = run(&["serve", "--set", &key_set, "--set", &other_set]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = format!("error: cannot listen on {address}: Address already in use");
        assert!(said.contains(&expected) && said.contains(&format!("--set {key}=...")), "{said}");
    }
}

#[test]
fn a_wrong_configuration_is_told_in_full() {
    let output = run(&["serve", "--set", "listen.gateway=here", "--set", "node.id=a b"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("listen.gateway: not an address") && said.contains("node.id: a name"), "{said}");
}

#[test]
fn a_request_under_way_is_finished_before_it_stops() {
    let upstream = Upstream::start();
    let mut tollgate = Tollgate::start(&format!("{}{APPS}", upstream.route()));
    let mut stream = open(tollgate.gateway);
    stream
        .write_all(b"PUT / HTTP/1.1\r\nhost: h\r\nx-tollgate-app: large\r\ncontent-length: 4\r\n\r\nab")
        .unwrap();
    eventually("the request", || upstream.requests() == 1);
    tollgate.signal("-TERM");
    eventually("stopping", || tollgate.has_said("stopping"));
    stream.write_all(b"cd").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
    assert_eq!(tollgate.ended(), Some(0));
    eventually("its last word", || tollgate.has_said("\"stopped\""));
}

/// Asks somebody, on a connection of its own: what went wrong.
type Question = Box<dyn Fn() -> Result<(), String> + Send>;

fn by_http(address: SocketAddr, line: &'static str) -> Question {
    Box::new(move || {
        let asked = TcpStream::connect(address)
            .and_then(|mut stream| exchange(&mut stream, line, &["x-tollgate-app: large"], ""));
        match asked {
            Ok(reply) if reply.status == 200 => Ok(()),
            Ok(reply) => Err(format!("{line}: {reply:?}")),
            Err(error) => Err(format!("{line}: {error}")),
        }
    })
}

fn by_resp(address: SocketAddr) -> Question {
    let ask = move || {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"PING\r\n")?;
        let mut pong = [0; 7];
        stream.read_exact(&mut pong)
    };
    Box::new(move || ask().map_err(|error| format!("RESP: {error}")))
}

fn by_grpc(address: SocketAddr) -> Question {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let entries = vec![Entry { key: "app".into(), value: "large".into() }];
    let descriptors = vec![RateLimitDescriptor { entries, ..Default::default() }];
    let call = RateLimitRequest { domain: "edge".into(), descriptors, hits_addend: 0 };
    Box::new(move || {
        let asked = runtime.block_on(async {
            let channel = endpoint.connect().await.map_err(|error| format!("gRPC: {error:?}"))?;
            Client::new(channel)
                .should_rate_limit(call.clone())
                .await
                .map_err(|error| format!("gRPC: {error:?}"))
        });
        asked.map(drop)
    })
}

#[test]
fn whoever_knocks_while_one_process_follows_another_is_let_in() {
    let upstream = Upstream::start();
    let resp = SocketAddr::from(([127, 0, 0, 1], free_port().unwrap()));
    let mut tollgate = Tollgate::start(&format!("[resp]\nlisten = '{resp}'\n{}{APPS}", upstream.route()));
    let (is_over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let doors = [
        by_http(tollgate.gateway, "GET /"),
        by_http(tollgate.check, "GET /v1/check"),
        by_http(tollgate.admin, "GET /health"),
        by_resp(resp),
        by_grpc(tollgate.rls),
    ];
    let knocking: Vec<_> = doors
        .map(|ask| {
            let (is_over, answered) = (Arc::clone(&is_over), Arc::clone(&answered));
            thread::spawn(move || {
                let mut wrong = Vec::new();
                while !is_over.load(Ordering::SeqCst) {
                    match ask() {
                        Ok(()) => _ = answered.fetch_add(1, Ordering::SeqCst),
                        Err(why) => wrong.push(why),
                    }
                }
                wrong
            })
        })
        .into();
    for _ in 0..3 {
        let next = tollgate.successor();
        eventually("taking over", || next.has_said("the sockets were taken over"));
        eventually("being relieved", || tollgate.has_said("another process has taken over"));
        assert_eq!(tollgate.stop(), Some(0));
        tollgate = next;
        let before = answered.load(Ordering::SeqCst);
        eventually("more answers", || answered.load(Ordering::SeqCst) > before + 100);
    }
    is_over.store(true, Ordering::SeqCst);
    let wrong: Vec<String> = knocking.into_iter().flat_map(|one| one.join().unwrap()).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn where_nobody_hands_over_ports_are_shared() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let gateway = format!("listen.gateway={}", taken.local_addr().unwrap());
    let output = run(&["serve", "--take-over", "--set", &gateway, "--set", "log.format=json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    // Its owner does not share it, so this goes no further.
    assert!(
        said.contains("nobody hands over its sockets") && said.contains("Address already in use"),
        "{said}"
    );
}

#[test]
fn routes_are_read_again_by_signal_and_when_the_file_changes() {
    let (first, second) = (Upstream::start(), Upstream::start());
    let tollgate = Tollgate::start(&format!("{}{APPS}", first.route()));
    let get = || ask(tollgate.gateway, "GET /", &["x-tollgate-app: large"], "").status;
    assert_eq!(get(), 200);
    std::fs::write(&tollgate.config, format!("{}{APPS}", second.route())).unwrap();
    eventually("the second server", || get() == 200 && second.requests() > 0);

    let before = second.requests();
    std::fs::write(&tollgate.config, "[gateway]\nthreads = 0\nspeed = 'fast'\n").unwrap();
    tollgate.signal("-HUP");
    eventually("its verdict", || tollgate.has_said("the old one stays"));
    assert!(tollgate.has_said("gateway.threads") && tollgate.has_said("gateway.speed"));
    let says = |line: &str| {
        let answer = ask(tollgate.admin, "GET /metrics", &[], "");
        String::from_utf8(answer.body).unwrap().contains(line)
    };
    assert!(says("tollgate_upkeep_failing{task=\"reload\"} 1"));
    assert_eq!((get(), second.requests()), (200, before + 1));

    let moved =
        format!("[node]\nsync_interval_ms = 500\n[cost]\nquantum_bytes = 1\n{}{APPS}", second.route());
    std::fs::write(&tollgate.config, moved).unwrap();
    tollgate.signal("-HUP");
    eventually("a key that needs a restart", || tollgate.has_said("node.sync_interval_ms: cannot change"));
    eventually("another", || tollgate.has_said("cost.quantum_bytes: cannot change"));

    std::fs::write(&tollgate.config, format!("{}{APPS}", second.route())).unwrap();
    tollgate.signal("-HUP");
    eventually("nothing to be wrong", || says("tollgate_upkeep_failing{task=\"reload\"} 0"));
}

#[test]
fn a_ledger_in_the_process_goes_on_where_it_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger");
    let app = "[[apps]]\nid = 'slow'\nguaranteed_quota = 1\nburst_quota = 1000\nborrow = false\n";
    let config = format!("[ledger]\nsnapshot = '{}'\n{app}", file.display());
    let mut tollgate = Tollgate::start(&config);
    let question = r#"{"app": "slow", "cost": 1}"#;
    eventually("a token", || ask(tollgate.check, "POST /v1/check", &[], question).status == 200);
    assert_eq!(tollgate.stop(), Some(0));
    let audit = run(&["audit", "--json", "--config", tollgate.config.to_str().unwrap()]);
    assert_eq!(audit.status.code(), Some(0), "{}", String::from_utf8_lossy(&audit.stderr));
    let text = String::from_utf8(audit.stdout).unwrap();
    assert!(text.contains("\"spent\": 1.0"), "{text}");
    let again = Tollgate::start(&config);
    assert!(again.has_said("goes on where it was saved"));
}
