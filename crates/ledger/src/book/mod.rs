//! One cluster's book: L1, its L2s and the leases that are out, as plain state that is handed the time.
//!
//! Every operation first brings the cluster up to now and touches only the applications it
//! names, so its cost does not depend on how many there are. A script that keeps the same book in Redis does the
//! same steps in the same order.

mod app;
mod audit;
mod contest;
mod flows;
mod history;
mod node;
mod operate;
mod operations;
mod policy;
mod reserve;
mod sync;
mod view;

pub use app::{App, Suspects};
pub use audit::{Audit, Line};
pub use flows::Flows;
pub use operations::Operations;
pub use reserve::Held;

use crate::protocol::{LedgerError, Scheduled};
use contest::Contest;
use history::History;
use node::Node;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use tollgate_core::emergency::{self, Emergency};
use tollgate_core::grant::{Ask, Climate, Counter, Grant};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::overload::Overload;
use tollgate_core::pool::Pool;
use tollgate_core::quota::{Capacity, Quota};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_core::usage::Usage;

/// How long a lease lasts without word from its node.
pub const LEASE_TTL: Millis = Millis::from_secs(5);

/// How long a node that is not heard of is believed to run on its own.
pub const SUSPECT_LIMIT: Millis = Millis::from_secs(60);

/// How long a node that fell silent or said goodbye is remembered. A node that had no answer for so long starts a new incarnation, or it is
/// taken for one whose answers the ledger has lost.
pub const NODE_TTL: Millis = Millis::from_secs(86_400);

/// How often idle applications are looked at for headroom that spills.
const HARVEST_INTERVAL: Millis = Millis::from_secs(1);

/// How many applications, nodes or pending changes one call looks at on the side.
const CHORES: usize = 64;

/// The state of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Book {
    capacity: Capacity,
    /// The sum of all guarantees.
    promised: Rate,
    pool: Pool,
    usage: Usage,
    overload: Overload,
    emergency: Emergency,
    /// Why the emergency was declared.
    emergency_reason: String,
    contest: Contest,
    epoch: u64,
    /// How often something was found to be lost.
    losses: u64,
    version: u64,
    history: History,
    harvested_at: Millis,
    /// The application that was harvested last.
    harvest_cursor: Option<AppId>,
    apps: BTreeMap<AppId, App>,
    nodes: BTreeMap<NodeId, Node>,
    /// The nodes that are heard of, by when they are to be missed.
    heard: BTreeSet<(Millis, NodeId)>,
    /// Nodes that are missed, and whose leases are to be looked at.
    silent: VecDeque<NodeId>,
    /// Nodes that are suspected of going on alone and whose leases last, those that were heard of longest ago first.
    late: BTreeSet<(Millis, NodeId)>,
    /// Nodes whose leases were written off, those that were heard of longest ago first.
    quiet: BTreeSet<(Millis, NodeId)>,
    /// Nodes that said goodbye, those that did so longest ago first.
    left: BTreeSet<(Millis, NodeId)>,
    pending: Vec<Scheduled>,
    held: BTreeMap<String, Held>,
    /// The reservations that are open, those that end first in front.
    ends: BTreeSet<(Millis, String)>,
    /// How many of them each application has. Not saved, but counted anew.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    open: BTreeMap<AppId, u32>,
}

impl Book {
    /// What the cluster can stand.
    pub const fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// Raised with every change of policy or emergency.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Raised whenever something was found to be lost.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The applications.
    pub const fn apps(&self) -> &BTreeMap<AppId, App> {
        &self.apps
    }

    /// The cluster's slack.
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Whether the cluster is in emergency mode.
    pub const fn emergency(&self) -> &Emergency {
        &self.emergency
    }

    /// Brings the cluster up to now: slack, overload, emergency, and a bounded part of the chores.
    fn advance(&mut self, now: Millis) {
        self.pool.refill(&self.capacity, self.promised, now);
        let usage = self.usage.ratio(&self.capacity, now);
        self.overload.follow(usage, now);
        if self.emergency.follow(usage, self.capacity.emergency_threshold, now).is_some() {
            self.version += 1;
        }
        self.apply_due(now);
        self.expire_nodes(now);
        self.expire_held(now);
        self.harvest(now);
    }

    /// Brings an application up to now.
    fn refill(&mut self, id: &AppId, now: Millis) -> Result<(), LedgerError> {
        let app = self.apps.get_mut(id).ok_or(LedgerError::UnknownApp)?;
        let climate = climate(&self.emergency, &self.overload, app);
        let spilled = app.refill(&climate, self.epoch, now);
        self.pool.absorb(spilled, &self.capacity, self.promised);
        Ok(())
    }

    /// Lets the meters of a few applications that nobody asks for spill, in turn.
    fn harvest(&mut self, now: Millis) {
        if now.since(self.harvested_at) < HARVEST_INTERVAL && now >= self.harvested_at {
            return;
        }
        self.harvested_at = now;
        let from = self.harvest_cursor.take().map_or(Bound::Unbounded, Bound::Excluded);
        let turn: Vec<AppId> =
            self.apps.range((from, Bound::Unbounded)).take(CHORES).map(|(id, _)| id.clone()).collect();
        for id in &turn {
            let _ = self.refill(id, now);
        }
        self.harvest_cursor = if turn.len() < CHORES { None } else { turn.last().cloned() };
    }

    /// Leases out or spends as much of what is asked for as there is, from an application brought up to now.
    fn draw(&mut self, id: &AppId, ask: Ask, now: Millis) -> Option<Drawn> {
        let app = self.apps.get_mut(id)?;
        if ask.want > app.account.meter {
            self.contest.enter(app, now);
        }
        let mut climate = climate(&self.emergency, &self.overload, app);
        if let Climate::Normal { slack_share, .. } = &mut climate {
            *slack_share = self.contest.share(app, &self.pool, &self.capacity, self.promised, now);
        }
        let quota = *app.quota();
        let counter = Counter { quota: &quota, capacity: &self.capacity, climate, now };
        let grant = counter.plan(&app.account, &self.pool, ask);
        let refusal = counter.shortfall(&app.account, &grant, ask.need);
        let wait = if refusal.is_none() { Some(Millis::ZERO) } else { counter.wait(&app.account, ask.need) };
        Some(Drawn { grant, refusal, wait, available: app.account.rights, quota, climate })
    }

    /// Books what was planned.
    fn hand_out(&mut self, id: &AppId, drawn: &Drawn, now: Millis) {
        let Drawn { grant, quota, climate, .. } = drawn;
        let counter = Counter { quota, capacity: &self.capacity, climate: *climate, now };
        if let Some(app) = self.apps.get_mut(id) {
            app.grant(&counter, &mut self.pool, grant);
        }
    }
}

/// What could be drawn, and why not more.
struct Drawn {
    grant: Grant,
    refusal: Option<Reason>,
    wait: Option<Millis>,
    available: Tokens,
    quota: Quota,
    climate: Climate,
}

/// What the cluster allows an application just now, but for its share of the slack.
fn climate(emergency: &Emergency, overload: &Overload, app: &App) -> Climate {
    let priority = app.policy.quota.priority;
    if emergency.is_on() {
        return Climate::Emergency(emergency::ratio(priority));
    }
    Climate::Normal { factor: overload.factor(priority), slack_share: Tokens::MAX }
}
