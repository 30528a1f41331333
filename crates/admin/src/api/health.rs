//! Whether the process lives, and whether it can do its work.

use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use std::collections::BTreeMap;
use tollgate_core::degrade::Level;
use utoipa::ToSchema;

/// That the process lives.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Alive {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
    /// The name of the node.
    node: String,
}

/// Whether the process can do its work.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names that callers see")]
pub(crate) struct Ready {
    /// Whether it can.
    ready: bool,
    /// Why not, or what is not quite well.
    reasons: Vec<String>,
    /// How each ledger can be reached: `normal`, `mild`, `significant` or `fail_open`.
    ledgers: BTreeMap<String, String>,
    /// Whether the database of the control plane answers.
    database: bool,
}

/// Tells that the process lives.
#[utoipa::path(get, path = "/health", tag = "health", security(()),
    responses((status = 200, description = "it lives", body = Alive)))]
pub(crate) async fn health(State(admin): State<Shared>) -> Json<Alive> {
    let node = admin.settings.node.to_string();
    Json(Alive { status: "ok", version: env!("CARGO_PKG_VERSION"), node })
}

/// Tells whether the node can do its work, and if not, why. A node without its ledger decides by itself: it is ready, and
/// says so.
#[utoipa::path(get, path = "/ready", tag = "health", security(()),
    responses((status = 200, description = "it can do its work", body = Ready),
              (status = 503, description = "it cannot", body = Ready)))]
pub(crate) async fn ready(State(admin): State<Shared>) -> (StatusCode, Json<Ready>) {
    let (mut reasons, mut ledgers, mut ready) = (Vec::new(), BTreeMap::new(), true);
    for (cluster, standing) in admin.plane.standing() {
        ledgers.insert(cluster.to_string(), standing.level.name().to_owned());
        if standing.calls.made == 0 {
            ready = false;
            reasons.push(format!("the ledger of {cluster} has not been asked yet"));
        } else if standing.is_cut_off || standing.level == Level::FailOpen {
            reasons.push(format!("the ledger of {cluster} is out of reach, the node decides by itself"));
        } else if standing.level != Level::Normal {
            reasons.push(format!("the ledger of {cluster} is slow ({})", standing.level.name()));
        }
    }
    let database = admin.store.ping().await.is_ok();
    if !database {
        reasons.push("the database of the control plane does not answer".into());
    }
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Ready { ready, reasons, ledgers, database }))
}
