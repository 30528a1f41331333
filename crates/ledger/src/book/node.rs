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
        Self { incarnation, seq: 0, reply: None, seen_at: now, epoch, leases: BTreeMap::new() }
    }

    /// The leases that nobody has written off yet. Those of an earlier epoch are void.
    fn live(&self, epoch: u64) -> impl Iterator<Item = &AppId> {
        let leases = self.leases.iter().filter(move |_| self.epoch == epoch);
        leases.filter(|(_, lease)| !lease.is_suspect).map(|(app, _)| app)
    }
}

impl Book {
    /// Writes off the leases of nodes that have been silent for too long, and forgets those that have been for far too
    /// long, a bounded number in each call.
    pub(super) fn expire_nodes(&mut self, now: Millis) {
        for _ in 0..CHORES {
            let is_silent = |(seen_at, _): &&(Millis, NodeId)| now.since(*seen_at) >= LEASE_TTL;
            let Some(silent) = self.heard.first().filter(is_silent).cloned() else { break };
            self.heard.remove(&silent);
            self.silent.push_back(silent.1);
        }
        self.expire_leases(now);
        for gone in [&mut self.quiet, &mut self.left] {
            for _ in 0..CHORES {
                let is_old = |(seen_at, _): &&(Millis, NodeId)| now.since(*seen_at) >= NODE_TTL;
                let Some(old) = gone.first().filter(is_old).cloned() else { break };
                gone.remove(&old);
                self.nodes.remove(&old.1);
            }
        }
    }

    fn expire_leases(&mut self, now: Millis) {
        let mut budget = CHORES;
        while budget > 0 {
            let Some(id) = self.silent.front().cloned() else { return };
            let Some(node) = self.nodes.get(&id) else { return };
            let (seen_at, live) = (node.seen_at, node.live(self.epoch).take(budget).cloned());
            let live: Vec<AppId> = live.collect();
            for app in &live {
                self.expire_lease(&id, app, now);
            }
            if live.len() < budget {
                self.silent.pop_front();
                self.quiet.insert((seen_at, id));
            }
            budget -= live.len();
        }
    }

    /// Writes a lease off, and suspects the node of going on without it.
    fn expire_lease(&mut self, node: &NodeId, app: &AppId, now: Millis) {
        let _ = self.refill(app, now);
        let Some(node) = self.nodes.get_mut(node) else { return };
        let until = node.seen_at.plus(LEASE_TTL).plus(SUSPECT_LIMIT);
        let Some(held) = node.leases.get_mut(app) else { return };
        let lease = std::mem::replace(held, Lease { amount: Tokens::ZERO, is_suspect: true, ..*held });
        if let Some(app) = self.lessor(app, &lease) {
            app.write_off(lease.amount);
            app.suspects.rate = app.suspects.rate.plus(lease.fallback);
            app.suspects.until = app.suspects.until.max(until);
        }
    }

    /// A node speaks: it is heard of now, and not suspected of anything any more.
    pub(super) fn hear(&mut self, id: &NodeId, now: Millis) {
        self.strike(id);
        let Some(node) = self.nodes.get_mut(id) else { return };
        self.heard.insert((now, id.clone()));
        node.seen_at = now;
        if node.epoch != self.epoch {
            node.epoch = self.epoch;
            node.leases.clear();
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

    /// Takes a node off the lists of those that are heard of, silent or gone.
    fn strike(&mut self, id: &NodeId) {
        let Some(node) = self.nodes.get(id) else { return };
        let entry = (node.seen_at, id.clone());
        self.silent.retain(|silent| silent != id);
        for list in [&mut self.heard, &mut self.quiet, &mut self.left] {
            list.remove(&entry);
        }
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
                continue;
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
