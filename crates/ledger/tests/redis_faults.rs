//! The ledger on real Redis servers that are killed, paused, wiped and failed over.

#![cfg(feature = "redis")]

use std::time::{Duration, Instant};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Carry, Entry, PutApp, Seed, Sync};
use tollgate_ledger::script::ScriptLedger;
use tollgate_ledger::{Ledger, LedgerError, RedisEngine, RedisLedger};
use tollgate_testkit::{Link, RedisCluster, RedisServer, Signal};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

const TIMEOUT: Duration = Duration::from_millis(500);

fn ledger(url: &str) -> Result<RedisLedger> {
    Ok(ScriptLedger::new(RedisEngine::new(url, TIMEOUT)?))
}

/// One that waits as long as a busy machine takes: a call that timed out may have been done.
fn patient(url: &str) -> Result<RedisLedger> {
    Ok(ScriptLedger::new(RedisEngine::new(url, Duration::from_secs(10))?))
}

fn cluster() -> Result<ClusterId> {
    Ok(ClusterId::new("cluster-01")?)
}

fn app() -> Result<AppId> {
    Ok(AppId::new("app-a")?)
}

fn policy(guaranteed: u64, burst: u64) -> Result<AppPolicy> {
    let loan = LoanTerms { automatic: false, ..LoanTerms::default() };
    let quota = Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(burst),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan,
    };
    Ok(AppPolicy { app: app()?, quota, enabled: true, body: String::new() })
}

fn seed(remembered: Option<u64>) -> Result<Seed> {
    Ok(Seed { capacity: Capacity::default(), apps: vec![policy(10_000, 10_000)?], remembered })
}

fn call(seq: u64, acked: u64, holding: u64, want: u64) -> Result<Sync> {
    let entry = Entry {
        holding: Tokens::whole(holding),
        want: Tokens::whole(want),
        fallback: Rate::per_second(100),
        ..Entry::idle(app()?)
    };
    Ok(Sync {
        node: NodeId::new("node-1")?,
        incarnation: 1,
        seq,
        acked,
        epoch: 0,
        silence: Millis::from_secs(5),
        entries: vec![entry],
    })
}

/// Tries until the ledger answers something else than that it cannot be reached.
async fn until_reachable<T, F: Future<Output = tollgate_ledger::Answer<T>>>(
    step: impl Fn() -> F,
) -> tollgate_ledger::Answer<T> {
    let start = Instant::now();
    loop {
        match step().await {
            Err(LedgerError::Timeout | LedgerError::Connection(_)) if start.elapsed().as_secs() < 20 => {}
            answer => return answer,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_server_that_lost_its_scripts_gets_them_again() -> Result {
    let server = RedisServer::start()?;
    let (ledger, cluster) = (patient(&server.url())?, cluster()?);
    ledger.seed(&cluster, &seed(None)?).await?;
    server.cli(&["SCRIPT", "FLUSH"])?;
    ledger.acquire(&cluster, &app()?, Tokens::whole(1)).await?;
    Ok(())
}

#[tokio::test]
async fn a_paused_server_costs_no_more_than_the_timeout() -> Result {
    let server = RedisServer::start()?;
    let (ledger, cluster) = (ledger(&server.url())?, cluster()?);
    patient(&server.url())?.seed(&cluster, &seed(None)?).await?;
    until_reachable(|| ledger.audit(&cluster)).await?;
    server.signal(Signal::Stop)?;
    let answer = ledger.acquire(&cluster, &app()?, Tokens::whole(1)).await;
    assert_eq!(answer, Err(LedgerError::Timeout));
    server.signal(Signal::Continue)?;
    until_reachable(|| ledger.audit(&cluster)).await?;
    Ok(())
}

#[tokio::test]
async fn a_connection_that_died_without_a_word_is_given_up() -> Result {
    let server = RedisServer::start()?;
    let line = Link::to(server.port())?;
    let (ledger, cluster) = (ledger(&format!("redis://127.0.0.1:{}", line.port()))?, cluster()?);
    patient(&server.url())?.seed(&cluster, &seed(None)?).await?;
    until_reachable(|| ledger.audit(&cluster)).await?;
    for _ in 0..2 {
        line.forget();
        let answer = ledger.acquire(&cluster, &app()?, Tokens::whole(1)).await;
        assert_eq!(answer, Err(LedgerError::Timeout));
        until_reachable(|| ledger.audit(&cluster)).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_dead_server_is_noticed_and_a_new_one_found_again() -> Result {
    let mut server = RedisServer::start()?;
    let (ledger, cluster) = (patient(&server.url())?, cluster()?);
    ledger.seed(&cluster, &seed(None)?).await?;
    let reply = ledger.sync(&cluster, &call(1, 0, 0, 4_000)?).await?;
    assert_eq!(reply.entries[0].granted, Tokens::whole(4_000));

    server.kill();
    let answer = ledger.sync(&cluster, &call(2, 1, 4_000, 0)?).await;
    assert!(matches!(answer, Err(LedgerError::Timeout | LedgerError::Connection(_))), "{answer:?}");

    // It comes back empty: whoever remembers fills it, and nobody starts with anything.
    server.restart()?;
    let answer = until_reachable(|| async {
        ledger.sync(&cluster, &call(2, 1, 4_000, 0).map_err(|_| LedgerError::Stale)?).await
    })
    .await;
    assert_eq!(answer, Err(LedgerError::Unseeded));
    let seeded = Instant::now();
    let version = ledger.seed(&cluster, &seed(Some(reply.version))?).await?;
    assert!(version > reply.version);
    let reply = ledger.sync(&cluster, &call(2, 1, 4_000, 9_000)?).await?;
    let accrued = Rate::per_second(10_000).over(Millis::from(seeded.elapsed()).plus(Millis::new(1)));
    assert!(reply.entries[0].granted <= accrued, "{reply:?}");
    let audit = ledger.audit(&cluster).await?;
    assert!(audit.balances(), "{audit:?}");
    assert_eq!(audit.lines[0].flows.adopted, Tokens::whole(4_000));
    Ok(())
}

#[tokio::test]
async fn a_wiped_server_is_rebuilt() -> Result {
    let server = RedisServer::start()?;
    let (ledger, cluster) = (patient(&server.url())?, cluster()?);
    let version = ledger.seed(&cluster, &seed(None)?).await?;
    server.cli(&["FLUSHALL"])?;
    assert_eq!(ledger.acquire(&cluster, &app()?, Tokens::whole(1)).await, Err(LedgerError::Unseeded));
    let seeded = Instant::now();
    ledger.seed(&cluster, &seed(Some(version))?).await?;
    let flood = ledger.acquire(&cluster, &app()?, Tokens::whole(9_000)).await;
    assert!(flood.is_err() || seeded.elapsed() >= Duration::from_millis(900), "no flood: {flood:?}");
    Ok(())
}

#[tokio::test]
async fn a_password_is_asked_for_and_never_shown() -> Result {
    let server = RedisServer::start_on(tollgate_testkit::free_port()?, &["--requirepass", "s3cret"])?;
    let port = server.port();
    let cluster = cluster()?;
    let right = patient(&format!("redis://:s3cret@127.0.0.1:{port}"))?;
    right.seed(&cluster, &seed(None)?).await?;
    for url in [format!("redis://127.0.0.1:{port}"), format!("redis://:wr0ng@127.0.0.1:{port}")] {
        let wrong = ledger(&url)?;
        let error = wrong.audit(&cluster).await.err().ok_or("let in")?;
        assert!(!format!("{error:?} {error} {wrong:?}").contains("wr0ng"), "{error:?}");
    }
    Ok(())
}

/// A server that lost its office, as after a failover, is as good as none.
#[tokio::test]
async fn a_copy_is_no_ledger() -> Result {
    let (primary, copy) = (RedisServer::start()?, RedisServer::start()?);
    copy.cli(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()])?;
    copy.wait_for("master_link_status:up", &["INFO", "replication"])?;
    let (ledger, cluster) = (patient(&copy.url())?, cluster()?);
    let answer = ledger.seed(&cluster, &seed(None)?).await;
    assert!(matches!(answer, Err(LedgerError::Connection(_))), "{answer:?}");
    copy.cli(&["REPLICAOF", "NO", "ONE"])?;
    ledger.seed(&cluster, &seed(None)?).await?;
    Ok(())
}

#[tokio::test]
async fn a_cluster_fails_over_under_loans_emergencies_and_changes() -> Result {
    let mut servers = RedisCluster::start()?;
    let (ledger, cluster) = (patient(&servers.url())?, cluster()?);
    let version = until_reachable(|| async {
        ledger.seed(&cluster, &seed(None).map_err(|_| LedgerError::Stale)?).await
    })
    .await?;
    ledger.acquire(&cluster, &app()?, Tokens::whole(5_000)).await?;
    let debt = ledger.borrow(&cluster, &app()?, Tokens::whole(1_000)).await?;
    assert_eq!(debt, Tokens::whole(1_200));
    // Writes reach the copy a moment later; wait for it, so that this is a failover without loss.
    let key = "ratelimit:{cluster-01}";
    let primary = servers.primary_of(key)?;
    servers.wait_until_caught_up(primary)?;
    servers.server(primary).kill();
    servers.wait_until_another(primary, key)?;

    let audit = until_reachable(|| ledger.audit(&cluster)).await?;
    assert!(audit.balances(), "{audit:?}");
    assert_eq!(audit.lines[0].flows.loaned, Tokens::whole(1_000), "the loan was not forgotten");
    let put = PutApp {
        policy: policy(20_000, 30_000)?,
        replaces: None,
        carry: Carry::Scale,
        effective_at: Millis::ZERO,
    };
    assert!(ledger.put_app(&cluster, &put).await? > version);
    ledger.declare_emergency(&cluster, "failover", Millis::from_secs(5)).await?;
    ledger.end_emergency(&cluster).await?;
    ledger.repay(&cluster, &app()?, Tokens::whole(100)).await?;
    assert!(ledger.audit(&cluster).await?.balances());
    Ok(())
}

#[tokio::test]
async fn writes_lost_in_a_failover_are_noticed() -> Result {
    let mut servers = RedisCluster::start()?;
    let (ledger, cluster) = (patient(&servers.url())?, cluster()?);
    let seed = seed(None)?;
    until_reachable(|| ledger.seed(&cluster, &seed)).await?;
    let first = ledger.sync(&cluster, &call(1, 0, 0, 1_000)?).await?;
    let key = "ratelimit:{cluster-01}";
    let primary = servers.primary_of(key)?;
    servers.wait_until_caught_up(primary)?;

    // The copy stands still while the primary grants, and takes its place without having heard of it.
    let replica = servers.replica_of(primary)?;
    servers.server(replica).signal(Signal::Stop)?;
    servers.server(primary).cli(&["CLIENT", "KILL", "TYPE", "replica"])?;
    let second = ledger.sync(&cluster, &call(2, 1, 1_000, 4_000)?).await?;
    assert_eq!(second.entries[0].granted, Tokens::whole(4_000));
    servers.server(primary).kill();
    servers.server(replica).signal(Signal::Continue)?;
    servers.wait_until_another(primary, key)?;

    let third = call(3, 2, 5_000, 9_000)?;
    let reply = until_reachable(|| ledger.sync(&cluster, &third)).await?;
    assert!(reply.epoch > first.epoch && reply.version > second.version, "{reply:?}");
    assert_eq!(reply.entries[0].granted, Tokens::ZERO, "nobody starts with anything");
    let audit = ledger.audit(&cluster).await?;
    assert!(audit.balances(), "{audit:?}");
    assert_eq!(audit.lines[0].account.outstanding, Tokens::whole(5_000), "what the node presented");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_get_exactly_what_was_minted() -> Result {
    let server = RedisServer::start()?;
    let cluster = cluster()?;
    let first = patient(&server.url())?;
    let start = Instant::now();
    // No allowance and no loans: one second of the guarantee, and what accrues.
    first.seed(&cluster, &seed(None)?).await?;
    let clients = (0..20).map(|_| {
        let ledger = patient(&server.url()).map_err(|error| error.to_string());
        let cluster = cluster.clone();
        tokio::spawn(async move {
            let (ledger, app) = (ledger?, app().map_err(|error| error.to_string())?);
            // However slow the machine, there is more asked for than is minted.
            let (mut admitted, mut was_refused) = (0u64, false);
            while start.elapsed() < Duration::from_secs(10) || !was_refused {
                match ledger.acquire(&cluster, &app, Tokens::whole(700)).await {
                    Ok(_) => admitted += 700,
                    Err(LedgerError::Refused(_)) => was_refused = true,
                    Err(error) => return Err(error.to_string()),
                }
            }
            Ok(admitted)
        })
    });
    let mut admitted = 0;
    for client in clients.collect::<Vec<_>>() {
        admitted += client.await??;
    }
    let elapsed = u64::try_from(start.elapsed().as_millis())? + 1;
    let minted = 10_000 + elapsed * 10;
    assert!(admitted <= minted, "{admitted} of {minted}");
    assert!(admitted > 10_000 - 700, "{admitted}");
    let audit = first.audit(&cluster).await?;
    assert!(audit.balances(), "{audit:?}");
    assert_eq!(audit.lines[0].flows.spent, Tokens::whole(admitted));
    Ok(())
}
