use crate::support::client::{Answer, request, request2};
use crate::support::server::Speaks;
use crate::support::{Server, config, route_to, timely};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tollgate_gateway::{Gateway, Open, Running};
use tollgate_listen::Listeners;

/// A certificate that signed itself.
struct Identity {
    cert: rcgen::CertifiedKey<rcgen::KeyPair>,
}

impl Identity {
    fn new(name: &str) -> Self {
        Self { cert: rcgen::generate_simple_self_signed([name.to_owned()]).unwrap() }
    }

    fn der(&self) -> CertificateDer<'static> {
        self.cert.cert.der().clone()
    }

    fn save(&self, cert: &Path, key: &Path) {
        std::fs::write(cert, self.cert.cert.pem()).unwrap();
        std::fs::write(key, self.cert.signing_key.serialize_pem()).unwrap();
    }

    fn server(&self, protocols: &[&[u8]]) -> Arc<ServerConfig> {
        let key = rustls::pki_types::PrivateKeyDer::try_from(self.cert.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let mut config = builder.with_no_client_auth().with_single_cert(vec![self.der()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Arc::new(config)
    }
}

async fn connect(
    address: SocketAddr,
    trusted: &[&Identity],
    name: &str,
    protocol: &[u8],
) -> Option<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    for identity in trusted {
        roots.add(identity.der()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols =
        Some(protocol.to_vec()).filter(|protocol| !protocol.is_empty()).into_iter().collect();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    timely(TlsConnector::from(Arc::new(config)).connect(name, stream)).await.ok()
}

async fn ask(stream: TlsStream<TcpStream>, is_http2: bool) -> Answer {
    let io = TokioIo::new(stream);
    let response = if is_http2 {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        timely(sender.send_request(request2("GET", "/headers", b""))).await
    } else {
        let (mut sender, connection) = http1::handshake::<_, Full<Bytes>>(io).await.unwrap();
        tokio::spawn(connection);
        timely(sender.send_request(request("GET", "/headers", b""))).await
    };
    Answer::of(response.unwrap()).await
}

fn text(server: &Server, home: &TempDir, more: &str) -> String {
    let (cert, key) = (home.path().join("cert.pem"), home.path().join("key.pem"));
    format!(
        "{}[gateway]\nthreads = 2\n[gateway.tls]\nlisten = '127.0.0.1:0'\n\
         [[gateway.tls.certificates]]\ncert = '{}'\nkey = '{}'\n{more}",
        route_to(&[server.address], ""),
        cert.display(),
        key.display()
    )
}

fn save(identity: &Identity, home: &TempDir) {
    identity.save(&home.path().join("cert.pem"), &home.path().join("key.pem"));
}

fn start(text: &str) -> Running {
    Gateway::start(config(text), Open::default(), &Listeners::default()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_protocols_are_agreed_on() {
    let (server, home, identity) =
        (Server::http1().await, TempDir::new().unwrap(), Identity::new("a.example"));
    save(&identity, &home);
    let gateway = start(&text(&server, &home, ""));
    let address = gateway.tls_addr().unwrap();
    for (protocol, is_http2) in [(&b"h2"[..], true), (b"http/1.1", false), (b"", false), (b"", true)] {
        let stream = connect(address, &[&identity], "a.example", protocol).await.unwrap();
        let answer = ask(stream, is_http2).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(answer.text().contains(r#"["x-forwarded-proto","https"]"#), "{}", answer.text());
    }
    assert!(
        connect(address, &[&identity], "b.example", b"h2").await.is_none(),
        "it is not that host's certificate"
    );
    let mut raw = crate::support::raw::Raw::connect(address).await;
    raw.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let _ = raw.hear_all().await;
    crate::support::eventually("it is counted", || gateway.stats().handshakes_failed >= 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_is_replaced_without_losing_a_connection() {
    let (server, home) = (Server::http1().await, TempDir::new().unwrap());
    let (old, new) = (Identity::new("a.example"), Identity::new("a.example"));
    save(&old, &home);
    let text = text(&server, &home, "");
    let gateway = start(&text);
    let address = gateway.tls_addr().unwrap();
    let held = connect(address, &[&old], "a.example", b"http/1.1").await.unwrap();
    // The listeners have found their ports.
    let mut same = config(&text);
    same.listen = config("").listen;
    save(&new, &home);
    gateway.reload(same).await.unwrap();
    assert!(connect(address, &[&old], "a.example", b"h2").await.is_none());
    let stream = connect(address, &[&new], "a.example", b"h2").await.unwrap();
    assert_eq!(ask(stream, true).await.status, StatusCode::OK);
    assert_eq!(ask(held, false).await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_certificate_changes_nothing() {
    let (server, home, identity) =
        (Server::http1().await, TempDir::new().unwrap(), Identity::new("a.example"));
    save(&identity, &home);
    let text = text(&server, &home, "");
    let gateway = start(&text);
    let key = home.path().join("key.pem");
    std::fs::write(&key, "no key").unwrap();
    let errors = gateway.reload(config(&text)).await.unwrap_err();
    assert_eq!(errors.iter().next().unwrap().path, "gateway.tls.certificates[0].key");
    // A key that belongs to another certificate is no better.
    std::fs::write(&key, Identity::new("a.example").cert.signing_key.serialize_pem()).unwrap();
    let errors = gateway.reload(config(&text)).await.unwrap_err();
    assert_eq!(errors.iter().next().unwrap().path, "gateway.tls.certificates[0].key");
    std::fs::remove_file(home.path().join("cert.pem")).unwrap();
    let errors = gateway.reload(config(&text)).await.unwrap_err();
    assert_eq!(errors.iter().next().unwrap().path, "gateway.tls.certificates[0].cert");
    let stream = connect(gateway.tls_addr().unwrap(), &[&identity], "a.example", b"h2").await.unwrap();
    assert_eq!(ask(stream, true).await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_host_has_its_certificate() {
    let (server, home) = (Server::http1().await, TempDir::new().unwrap());
    let (first, wild, other) =
        (Identity::new("a.example"), Identity::new("*.b.example"), Identity::new("c.example"));
    save(&first, &home);
    let mut more = Vec::new();
    for (identity, host) in [(&wild, "*.b.example"), (&other, "c.example")] {
        let name = host.replace('*', "wild");
        let (cert, key) = (home.path().join(format!("{name}.cert")), home.path().join(format!("{name}.key")));
        identity.save(&cert, &key);
        more.push(format!(
            "[[gateway.tls.certificates]]\ncert = '{}'\nkey = '{}'\nhosts = ['{host}']\n",
            cert.display(),
            key.display()
        ));
    }
    let gateway = start(&text(&server, &home, &more.concat()));
    let address = gateway.tls_addr().unwrap();
    for (identity, name) in [(&first, "a.example"), (&wild, "x.b.example"), (&other, "c.example")] {
        assert!(connect(address, &[identity], name, b"h2").await.is_some(), "{name}");
    }
    assert!(connect(address, &[&wild], "c.example", b"h2").await.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_can_be_encrypted_too() {
    let (home, identity) = (TempDir::new().unwrap(), Identity::new("localhost"));
    save(&identity, &home);
    let cases: [(&[&[u8]], &str, &str); 4] = [
        (&[b"h2", b"http/1.1"], "auto", "HTTP/2.0"),
        (&[b"http/1.1"], "auto", "HTTP/1.1"),
        (&[b"h2", b"http/1.1"], "http1", "HTTP/1.1"),
        (&[b"h2"], "http2", "HTTP/2.0"),
    ];
    for (offered, protocol, version) in cases {
        let server = Server::start(Speaks::Tls(identity.server(offered)), None).await;
        let text = format!(
            "[[routes]]\nupstream = 'u'\n[[upstreams]]\nid = 'u'\nservers = ['https://localhost:{}']\n\
             protocol = '{protocol}'\nca = '{}'\n",
            server.address.port(),
            home.path().join("cert.pem").display()
        );
        let gateway = start(&text);
        for _ in 0..3 {
            let answer = crate::support::client::get(gateway.local_addr(), "/headers").await;
            assert_eq!(answer.json()["version"], version, "{protocol} {}", answer.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_nobody_vouches_for_is_not_believed() {
    let identity = Identity::new("localhost");
    let server = Server::start(Speaks::Tls(identity.server(&[b"h2"])), None).await;
    let gateway = start(&format!(
        "[[routes]]\nupstream = 'u'\n[[upstreams]]\nid = 'u'\nservers = ['https://localhost:{}']\n",
        server.address.port()
    ));
    let answer = crate::support::client::get(gateway.local_addr(), "/").await;
    assert_eq!(answer.header("x-tollgate-error"), Some("upstream_unreachable"));
}

/// What the gateway reads of a response at a time.
const PIECE: usize = 8 * 1024;

/// A server that answers the first request of each connection with two records in one go, the second of which is a response to
/// nobody. The first fills what is read at a time, so that the second stays in the session, decrypted.
async fn two_at_once(config: Arc<ServerConfig>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(config);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            tokio::spawn(async move {
                let mut heard = Vec::new();
                while !heard.ends_with(b"\r\n\r\n") {
                    let Ok(1..) = stream.read_buf(&mut heard).await else { return };
                }
                let (tcp, session) = stream.get_mut();
                let mut records = Vec::new();
                for (says, size) in [("true", PIECE), ("forged", 100)] {
                    let length = size - "HTTP/1.1 200 OK\r\nContent-Length: 0000\r\n\r\n".len();
                    let text =
                        format!("HTTP/1.1 200 OK\r\nContent-Length: {length:04}\r\n\r\n{says:length$}");
                    session.writer().write_all(text.as_bytes()).unwrap();
                    while session.wants_write() {
                        session.write_tls(&mut records).unwrap();
                    }
                }
                tcp.write_all(&records).await.unwrap();
                // It stays, and says no more.
                while let Ok(1..) = stream.read(&mut [0; 4096]).await {}
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_encrypted_server_says_too_much_answers_nobody() {
    let (home, identity) = (TempDir::new().unwrap(), Identity::new("localhost"));
    save(&identity, &home);
    let address = two_at_once(identity.server(&[b"http/1.1"])).await;
    let gateway = start(&format!(
        "gateway.threads = 1\n[[routes]]\nupstream = 'u'\n[[upstreams]]\nid = 'u'\n\
         servers = ['https://localhost:{}']\nca = '{}'\n",
        address.port(),
        home.path().join("cert.pem").display()
    ));
    for _ in 0..5 {
        assert_eq!(crate::support::client::get(gateway.local_addr(), "/").await.text().trim_end(), "true");
    }
}
