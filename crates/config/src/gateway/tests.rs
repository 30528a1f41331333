use super::*;
use crate::source::{Document, Format};

fn read(text: &str) -> Result<Gateway, crate::Errors> {
    Document::parse(text, Format::Toml)?.read().map(|config| config.settings.gateway)
}

fn lines(text: &str) -> Vec<String> {
    read(text).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn silence_means_the_defaults() {
    assert_eq!(read("").unwrap(), Gateway::default());
    let moved = read("[listen]\ngateway = '127.0.0.1:9'").unwrap();
    assert_eq!(moved.listen.port(), 9);
}

#[test]
fn a_gateway_can_be_described() {
    let gateway = read(
        "[[upstreams]]\nid = 'storage'\nservers = ['http://10.0.0.1:9000', 'https://s.example.com']\n\
         balance = 'least_in_flight'\nprotocol = 'http2'\nhealth = {path = '/up', eject_after = 0}\n\
         [[routes]]\nhost = '*.s3.example.com'\npath = '/a'\nupstream = 'storage'\n\
         operations = 's3_virtual_host'\nread_timeout_ms = 5\n\
         [gateway]\ntrusted_proxies = ['10.0.0.0/8']\naccess_log = '/var/log/a'\n\
         [gateway.tls]\nlisten = '0.0.0.0:443'\ncertificates = [{cert = 'c', key = 'k', hosts = ['*.a.b']}]\n\
         [identity]\norder = ['s3', 'header']\naccess_keys = {AKIA1 = 'app-a'}\n",
    )
    .unwrap();
    let storage = &gateway.upstreams["storage"];
    assert_eq!(storage.servers[1], Server { scheme: Scheme::Https, host: "s.example.com".into(), port: 443 });
    assert_eq!((storage.balance, storage.protocol), (Balance::LeastInFlight, Protocol::Http2));
    assert_eq!((storage.health.path.as_deref(), storage.health.eject_after), (Some("/up"), None));
    assert_eq!(gateway.routes[0].name(), "*.s3.example.com/a");
    assert_eq!(gateway.routes[0].operations, Operations::S3VirtualHost);
    assert_eq!(gateway.identity.order, [Source::S3, Source::Header]);
    assert_eq!(gateway.tls.unwrap().certificates[0].hosts[0].domain(), Some("a.b"));
}

#[test]
fn a_list_can_come_from_the_environment() {
    let document =
        Document::empty().with_environment([("TOLLGATE_GATEWAY__TRUSTED_PROXIES", "10.0.0.0/8, ::1")]);
    let gateway = document.read().unwrap().settings.gateway;
    assert_eq!(gateway.trusted_proxies.len(), 2);
}

#[test]
fn names_must_lead_somewhere() {
    assert_eq!(
        lines("[[routes]]\nupstream = 'storage'"),
        ["routes[0].upstream: no such upstream (got \"storage\", expected an upstream)"]
    );
    let upstream = "[[upstreams]]\nid = 'a'\nservers = ['http://h']\n";
    let route = "[[routes]]\nupstream = 'a'\n";
    assert_eq!(
        lines(&format!("{upstream}{upstream}{route}{route}")),
        [
            "upstreams[1].id: another upstream is called a (got \"a\", expected a name of its own)",
            "routes[1].path: another route has the same host and path (expected a path of its own)",
        ]
    );
    // However it is written.
    let [dear, escaped] = ["//dear", "/%64ear"].map(|path| format!("{route}path = '{path}'\n"));
    assert_eq!(
        lines(&format!("{upstream}{dear}{escaped}")),
        [
            "routes[1].path: another route has the same host and path (got \"/%64ear\", expected a path of its own)"
        ]
    );
}

#[test]
fn a_server_has_a_scheme_and_a_host() {
    for (text, shown) in [
        ("http://h", "http://h:80"),
        ("https://h:8443/", "https://h:8443"),
        ("http://[::1]:9", "http://[::1]:9"),
        ("http://10.0.0.1", "http://10.0.0.1:80"),
    ] {
        assert_eq!(Server::new(text).unwrap().to_string(), shown);
    }
    for text in [
        "h",
        "h:80",
        "ftp://h",
        "http://",
        "http://h:0",
        "http://h:x",
        "http://h/p",
        "http://u@h",
        "http://[::g]",
        "http://h h",
    ] {
        assert_eq!(Server::new(text), None, "{text}");
    }
}

#[test]
fn an_api_key_is_never_repeated() {
    let key = "[[identity.api_keys]]\nsecret = 'hunter2-hunter2'\napp = 'a'\n";
    let right = read(key).unwrap();
    let wrong = read("[[identity.api_keys]]\nsecret = 'hunter2 '\napp = 'a'\n").unwrap_err();
    let all = format!("{right:?}{}{wrong}", Value::from(right.to_map()));
    assert!(!all.contains("hunter2"), "{all}");
}

#[test]
fn routes_and_upstreams_are_compared_by_name() {
    let config = |servers: &str, path: &str| {
        let text = format!(
            "[[upstreams]]\nid = 'a'\nservers = [{servers}]\n[[routes]]\npath = '{path}'\nupstream = 'a'\n"
        );
        Document::parse(&text, Format::Toml).unwrap().read().unwrap()
    };
    let changes = crate::diff_config(&config("'http://a'", "/x"), &config("'http://b'", "/y"));
    let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            r#"- routes."*/x""#,
            r#"+ routes."*/y""#,
            r#"~ upstreams.a.servers: ["http://a:80"] -> ["http://b:80"]"#,
        ]
    );
}
