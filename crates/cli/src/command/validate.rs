use super::{Outcome, file};
use crate::output;
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tollgate_config::Policy;
use tollgate_config::policy::Cluster;
use tollgate_core::id::ClusterId;

/// Check a configuration file and say everything that is wrong with it
///
/// Exits with 0 if the file is right and 2 if it is wrong or cannot be read.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// A .toml, .yaml, .yml or .json file
    file: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Validate {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        match file::read(&self.file) {
            Ok(config) => self.summarise(&config.policy).map(|()| Outcome::Yes),
            Err(wrong) if self.json => output::print_json(&wrong.to_value()).map(|()| Outcome::Wrong),
            Err(wrong) => {
                wrong.complain();
                Ok(Outcome::Wrong)
            }
        }
    }

    fn summarise(&self, policy: &Policy) -> anyhow::Result<()> {
        let promises: Vec<Promise<'_>> = policy.clusters().iter().map(|c| Promise::of(policy, c)).collect();
        if self.json {
            let clusters: Map<String, Value> =
                promises.iter().map(|promise| (promise.cluster.to_string(), promise.to_value())).collect();
            return output::print_json(&json!({
                "file": self.file.to_string_lossy(),
                "valid": true,
                "apps": policy.apps().len(),
                "clusters": clusters,
            }));
        }
        let lines: Vec<String> = promises.iter().map(Promise::to_line).collect();
        output::print(&format!("{}: valid\n{}", self.file.display(), lines.join("\n")))
    }
}

/// How much of a cluster has been promised.
struct Promise<'a> {
    cluster: &'a ClusterId,
    capacity: u64,
    promisable: u64,
    promised: u64,
    apps: usize,
}

impl<'a> Promise<'a> {
    fn of(policy: &Policy, (id, cluster): (&'a ClusterId, &Cluster)) -> Self {
        Self {
            cluster: id,
            capacity: cluster.capacity.rate.floor(),
            promisable: cluster.capacity.promisable().floor(),
            promised: policy.promised(id),
            apps: policy.apps().values().filter(|app| app.cluster == *id).count(),
        }
    }

    fn to_line(&self) -> String {
        let Self { cluster, capacity, promisable, promised, apps } = self;
        let noun = if *apps == 1 { "application" } else { "applications" };
        format!(
            "{cluster}: capacity {capacity}/s, {apps} {noun}, guarantees {promised}/s of at most {promisable}/s"
        )
    }

    fn to_value(&self) -> Value {
        json!({
            "capacity": self.capacity,
            "promisable": self.promisable,
            "promised": self.promised,
            "apps": self.apps,
        })
    }
}
