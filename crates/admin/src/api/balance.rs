//! The balance of a cluster's tokens.

use super::page::Segment;
use crate::auth::Viewer;
use crate::problem::Problem;
use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use tollgate_core::units::Tokens;
use tollgate_ledger::book::{Audit, Line};
use utoipa::ToSchema;

/// Where every token of a cluster is. Amounts are exact, to the millionth of a token: rounded ones do not add up.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Balance {
    /// Whether everything is accounted for.
    balances: bool,
    /// Headroom for anybody.
    slack: f64,
    /// All private headroom.
    meters: f64,
    /// The most that both together may be.
    depth: f64,
    /// One line for each application.
    apps: Vec<BalanceLine>,
}

/// Where every token of an application is: what came (`opened`, `minted`, `drawn`, `loaned`, `adopted`, `overrun`) is what is
/// there (`rights`, `outstanding`) and what went (`spent`, `lost`, `repaid`, `expired`, `suspected`, `dropped`).
#[derive(Clone, Debug, Serialize, ToSchema)]
struct BalanceLine {
    /// Which application.
    app_id: String,
    /// Whether everything is accounted for.
    balances: bool,
    /// What was there when the books were opened.
    opened: f64,
    /// What the guarantee minted.
    minted: f64,
    /// What was drawn from the burst allowance.
    drawn: f64,
    /// What was borrowed, and what reservations owed.
    loaned: f64,
    /// What nodes presented as held, and the ledger had lost.
    adopted: f64,
    /// What was spent without having been leased.
    overrun: f64,
    /// What is in its bucket.
    rights: f64,
    /// What is out on lease.
    outstanding: f64,
    /// What its leases add up to, node by node: as much as is out.
    leased: f64,
    /// What was spent.
    spent: f64,
    /// What did not fit under the burst.
    lost: f64,
    /// What went into paying back.
    repaid: f64,
    /// What was in leases that expired.
    expired: f64,
    /// What was set aside for what nodes that are cut off let through on their own.
    suspected: f64,
    /// What a change of policy, a reset or lost memory took away.
    dropped: f64,
    /// What it owes.
    debt: f64,
}

/// Accounts for every token of a cluster, to the millionth.
#[utoipa::path(get, path = "/api/v1/clusters/{cluster_id}/balance", tag = "clusters",
    params(("cluster_id" = String, Path,)), extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "where every token is", body = Balance)))]
pub(crate) async fn balance(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(name): Segment<String>,
) -> Result<Json<Balance>, Problem> {
    let id = admin.cluster(&name)?;
    Ok(Json(Balance::from(&admin.plane.audit(&id).await?)))
}

impl From<&Audit> for Balance {
    fn from(audit: &Audit) -> Self {
        Self {
            balances: audit.balances(),
            slack: exact(audit.slack),
            meters: exact(audit.meters),
            depth: exact(audit.depth),
            apps: audit.lines.iter().map(BalanceLine::from).collect(),
        }
    }
}

impl From<&Line> for BalanceLine {
    fn from(line: &Line) -> Self {
        let (flows, account) = (&line.flows, &line.account);
        Self {
            app_id: line.app.to_string(),
            balances: line.balances(),
            opened: exact(flows.opened),
            minted: exact(flows.minted),
            drawn: exact(flows.drawn),
            loaned: exact(flows.loaned),
            adopted: exact(flows.adopted),
            overrun: exact(flows.overrun),
            rights: exact(account.rights),
            outstanding: exact(account.outstanding),
            leased: exact(line.leased),
            spent: exact(flows.spent),
            lost: exact(flows.lost),
            repaid: exact(flows.repaid),
            expired: exact(flows.expired),
            suspected: exact(flows.suspected),
            dropped: exact(flows.dropped),
            debt: exact(account.loan.debt),
        }
    }
}

/// In tokens; the largest amount is still told apart from one that is a millionth less.
#[expect(clippy::cast_precision_loss, reason = "amounts end at 4e15 millionths, which is below 2^53")]
fn exact(amount: Tokens) -> f64 {
    amount.micros() as f64 / 1e6
}
