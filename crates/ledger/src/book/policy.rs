//! Policies: seeding, changing and deleting, now or at a given time.
//!
//! The sum of all guarantees is checked in the same step that changes it, so two changes cannot together promise
//! more than the cluster has. A change that lies in the future counts at once with the larger of its two
//! guarantees: when its time comes, it fits.

use super::contest::Contest;
use super::history::History;
use super::{App, Book, CHORES};
use crate::protocol::{AppPolicy, Carry, LedgerError, PutApp, Scheduled, Seed};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tollgate_core::emergency::Emergency;
use tollgate_core::id::AppId;
use tollgate_core::overload::Overload;
use tollgate_core::pool::{self, Pool};
use tollgate_core::quota::Capacity;
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_core::usage::Usage;

impl Book {
    /// A cluster that starts, or that starts over after its memory was lost.
    pub fn seed(seed: Seed, now: Millis) -> Result<Self, LedgerError> {
        let promised = seed.apps.iter().fold(Rate::ZERO, |sum, app| sum.plus(app.quota.guaranteed));
        check(&seed.capacity, promised)?;
        let first = seed.remembered.unwrap_or(0).saturating_add(1);
        // No epoch of an earlier life of this ledger, even if nobody remembers it.
        let epoch = first.max(now.get());
        let slack = match seed.remembered {
            // What others still hold is not known: nobody starts with anything.
            Some(_) => Tokens::ZERO,
            None => Pool::open(&seed.capacity, promised, now).slack,
        };
        let mut book = Self {
            capacity: seed.capacity,
            promised,
            pool: Pool { slack, refilled_at: now },
            usage: Usage::default(),
            overload: Overload::default(),
            emergency: Emergency::default(),
            emergency_reason: String::new(),
            contest: Contest::default(),
            epoch,
            losses: 0,
            version: first,
            history: History::new(first),
            harvested_at: now,
            harvest_cursor: None,
            apps: BTreeMap::new(),
            nodes: BTreeMap::new(),
            heard: BTreeSet::new(),
            silent: VecDeque::new(),
            late: BTreeSet::new(),
            left: BTreeSet::new(),
            quiet: BTreeSet::new(),
            pending: Vec::new(),
            held: BTreeMap::new(),
            ends: BTreeSet::new(),
            open: BTreeMap::new(),
        };
        // Each application comes with a version of its own, so that a reader can go on after any of them.
        for (policy, version) in seed.apps.into_iter().zip(first..) {
            book.version = version;
            let app = match seed.remembered {
                Some(_) => App::empty(policy, version, epoch, now),
                None => book.opened(policy, version, now),
            };
            book.insert(app);
        }
        Ok(book)
    }

    /// Sets an application, or schedules it; returns the version of the book that has it.
    pub fn put_app(&mut self, put: PutApp, now: Millis) -> Result<u64, LedgerError> {
        self.advance(now);
        let id = put.policy.app.clone();
        let current = self.apps.get(&id);
        let version = current.map_or(0, |app| app.version);
        if put.replaces.is_some_and(|replaces| replaces != version) {
            return Err(LedgerError::Conflict(version));
        }
        let others = self.promised.minus(self.promised_to(&id));
        let now_promised = current.map_or(Rate::ZERO, |app| app.quota().guaranteed);
        let is_due = put.effective_at <= now;
        let promise =
            if is_due { put.policy.quota.guaranteed } else { put.policy.quota.guaranteed.max(now_promised) };
        check(&self.capacity, others.plus(promise))?;
        self.pending.retain(|pending| pending.policy.app != id);
        self.promise(others.plus(promise));
        self.version += 1;
        if is_due {
            self.apply(put.policy, put.carry, now);
        } else {
            let PutApp { policy, carry, effective_at: at, .. } = put;
            self.pending.push(Scheduled { at, policy, carry });
        }
        Ok(self.version)
    }

    /// Removes an application and what was scheduled for it; its leases are void.
    pub fn delete_app(&mut self, id: &AppId, now: Millis) -> Result<u64, LedgerError> {
        self.advance(now);
        if !self.apps.contains_key(id) && !self.pending.iter().any(|pending| pending.policy.app == *id) {
            return Err(LedgerError::UnknownApp);
        }
        let rest = self.promised.minus(self.promised_to(id));
        self.pending.retain(|pending| pending.policy.app != *id);
        self.version += 1;
        if let Some(app) = self.apps.remove(id) {
            self.pool.absorb(app.account.meter, &self.capacity, rest);
            self.history.delete(id, app.version, self.version);
        }
        self.promise(rest);
        Ok(self.version)
    }

    /// Changes what the cluster can stand.
    pub fn put_cluster(&mut self, capacity: Capacity, now: Millis) -> Result<u64, LedgerError> {
        self.advance(now);
        check(&capacity, self.promised)?;
        self.capacity = capacity;
        self.promise(self.promised);
        self.version += 1;
        Ok(self.version)
    }

    /// Puts changes in force whose time has come, the earliest first, a bounded number in each call.
    pub(super) fn apply_due(&mut self, now: Millis) {
        for _ in 0..CHORES {
            let due = self.pending.iter().enumerate().filter(|(_, pending)| pending.at <= now);
            let first = due.min_by_key(|(_, pending)| (pending.at, &pending.policy.app));
            let Some((index, pending)) = first else { return };
            let others = self.promised.minus(self.promised_to(&pending.policy.app));
            let Scheduled { policy, carry, .. } = self.pending.remove(index);
            self.promise(others.plus(policy.quota.guaranteed));
            self.version += 1;
            self.apply(policy, carry, now);
        }
    }

    fn apply(&mut self, policy: AppPolicy, carry: Carry, now: Millis) {
        let (id, version) = (policy.app.clone(), self.version);
        // What accrued until now accrued under the old policy.
        if self.refill(&id, now).is_err() {
            let app = self.opened(policy, version, now);
            self.insert(app);
        } else if let Some(app) = self.apps.get_mut(&id) {
            self.history.set(&id, Some(app.version), version);
            let spilled = app.change(policy, version, carry);
            self.pool.absorb(spilled, &self.capacity, self.promised);
        }
    }

    /// A new application; the headroom of its first second comes out of the slack.
    fn opened(&mut self, policy: AppPolicy, version: u64, now: Millis) -> App {
        let headroom = policy.quota.guaranteed.per_one_second().min(self.pool.slack);
        self.pool.slack = self.pool.slack.minus(headroom);
        App::open(policy, version, self.epoch, headroom, now)
    }

    fn insert(&mut self, app: App) {
        let id = app.policy.app.clone();
        let before = self.apps.get(&id).map(|app| app.version);
        self.history.set(&id, before, app.version);
        self.apps.insert(id, app);
    }

    /// What is set aside for an application: the larger of what it has and what it will have.
    fn promised_to(&self, id: &AppId) -> Rate {
        let has = self.apps.get(id).map_or(Rate::ZERO, |app| app.quota().guaranteed);
        let will = self.pending.iter().filter(|pending| pending.policy.app == *id);
        will.map(|pending| pending.policy.quota.guaranteed).fold(has, Rate::max)
    }

    /// Full meters leave less or more room for slack now.
    fn promise(&mut self, promised: Rate) {
        self.promised = promised;
        self.pool.slack = self.pool.slack.min(pool::ceiling(&self.capacity, promised));
    }
}

fn check(capacity: &Capacity, promised: Rate) -> Result<(), LedgerError> {
    let most = capacity.promisable();
    if promised > most { Err(LedgerError::Overpromised(most)) } else { Ok(()) }
}
