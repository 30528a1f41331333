mod told;

use super::running::Running;
use super::{Outcome, serve};
use crate::{output, system};
use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tollgate_config::settings;
use tollgate_core::id::ClusterId;
use tollgate_core::units::Tokens;
use tollgate_ledger::book::{Audit as Balance, Line};
use tollgate_ledger::{Ledger, LedgerError};

/// Print the token balance of the ledger
///
/// Every token minted is in a bucket, in a lease, spent, lost or paid back. This reads the ledger that the configuration
/// names: on Redis, or the file that a ledger inside a process saves itself to. If it names neither, or with --url, a running
/// system is asked over its admin API, which needs a token. Exits with 0 if everything adds up, 1 if it does not, and 2 if
/// the ledger cannot be read.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    place: serve::Place,

    #[command(flatten)]
    running: Running,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let Some(config) = self.place.read() else { return Ok(Outcome::Wrong) };
        let ledger = &config.settings.ledger;
        let is_within_reach = ledger.url.is_some() || ledger.snapshot.is_some();
        let runtime = serve::runtime()?;
        let balances = if is_within_reach && !self.running.is_named() {
            let clusters: Vec<ClusterId> = config.policy.clusters().keys().cloned().collect();
            runtime.block_on(read(ledger, &clusters))?
        } else {
            runtime.block_on(told::ask(&self.running))?
        };
        if self.json {
            let clusters: Map<String, Value> =
                balances.iter().map(|(id, balance)| (id.to_string(), to_value(balance))).collect();
            output::print_json(
                &json!({"balances": balances.values().all(Balance::balances), "clusters": clusters}),
            )?;
        } else {
            let texts: Vec<String> = balances.iter().map(|(id, balance)| to_text(id, balance)).collect();
            output::print(&texts.join("\n"))?;
        }
        Ok(if balances.values().all(Balance::balances) { Outcome::Yes } else { Outcome::No })
    }
}

/// Opens the ledger that the configuration names.
async fn read(
    settings: &settings::Ledger,
    clusters: &[ClusterId],
) -> anyhow::Result<BTreeMap<ClusterId, Balance>> {
    let ledger = system::open_ledger(settings)?;
    let mut balances = BTreeMap::new();
    for cluster in clusters {
        match ledger.audit(cluster).await {
            Ok(balance) => balances.insert(cluster.clone(), balance),
            Err(LedgerError::Unseeded) => {
                bail!("the ledger does not know {cluster}: nothing has started on it yet")
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read the balance of {cluster}")),
        };
    }
    Ok(balances)
}

/// What came and what went, by name.
fn flows(line: &Line) -> [(&'static str, Tokens); 14] {
    let (flows, account) = (&line.flows, &line.account);
    [
        ("opened", flows.opened),
        ("minted", flows.minted),
        ("drawn", flows.drawn),
        ("loaned", flows.loaned),
        ("adopted", flows.adopted),
        ("overrun", flows.overrun),
        ("rights", account.rights),
        ("outstanding", account.outstanding),
        ("spent", flows.spent),
        ("lost", flows.lost),
        ("repaid", flows.repaid),
        ("expired", flows.expired),
        ("suspected", flows.suspected),
        ("dropped", flows.dropped),
    ]
}

/// How many of them are sources.
const SOURCES: usize = 6;

fn to_value(balance: &Balance) -> Value {
    let apps: Map<String, Value> =
        balance.lines.iter().map(|line| (line.app.to_string(), line_value(line))).collect();
    json!({
        "balances": balance.balances(),
        "slack": exact(balance.slack),
        "meters": exact(balance.meters),
        "depth": exact(balance.depth),
        "apps": apps,
    })
}

fn line_value(line: &Line) -> Value {
    let mut map: Map<String, Value> =
        flows(line).into_iter().map(|(name, amount)| (name.to_owned(), exact(amount))).collect();
    map.insert("leased".into(), exact(line.leased));
    map.insert("balances".into(), json!(line.balances()));
    map.into()
}

/// In tokens, with six decimals: small enough to be exact in JSON.
#[allow(clippy::cast_precision_loss, reason = "amounts end far below 2^53 millionths")]
fn exact(amount: Tokens) -> Value {
    json!(amount.micros() as f64 / 1e6)
}

fn to_text(cluster: &ClusterId, balance: &Balance) -> String {
    let state = |adds_up: bool| if adds_up { "adds up" } else { "DOES NOT ADD UP" };
    let head = format!(
        "{cluster}: {}; headroom {} for anybody and {} private, of at most {}",
        state(balance.balances()),
        balance.slack.floor(),
        balance.meters.floor(),
        balance.depth.floor(),
    );
    let line = |line: &Line| {
        let named = flows(line);
        let (came, went) = named.split_at(SOURCES);
        format!("  {}: {}: {} = {}", line.app, state(line.balances()), sum(came), sum(went))
    };
    let lines: Vec<String> = [head].into_iter().chain(balance.lines.iter().map(line)).collect();
    lines.join("\n")
}

/// What there is of them, with names.
fn sum(amounts: &[(&str, Tokens)]) -> String {
    let some = amounts.iter().filter(|(_, amount)| !amount.is_zero());
    let named: Vec<String> = some.map(|(name, amount)| format!("{name} {}", amount.floor())).collect();
    if named.is_empty() { "nothing".to_owned() } else { named.join(" + ") }
}
