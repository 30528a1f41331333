use super::running::{Refusal, Running};
use super::{Outcome, diff, file, serve};
use crate::output;
use anyhow::ensure;
use clap::Args;
use hyper::Method;
use serde_json::{Value, json};
use std::path::PathBuf;
use tollgate_config::policy::Cluster;
use tollgate_config::{Change, Policy};
use tollgate_core::id::ClusterId;

/// Make the applications and clusters of a running system what a configuration file says
///
/// Speaks to the admin API; every node of the system follows at once. `tollgate diff FILE` shows beforehand what will change.
/// What the file does not have stays, unless --prune is given. The rest of the file (listeners, routes, prices for all) is
/// for the nodes' own configuration and is left alone.
///
/// Exits with 0 if the system is now as the file says, 1 if it refused, and 2 if the file is wrong or nobody could be asked.
#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The configuration file
    file: PathBuf,

    #[command(flatten)]
    running: Running,

    /// Remove the applications that the file does not have
    #[arg(long)]
    prune: bool,

    /// Why, for those who read the history of policies
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Apply {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let policy = match file::read(&self.file) {
            Ok(config) => config.policy,
            Err(wrong) => {
                if self.json {
                    output::print_json(&wrong.to_value())?;
                } else {
                    wrong.complain();
                }
                return Ok(Outcome::Wrong);
            }
        };
        serve::runtime()?.block_on(async {
            let before = self.running.policy(&policy).await?;
            let changes = changes(&before, &policy, self.prune)?;
            if let Err(refusal) = self.apply(&policy).await? {
                if self.json {
                    output::print_json(&json!({"refused": refusal.0}))?;
                } else {
                    output::complain(&refusal.to_string());
                }
                return Ok(Outcome::No);
            }
            diff::print_changes(&changes, self.json)?;
            Ok(Outcome::Yes)
        })
    }

    /// All of it in one call, which is one version: it fits as a whole, or nothing is changed.
    async fn apply(&self, policy: &Policy) -> anyhow::Result<Result<Value, Refusal>> {
        let apps: Value = policy
            .apps()
            .iter()
            .map(|(id, app)| {
                let mut value = app.to_value(policy.prices());
                value["id"] = json!(&**id);
                value
            })
            .collect();
        let clusters: Value =
            policy.clusters().iter().map(|(id, cluster)| cluster_value(id, cluster)).collect();
        let body = json!({"apps": apps, "clusters": clusters, "prune": self.prune, "reason": self.reason});
        self.running.ask(Method::POST, "/api/v1/config/import", Some(&body)).await
    }
}

fn cluster_value(id: &ClusterId, cluster: &Cluster) -> Value {
    json!({
        "id": &**id,
        "capacity": cluster.capacity.rate.floor(),
        "reserved_ratio": cluster.capacity.reserved.as_f64(),
        "burst_ratio": cluster.capacity.burst_ratio.as_f64(),
        "emergency_threshold": cluster.capacity.emergency_threshold.as_f64(),
        "max_connections": cluster.capacity.connections,
    })
}

/// What applying changes. A cluster that no node knows cannot be added from here.
pub(super) fn changes(running: &Policy, file: &Policy, prune: bool) -> anyhow::Result<Vec<Change>> {
    let unknown: Vec<&str> =
        file.clusters().keys().filter(|id| !running.clusters().contains_key(*id)).map(|id| &**id).collect();
    ensure!(
        unknown.is_empty(),
        "the running system does not know {}: nodes learn of clusters from their own configuration, at their start",
        unknown.join(", ")
    );
    let all = tollgate_config::diff(running, file);
    let is_kept = |change: &Change| match change {
        Change::Removed { path, .. } => {
            let depth = path.split('.').count();
            // Clusters are never removed, and applications only if that is asked for.
            depth > 2 || (prune && path.starts_with("apps."))
        }
        _ => true,
    };
    Ok(all.into_iter().filter(is_kept).collect())
}
