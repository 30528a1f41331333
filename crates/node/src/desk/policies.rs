//! Policies: reading them from the ledger, and filling a ledger that lost them.

use super::Desk;
use crate::app::{App, Terms};
use std::collections::BTreeSet;
use std::sync::Arc;
use tollgate_config::policy;
use tollgate_core::id::AppId;
use tollgate_core::units::Tokens;
use tollgate_ledger::protocol::{AppPolicy, Changes, Seed, VersionedPolicy};

/// How far the desk has read the ledger's policies.
#[derive(Debug)]
pub(super) struct Reading {
    state: State,
    /// The version that has been read to its end.
    known: u64,
    /// The highest version there is said to be.
    hinted: u64,
    /// The applications of the whole that is being read, if one is.
    whole: Option<BTreeSet<AppId>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The ledger does not know the cluster, as far as is known here.
    Unseeded,
    /// There is more after this version.
    Behind(u64),
    /// Everything is read that there was.
    UpToDate,
}

impl Reading {
    /// Nothing is read yet. Most ledgers know their cluster: a node looks before it tells what it knows, which may be much.
    pub(super) const fn new() -> Self {
        Self { state: State::Behind(0), known: 0, hinted: 0, whole: None }
    }

    pub(super) fn is_unseeded(&self) -> bool {
        self.state == State::Unseeded
    }

    /// The ledger has forgotten the cluster.
    pub(super) fn forgotten(&mut self) {
        self.state = State::Unseeded;
    }

    /// The ledger may know the cluster by another history than this node does.
    pub(super) fn start_over(&mut self) {
        self.state = State::Behind(0);
    }

    /// There may be this version. Returns whether that is news.
    pub(super) fn hint(&mut self, version: u64) -> bool {
        let is_news = version > self.hinted.max(self.known);
        self.hinted = self.hinted.max(version);
        is_news
    }

    /// What to read on from.
    pub(super) fn next(&self) -> Option<u64> {
        match self.state {
            State::Unseeded => None,
            State::Behind(since) => Some(since),
            State::UpToDate => (self.hinted > self.known).then_some(self.known),
        }
    }

    pub(super) const fn known(&self) -> u64 {
        self.known
    }
}

impl<T> Desk<T> {
    /// What an empty ledger is filled with: what is known here.
    pub(super) fn seed(&self) -> Seed {
        let cluster = &self.identity.cluster;
        let apps =
            self.roster.of(cluster).iter().map(|app| to_ledger(app.id(), &app.terms().policy)).collect();
        let remembered = (self.reading.known > 0).then_some(self.reading.known);
        Seed { capacity: self.capacity, apps, remembered }
    }

    /// Takes up a page of policies.
    pub(super) fn learn(&mut self, changes: Changes) {
        let reading = &mut self.reading;
        if changes.is_whole {
            reading.whole = Some(BTreeSet::new());
        }
        if let Some(whole) = &mut reading.whole {
            whole.extend(changes.apps.iter().map(|app| app.policy.app.clone()));
        }
        self.capacity = changes.capacity;
        let mut gone = changes.gone;
        if changes.more {
            self.reading.state = State::Behind(changes.next);
        } else {
            self.reading.state = State::UpToDate;
            self.reading.known = changes.version;
            self.reading.hinted = changes.version;
            if let Some(whole) = self.reading.whole.take() {
                let known = self.roster.of(&self.identity.cluster);
                gone.extend(known.iter().map(|app| app.id().clone()).filter(|id| !whole.contains(id)));
            }
        }
        self.apply(&changes.apps, &gone);
    }

    fn apply(&mut self, set: &[VersionedPolicy], gone: &[AppId]) {
        let mut new = Vec::new();
        for VersionedPolicy { version, policy } in set {
            let terms = Terms { policy: self.meaning(policy), version: *version };
            match self.roster.find(&policy.app) {
                Some(app) if app.terms().policy.cluster == self.identity.cluster => app.set_terms(terms),
                _ => new.push(Arc::new(App::new(policy.app.clone(), terms, Arc::clone(&self.bell)))),
            }
            self.follow_terms(&policy.app);
        }
        for id in gone {
            self.leases.remove(id);
            self.urgent.remove(id);
        }
        if !new.is_empty() || !gone.is_empty() {
            self.roster.change(&self.identity.cluster, new, gone);
        }
    }

    /// What is out by other terms than those in force goes back.
    fn follow_terms(&mut self, id: &AppId) {
        let Some(lease) = self.leases.get_mut(id) else { return };
        let terms = lease.app.terms();
        let most = if terms.policy.enabled { terms.policy.quota.burst } else { Tokens::ZERO };
        lease.give_back(lease.app.held().minus(most));
        if lease.is_returning() {
            self.urgent.insert(id.clone());
        }
    }

    /// What a policy means here. One that cannot be read in full, as when a later version wrote it, is applied as far
    /// as the ledger itself reads it.
    fn meaning(&self, policy: &AppPolicy) -> policy::App {
        let AppPolicy { app, quota, enabled, body } = policy;
        let cluster = &self.identity.cluster;
        let read = |body: &str| policy::App::with_treatment(cluster.clone(), *quota, *enabled, body);
        read(body).unwrap_or_else(|errors| {
            tracing::error!(%cluster, %app, %errors, "a policy cannot be read in full");
            policy::App::plain(cluster.clone(), *quota, *enabled)
        })
    }
}

/// A policy as the ledger keeps it.
pub fn to_ledger(id: &AppId, app: &policy::App) -> AppPolicy {
    AppPolicy { app: id.clone(), quota: app.quota, enabled: app.enabled, body: app.treatment() }
}
