//! HTTP/2 and gRPC through the gateway, spoken by the programs of others.

use crate::support::{APPS, Tollgate, Upstream, ask, eventually};
use std::process::Command;
use tollgate_testkit::Envoy;

/// What curl gets by HTTP/2 without encryption: the status, and a field of the answer.
fn curl(tollgate: &Tollgate, arguments: &[&str]) -> (String, String) {
    let form = "%{http_version} %{http_code} %header{x-ratelimit-limit}";
    let mut command = Command::new("curl");
    command.args(["-s", "--http2-prior-knowledge", "--max-time", "20", "-o", "/dev/null", "-w", form]);
    let output = command.args(arguments).arg(format!("http://{}/file", tollgate.gateway)).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let mut words = said.split(' ').map(str::to_owned);
    assert_eq!(words.next().as_deref(), Some("2"), "{said}");
    (words.next().unwrap(), words.next().unwrap_or_default())
}

#[test]
fn http2_passes_and_is_refused_as_http1_is() {
    let upstream = Upstream::start();
    let tollgate = Tollgate::start(&format!("{}{APPS}", upstream.route()));
    let large = ["-H", "x-tollgate-app: large"];
    for _ in 0..5 {
        assert_eq!(curl(&tollgate, &large), ("200".to_owned(), "500000".to_owned()));
    }
    let body = "x".repeat(70_000);
    assert_eq!(curl(&tollgate, &[&large[..], &["-X", "PUT", "-d", &body]].concat()).0, "200");
    assert_eq!((upstream.requests(), upstream.bytes()), (6, 70_000));
    let refused = ("429".to_owned(), "3".to_owned());
    eventually("no more than there is", || curl(&tollgate, &["-H", "x-tollgate-app: tiny"]) == refused);
    assert_eq!(curl(&tollgate, &[]).0, "403", "a stranger");
}

/// Envoy asks the rate limit service of one about each request, through the gateway of another: heads, messages and trailers
/// of gRPC go both ways.
#[test]
fn grpc_passes_with_its_trailers() {
    let inner = Tollgate::start(APPS);
    let outer = Tollgate::start(&format!(
        "[[upstreams]]\nid = 'rls'\nprotocol = 'http2'\nservers = ['http://{}']\n[[routes]]\nupstream = 'rls'\n\
         [identity]\nstrangers = 'large'\n{APPS}",
        inner.rls
    ));
    let envoy = Envoy::start(outer.gateway).unwrap();
    let get = |app: &str| ask(envoy.address(), "GET /", &[&format!("x-app: {app}")], "");
    let passed = get("large");
    assert_eq!((passed.status, passed.header("x-ratelimit-limit")), (200, "500000"), "{passed:?}");
    eventually("what the service refuses is refused", || get("tiny").status == 429);
    for _ in 0..50 {
        assert_eq!(get("large").status, 200);
    }
}
