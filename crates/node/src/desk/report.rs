//! Reports: what goes into one, and what comes of its answer.

use super::alarm::Alarm;
use super::lease::Lease;
use super::{Desk, Job, Limbo, Outcome, Phase, Refused, nanos};
use crate::app::{App, Retry};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use tollgate_core::cost::Price;
use tollgate_core::decision::Tier;
use tollgate_core::emergency;
use tollgate_core::id::AppId;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Nanos, Ratio, Tokens};
use tollgate_ledger::protocol::{Entry, Granted, Sync, SyncReply};

/// The most applications in one report. With more, those that are urgent go first and the others take turns.
pub(super) const MAX_ENTRIES: usize = 128;

/// How many applications are looked at for news, for one report: a node that knows ten thousand would do little else.
/// At least [`MAX_ENTRIES`], so that [`Desk::turns`] holds.
const MAX_LOOKED_AT: usize = 4 * MAX_ENTRIES;

/// How often a node that holds nothing is heard of.
const HEARTBEAT: Nanos = Nanos::from_secs(1);

impl<T> Desk<T> {
    /// When there is something to say to the ledger.
    pub(super) fn next_word_at(&self, now: Nanos) -> Nanos {
        let is_behind = self.reading.is_unseeded() || self.reading.next().is_some();
        let is_due = self.limbo.is_some() || self.phase == Phase::Closing || self.fence.is_up();
        if is_behind || is_due {
            return now;
        }
        let gathered = self.last_sync.plus(self.gathering());
        let urgent = self.urgent.due(now, gathered).unwrap_or(Nanos::MAX);
        let due = if self.leases.is_empty() { self.last_sync.plus(HEARTBEAT) } else { self.next_sync };
        // Running low is worth a call of its own, but not one for each application.
        let spaced = self.last_sync.plus(Nanos::new(nanos(self.interval()).get() / 10));
        if self.low.is_empty() { due.min(urgent) } else { due.min(spaced).min(urgent) }
    }

    /// How long requests that can only be lent to wait for each other: a part of what they may wait, however long that is.
    fn gathering(&self) -> Nanos {
        let (interval, patience) = (nanos(self.manners.sync_interval), nanos(self.manners.patience));
        Nanos::new((interval.get() / 10).min(patience.get() / 5))
    }

    /// Looks whether enough has been spent to report it before its time.
    pub(super) fn look(&mut self, now: Nanos) {
        let pause = nanos(self.interval()).get() / 2;
        // Nothing can be reported before its time while the ledger is away, but is counted all the same.
        let is_away = !self.breaker.is_closed() || self.fence.is_up();
        let pause = if is_away { nanos(self.manners.sync_interval).get() * 10 } else { pause };
        self.next_look = now.plus(Nanos::new(pause));
        if is_away {
            self.leases.values_mut().for_each(Lease::relieve);
        }
        let threshold = self.manners.batch_threshold;
        let is_full =
            |id: &AppId| self.leases.get(id).is_some_and(|lease| lease.app.tally().requests() >= threshold);
        if self.busy.iter().any(is_full) {
            self.next_sync = self.next_sync.min(now);
        }
    }

    /// What turns out to have cost more than it paid may have been on its way for longer than its application was thought of.
    pub(super) fn remember_owing(&mut self, now: Nanos) {
        for id in self.bell.owing() {
            let here = |app: &Arc<App>| app.terms().policy.cluster == self.identity.cluster;
            if let Some(app) = self.roster.find(&id).filter(here) {
                self.leases.entry(id).or_insert_with(|| Lease::new(app, now));
            }
        }
    }

    /// The next report.
    pub(super) fn report(&mut self, now: Nanos) -> Sync {
        let stock = self.stock();
        let mut entries = Vec::new();
        for id in self.whose_turn(now) {
            if let Some(lease) = self.leases.get_mut(&id) {
                entries.push(lease.report(&stock, self.alarm, now));
            }
        }
        let is_busy = |entry: &&Entry| entry.requests >= self.manners.batch_threshold / 4;
        self.busy = entries.iter().filter(is_busy).map(|entry| entry.app.clone()).collect();
        self.schedule(now);
        self.send(entries, false, now)
    }

    /// A report of nothing, to find out whether the ledger listens: what is to be said is kept until it does.
    pub(super) fn knock(&mut self, now: Nanos) -> Sync {
        self.next_sync = now;
        self.send(Vec::new(), false, now)
    }

    /// The last reports: everything goes back.
    pub(super) fn goodbye(&mut self, now: Nanos) -> Job {
        let turn: Vec<AppId> = self.leases.keys().take(MAX_ENTRIES).cloned().collect();
        let is_last = self.leases.len() <= MAX_ENTRIES;
        let alarm = self.alarm;
        let closed =
            turn.iter().filter_map(|id| self.leases.remove(id)).map(|mut lease| lease.close(alarm, now));
        let entries = closed.collect();
        let sync = self.send(entries, is_last, now);
        if is_last { Job::Depart(sync) } else { Job::Sync(sync) }
    }

    /// What the ledger answered to the last report.
    pub(super) fn take_up(&mut self, reply: &SyncReply, now: Nanos, out: &mut Vec<Outcome<T>>) {
        let Some(limbo) = self.limbo.take() else { return };
        (self.acked, self.acked_at) = (limbo.sync.seq, now);
        self.fence.passed();
        let end = limbo.sent.plus(nanos(reply.lease_ttl));
        let is_late = now >= end;
        self.valid_until = Some(end.max(self.valid_until.unwrap_or_default()));
        self.follow_supply(&limbo.sync, reply);
        for (entry, granted) in limbo.sync.entries.iter().zip(&reply.entries) {
            self.take_up_one(entry, granted, is_late, now, out);
        }
        if self.epoch != 0 && reply.epoch != self.epoch {
            self.reading.start_over();
            // The ledger has to be told what is held of each.
            self.leases.values_mut().for_each(Lease::present);
        }
        self.epoch = reply.epoch;
        self.cut = reply.cut;
        self.follow_emergency(Alarm::told(reply, now));
        if !is_late {
            for (entry, granted) in limbo.sync.entries.iter().zip(&reply.entries) {
                self.tell_onlookers(&entry.app, granted, now, out);
            }
        }
        self.reading.hint(reply.version);
    }

    /// Speaks as often as what is left asks for: if that has got short, sooner than was planned.
    fn follow_supply(&mut self, sync: &Sync, reply: &SyncReply) {
        let before = self.interval();
        let bursts = sync.entries.iter().map(|entry| {
            let lease = self.leases.get(&entry.app);
            lease.map_or(Tokens::ZERO, |lease| lease.app.terms().policy.quota.burst)
        });
        self.calm.follow(reply, reply.entries.iter().zip(bursts));
        if self.interval() < before {
            let planned = self.next_sync;
            self.plan();
            self.next_sync = self.next_sync.min(planned);
        }
    }

    fn take_up_one(
        &mut self,
        entry: &Entry,
        granted: &Granted,
        is_late: bool,
        now: Nanos,
        out: &mut Vec<Outcome<T>>,
    ) {
        let (stock, threshold) = (self.stock(), self.manners.refill_threshold);
        let pause = self.next_sync.since(now);
        let Some(lease) = self.leases.get_mut(&entry.app) else { return };
        if is_late {
            lease.receive_late(granted);
            return;
        }
        let low_water = threshold.of(lease.target(&stock, now));
        lease.receive(granted, low_water, self.alarm, now, out);
        match granted.refusal {
            Some(reason) => {
                // Whoever comes back then finds a node that has asked again.
                let wait = granted.wait.map(|wait| nanos(wait).max(pause));
                let retry = wait.map_or(Retry::NEVER, Retry::after);
                let need = lease.refused_need().min(entry.need);
                lease.refuse(Refused { reason, tier: tier_of(reason), retry }, out);
                lease.run_dry(reason, need, pause, wait, now);
            }
            // Whoever needs it may borrow: a look says nothing about that.
            None if !lease.onlookers.is_empty() => {}
            // Nothing is left, little will have come up before the next report, and nothing is lent.
            None if lease.is_scarce() && !lease.may_borrow() => {
                lease.run_dry(Reason::AppExhausted, Tokens::ZERO, pause, Some(pause), now);
            }
            None => lease.flow(),
        }
        if !lease.is_waited_for() && !lease.is_returning() {
            self.urgent.remove(&entry.app);
        }
    }

    /// Tells those who only look what the ledger had, when all who need it have been served and what goes back is out of the purse.
    fn tell_onlookers(&mut self, app: &AppId, granted: &Granted, now: Nanos, out: &mut Vec<Outcome<T>>) {
        let (pause, is_emergency) = (self.next_sync.since(now), self.alarm.is_on(now));
        let (stock, until) = (self.stock(), now.plus(pause.min(nanos(self.manners.sync_interval))));
        let Some(lease) = self.leases.get_mut(app).filter(|lease| !lease.onlookers.is_empty()) else {
            return;
        };
        lease.onlookers.tell(&lease.app, Tier::App, out);
        let why = |price: &Price| foretold(&lease.app, price.tokens(), granted, is_emergency, pause);
        lease.onlookers.warn(why, until, out);
        lease.return_looked_for(&stock, now);
        if !lease.is_waited_for() && !lease.is_returning() {
            self.urgent.remove(app);
        }
    }

    /// In an emergency only a share of what is out may be spent: the rest goes back at once.
    fn follow_emergency(&mut self, alarm: Alarm) {
        let before = std::mem::replace(&mut self.alarm, alarm);
        if alarm.is_told() == before.is_told() {
            return;
        }
        // The ledger has to be told what each would get at this node alone from now on.
        self.leases.values_mut().for_each(Lease::present);
        if !alarm.is_told() {
            return;
        }
        for (id, lease) in &mut self.leases {
            let kept = emergency::ratio(lease.app.terms().policy.quota.priority);
            let held = lease.app.held();
            lease.give_back(held.minus(kept.of(held)));
            if lease.is_returning() {
                self.urgent.insert(id.clone());
            }
        }
    }

    /// The applications of the next report: the urgent ones, then those that run low, then all in turn.
    fn whose_turn(&mut self, now: Nanos) -> Vec<AppId> {
        let stock = self.stock();
        let mut turn: Vec<AppId> = self.urgent.iter().take(MAX_ENTRIES).cloned().collect();
        while turn.len() < MAX_ENTRIES
            && let Some(id) = self.low.pop_first()
        {
            if !self.urgent.contains(&id) {
                turn.push(id);
            }
        }
        let taken: BTreeSet<AppId> = turn.iter().cloned().collect();
        let (after, until) = match &self.cursor {
            Some(id) => (Bound::Excluded(id), Bound::Included(id)),
            None => (Bound::Unbounded, Bound::Unbounded),
        };
        let ahead = self.leases.range::<AppId, _>((after, Bound::Unbounded));
        let around = ahead.chain(self.leases.range::<AppId, _>((Bound::Unbounded, until)));
        let mut over = Vec::new();
        let mut cursor = None;
        for (id, lease) in around.take(self.leases.len().min(MAX_LOOKED_AT)) {
            if turn.len() >= MAX_ENTRIES {
                break;
            }
            cursor = Some(id.clone());
            if lease.is_over(now) {
                over.push(id.clone());
            } else if lease.has_news(&stock, now) && !taken.contains(id) {
                turn.push(id.clone());
            }
        }
        self.cursor = cursor.or_else(|| self.cursor.take());
        for id in &over {
            self.leases.remove(id);
        }
        turn
    }

    fn schedule(&mut self, now: Nanos) {
        self.last_sync = now;
        self.plan();
    }

    /// Plans the next report, an interval after the last one.
    fn plan(&mut self) {
        let interval = nanos(self.interval()).get();
        // Nodes that all speak at the same moment would leave nothing for the last one, time and again.
        let jitter = self.random.u64(0..=interval / 2);
        self.next_sync = self.last_sync.plus(Nanos::new(interval - interval / 4 + jitter));
        self.next_look = self.last_sync.plus(Nanos::new(interval / 2));
    }

    fn send(&mut self, entries: Vec<Entry>, is_last: bool, now: Nanos) -> Sync {
        self.seq += 1;
        let sync = Sync {
            node: self.identity.node.clone(),
            incarnation: self.incarnation,
            seq: self.seq,
            acked: self.acked,
            epoch: self.epoch,
            silence: self.silence(),
            entries,
        };
        self.limbo = Some(Limbo { sync: sync.clone(), is_last, sent: now });
        sync
    }
}

/// Why a request of that cost would be refused, as far as an answer tells to which nothing was needed: were it made, a loan might
/// help it.
fn foretold(app: &App, cost: Tokens, granted: &Granted, is_emergency: bool, pause: Nanos) -> Refused {
    let quota = app.terms().policy.quota;
    let is_there = granted.remaining.plus(app.held()) >= cost;
    let reason = match granted.refusal {
        Some(reason) => reason,
        None if is_emergency && emergency::ratio(quota.priority) == Ratio::ZERO => Reason::EmergencyBlocked,
        None if is_emergency => Reason::EmergencyQuotaExceeded,
        None if is_there => Reason::ClusterExhausted,
        None => Reason::AppExhausted,
    };
    let is_lasting = matches!(reason, Reason::AppDisabled | Reason::UnknownApp | Reason::EmergencyBlocked);
    let missing = cost.minus(app.held());
    let wait = quota.guaranteed.time_to_mint(missing).filter(|_| cost <= quota.burst && !is_lasting);
    let retry = wait.map_or(Retry::NEVER, |wait| Retry::after(nanos(wait).max(pause)));
    Refused { reason, tier: tier_of(reason), retry }
}

/// Who says no for that reason.
pub(crate) const fn tier_of(reason: Reason) -> Tier {
    match reason {
        Reason::AppExhausted
        | Reason::BorrowLimitExceeded
        | Reason::AppDisabled
        | Reason::UnknownApp
        | Reason::AppLimitExceeded => Tier::App,
        Reason::LocalExhausted | Reason::InvalidInput => Tier::Node,
        _ => Tier::Cluster,
    }
}
