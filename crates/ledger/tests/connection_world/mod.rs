//! Nodes that hold slots, for tests of any ledger.

#![allow(dead_code, reason = "no test uses all of it")]

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tollgate_core::connection::Limits;
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::units::Millis;
use tollgate_ledger::connection::{Hold, HoldEntry, HoldReply};

pub(crate) const CLUSTER_MAX: u32 = 60;

/// What a node says about one application, relative to what it holds.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) app: usize,
    /// Percent of what it holds.
    pub(crate) kept: u32,
    /// What it needs on top.
    pub(crate) more: u32,
    /// What would be welcome on top of that.
    pub(crate) ahead: u32,
    pub(crate) limits: Limits,
    /// What it says it holds, if it does not tell the truth.
    pub(crate) lie: Option<u32>,
}

impl Plan {
    /// Keeps everything and needs one more.
    pub(crate) const fn of(app: usize) -> Self {
        Self { app, kept: 100, more: 1, ahead: 0, limits: Limits::new(10, 15), lie: None }
    }
}

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) incarnation: u64,
    pub(crate) seq: u64,
    pub(crate) acked: u64,
    pub(crate) holding: BTreeMap<AppId, u32>,
    /// The last calls, the newest first.
    pub(crate) calls: Vec<Hold>,
}

impl Node {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            id: NodeId::new(&format!("node-{index}")).unwrap(),
            // Beyond what a double holds exactly.
            incarnation: u64::MAX - 1_000,
            seq: 0,
            acked: 0,
            holding: BTreeMap::new(),
            calls: Vec::new(),
        }
    }

    pub(crate) fn call(&mut self, plans: &[Plan], apps: usize) -> Hold {
        self.seq += 1;
        let call = Hold {
            node: self.id.clone(),
            incarnation: self.incarnation,
            seq: self.seq,
            acked: self.acked,
            is_leaving: false,
            cluster_max: CLUSTER_MAX,
            entries: plans.iter().map(|plan| self.entry(plan, app(plan.app % apps))).collect(),
        };
        self.calls.insert(0, call.clone());
        self.calls.truncate(3);
        call
    }

    fn entry(&mut self, plan: &Plan, app: AppId) -> HoldEntry {
        let held = self.holding.entry(app.clone()).or_default();
        *held = u32::try_from(u64::from(*held) * u64::from(plan.kept) / 100).unwrap();
        let need = held.saturating_add(plan.more);
        let holds = plan.lie.unwrap_or(*held);
        HoldEntry { app, holds, need, want: need.saturating_add(plan.ahead), limits: plan.limits }
    }

    /// All that it holds, with nothing more needed.
    pub(crate) fn present(&mut self, limits: Limits) -> Hold {
        let apps: Vec<AppId> = self.holding.keys().cloned().collect();
        let mut call = self.call(&[], 1);
        let entry = |app: AppId| {
            let holds = self.holding[&app];
            HoldEntry { app, holds, need: holds, want: holds, limits }
        };
        call.entries = apps.into_iter().map(entry).collect();
        call
    }

    pub(crate) fn take(&mut self, call: &Hold, reply: &HoldReply) {
        self.acked = call.seq;
        for (entry, held) in call.entries.iter().zip(&reply.entries) {
            self.holding.insert(entry.app.clone(), held.slots);
        }
    }

    pub(crate) fn crash(&mut self) {
        self.incarnation += 1;
        self.seq = 0;
        self.acked = 0;
        self.holding.clear();
    }
}

pub(crate) fn app(index: usize) -> AppId {
    AppId::new(&format!("app-{index}")).unwrap()
}

pub(crate) fn cluster() -> ClusterId {
    ClusterId::new("cluster-01").unwrap()
}

pub(crate) fn clock(time: &Arc<AtomicU64>) -> impl Fn() -> Millis + Send + Sync + 'static {
    let time = Arc::clone(time);
    move || Millis::new(time.load(Ordering::Relaxed))
}

/// Ledgers in this process are done when they return: nothing is ever waited for.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a ledger in this process made its caller wait"),
    }
}
