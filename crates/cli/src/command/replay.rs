//! What would have been under other policies.

mod demand;
mod table;

use super::running::Running;
use super::{Outcome, apply, file, serve};
use crate::output;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use hyper::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use table::Comparison;
use tollgate_admin::whatif::{self, Demand, Terms, World};
use tollgate_config::{Change, Policy};
use tollgate_core::id::{AppId, ClusterId};

/// Play recorded demand under the policies of a file (what-if)
///
/// Demand goes through the arithmetic of the ledger, second by second. It comes from the history of a running system, where
/// each application that the file changes is tried in turn under its policy in the file, with its busiest neighbours; or from
/// a file of lines `second,app,tokens`, through all policies of the file at once.
///
/// Exits with 0 if no application would be refused more than before, 1 if one would, and 2 if it could not be played.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The configuration file with the policies to try
    file: PathBuf,

    /// Only these applications of the running system, whether the file changes them or not
    #[arg(long = "app", value_name = "APP")]
    apps: Vec<String>,

    /// How far back the running system looks
    #[arg(long, value_enum, default_value_t = Range::Hour)]
    range: Range,

    #[command(flatten)]
    running: Running,

    /// Recorded demand, in place of a running system: lines of seconds since 1970, application and tokens, with commas
    #[arg(long, value_name = "CSV", conflicts_with_all = ["apps", "range", "url", "token_file"])]
    demand: Option<PathBuf>,

    /// The configuration file to compare with; with --demand only
    #[arg(long, value_name = "FILE", requires = "demand")]
    before: Option<PathBuf>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// How far back to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Range {
    #[value(name = "1h")]
    Hour,
    #[value(name = "6h")]
    SixHours,
    #[value(name = "24h")]
    Day,
}

impl Range {
    const fn name(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::SixHours => "6h",
            Self::Day => "24h",
        }
    }
}

impl Replay {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let Some(policy) = self.read(&self.file)? else { return Ok(Outcome::Wrong) };
        let played = match &self.demand {
            Some(demand) => {
                let before = match &self.before {
                    Some(before) => match self.read(before)? {
                        Some(before) => Some(before),
                        None => return Ok(Outcome::Wrong),
                    },
                    None => None,
                };
                by_file(&policy, before.as_ref(), &demand::read(demand)?)?
            }
            None => serve::runtime()?.block_on(self.by_system(&policy))?,
        };
        if self.json {
            output::print_json(&json!({"apps": played.iter().map(Comparison::to_value).collect::<Value>()}))?;
        } else {
            output::print(&table::to_text(&played))?;
        }
        Ok(if played.iter().any(Comparison::is_worse) { Outcome::No } else { Outcome::Yes })
    }

    fn read(&self, path: &Path) -> anyhow::Result<Option<Policy>> {
        match file::read(path) {
            Ok(config) => Ok(Some(config.policy)),
            Err(wrong) if self.json => output::print_json(&wrong.to_value()).map(|()| None),
            Err(wrong) => {
                wrong.complain();
                Ok(None)
            }
        }
    }

    /// Asks a running system, which knows what was asked of it.
    async fn by_system(&self, policy: &Policy) -> anyhow::Result<Vec<Comparison>> {
        let mut names: BTreeSet<String> = self.apps.iter().cloned().collect();
        if names.is_empty() {
            let running = self.running.policy(policy).await?;
            let changed = apply::changes(&running, policy, false)?;
            names = changed.iter().filter_map(app_of).collect();
        }
        let mut played = Vec::new();
        for name in names {
            let Some(app) = policy.apps().get(name.as_str()) else { bail!("the file does not have {name}") };
            let body = json!({"policy": app.to_value(policy.prices()), "range": self.range.name()});
            let target = format!("/api/v1/apps/{name}/what-if");
            match self.running.ask(Method::POST, &target, Some(&body)).await? {
                Ok(answer) => {
                    played.push(Comparison::read(&answer["app"], None)?);
                    for neighbour in answer["neighbours"].as_array().into_iter().flatten() {
                        played.push(Comparison::read(neighbour, Some(&name))?);
                    }
                }
                Err(refusal) => bail!("{name}: {refusal}"),
            }
        }
        Ok(played)
    }
}

/// The application that a change is about, if it is about one that goes on.
fn app_of(change: &Change) -> Option<String> {
    let mut path = change.path().split('.');
    (path.next() == Some("apps")).then(|| path.next().map(str::to_owned))?
}

/// Plays demand through all clusters of a file, and of another.
fn by_file(
    policy: &Policy,
    before: Option<&Policy>,
    demand: &BTreeMap<AppId, Demand>,
) -> anyhow::Result<Vec<Comparison>> {
    let after = play(policy, demand).context("the policies to try")?;
    let before = before.map(|before| play(before, demand)).transpose().context("the policies before")?;
    let compare = |(app, after): (&AppId, &whatif::Outcome)| Comparison {
        app: app.to_string(),
        tried: None,
        before: before.as_ref().map(|before| before.get(app).copied().unwrap_or_default()),
        after: *after,
    };
    Ok(after.iter().map(compare).collect())
}

fn play(
    policy: &Policy,
    demand: &BTreeMap<AppId, Demand>,
) -> anyhow::Result<BTreeMap<AppId, whatif::Outcome>> {
    let mut worlds: BTreeMap<&ClusterId, (World, BTreeMap<AppId, Demand>)> = policy
        .clusters()
        .iter()
        .map(|(id, cluster)| {
            (id, (World { capacity: cluster.capacity, apps: BTreeMap::new() }, BTreeMap::new()))
        })
        .collect();
    for (id, app) in policy.apps() {
        if let Some((world, _)) = worlds.get_mut(&app.cluster) {
            world.apps.insert(id.clone(), Terms { quota: app.quota, enabled: app.enabled });
        }
    }
    for (id, wanted) in demand {
        let cluster = policy.apps().get(id).map(|app| &app.cluster);
        let Some((_, demand)) = cluster.and_then(|cluster| worlds.get_mut(cluster)) else {
            bail!("there is demand of {id}, which they do not have");
        };
        demand.insert(id.clone(), wanted.clone());
    }
    let mut outcomes = BTreeMap::new();
    for (world, demand) in worlds.values() {
        outcomes.extend(whatif::replay(world, demand)?);
    }
    Ok(outcomes)
}
