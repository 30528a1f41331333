//! Nodes, their leases, and what becomes of them when a node falls silent.

use super::{App, Book, CHORES, LEASE_TTL, NODE_TTL, SUSPECT_LIMIT};
use crate::protocol::SyncReply;
use std::collections::BTreeMap;
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::{Millis, Rate, Tokens};

/// A node as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Node {
    pub(super) incarnation: u64,
    pub(super) seq: u64,
    /// What was answered to `seq`, in case the answer got lost.
    pub(super) reply: Option<SyncReply>,
    pub(super) seen_at: Millis,
    /// When it is to be missed.
    pub(super) due: Millis,
    /// The epoch it was last heard of in: leases from an earlier one are void.
    pub(super) epoch: u64,
    pub(super) leases: BTreeMap<AppId, Lease>,
}

/// What a node has for one application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Lease {
    pub(super) amount: Tokens,
    /// What the node lets through on its own, should it lose the ledger.
    pub(super) fallback: Rate,
    /// Whether the node is silent and suspected of doing so.
    pub(super) is_suspect: bool,
    /// Since when there is the application that it is of.
    pub(super) since: u64,
}

impl Node {
    /// A node that has not been heard of before.
    pub(super) fn new(incarnation: u64, epoch: u64, now: Millis) -> Self {
        Self { incarnation, seq: 0, reply: None, seen_at: now, due: now, epoch, leases: BTreeMap::new() }
    }

    /// The leases that something is to be done about, as the node is missed: it is suspected, and once they are over they
    /// are written off. Those of an earlier epoch are void.
    fn unsettled(&self, is_over: bool, epoch: u64) -> impl Iterator<Item = &AppId> {
        let leases = self.leases.iter().filter(move |_| self.epoch == epoch);
        let is_unsettled = move |lease: &Lease| !lease.is_suspect || (is_over && !lease.amount.is_zero());
        leases.filter(move |(_, lease)| is_unsettled(lease)).map(|(app, _)| app)
    }
}

impl Book {
    /// Misses nodes that are silent, writes off the leases of those that have been for too long, and forgets those that have
    /// been for far too long, a bounded number in each call.
    pub(super) fn expire_nodes(&mut self, now: Millis) {
        for (list, span) in [(&mut self.heard, Millis::ZERO), (&mut self.late, LEASE_TTL)] {
            for _ in 0..CHORES {
                let is_due = |(moment, _): &&(Millis, NodeId)| now >= moment.plus(span);
                let Some(first) = list.first().filter(is_due).cloned() else { break };
                list.remove(&first);
                self.silent.push_back(first.1);
            }
        }
        self.settle_leases(now);
        for gone in [&mut self.quiet, &mut self.left] {
            for _ in 0..CHORES {
                let is_old = |(seen_at, _): &&(Millis, NodeId)| now.since(*seen_at) >= NODE_TTL;
                let Some(old) = gone.first().filter(is_old).cloned() else { break };
                gone.remove(&old);
                self.nodes.remove(&old.1);
            }
        }
    }

    fn settle_leases(&mut self, now: Millis) {
        let mut budget = CHORES;
        while budget > 0 {
            let Some(id) = self.silent.front().cloned() else { return };
            let Some(node) = self.nodes.get(&id) else { return };
            let (seen_at, is_over) = (node.seen_at, now.since(node.seen_at) >= LEASE_TTL);
            let turn: Vec<AppId> = node.unsettled(is_over, self.epoch).take(budget).cloned().collect();
            for app in &turn {
                self.settle_lease(&id, app, is_over, now);
            }
            if turn.len() < budget {
                self.silent.pop_front();
                let list = if is_over { &mut self.quiet } else { &mut self.late };
                list.insert((seen_at, id));
            }
            budget -= turn.len();
        }
    }

    /// Suspects a node of going on alone; once its lease is over, that is written off.
    fn settle_lease(&mut self, node: &NodeId, app: &AppId, is_over: bool, now: Millis) {
        let _ = self.refill(app, now);
        let Some(node) = self.nodes.get_mut(node) else { return };
        let until = node.seen_at.plus(LEASE_TTL).plus(SUSPECT_LIMIT);
        let Some(held) = node.leases.get_mut(app) else { return };
        let lease = *held;
        held.is_suspect = true;
        if is_over {
            held.amount = Tokens::ZERO;
        }
        let Some(app) = self.lessor(app, &lease) else { return };
        if !lease.is_suspect {
            app.suspect(lease.fallback, until);
        }
        if is_over {
            app.write_off(lease.amount);
        }
    }

    /// A node speaks: it is heard of now, not suspected of anything any more, and missed after so much silence.
    pub(super) fn hear(&mut self, id: &NodeId, silence: Millis, now: Millis) {
        let was_heard = self.strike(id);
        let Some(node) = self.nodes.get_mut(id) else { return };
        node.seen_at = now;
        node.due = now.plus(silence.min(LEASE_TTL));
        self.heard.insert((node.due, id.clone()));
        if node.epoch != self.epoch {
            node.epoch = self.epoch;
            node.leases.clear();
        }
        if was_heard {
            return;
        }
        let suspected = |(_, lease): &(&AppId, &mut Lease)| lease.is_suspect;
        let cleared: Vec<(AppId, Lease)> = node
            .leases
            .iter_mut()
            .filter(suspected)
            .map(|(app, lease)| {
                lease.is_suspect = false;
                (app.clone(), *lease)
            })
            .collect();
        for (app, lease) in cleared {
            self.clear(&app, &lease, now);
        }
    }

    /// Takes a node off the lists of those that are heard of, missed or gone; says whether it was heard of, so that nobody has
    /// suspected it of anything.
    fn strike(&mut self, id: &NodeId) -> bool {
        let Some(node) = self.nodes.get(id) else { return false };
        let was_heard = self.heard.remove(&(node.due, id.clone()));
        self.silent.retain(|silent| silent != id);
        for list in [&mut self.late, &mut self.quiet, &mut self.left] {
            list.remove(&(node.seen_at, id.clone()));
        }
        was_heard
    }

    /// A node said goodbye: what it has not given back is written off. Its last call is remembered, as an earlier one
    /// may still be on its way.
    pub(super) fn retire(&mut self, id: &NodeId, now: Millis) {
        self.strike(id);
        let Some(node) = self.nodes.get_mut(id) else { return };
        node.reply = None;
        self.left.insert((node.seen_at, id.clone()));
        let leases = std::mem::take(&mut node.leases);
        self.write_off(leases, now);
    }

    /// Forgets a node: what it still had in leases is written off.
    pub(super) fn bury(&mut self, id: &NodeId, now: Millis) {
        self.strike(id);
        let Some(node) = self.nodes.remove(id) else { return };
        if node.epoch == self.epoch {
            self.write_off(node.leases, now);
        }
    }

    fn write_off(&mut self, leases: BTreeMap<AppId, Lease>, now: Millis) {
        for (id, lease) in leases {
            if lease.is_suspect {
                self.clear(&id, &lease, now);
            }
            // While it was out it was room that nothing could be minted into.
            let _ = self.refill(&id, now);
            if let Some(app) = self.lessor(&id, &lease) {
                app.write_off(lease.amount);
            }
        }
    }

    /// One node less is suspected of letting requests of this application through.
    fn clear(&mut self, app: &AppId, lease: &Lease, now: Millis) {
        let _ = self.refill(app, now);
        if let Some(app) = self.lessor(app, lease) {
            app.suspects.rate = app.suspects.rate.minus(lease.fallback);
        }
    }

    /// The application that a lease is of; `None` if it is gone, even if there is another of its name.
    fn lessor(&mut self, id: &AppId, lease: &Lease) -> Option<&mut App> {
        self.apps.get_mut(id).filter(|app| app.since == lease.since)
    }
}
