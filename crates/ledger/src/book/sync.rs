//! The one call of a node: report what was spent, give back what is not needed, get what is.

use super::node::{Lease, Node};
use super::{Book, LEASE_TTL, climate};
use crate::protocol::{Entry, Granted, LedgerError, MAX_AMOUNT, Sync, SyncReply};
use tollgate_core::grant::Ask;
use tollgate_core::id::NodeId;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Tokens};

impl Book {
    /// Answers a node. The same call again gets the same answer again, and changes nothing.
    pub fn sync(&mut self, sync: &Sync, now: Millis) -> Result<SyncReply, LedgerError> {
        if let Some(reply) = self.answered(sync)? {
            return Ok(reply);
        }
        self.advance(now);
        self.notice_loss(sync, now);
        self.admit(sync, now);
        let entries = sync.entries.iter().map(|entry| self.serve(&sync.node, entry, now)).collect();
        let reply = SyncReply {
            now,
            epoch: self.epoch,
            version: self.version,
            lease_ttl: LEASE_TTL,
            emergency: self.emergency,
            cut: self.overload.cut,
            entries,
        };
        if let Some(node) = self.nodes.get_mut(&sync.node) {
            node.seq = sync.seq;
            node.reply = Some(reply.clone());
        }
        Ok(reply)
    }

    /// A node says goodbye with its last call. What it has not given back is written off. Said again, as when the
    /// answer got lost, it is stale.
    pub fn depart(&mut self, sync: &Sync, now: Millis) -> Result<SyncReply, LedgerError> {
        let reply = self.sync(sync, now)?;
        self.retire(&sync.node, now);
        Ok(reply)
    }

    /// What was answered to the very same call, if it has been.
    fn answered(&self, sync: &Sync) -> Result<Option<SyncReply>, LedgerError> {
        let Some(node) = self.nodes.get(&sync.node) else { return Ok(None) };
        if sync.incarnation < node.incarnation {
            return Err(LedgerError::Fenced);
        }
        if sync.incarnation > node.incarnation || sync.seq > node.seq {
            return Ok(None);
        }
        match &node.reply {
            Some(reply) if sync.seq == node.seq => Ok(Some(reply.clone())),
            _ => Err(LedgerError::Stale),
        }
    }

    /// A node that had an answer the ledger knows nothing of: writes were lost, in a failover say. What they
    /// granted is not known any more, so everybody starts from nothing, and nodes present what they hold. Whoever comes
    /// later and had its answer before that has nothing new to tell.
    fn notice_loss(&mut self, sync: &Sync, now: Millis) {
        let known = self.nodes.get(&sync.node).filter(|node| node.incarnation == sync.incarnation);
        let is_lost = known.map_or(0, |node| node.seq) < sync.acked;
        let is_noticed = self.losses > 0 && sync.epoch < self.epoch;
        if is_lost && !is_noticed {
            self.epoch = self.epoch.max(sync.epoch).saturating_add(1);
            self.losses += 1;
            self.version += 1;
            self.history.start_over(self.version);
            self.pool.slack = Tokens::ZERO;
            self.pool.refilled_at = now;
        }
    }

    fn admit(&mut self, sync: &Sync, now: Millis) {
        if self.nodes.get(&sync.node).is_some_and(|node| node.incarnation < sync.incarnation) {
            self.bury(&sync.node, now);
        }
        let new = Node::new(sync.incarnation, self.epoch, now);
        self.nodes.entry(sync.node.clone()).or_insert(new);
        self.hear(&sync.node, sync.silence, now);
    }

    fn serve(&mut self, node: &NodeId, entry: &Entry, now: Millis) -> Granted {
        if self.refill(&entry.app, now).is_err() {
            return Granted::nothing(Reason::UnknownApp);
        }
        let left = self.settle(node, entry, now);
        let granted = self.lease_out(entry, now);
        let since = self.apps.get(&entry.app).map_or(0, |app| app.since);
        if let Some(node) = self.nodes.get_mut(node) {
            let amount = left.plus(granted.granted);
            let lease = Lease { amount, fallback: entry.fallback, is_suspect: false, since };
            node.leases.insert(entry.app.clone(), lease);
        }
        granted
    }

    /// Books what was spent and what comes back; returns what is left in the lease.
    fn settle(&mut self, node: &NodeId, entry: &Entry, now: Millis) -> Tokens {
        let lease = self.nodes.get(node).and_then(|node| node.leases.get(&entry.app));
        let Some(app) = self.apps.get_mut(&entry.app) else { return Tokens::ZERO };
        let lease = lease.filter(|lease| lease.since == app.since);
        let leased = lease.map_or(Tokens::ZERO, |lease| lease.amount);
        let reported = entry.spent.min(MAX_AMOUNT);
        let spent = reported.min(leased);
        app.note(&entry.by_operation);
        app.spend(spent, entry.requests);
        self.usage.record(spent, now);
        app.spend_unleased(reported.minus(spent), now);

        let returned = entry.returned.min(leased.minus(spent));
        let spilled = app.take_back(&climate(&self.emergency, &self.overload, app), returned);
        self.pool.absorb(spilled, &self.capacity, self.promised);

        let left = leased.minus(spent).minus(returned);
        if entry.holding < left {
            // The node lost some: nobody will spend them any more.
            app.write_off(left.minus(entry.holding));
            entry.holding
        } else {
            left.plus(app.adopt(entry.holding.minus(left)))
        }
    }

    fn lease_out(&mut self, entry: &Entry, now: Millis) -> Granted {
        let Some(app) = self.apps.get(&entry.app) else { return Granted::nothing(Reason::UnknownApp) };
        let (policy_version, remaining) = (app.version, app.account.rights);
        if !app.policy.enabled {
            return Granted { remaining, policy_version, ..Granted::nothing(Reason::AppDisabled) };
        }
        let need = entry.need.min(MAX_AMOUNT);
        let ask = Ask { need, want: entry.want.min(MAX_AMOUNT).max(need) };
        let Some(drawn) = self.draw(&entry.app, ask, now) else {
            return Granted::nothing(Reason::UnknownApp);
        };
        self.hand_out(&entry.app, &drawn, now);
        Granted {
            granted: drawn.grant.total(),
            remaining: remaining.minus(drawn.grant.bucket),
            wait: drawn.wait,
            policy_version,
            refusal: drawn.refusal,
        }
    }
}

impl Granted {
    const fn nothing(reason: Reason) -> Self {
        Self {
            granted: Tokens::ZERO,
            remaining: Tokens::ZERO,
            wait: None,
            policy_version: 0,
            refusal: Some(reason),
        }
    }
}
