//! The balance of a running system, as its admin API tells it.

use crate::command::running::Running;
use anyhow::{Context, bail};
use hyper::Method;
use serde_json::Value;
use std::collections::BTreeMap;
use tollgate_core::account::Account;
use tollgate_core::borrow::Loan;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::Tokens;
use tollgate_ledger::book::{Audit as Balance, Flows, Line};

/// The most clusters that a page has.
const PAGE: usize = 1_000;

/// Asks for the balance of every cluster that the system has, whatever our own configuration names.
pub(super) async fn ask(running: &Running) -> anyhow::Result<BTreeMap<ClusterId, Balance>> {
    let mut balances = BTreeMap::new();
    for page in 1.. {
        let told = get(running, &format!("/api/v1/clusters?limit={PAGE}&page={page}")).await?;
        let clusters = list(&told, "data")?;
        for cluster in clusters {
            let name = text(cluster, "cluster_id")?;
            let told = get(running, &format!("/api/v1/clusters/{name}/balance")).await?;
            let read = balance(&told).with_context(|| format!("cannot read the balance of {name}"))?;
            balances.insert(ClusterId::new(name)?, read);
        }
        if clusters.len() < PAGE {
            break;
        }
    }
    Ok(balances)
}

async fn get(running: &Running, target: &str) -> anyhow::Result<Value> {
    match running.ask(Method::GET, target, None).await? {
        Ok(content) => Ok(content),
        Err(refusal) => bail!("{}{target}: {refusal}", running.url()),
    }
}

fn balance(told: &Value) -> anyhow::Result<Balance> {
    Ok(Balance {
        slack: amount(told, "slack")?,
        meters: amount(told, "meters")?,
        depth: amount(told, "depth")?,
        lines: list(told, "apps")?.iter().map(line).collect::<anyhow::Result<_>>()?,
    })
}

/// What of a line has to do with whether it adds up, which is not taken on trust.
fn line(told: &Value) -> anyhow::Result<Line> {
    let amount = |name| amount(told, name);
    let loan = Loan { debt: amount("debt")?, ..Loan::default() };
    Ok(Line {
        app: AppId::new(text(told, "app_id")?)?,
        account: Account {
            rights: amount("rights")?,
            outstanding: amount("outstanding")?,
            loan,
            ..Account::default()
        },
        flows: Flows {
            opened: amount("opened")?,
            minted: amount("minted")?,
            drawn: amount("drawn")?,
            loaned: amount("loaned")?,
            adopted: amount("adopted")?,
            overrun: amount("overrun")?,
            spent: amount("spent")?,
            lost: amount("lost")?,
            repaid: amount("repaid")?,
            expired: amount("expired")?,
            suspected: amount("suspected")?,
            dropped: amount("dropped")?,
        },
        leased: amount("leased")?,
    })
}

fn list<'a>(told: &'a Value, name: &str) -> anyhow::Result<&'a Vec<Value>> {
    told[name].as_array().with_context(|| format!("it does not say {name}"))
}

fn text<'a>(told: &'a Value, name: &str) -> anyhow::Result<&'a str> {
    told[name].as_str().with_context(|| format!("it does not say {name}"))
}

fn amount(told: &Value, name: &str) -> anyhow::Result<Tokens> {
    let number = told[name].as_f64().filter(|number| *number >= 0.0);
    number.map(exact).with_context(|| format!("it does not say {name}"))
}

/// To the millionth: whole tokens and the rest apart, as together they would have more digits than a double keeps while it is
/// multiplied.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and what is too large is the most there can be"
)]
fn exact(number: f64) -> Tokens {
    let rest = (number.fract() * 1e6).round() as u64;
    Tokens::from_micros((number.trunc() as u64).saturating_mul(Tokens::MICROS_PER_TOKEN).saturating_add(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::cast_precision_loss, reason = "as the API writes it")]
    fn amounts_are_read_to_the_millionth() {
        let most = Tokens::MAX.micros();
        for micros in [0, 1, 999_999, 1_000_001, 123_456_789_012_345, most / 3, most - 1, most] {
            assert_eq!(exact(micros as f64 / 1e6).micros(), micros);
        }
    }
}
