//! Every operation as a user who may do only what `examples/redis.acl` says.

#![cfg(feature = "redis")]

use std::time::Duration;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::board::{Board, Note};
use tollgate_ledger::protocol::{AppPolicy, Carry, Entry, PutApp, Seed, Sync};
use tollgate_ledger::question::Question;
use tollgate_ledger::script::ScriptLedger;
use tollgate_ledger::{Ledger, LedgerError, RedisEngine, RedisLedger};
use tollgate_testkit::{RedisCluster, RedisServer};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Lets the user in. Servers before 7.0 have no sharded channels and refuse to speak of them.
fn admit(server: &RedisServer) -> Result {
    let list = include_str!("../../../examples/redis.acl");
    let has_shards = server.cli(&["COMMAND", "INFO", "spublish"])?.contains("spublish");
    let words = list.split_whitespace().skip(1);
    let words = words.filter(|word| has_shards || !["+spublish", "+ssubscribe"].contains(word));
    let command: Vec<&str> = ["ACL", "SETUSER"].into_iter().chain(words).collect();
    let answer = server.cli(&command)?;
    if answer.trim() == "OK" { Ok(()) } else { Err(answer.into()) }
}

fn ledger(url: &str) -> Result<RedisLedger> {
    let url = url.replace("://", "://tollgate:change-me@");
    Ok(ScriptLedger::new(RedisEngine::new(&url, TIMEOUT)?))
}

fn put(effective_at: Millis) -> Result<PutApp> {
    let quota = Quota {
        guaranteed: Rate::per_second(1_000),
        burst: Tokens::whole(10_000),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    let policy = AppPolicy { app: AppId::new("app-a")?, quota, enabled: true, body: String::new() };
    Ok(PutApp { policy, replaces: None, carry: Carry::Keep, effective_at })
}

fn call(seq: u64) -> Result<Sync> {
    let entry = Entry { want: Tokens::whole(10), ..Entry::idle(AppId::new("app-a")?) };
    Ok(Sync {
        node: NodeId::new("node-1")?,
        incarnation: 1,
        seq,
        acked: seq - 1,
        epoch: 0,
        silence: Millis::from_secs(5),
        entries: vec![entry],
    })
}

/// Everything that can be asked of a ledger. A refusal of the server's would be an error of protocol.
async fn everything(ledger: &RedisLedger) -> Result {
    let (c, app, one) = (ClusterId::new("cluster-01")?, AppId::new("app-a")?, Tokens::whole(1));
    let seed =
        Seed { capacity: Capacity::default(), apps: vec![put(Millis::ZERO)?.policy], remembered: None };
    ledger.seed(&c, &seed).await?;
    let mut notices = ledger.notices(&c);
    ledger.sync(&c, &call(1)?).await?;
    ledger.acquire(&c, &app, one).await?;
    for id in ["first", "second"] {
        ledger.reserve(&c, &app, id, one, Millis::from_secs(60)).await?;
    }
    ledger.complete(&c, "first", one).await?;
    ledger.cancel(&c, "second").await?;
    ledger.borrow(&c, &app, one).await?;
    ledger.repay(&c, &app, one).await?;
    ledger.put_app(&c, &put(Millis::ZERO)?).await?;
    ledger.put_app(&c, &put(Millis::new(4_000_000_000_000))?).await?;
    ledger.scheduled(&c, 0, 1).await?;
    ledger.put_cluster(&c, &Capacity::default()).await?;
    ledger.end_emergency(&c).await?;
    ledger.reset(&c, &app).await?;
    ledger.reconcile(&c).await?;
    ledger.audit(&c).await?;
    ledger.pin(&c, &Note { node: NodeId::new("node-1")?, text: "well".into() }).await?;
    ledger.pinned(&c).await?;
    ledger.ask(&c, &Question { name: 7, text: "who".into() }).await?;
    ledger.answer(&c, 7, "me").await?;
    ledger.answer_to(&c, 7).await?;
    ledger.depart(&c, &call(2)?).await?;
    ledger.delete_app(&c, &app).await?;
    let heard = async {
        loop {
            ledger.declare_emergency(&c, "a drill", Millis::from_secs(60)).await?;
            if tokio::time::timeout(Duration::from_millis(100), notices.next()).await.is_ok() {
                return Ok::<(), LedgerError>(());
            }
        }
    };
    Ok(tokio::time::timeout(TIMEOUT, heard).await??)
}

#[tokio::test]
async fn a_user_with_few_rights_can_do_everything() -> Result {
    let server = RedisServer::start()?;
    admit(&server)?;
    everything(&ledger(&server.url())?).await
}

#[tokio::test]
async fn a_user_with_few_rights_can_do_everything_on_a_cluster() -> Result {
    let servers = RedisCluster::start()?;
    for server in servers.servers() {
        admit(server)?;
    }
    everything(&ledger(&servers.url())?).await
}
