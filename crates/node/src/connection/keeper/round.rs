use super::Keeper;
use super::agenda::HEARTBEAT;
use super::plan::Line;
use crate::connection::clock::NodeClock;
use crate::connection::contact::Contact;
use crate::connection::room::Room;
use std::sync::Arc;
use tollgate_core::breaker::Terms;
use tollgate_core::connection::Shortage;
use tollgate_core::degrade::Level;
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::connection::{Hold, HoldEntry, HoldReply};
use tollgate_ledger::{LedgerError, Slots};

/// The most applications in one call: what the ledger does in one step should not take long.
const CALL_SIZE: usize = 200;

/// For how long nobody asks again after the ledger refused.
const REFUSAL: Millis = Millis::new(100);

/// How long to wait before the next life is tried when one was fenced off. Rounds of their own follow no faster than that while the ledger
/// is out of reach; this keeps those apart that somebody waits for.
const FENCED: Terms =
    Terms { failures: 1, first_pause: Nanos::new(100_000_000), longest_pause: Nanos::new(100_000_000) };

/// What a round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// There was nothing to change.
    Quiet,
    /// The ledger answered.
    Changed,
    /// The ledger does not know everything that this node holds: it is to be told at once.
    Partial,
    /// The ledger could not be asked, or did not answer.
    Failed,
}

/// Which applications a round is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those with connections that wait.
    Asked,
    /// All.
    All,
}

impl<L: Slots, T: Contact, C: NodeClock> Keeper<L, T, C> {
    /// One round: everybody who asked before it began has an answer when it is over.
    pub(super) async fn round_of(&mut self, scope: Scope) -> Round {
        let number = self.connections.0.rounds.start();
        let now = self.clock.now();
        if self.connections.0.shared.has_lapsed(now) {
            self.lapse();
        }
        let queued = self.connections.0.rounds.queued();
        let lines = match scope {
            Scope::Asked => lines(queued.iter(), now),
            Scope::All => lines(self.all(now).iter(), now),
        };
        let round = self.settle_all(lines, scope, now).await;
        self.publish_level();
        self.connections.0.rounds.finish(number, round != Round::Failed);
        round
    }

    /// Says goodbye: all slots are free then. Whoever still comes is let in without one.
    pub(super) async fn leave(&mut self) {
        self.connections.0.shared.set_level(Level::FailOpen);
        self.connections.0.shared.set_lapse(Nanos::ZERO);
        if self.seq > 0 && self.call(Vec::new(), true).await.is_err() {
            tracing::warn!(cluster = %self.connections.0.shared.cluster, "the ledger could not be told goodbye");
        }
    }

    async fn settle_all(&mut self, lines: Vec<Line>, scope: Scope, now: Nanos) -> Round {
        if lines.is_empty() && (scope == Scope::Asked || !self.is_heartbeat_due(now)) {
            return Round::Quiet;
        }
        let mut round = if lines.iter().any(|line| line.is_change) { Round::Changed } else { Round::Quiet };
        let mut is_cluster_short = false;
        let mut rest = lines;
        loop {
            let later = rest.split_off(rest.len().min(CALL_SIZE));
            let Ok(reply) = self.call_for(rest).await else { return Round::Failed };
            if reply.is_partial {
                self.doubt_all();
                round = Round::Partial;
            }
            is_cluster_short |= reply.entries.iter().any(|held| held.shortage == Some(Shortage::Cluster));
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        if is_cluster_short {
            return self.reclaim(now).await.unwrap_or(round);
        }
        round
    }

    /// A node that has spoken goes on speaking, so that its slots do not lapse. One that had to do without the ledger
    /// tries until it is back.
    fn is_heartbeat_due(&self, now: Nanos) -> bool {
        let is_silent = now.since(self.called_at) >= HEARTBEAT;
        (self.acked > 0 && is_silent) || self.level() == Level::FailOpen
    }

    /// The cluster is full: idle slots of this node's other applications are given back, for those who wait.
    async fn reclaim(&mut self, now: Nanos) -> Option<Round> {
        let rooms = self.connections.0.rooms.load_full();
        let idle: Vec<Line> = rooms.values().filter_map(Line::without_idle).take(CALL_SIZE).collect();
        if idle.is_empty() {
            return None;
        }
        let waiting = rooms.values().filter(|room| room.view.refusal(now) == Some(Shortage::Cluster));
        let waiting = lines(waiting, now).into_iter().take(CALL_SIZE);
        let all = idle.into_iter().chain(waiting).collect();
        Some(if self.call_for(all).await.is_ok() { Round::Changed } else { Round::Failed })
    }

    /// Tells the ledger and settles what it answers.
    async fn call_for(&mut self, lines: Vec<Line>) -> Result<HoldReply, LedgerError> {
        let entries = lines.iter().map(|line| line.entry.clone()).collect();
        match self.call(entries, false).await {
            Ok(reply) => {
                let now = self.clock.now();
                let until = now.plus(REFUSAL.into());
                for (line, held) in lines.iter().zip(&reply.entries) {
                    line.settle(held, now, until);
                }
                Ok(reply)
            }
            Err(error) => {
                // It may have been done or not.
                for line in &lines {
                    line.room.view.doubt();
                }
                Err(error)
            }
        }
    }

    async fn call(&mut self, entries: Vec<HoldEntry>, is_leaving: bool) -> Result<HoldReply, LedgerError> {
        let inner = &self.connections.0;
        let sent_at = self.clock.now();
        if sent_at < self.fence.until() {
            return Err(LedgerError::Fenced);
        }
        if !self.contact.may_call(sent_at) {
            return Err(LedgerError::Connection("the breaker is open".into()));
        }
        self.seq += 1;
        let hold = Hold {
            node: self.identity.node.clone(),
            incarnation: self.identity.incarnation,
            seq: self.seq,
            acked: self.acked,
            is_leaving,
            cluster_max: inner.shared.max(),
            entries,
        };
        let call = self.ledger.hold(&inner.settings.cluster, &hold);
        let answer = tokio::time::timeout(inner.settings.ledger_timeout, call).await;
        let answer = answer.unwrap_or(Err(LedgerError::Timeout));
        self.note(&answer, sent_at);
        if matches!(answer, Err(LedgerError::Fenced)) {
            self.begin_anew(sent_at);
        }
        let inner = &self.connections.0;
        if let Ok(reply) = &answer {
            self.fence.passed();
            self.acked = self.seq;
            self.called_at = sent_at;
            inner.shared.set_total(reply.cluster_total);
            if !is_leaving {
                inner.shared.set_lapse(sent_at.plus(reply.ttl.into()));
            }
        }
        answer
    }

    /// The ledger knows a later life of this node, and gave the slots of this one to others.
    fn begin_anew(&mut self, now: Nanos) {
        if !self.fence.is_up() {
            tracing::warn!(cluster = %self.connections.0.shared.cluster, node = %self.identity.node,
                "another node of this name has slots, or the clock went back: starting over");
        }
        self.identity.incarnation = self.fence.hit(self.identity.incarnation, &FENCED, now);
        self.seq = 0;
        self.connections.0.shared.set_lapse(Nanos::ZERO);
        self.lapse();
    }

    /// Tells the contact how a call went.
    pub(super) fn note<A>(&self, answer: &Result<A, LedgerError>, sent_at: Nanos) {
        let now = self.clock.now();
        match answer {
            Err(error @ (LedgerError::Timeout | LedgerError::Connection(_) | LedgerError::Protocol(_))) => {
                tracing::debug!(%error, "the ledger could not be asked about connections");
                self.contact.failed(now);
            }
            Ok(_) | Err(LedgerError::Fenced) => self.contact.answered(now.since(sent_at)),
            Err(error) => {
                tracing::warn!(%error, node = %self.identity.node, "the ledger refuses this node");
                self.contact.answered(now.since(sent_at));
            }
        }
    }

    /// Every application. Once per heartbeat demand is followed, and those that are gone are forgotten.
    fn all(&mut self, now: Nanos) -> Vec<Arc<Room>> {
        let is_review_due = self.agenda.is_review_due(now);
        if is_review_due {
            self.connections.prune();
        }
        let rooms: Vec<Arc<Room>> = self.connections.0.rooms.load().values().cloned().collect();
        if is_review_due {
            for room in &rooms {
                room.observe();
            }
        }
        rooms
    }

    /// The slots are not this node's any more. Those with connections on them are a fact, which the ledger is told as
    /// soon as it listens; the others are gone.
    fn lapse(&mut self) {
        self.acked = 0;
        for room in self.connections.0.rooms.load().values() {
            if room.gauge.trim(0) > 0 || !room.view.is_acknowledged(0) {
                room.view.doubt();
            }
        }
    }

    fn doubt_all(&self) {
        for room in self.connections.0.rooms.load().values() {
            room.view.doubt();
        }
    }
}

fn lines<'a>(rooms: impl Iterator<Item = &'a Arc<Room>>, now: Nanos) -> Vec<Line> {
    rooms.filter_map(|room| Line::of(room, now)).collect()
}
