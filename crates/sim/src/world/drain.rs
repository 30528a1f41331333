//! The end: traffic stops, faults are over, everybody gives back what is left and says goodbye.

use super::World;
use crate::check::Rule;
use tollgate_core::units::{Nanos, Tokens};
use tollgate_ledger::book::App;

/// How long the system is left alone before everybody says goodbye: longer than a lease.
const REST: Nanos = Nanos::from_secs(7);

impl World<'_> {
    pub(super) fn close_at(&self) -> Nanos {
        let ends = self.plan.faults.iter().map(|planned| planned.at.plus(planned.fault.lasts()));
        ends.fold(self.scenario.duration, Nanos::max).plus(REST)
    }

    pub(super) fn close(&mut self) {
        for node in 0..self.stations.len() {
            if self.is_up[node] {
                self.leave(node);
            }
        }
    }

    /// A node gives everything back and says goodbye.
    pub(super) fn leave(&mut self, node: usize) {
        self.stations[node].departed = Some(self.stations[node].life);
        for desk in 0..self.stations[node].counters.len() {
            let mut outcomes = Vec::new();
            self.stations[node].counters[desk].desk.close(&mut outcomes);
            self.deliver(node, outcomes);
            self.drive(node, desk);
        }
    }

    /// Whether a node is still in that life of its. Whoever says goodbye is there until it was heard.
    pub(super) fn is_there(&self, node: usize, life: u64) -> bool {
        let station = &self.stations[node];
        station.life == life && (self.is_up[node] || station.departed == Some(life))
    }

    /// Once everybody has left, nothing may be out any more.
    pub(super) fn check_return(&mut self) {
        for shard in 0..self.clusters.len() {
            self.audit(shard);
            let time = self.store.time(self.now.plus(REST));
            let Some(mut book) = self.store.book(shard).cloned() else { continue };
            // A call looks at a bounded number of silent leases on the side.
            let rounds = 1 + self.stations.len() * self.apps_of[shard].len() / 64;
            let is_out = |app: &&App| app.account.outstanding > Tokens::ZERO;
            for _ in 0..rounds {
                if !book.apps().values().any(|app| is_out(&app)) {
                    break;
                }
                book.audit(time);
            }
            if let Some((id, app)) = book.apps().iter().find(|(_, app)| is_out(app)) {
                let what =
                    format!("{id} still has {:?} out after everybody has left", app.account.outstanding);
                self.violate(Rule::Return, what);
            }
        }
    }
}
