//! Hints over real servers: they come, they come again after every kind of loss, and nothing is lost without them.

#![cfg(feature = "redis")]

use std::time::{Duration, Instant};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Carry, Entry, PutApp, Seed, Sync};
use tollgate_ledger::script::ScriptLedger;
use tollgate_ledger::{Answer, Ledger, LedgerError, Notices, RedisEngine, RedisLedger};
use tollgate_testkit::{RedisCluster, RedisServer};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

const CHANNEL: &str = "ratelimit:config:{cluster-01}";

/// Longer than anything here takes, so that a hint which does not come is not just late.
const PATIENCE: Duration = Duration::from_secs(30);

fn ledger(url: &str) -> Result<RedisLedger> {
    Ok(ScriptLedger::new(RedisEngine::new(url, Duration::from_secs(2))?))
}

fn cluster() -> Result<ClusterId> {
    Ok(ClusterId::new("cluster-01")?)
}

fn put(guaranteed: u64) -> Result<PutApp> {
    let quota = Quota {
        guaranteed: Rate::per_second(guaranteed),
        burst: Tokens::whole(10_000),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    let policy = AppPolicy { app: AppId::new("app-a")?, quota, enabled: true, body: String::new() };
    Ok(PutApp { policy, replaces: None, carry: Carry::Keep, effective_at: Millis::ZERO })
}

fn seed() -> Result<Seed> {
    Ok(Seed { capacity: Capacity::default(), apps: vec![put(100)?.policy], remembered: None })
}

fn call(seq: u64) -> Result<Sync> {
    let entries = vec![Entry::idle(AppId::new("app-a")?)];
    Ok(Sync {
        node: NodeId::new("node-1")?,
        incarnation: 1,
        seq,
        acked: seq - 1,
        epoch: 0,
        silence: Millis::from_secs(5),
        entries,
    })
}

async fn until_reachable<T, F: Future<Output = Answer<T>>>(step: impl Fn() -> F) -> Answer<T> {
    let start = Instant::now();
    loop {
        match step().await {
            Err(LedgerError::Timeout | LedgerError::Connection(_)) if start.elapsed() < PATIENCE => {}
            answer => return answer,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// How many listen there, in the shard and outside of it.
fn listeners(server: &RedisServer) -> usize {
    shard_listeners(server).unwrap_or(0) + count(server, "NUMSUB").unwrap_or(0)
}

/// How many listen in the shard; `None` if the server knows of no such thing.
fn shard_listeners(server: &RedisServer) -> Option<usize> {
    count(server, "SHARDNUMSUB")
}

fn count(server: &RedisServer, command: &str) -> Option<usize> {
    server.cli(&["PUBSUB", command, CHANNEL]).ok()?.lines().nth(1)?.trim().parse().ok()
}

async fn until_listeners(servers: &[RedisServer], expected: usize) -> Result {
    let start = Instant::now();
    while servers.iter().map(listeners).sum::<usize>() != expected {
        if start.elapsed() > PATIENCE {
            return Err(format!("waited in vain for {expected} listeners").into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// The next hint has that version: there may be earlier ones.
async fn expect(notices: &mut Notices, version: u64) -> Result {
    let wait = async { while notices.next().await != version {} };
    Ok(tokio::time::timeout(PATIENCE, wait).await.map_err(|_| format!("no hint of version {version}"))?)
}

#[tokio::test]
async fn a_change_is_heard_of_by_another_node() -> Result {
    let servers = [RedisServer::start()?];
    let (node, operator) = (ledger(&servers[0].url())?, ledger(&servers[0].url())?);
    let cluster = cluster()?;
    let mut notices = node.notices(&cluster);
    until_listeners(&servers, 1).await?;
    expect(&mut notices, operator.seed(&cluster, &seed()?).await?).await?;
    // What is no version is no hint, and does no harm.
    for nonsense in ["", "-1", "soon", "99999999999999999999"] {
        servers[0].cli(&["PUBLISH", CHANNEL, nonsense])?;
    }
    let version = operator.put_app(&cluster, &put(200)?).await?;
    assert_eq!(tokio::time::timeout(PATIENCE, notices.next()).await?, version);
    let version = operator.declare_emergency(&cluster, "a drill", Millis::from_secs(60)).await?;
    expect(&mut notices, version).await
}

#[tokio::test]
async fn hints_come_again_after_the_connection_or_the_server_was_lost() -> Result {
    let mut servers = [RedisServer::start()?];
    let (ledger, cluster) = (ledger(&servers[0].url())?, cluster()?);
    ledger.seed(&cluster, &seed()?).await?;
    let mut notices = ledger.notices(&cluster);
    until_listeners(&servers, 1).await?;

    let before = servers[0].cli(&["CLIENT", "LIST", "TYPE", "pubsub"])?;
    servers[0].cli(&["CLIENT", "KILL", "TYPE", "pubsub"])?;
    until_listeners(&servers, 1).await?;
    assert_ne!(before, servers[0].cli(&["CLIENT", "LIST", "TYPE", "pubsub"])?, "another connection");
    expect(&mut notices, ledger.put_app(&cluster, &put(200)?).await?).await?;

    servers[0].kill();
    servers[0].restart()?;
    until_listeners(&servers, 1).await?;
    let seed = seed()?;
    let version = until_reachable(|| ledger.seed(&cluster, &seed)).await?;
    expect(&mut notices, version).await
}

#[tokio::test]
async fn who_stops_listening_leaves_nothing_behind() -> Result {
    let servers = [RedisServer::start()?];
    let (ledger, cluster) = (ledger(&servers[0].url())?, cluster()?);
    let first = ledger.notices(&cluster);
    let (second, third) = (first.clone(), ledger.notices(&cluster));
    until_listeners(&servers, 2).await?;
    drop((first, third));
    until_listeners(&servers, 1).await?;
    drop(second);
    until_listeners(&servers, 0).await
}

#[tokio::test]
async fn emergencies_have_a_channel_of_their_own() -> Result {
    let server = RedisServer::start()?;
    let (ledger, cluster) = (ledger(&server.url())?, cluster()?);
    let mut connection = redis::Client::open(server.url())?.get_connection()?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let mut subscription = connection.as_pubsub();
    subscription.psubscribe("ratelimit:*")?;
    ledger.seed(&cluster, &seed()?).await?;
    ledger.declare_emergency(&cluster, "a drill", Millis::from_secs(60)).await?;
    ledger.end_emergency(&cluster).await?;
    let mut heard = Vec::new();
    for _ in 0..5 {
        let message = subscription.get_message()?;
        heard.push((message.get_channel_name().to_owned(), message.get_payload::<String>()?));
    }
    let emergency = "ratelimit:emergency:{cluster-01}";
    let expected =
        [(CHANNEL, "1"), (CHANNEL, "2"), (emergency, "2 on"), (CHANNEL, "3"), (emergency, "3 off")];
    assert_eq!(heard, expected.map(|(channel, message)| (channel.to_owned(), message.to_owned())));
    Ok(())
}

/// A server that lets nobody publish and nobody listen: every message is lost, and nobody misses one.
#[tokio::test]
async fn nothing_depends_on_a_hint() -> Result {
    let server = RedisServer::start()?;
    server.cli(&["ACL", "SETUSER", "mute", "on", ">pw", "~*", "resetchannels", "+@all", "-@pubsub"])?;
    let url = server.url().replace("://", "://mute:pw@");
    let (node, operator, cluster) = (ledger(&url)?, ledger(&url)?, cluster()?);
    let mut notices = node.notices(&cluster);
    let mut known = operator.seed(&cluster, &seed()?).await?;
    for (seq, guaranteed) in (1..).zip([200, 300, 400]) {
        let changed = operator.put_app(&cluster, &put(guaranteed)?).await?;
        let reply = node.sync(&cluster, &call(seq)?).await?;
        assert!(reply.version > known && reply.version == changed, "{reply:?}");
        known = reply.version;
    }
    operator.declare_emergency(&cluster, "a drill", Millis::from_secs(60)).await?;
    assert!(node.sync(&cluster, &call(4)?).await?.emergency.is_on());
    let heard = tokio::time::timeout(Duration::from_millis(100), notices.next()).await;
    assert!(heard.is_err(), "a message got through: {heard:?}");
    assert_eq!(listeners(&server), 0);
    Ok(())
}

#[tokio::test]
async fn hints_follow_a_cluster_through_a_failover() -> Result {
    let mut servers = RedisCluster::start()?;
    let (node, operator, cluster) = (ledger(&servers.url())?, ledger(&servers.url())?, cluster()?);
    let mut notices = node.notices(&cluster);
    until_listeners(servers.servers(), 1).await?;
    let seed = seed()?;
    expect(&mut notices, until_reachable(|| operator.seed(&cluster, &seed)).await?).await?;

    let primary = servers.primary_of(CHANNEL)?;
    let in_shard = shard_listeners(&servers.servers()[primary]);
    assert!(in_shard.is_none_or(|count| count == 1), "the shard is used where there is one");
    servers.wait_until_caught_up(primary)?;
    servers.server(primary).kill();
    servers.wait_until_another(primary, CHANNEL)?;
    until_listeners(servers.servers(), 1).await?;
    let put = put(200)?;
    let version = until_reachable(|| operator.put_app(&cluster, &put)).await?;
    expect(&mut notices, version).await
}
