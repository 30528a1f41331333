use super::{CHORES, Held, Hold, HoldEntry, HoldReply, LEARNING, SLOT_TTL, check_size};
use crate::ledger::Answer;
use crate::protocol::LedgerError;
use std::collections::{BTreeMap, BTreeSet};
use tollgate_core::connection::{Allotment, Out, Shortage};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::Millis;

/// The slots of one cluster as plain state that is handed the time: the rules themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotBook {
    total: u64,
    apps: BTreeMap<AppId, u64>,
    nodes: BTreeMap<NodeId, Node>,
    lives: BTreeMap<Life, Holder>,
    /// When each life was last heard of; [`GONE`] for those that are over.
    heard: BTreeSet<(Millis, Life)>,
    learning_until: Millis,
}

/// A node as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    incarnation: u64,
    seq: u64,
    seen_at: Millis,
    /// What was answered to `seq`, in case the answer got lost.
    reply: HoldReply,
}

/// One life of a node. Its slots are freed a few at a time, which may well take longer than its next life to begin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Life {
    incarnation: u64,
    node: NodeId,
}

/// What a life of a node holds: never an application with no slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Holder {
    slots: BTreeMap<AppId, u32>,
    /// In the order in which they are freed.
    order: BTreeSet<(u32, AppId)>,
}

/// When a life was heard of that is over: its slots are free as soon as somebody gets to it.
const GONE: Millis = Millis::ZERO;

impl SlotBook {
    pub(crate) fn hold(&mut self, hold: &Hold, now: Millis) -> Answer<HoldReply> {
        check_size("entries", hold.entries.len())?;
        if let Some(reply) = self.answered(hold)? {
            return Ok(reply);
        }
        // Never the moment that says it is over.
        let now = now.max(Millis::new(1));
        let is_partial = self.notice_loss(hold, now);
        let life = self.hear(hold, now);
        for entry in &hold.entries {
            self.book(&life, &entry.app, entry.holds);
        }
        if hold.is_leaving {
            self.retire(&life);
        }
        self.expire(now);

        let is_learning = now < self.learning_until && self.learning_until.since(now) <= LEARNING;
        let served = |entry| self.serve(&life, entry, hold.cluster_max, is_learning);
        let shortages: Vec<Option<Shortage>> = if hold.is_leaving {
            vec![None; hold.entries.len()]
        } else {
            hold.entries.iter().map(served).collect()
        };
        let reply = HoldReply {
            ttl: SLOT_TTL,
            cluster_total: self.total,
            is_partial,
            entries: hold
                .entries
                .iter()
                .zip(shortages)
                .map(|(entry, shortage)| self.tell(&life, entry, shortage))
                .collect(),
        };
        if let Some(node) = self.nodes.get_mut(&hold.node) {
            node.seq = hold.seq;
            node.reply = reply.clone();
        }
        Ok(reply)
    }

    /// What was answered to the very same call, if it has been.
    fn answered(&self, hold: &Hold) -> Answer<Option<HoldReply>> {
        let Some(node) = self.nodes.get(&hold.node) else {
            return if hold.is_leaving { Err(LedgerError::Stale) } else { Ok(None) };
        };
        if hold.incarnation < node.incarnation {
            return Err(LedgerError::Fenced);
        }
        if hold.incarnation > node.incarnation || hold.seq > node.seq {
            return Ok(None);
        }
        if hold.seq < node.seq { Err(LedgerError::Stale) } else { Ok(Some(node.reply.clone())) }
    }

    /// Whether the ledger may not know all that a node holds: since it lost its memory, or has freed some of it while
    /// the node was silent.
    fn notice_loss(&mut self, hold: &Hold, now: Millis) -> bool {
        let known = self.nodes.get(&hold.node).filter(|node| node.incarnation == hold.incarnation);
        if known.map_or(0, |node| node.seq) < hold.acked {
            if now >= self.learning_until || self.learning_until.since(now) > LEARNING {
                self.learning_until = now.plus(LEARNING);
            }
            return true;
        }
        known.is_some_and(|node| now.since(node.seen_at) >= SLOT_TTL)
    }

    /// A node speaks: it is heard of now, and earlier lives of it are over.
    fn hear(&mut self, hold: &Hold, now: Millis) -> Life {
        let life = Life { incarnation: hold.incarnation, node: hold.node.clone() };
        if let Some(node) = self.nodes.get(&hold.node) {
            let known = Life { incarnation: node.incarnation, node: hold.node.clone() };
            let seen_at = if known == life { now } else { GONE };
            self.heard.remove(&(node.seen_at, known.clone()));
            self.heard.insert((seen_at, known));
        }
        self.heard.insert((now, life.clone()));
        let reply = HoldReply { ttl: SLOT_TTL, cluster_total: 0, is_partial: false, entries: Vec::new() };
        let node = Node { incarnation: hold.incarnation, seq: hold.seq, seen_at: now, reply };
        self.nodes.insert(hold.node.clone(), node);
        life
    }

    /// A node has said goodbye.
    fn retire(&mut self, life: &Life) {
        let Some(node) = self.nodes.get_mut(&life.node) else { return };
        self.heard.remove(&(node.seen_at, life.clone()));
        self.heard.insert((GONE, life.clone()));
        node.seen_at = GONE;
    }

    /// Frees the slots of lives that are over or have been silent for too long, a bounded number in each call.
    fn expire(&mut self, now: Millis) {
        let mut budget = CHORES;
        while budget > 0 {
            let is_due = |(seen_at, _): &&(Millis, Life)| *seen_at == GONE || now.since(*seen_at) >= SLOT_TTL;
            let Some((seen_at, life)) = self.heard.first().filter(is_due).cloned() else { return };
            let apps = self.lives.get(&life).map(|holder| holder.first(budget)).unwrap_or_default();
            for app in &apps {
                self.book(&life, app, 0);
            }
            if apps.len() < budget {
                self.forget(&life, seen_at);
            }
            budget = budget.saturating_sub(apps.len() + 1);
        }
    }

    fn forget(&mut self, life: &Life, seen_at: Millis) {
        self.heard.remove(&(seen_at, life.clone()));
        if self.nodes.get(&life.node).is_some_and(|node| node.incarnation == life.incarnation) {
            self.nodes.remove(&life.node);
        }
    }

    /// Gives a node what it needs, and what is welcome ahead of that, as far as there is any.
    fn serve(
        &mut self,
        life: &Life,
        entry: &HoldEntry,
        cluster_max: u32,
        is_learning: bool,
    ) -> Option<Shortage> {
        let slots = self.slots(life, &entry.app);
        let needed = entry.need.saturating_sub(slots);
        if is_learning {
            return (needed > 0).then_some(Shortage::Learning);
        }
        let Allotment { granted, shortage } = entry.limits.allot(cluster_max, self.out(&entry.app), needed);
        self.book(life, &entry.app, slots.saturating_add(granted));
        if shortage.is_none() {
            let slots = slots.saturating_add(granted);
            let welcome = entry.want.saturating_sub(slots);
            let ahead = entry.limits.allot_ahead(cluster_max, self.out(&entry.app), welcome);
            self.book(life, &entry.app, slots.saturating_add(ahead));
        }
        shortage
    }

    /// Sets what a life of a node has for an application.
    fn book(&mut self, life: &Life, app: &AppId, slots: u32) {
        let holder = self.lives.entry(life.clone()).or_default();
        let before = holder.set(app, slots);
        if holder.slots.is_empty() {
            self.lives.remove(life);
        }
        let moved = |total: u64| (total + u64::from(slots)).saturating_sub(u64::from(before));
        self.total = moved(self.total);
        match moved(self.out(app).app) {
            0 => _ = self.apps.remove(app),
            total => _ = self.apps.insert(app.clone(), total),
        }
    }

    fn tell(&self, life: &Life, entry: &HoldEntry, shortage: Option<Shortage>) -> Held {
        Held { slots: self.slots(life, &entry.app), app_total: self.out(&entry.app).app, shortage }
    }

    fn slots(&self, life: &Life, app: &AppId) -> u32 {
        self.lives.get(life).and_then(|holder| holder.slots.get(app)).copied().unwrap_or(0)
    }

    fn out(&self, app: &AppId) -> Out {
        Out { app: self.apps.get(app).copied().unwrap_or(0), cluster: self.total }
    }
}

impl Holder {
    /// Sets the slots of an application; returns how many there were.
    fn set(&mut self, app: &AppId, slots: u32) -> u32 {
        let before = self.slots.remove(app).unwrap_or(0);
        self.order.remove(&(before, app.clone()));
        if slots > 0 {
            self.slots.insert(app.clone(), slots);
            self.order.insert((slots, app.clone()));
        }
        before
    }

    /// The first applications that are to be freed.
    fn first(&self, count: usize) -> Vec<AppId> {
        self.order.iter().take(count).map(|(_, app)| app.clone()).collect()
    }
}
