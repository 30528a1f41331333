//! The ledger over TLS, and what is said when a server cannot be reached: at once, and why.

#![cfg(feature = "redis")]

use std::path::Path;
use std::time::Duration;
use tollgate_core::id::ClusterId;
use tollgate_core::quota::Capacity;
use tollgate_core::units::Millis;
use tollgate_ledger::protocol::Seed;
use tollgate_ledger::script::ScriptLedger;
use tollgate_ledger::{Certificates, Ledger, LedgerError, RedisEngine, RedisLedger};
use tollgate_testkit::{Authority, RedisCluster, RedisServer, free_port};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Longer than a connection may take to be opened, so that the reason is heard of and not only that time is up.
const TIMEOUT: Duration = Duration::from_secs(10);

fn ledger(url: &str, certificates: &Certificates) -> Result<RedisLedger> {
    Ok(ScriptLedger::new(RedisEngine::with_certificates(url, TIMEOUT, certificates)?))
}

fn trusting(authority: &Authority) -> Result<Certificates> {
    Ok(Certificates::read(Some(&authority.ca()), None)?)
}

fn cluster() -> Result<ClusterId> {
    Ok(ClusterId::new("cluster-01")?)
}

/// A server with a certificate for `host`, and the port on which it speaks TLS; on its own it speaks plain text.
fn server(authority: &Authority, host: &str, more: &[&str]) -> Result<(RedisServer, u16)> {
    let port = free_port()?;
    let options = authority.options(port, host)?;
    let options: Vec<&str> = options.iter().map(String::as_str).chain(more.iter().copied()).collect();
    Ok((RedisServer::start_on(free_port()?, &options)?, port))
}

/// Seeds a cluster, changes it, and hears of the change.
async fn use_it(ledger: &RedisLedger) -> Result {
    let cluster = cluster()?;
    let seed = Seed { capacity: Capacity::default(), apps: Vec::new(), remembered: None };
    ledger.seed(&cluster, &seed).await?;
    let mut notices = ledger.notices(&cluster);
    let changes = async {
        loop {
            ledger.declare_emergency(&cluster, "a drill", Millis::from_secs(60)).await?;
            if tokio::time::timeout(Duration::from_millis(100), notices.next()).await.is_ok() {
                return Ok::<(), LedgerError>(());
            }
        }
    };
    Ok(tokio::time::timeout(TIMEOUT, changes).await??)
}

/// Fails, and says this.
async fn fails(url: &str, certificates: &Certificates, expected: &str) -> Result {
    let answer = ledger(url, certificates)?.audit(&cluster()?).await;
    let Err(LedgerError::Connection(why)) = &answer else { return Err(format!("{url}: {answer:?}").into()) };
    assert!(why.contains(expected), "{url}: {why}");
    Ok(())
}

#[tokio::test]
async fn a_private_authority_is_trusted_by_name() -> Result {
    let authority = Authority::new()?;
    let (server, port) = server(&authority, "127.0.0.1", &["--requirepass", "s3cret"])?;
    let trusting = trusting(&authority)?;
    use_it(&ledger(&format!("rediss://:s3cret@127.0.0.1:{port}"), &trusting)?).await?;
    let user = ["ACL", "SETUSER", "tollgate", "on", ">pw", "~*", "&*", "+@all"];
    server.cli(&[["-a", "s3cret"].as_slice(), &user].concat())?;
    use_it(&ledger(&format!("rediss://tollgate:pw@127.0.0.1:{port}"), &trusting)?).await?;
    fails(&format!("rediss://tollgate:wr0ng@127.0.0.1:{port}"), &trusting, "uthentication failed").await
}

#[tokio::test]
async fn who_cannot_be_trusted_is_not_spoken_to() -> Result {
    let (ours, other) = (Authority::new()?, Authority::new()?);
    let (_named, right) = server(&ours, "127.0.0.1", &[])?;
    let (_misnamed, wrong) = server(&ours, "redis.example.com", &[])?;
    for scheme in ["rediss", "rediss+cluster"] {
        let url = |port| format!("{scheme}://127.0.0.1:{port}");
        fails(&url(right), &Certificates::default(), "invalid peer certificate").await?;
        fails(&url(right), &trusting(&other)?, "invalid peer certificate").await?;
        fails(&url(wrong), &trusting(&ours)?, "not valid for name").await?;
    }
    Ok(())
}

#[tokio::test]
async fn plain_text_and_tls_do_not_mix() -> Result {
    let authority = Authority::new()?;
    let (server, tls) = server(&authority, "127.0.0.1", &[])?;
    let (plain, nobody) = (server.port(), free_port()?);
    let trusting = trusting(&authority)?;
    let none = Certificates::default();
    fails(&format!("redis://127.0.0.1:{tls}"), &none, &format!("127.0.0.1:{tls}: ")).await?;
    fails(&format!("rediss://127.0.0.1:{plain}"), &trusting, "took no connection within").await?;
    fails(&format!("redis://127.0.0.1:{nobody}"), &none, "Connection refused").await?;
    fails(&format!("redis+cluster://127.0.0.1:{nobody}"), &none, "Connection refused").await
}

#[tokio::test]
async fn a_server_may_ask_who_is_calling() -> Result {
    let (authority, other) = (Authority::new()?, Authority::new()?);
    let (_server, port) = server(&authority, "127.0.0.1", &["--tls-auth-clients", "yes"])?;
    let url = format!("rediss://127.0.0.1:{port}");
    let known = authority.issue("node-1")?;
    let client = Some((known.certificate.as_path(), known.key.as_path()));
    use_it(&ledger(&url, &Certificates::read(Some(&authority.ca()), client)?)?).await?;

    let stranger = other.issue("node-1")?;
    let client = Some((stranger.certificate.as_path(), stranger.key.as_path()));
    for wrong in [trusting(&authority)?, Certificates::read(Some(&authority.ca()), client)?] {
        let answer = ledger(&url, &wrong)?.audit(&cluster()?).await;
        assert!(matches!(answer, Err(LedgerError::Connection(_))), "{answer:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_cluster_of_servers_speaks_tls() -> Result {
    let authority = Authority::new()?;
    let mut servers = RedisCluster::start_encrypted(&authority)?;
    let ledger = ledger(&servers.url(), &trusting(&authority)?)?;
    use_it(&ledger).await?;
    let key = "ratelimit:{cluster-01}";
    let primary = servers.primary_of(key)?;
    servers.wait_until_caught_up(primary)?;
    servers.server(primary).kill();
    servers.wait_until_another(primary, key)?;
    let recover = async {
        loop {
            match use_it(&ledger).await {
                Err(error) if error.is::<LedgerError>() => tokio::task::yield_now().await,
                outcome => return outcome,
            }
        }
    };
    tokio::time::timeout(3 * TIMEOUT, recover).await?
}

/// A password that was wrong may be put right on the server: nothing has to be started again.
#[tokio::test]
async fn who_is_let_in_late_gets_in() -> Result {
    let server = RedisServer::start()?;
    let ledger = ledger(&server.url().replace("://", "://late:pw@"), &Certificates::default())?;
    let answer = ledger.audit(&cluster()?).await;
    assert!(matches!(answer, Err(LedgerError::Connection(_))), "{answer:?}");
    server.cli(&["ACL", "SETUSER", "late", "on", ">pw", "~*", "&*", "+@all"])?;
    let get_in = async {
        while ledger.audit(&cluster()?).await != Err(LedgerError::Unseeded) {
            tokio::task::yield_now().await;
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    };
    tokio::time::timeout(TIMEOUT, get_in).await?
}

#[test]
fn files_that_hold_no_certificate_are_named() -> Result {
    let authority = Authority::new()?;
    let issued = authority.issue("127.0.0.1")?;
    let (certificate, key) = (issued.certificate.as_path(), issued.key.as_path());
    let missing = Path::new("/nowhere/ca.pem");
    let halved = authority.ca().with_extension("half");
    let whole = std::fs::read_to_string(authority.ca())?;
    std::fs::write(&halved, &whole[..whole.len() / 2])?;
    for (ca, client, expected) in [
        (Some(missing), None, "/nowhere/ca.pem: No such file"),
        (Some(key), None, "no certificate in it, expected PEM"),
        (Some(halved.as_path()), None, "not a certificate in PEM: it has no end"),
        (None, Some((key, key)), "no certificate in it, expected PEM"),
        (None, Some((certificate, certificate)), "not a private key in PEM: there is none"),
    ] {
        let error = Certificates::read(ca, client).err().ok_or("read")?.to_string();
        assert!(error.contains(expected), "{error}");
    }
    let debug = format!("{:?}", Certificates::read(None, Some((certificate, key)))?);
    assert!(!debug.contains("KEY") && !debug.contains(char::is_numeric), "{debug}");
    Ok(())
}

#[tokio::test]
async fn certificates_without_tls_are_a_mistake() -> Result {
    let certificates = trusting(&Authority::new()?)?;
    for url in ["redis://127.0.0.1", "redis+cluster://127.0.0.1"] {
        let error = RedisEngine::with_certificates(url, TIMEOUT, &certificates).err().ok_or(url)?;
        assert!(error.to_string().contains("rediss://"), "{error}");
    }
    Ok(())
}
