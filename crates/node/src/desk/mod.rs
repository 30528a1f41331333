//! One cluster's desk: everything the node knows of it and says to its ledger. It does no I/O and reads no clock, so
//! that the same code runs behind a network and in a simulation: whoever runs it fetches [`Job`]s, carries them to the
//! ledger and brings back what came of them.

mod alarm;
mod calm;
mod job;
mod lease;
mod onlookers;
mod outage;
mod policies;
mod report;
mod urgent;

pub use job::{Job, Outcome, Refused, Reply};
pub use policies::to_ledger;
pub(crate) use report::tier_of;

use crate::app::{App, Retry};
use crate::bell::Bell;
use crate::fence::Fence;
use crate::permit::Permit;
use crate::roster::Roster;
use crate::spans::Spans;
use alarm::Alarm;
use calm::Calm;
use lease::{Lease, Stock};
use policies::Reading;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tollgate_core::breaker::{self, Breaker};
use tollgate_core::cost::Price;
use tollgate_core::decision::Tier;
use tollgate_core::degrade::{Degradation, Level};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::quota::Capacity;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos, Ratio, Tokens};
use tollgate_ledger::LedgerError;
use tollgate_ledger::protocol::Sync;
use urgent::Urgent;

/// How a node deals with its ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manners {
    /// How often it reports.
    pub sync_interval: Millis,
    /// How often it reports while there is plenty of everything.
    pub calm_interval: Millis,
    /// After how many operations it reports earlier; looked at twice in an interval.
    pub batch_threshold: u64,
    /// What it wants to hold for an application that is in use.
    pub reserve_target: Tokens,
    /// The share of the target below which it asks for more.
    pub refill_threshold: Ratio,
    /// How long a request waits for the ledger.
    pub patience: Millis,
    /// When to give a ledger up that does not answer, and how often to look for it.
    pub breaker: breaker::Terms,
}

impl Manners {
    /// The shortest time after which a call that was not answered counts as lost. Requests wait much less.
    const SHORTEST_CALL_TIMEOUT: Millis = Millis::new(500);

    /// How long to wait for the ledger's answer before the call counts as lost.
    pub fn call_timeout(&self) -> Millis {
        Millis::new(self.patience.get().saturating_mul(10)).max(Self::SHORTEST_CALL_TIMEOUT)
    }
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            sync_interval: Millis::new(100),
            calm_interval: Millis::from_secs(1),
            batch_threshold: 1_000,
            reserve_target: Tokens::whole(1_000),
            refill_threshold: tollgate_core::lease::REFILL_THRESHOLD,
            patience: Millis::new(50),
            breaker: breaker::Terms::default(),
        }
    }
}

/// Who sits at a desk.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The node.
    pub node: NodeId,
    /// The cluster whose tokens it spends.
    pub cluster: ClusterId,
    /// The life of the node: later ones have larger numbers. Microseconds of some clock that goes on over restarts.
    pub incarnation: u64,
    /// What makes this node's moments differ from those of the others.
    pub seed: u64,
}

/// The desk of one cluster. `T` is the ticket of a request that waits.
#[derive(Debug)]
pub struct Desk<T> {
    manners: Manners,
    identity: Identity,
    roster: Arc<Roster>,
    bell: Arc<Bell>,
    random: fastrand::Rng,

    incarnation: u64,
    fence: Fence,
    seq: u64,
    acked: u64,
    /// The report that was not answered yet. Until it is, it is said again, word for word.
    limbo: Option<Limbo>,
    on_wire: Option<Wire>,
    acked_at: Nanos,
    /// When the lease of the last answer ends.
    valid_until: Option<Nanos>,

    leases: BTreeMap<AppId, Lease<T>>,
    urgent: Urgent,
    /// The last one that was reported in turn.
    cursor: Option<AppId>,
    /// Those whose purse runs low.
    low: BTreeSet<AppId>,
    /// Those that had much to report the last time.
    busy: Vec<AppId>,
    next_sync: Nanos,
    next_look: Nanos,
    last_sync: Nanos,
    calm: Calm,

    breaker: Breaker,
    degradation: Degradation,
    trouble: Reason,
    retry_at: Nanos,

    capacity: Capacity,
    reading: Reading,
    alarm: Alarm,
    cut: Ratio,
    epoch: u64,
    phase: Phase,
    calls: Calls,
}

/// Whether the desk is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Gives everything back.
    Closing,
    Closed,
}

/// A report on its way, or lost on its way.
#[derive(Debug)]
struct Limbo {
    sync: Sync,
    /// Whether it says goodbye.
    is_last: bool,
    /// When it was first sent: its leases count from then.
    sent: Nanos,
}

/// A call on its way.
#[derive(Clone, Copy, Debug)]
struct Wire {
    sent: Nanos,
}

/// Calls to the ledger since the node started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Calls that were made.
    pub made: u64,
    /// Calls that failed or were not answered in time.
    pub failed: u64,
    /// How long the last one took.
    pub latency: Nanos,
    /// How long they took, those too that failed. There is one at a time: together, that is how long the line to the ledger
    /// was in use.
    pub took: Spans,
}

impl Calls {
    /// One is over, however it ended.
    fn over(&mut self, took: Nanos) {
        self.latency = took;
        self.took.note(took);
    }
}

/// What became of a request that came to the desk.
#[derive(Debug)]
pub enum Asked<T> {
    /// It may pass at once.
    Passed(Permit<Arc<App>>, T),
    /// It may not.
    Refused(Refused, T),
    /// It waits: its ticket comes back with an answer.
    Waiting,
}

/// How a desk stands, for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How well the ledger can be reached.
    pub level: Level,
    /// Whether the node decides by itself just now.
    pub is_cut_off: bool,
    /// Whether the cluster is in emergency mode.
    pub is_emergency: bool,
    /// How much overload cuts of allocations above the guarantee.
    pub cut: Ratio,
    /// The version of the policies that are applied here.
    pub version: u64,
    /// The epoch of the ledger.
    pub epoch: u64,
    /// Applications that tokens are held for, or that are waited for.
    pub leases: usize,
    /// Calls to the ledger.
    pub calls: Calls,
}

impl<T> Desk<T> {
    /// A desk that has yet to speak to its ledger, and knows what `roster` has of the cluster.
    pub fn new(
        identity: Identity,
        manners: Manners,
        capacity: Capacity,
        roster: Arc<Roster>,
        bell: Arc<Bell>,
    ) -> Self {
        Self {
            random: fastrand::Rng::with_seed(identity.seed),
            incarnation: identity.incarnation,
            fence: Fence::default(),
            identity,
            manners,
            roster,
            bell,
            seq: 0,
            acked: 0,
            acked_at: Nanos::ZERO,
            limbo: None,
            on_wire: None,
            valid_until: None,
            leases: BTreeMap::new(),
            urgent: Urgent::default(),
            cursor: None,
            low: BTreeSet::new(),
            busy: Vec::new(),
            next_sync: Nanos::ZERO,
            next_look: Nanos::ZERO,
            last_sync: Nanos::ZERO,
            calm: Calm::default(),
            breaker: Breaker::default(),
            degradation: Degradation::default(),
            trouble: Reason::RedisConnectionFailed,
            retry_at: Nanos::ZERO,
            capacity,
            reading: Reading::new(),
            alarm: Alarm::NONE,
            cut: Ratio::ZERO,
            epoch: 0,
            phase: Phase::Open,
            calls: Calls::default(),
        }
    }

    /// A request that the purse could not pay comes to ask for more.
    pub fn ask(&mut self, app: &Arc<App>, price: Price, ticket: T, now: Nanos) -> Asked<T> {
        if self.phase != Phase::Open {
            return Asked::Refused(local(Retry::NOW), ticket);
        }
        let alone = self.is_cut_off(now).then(|| self.alone(now));
        let lease = self.leases.entry(app.id().clone()).or_insert_with(|| Lease::new(Arc::clone(app), now));
        if let Some(alone) = alone {
            lease.mint(price.tokens(), alone.alarm, now);
            if app.pay(&price) {
                return Asked::Passed(Permit::paid(Arc::clone(app), price).by(Tier::Fallback), ticket);
            }
            return Asked::Refused(lease.refuse_alone(price.tokens(), Tokens::ZERO, alone), ticket);
        }
        app.counters().missed();
        if let Err(ticket) = lease.enqueue(ticket, price, now) {
            return Asked::Refused(local(Retry::after(self.next_sync.since(now))), ticket);
        }
        if lease.is_scarce() && lease.may_borrow() {
            self.urgent.insert_soon(app.id().clone());
        } else {
            self.urgent.insert(app.id().clone());
        }
        self.bell.ring();
        Asked::Waiting
    }

    /// Somebody looks what would become of a request that the purse could not pay. Nothing is paid for it, nor borrowed.
    pub fn foresee(&mut self, app: &Arc<App>, price: Price, ticket: T, now: Nanos) -> Asked<T> {
        if self.phase != Phase::Open {
            return Asked::Refused(local(Retry::NOW), ticket);
        }
        let alone = self.is_cut_off(now).then(|| self.alone(now));
        let lease = self.leases.entry(app.id().clone()).or_insert_with(|| Lease::new(Arc::clone(app), now));
        if let Some(alone) = alone {
            lease.mint(price.tokens(), alone.alarm, now);
            if price.tokens() <= app.held() {
                return Asked::Passed(Permit::seen(Arc::clone(app), price).by(Tier::Fallback), ticket);
            }
            return Asked::Refused(lease.foretell_alone(price.tokens(), Tokens::ZERO, alone), ticket);
        }
        if let Some(refused) = lease.onlookers.warning(price.tokens(), now) {
            return Asked::Refused(refused, ticket);
        }
        if let Err(ticket) = lease.onlookers.join(ticket, price) {
            return Asked::Refused(local(Retry::after(self.next_sync.since(now))), ticket);
        }
        self.urgent.insert(app.id().clone());
        self.bell.ring();
        Asked::Waiting
    }

    /// What is to be said to the ledger now, if anything. Until its answer or failure comes, nothing else is.
    pub fn next_job(&mut self, now: Nanos) -> Option<Job> {
        self.bell.answer();
        self.low.extend(self.bell.low());
        self.remember_owing(now);
        if self.on_wire.is_some() || self.is_closed() || now < self.retry_at {
            return None;
        }
        if self.next_word_at(now) > now || !self.breaker.admits(&self.manners.breaker, now) {
            return None;
        }
        self.start_over_if_forgotten(now);
        self.on_wire = Some(Wire { sent: now });
        self.calls.made += 1;
        Some(self.job(now))
    }

    /// When to look again at the latest, if nothing happens before.
    pub fn wake_at(&self, now: Nanos) -> Nanos {
        let wake = match (self.on_wire, self.breaker) {
            // Those who wait for it wait no longer than this.
            (Some(wire), _) => Some(wire.sent.plus(nanos(self.manners.patience)).plus(Nanos::new(1)))
                .filter(|&overdue| now < overdue)
                .unwrap_or(Nanos::MAX),
            (None, Breaker::Open { until, .. } | Breaker::Probing { until, .. }) => until,
            (None, Breaker::Closed(_)) => self.next_word_at(now).max(self.retry_at),
        };
        if self.leases.is_empty() {
            return wake;
        }
        wake.min(self.next_look).min(self.valid_until.unwrap_or(Nanos::MAX))
    }

    /// The ledger answered.
    pub fn answered(&mut self, reply: Reply, now: Nanos) -> Vec<Outcome<T>> {
        let Some(wire) = self.on_wire.take() else { return Vec::new() };
        self.calls.over(now.since(wire.sent));
        self.degradation.answered(self.calls.latency);
        self.breaker.succeeded();
        let mut out = Vec::new();
        match reply {
            Reply::Sync(reply) => self.take_up(&reply, now, &mut out),
            Reply::Changes(changes) => self.learn(changes),
            Reply::Seeded => self.reading.start_over(),
            Reply::Departed => self.phase = Phase::Closed,
        }
        out
    }

    /// The call failed, or nobody knows what became of it.
    pub fn failed(&mut self, error: &LedgerError, now: Nanos) -> Vec<Outcome<T>> {
        let Some(wire) = self.on_wire.take() else { return Vec::new() };
        self.calls.over(now.since(wire.sent));
        let mut out = Vec::new();
        match error {
            LedgerError::Unseeded | LedgerError::Fenced | LedgerError::Stale if self.phase != Phase::Open => {
                self.phase = Phase::Closed;
            }
            LedgerError::Unseeded => self.reading.forgotten(),
            LedgerError::Fenced => self.fenced(now),
            LedgerError::Stale => self.outrun(now),
            _ => self.lose(error, now, &mut out),
        }
        out
    }

    /// Time has passed: leases may have expired, and a node that is cut off goes on by itself.
    pub fn tick(&mut self, now: Nanos) -> Vec<Outcome<T>> {
        let mut out = Vec::new();
        self.expire(now);
        if self.is_cut_off(now) {
            self.carry_on(now, &mut out);
        }
        if now >= self.next_look {
            self.look(now);
        }
        out
    }

    /// The ledger is said to have another version: looks for it, if it is not known here.
    pub fn hint(&mut self, version: u64) {
        if self.reading.hint(version) {
            // Emergencies are told in answers to reports.
            self.next_sync = Nanos::ZERO;
        }
        self.bell.ring();
    }

    /// Gives everything back and says goodbye, from the next job on.
    pub fn close(&mut self, out: &mut Vec<Outcome<T>>) {
        self.phase = Phase::Closing;
        for lease in self.leases.values_mut() {
            lease.refuse(local(Retry::NOW), out);
            lease.onlookers.warn_all(|_| local(Retry::NOW), out);
        }
        self.urgent = Urgent::default();
        self.bell.ring();
    }

    /// Whether it has said goodbye.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// How the desk stands.
    pub fn standing(&self, now: Nanos) -> Standing {
        Standing {
            level: self.degradation.level(),
            is_cut_off: self.is_cut_off(now),
            is_emergency: self.alarm.is_on(now),
            cut: self.cut,
            version: self.reading.known(),
            epoch: self.epoch,
            leases: self.leases.len(),
            calls: self.calls,
        }
    }

    /// What the cluster can stand, as far as is known here.
    pub const fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// Whether requests would be refused or let through without the ledger: it is gone, takes longer than anybody waits for
    /// it, or does not listen to this life of the node.
    pub fn is_cut_off(&self, now: Nanos) -> bool {
        let is_overdue = |wire: Wire| now.since(wire.sent) > nanos(self.manners.patience);
        !self.breaker.is_closed() || self.fence.is_up() || self.on_wire.is_some_and(is_overdue)
    }

    fn job(&mut self, now: Nanos) -> Job {
        if self.reading.is_unseeded() {
            return Job::Seed(self.seed());
        }
        if let Some(limbo) = &self.limbo {
            let sync = limbo.sync.clone();
            return if limbo.is_last { Job::Depart(sync) } else { Job::Sync(sync) };
        }
        if self.phase == Phase::Closing {
            return self.goodbye(now);
        }
        if self.fence.is_up() {
            return Job::Sync(self.knock(now));
        }
        match self.reading.next() {
            Some(since) => Job::Changes(since),
            None => Job::Sync(self.report(now)),
        }
    }

    fn interval(&self) -> Millis {
        let pace = self.degradation.level().pace();
        let usual = pace.sync_interval.unwrap_or(Millis::ZERO).max(self.manners.sync_interval);
        // All are to be heard of within that time, also if they take turns.
        let longest = Millis::new(self.manners.calm_interval.get() / self.turns());
        self.calm.interval(usual, longest)
    }

    /// How many reports it takes until each application was in one.
    fn turns(&self) -> u64 {
        u64::try_from(self.leases.len().div_ceil(report::MAX_ENTRIES)).unwrap_or(1).max(1)
    }

    fn stock(&self) -> Stock {
        let level = self.degradation.level();
        let reserve = if level == Level::Normal { Tokens::ZERO } else { level.pace().reserve };
        Stock {
            reserve: reserve.max(self.manners.reserve_target),
            // If not all fit into one report, each has to last for several.
            interval: Millis::new(self.interval().get().saturating_mul(self.turns())),
        }
    }
}

/// A refusal that nobody else was asked about.
const fn local(retry: Retry) -> Refused {
    Refused { reason: Reason::LocalExhausted, tier: Tier::Node, retry }
}

const fn nanos(millis: Millis) -> Nanos {
    Nanos::new(millis.get().saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests;
