//! Without the ledger: what becomes of leases, of those who wait, and of what was not reported.

use super::lease::{Alone, Lease};
use super::{Desk, Outcome, nanos};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::LedgerError;

/// How long to wait before a call that failed is made again, as long as nobody has given the ledger up.
const RETRY_PAUSE: Millis = Millis::new(10);

/// After how long without an answer a node begins a new life: well before the ledger forgets the old one.
const LONG_SILENCE: Nanos = Nanos::from_secs(12 * 3_600);

impl<T> Desk<T> {
    /// A call was lost.
    pub(super) fn lose(&mut self, error: &LedgerError, now: Nanos, out: &mut Vec<Outcome<T>>) {
        self.calls.failed += 1;
        let was_closed = self.breaker.is_closed();
        self.breaker.failed(&self.manners.breaker, now);
        self.retry_at = now.plus(nanos(RETRY_PAUSE));
        self.trouble = match error {
            LedgerError::Timeout => Reason::RedisTimeout,
            _ => Reason::RedisConnectionFailed,
        };
        if was_closed && !self.breaker.is_closed() {
            self.degradation.lost();
            tracing::warn!(cluster = %self.identity.cluster, %error, "the ledger is gone, going on alone");
        }
        if self.is_cut_off(now) {
            self.carry_on(now, out);
        }
    }

    /// A node that is cut off mints for itself, and nobody waits. For those who come later it mints when they come.
    pub(super) fn carry_on(&mut self, now: Nanos, out: &mut Vec<Outcome<T>>) {
        let alone = self.alone(now);
        for id in std::mem::take(&mut self.urgent).iter() {
            let Some(lease) = self.leases.get_mut(id) else { continue };
            if lease.is_waited_for() {
                lease.serve_alone(alone, out);
                lease.tell_onlookers_alone(alone, out);
            }
            if lease.is_returning() {
                self.urgent.insert(id.clone());
            }
        }
    }

    /// What a node goes by that is cut off.
    pub(super) fn alone(&self, now: Nanos) -> Alone {
        Alone { alarm: self.alarm, trouble: self.trouble(), now }
    }

    /// After how long without word the ledger is to take this node for one that is cut off: the next report is overdue, and
    /// nobody has waited longer for it than they do.
    pub(super) fn silence(&self) -> Millis {
        let interval = self.interval().get();
        Millis::new(interval.saturating_mul(2).saturating_add(self.manners.patience.get().saturating_mul(4)))
    }

    /// The ledger has written off what it was not told of in time.
    pub(super) fn expire(&mut self, now: Nanos) {
        if self.valid_until.is_some_and(|end| now >= end) {
            self.valid_until = None;
            self.leases.values_mut().for_each(Lease::void);
        }
    }

    /// A ledger that was not spoken to for a day has forgotten the node, and would take its next word for a sign that
    /// it lost its memory.
    pub(super) fn start_over_if_forgotten(&mut self, now: Nanos) {
        if self.acked > 0 && now.since(self.acked_at) >= LONG_SILENCE {
            self.start_over(now);
        }
    }

    /// The ledger knows a later life of this node: another one of its name has spoken, or its clock went back. Until one of its lives is
    /// late enough it goes on alone.
    pub(super) fn fenced(&mut self, now: Nanos) {
        if !self.fence.is_up() {
            tracing::warn!(cluster = %self.identity.cluster, node = %self.identity.node,
                "another node of this name has spoken, or the clock went back: going on alone and starting over");
        }
        let next = self.fence.hit(self.incarnation, &self.manners.breaker, now);
        self.breaker.succeeded();
        self.degradation.lost();
        self.trouble = Reason::RedisConnectionFailed;
        self.retry_at = self.fence.until();
        self.start_over(now);
        self.incarnation = self.incarnation.max(next);
    }

    /// The ledger has answered a later call of this very life.
    pub(super) fn outrun(&mut self, now: Nanos) {
        tracing::warn!(cluster = %self.identity.cluster, node = %self.identity.node,
            "the ledger knows more of this node than it does itself, starting over");
        self.start_over(now);
    }

    /// Begins a new life with nothing. What was spent is still to be said.
    fn start_over(&mut self, now: Nanos) {
        self.leases.values_mut().for_each(Lease::void);
        if let Some(limbo) = self.limbo.take() {
            for entry in &limbo.sync.entries {
                if let Some(lease) = self.leases.get_mut(&entry.app) {
                    lease.say_again(entry);
                }
            }
        }
        let elapsed = now.get() / 1_000;
        self.incarnation = self.identity.incarnation.saturating_add(elapsed).max(self.incarnation + 1);
        (self.seq, self.acked, self.valid_until) = (0, 0, None);
    }

    /// A call that is merely overdue has not failed yet.
    fn trouble(&self) -> Reason {
        let is_overdue = self.breaker.is_closed() && !self.fence.is_up();
        if is_overdue { Reason::RedisTimeout } else { self.trouble }
    }
}
