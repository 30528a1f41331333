//! What happened to one application.

use super::ideal::Ideal;
use super::{STEP, Stream};
use tollgate_core::quota::Quota;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos, Tokens};

/// Counts of one application, over the time that is measured and over time.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    ideal: Ideal,
    from: Nanos,
    pub(super) sums: Sums,
    pub(super) refused: [u64; Reason::ALL.len()],
    pub(super) curve: Vec<Sums>,
    /// Asked for and let through, at each node.
    pub(super) nodes: Vec<(u64, u64)>,
    /// What the ledger gave to nodes, booked as spent and got back.
    pub(crate) flow: Stream,
}

/// In tokens, but for the requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) requests: u64,
    pub(crate) asked: u64,
    pub(crate) passed: u64,
    pub(crate) ideal: u64,
}

impl Tenant {
    pub(crate) fn new(quota: Quota, nodes: usize, from: Nanos) -> Self {
        Self {
            ideal: Ideal::new(quota),
            from,
            sums: Sums::default(),
            refused: [0; Reason::ALL.len()],
            curve: Vec::new(),
            nodes: vec![(0, 0); nodes],
            flow: Stream::default(),
        }
    }

    pub(crate) fn ask(&mut self, node: usize, cost: u64, now: Nanos) {
        let ideal = if self.ideal.pass(Tokens::whole(cost), now) { cost } else { 0 };
        self.add(now, |sums| {
            sums.requests += 1;
            sums.asked += cost;
            sums.ideal += ideal;
        });
        if now >= self.from {
            self.nodes[node].0 += cost;
        }
    }

    pub(crate) fn pass(&mut self, node: usize, cost: u64, now: Nanos) {
        self.add(now, |sums| sums.passed += cost);
        if now >= self.from {
            self.nodes[node].1 += cost;
        }
    }

    pub(crate) fn refuse(&mut self, reason: Reason, now: Nanos) {
        if now >= self.from
            && let Some(at) = Reason::ALL.iter().position(|other| *other == reason)
        {
            self.refused[at] += 1;
        }
    }

    /// From now on the ideal has what the system has.
    pub(crate) fn take_over(&mut self, tokens: Tokens, drawn: Option<(Tokens, Millis)>, now: Nanos) {
        self.ideal.take_over(tokens, drawn, now);
    }

    pub(crate) const fn change(&mut self, quota: Quota) {
        self.ideal.change(quota);
    }

    #[allow(clippy::cast_possible_truncation, reason = "a tenth of a second of a day")]
    fn add(&mut self, now: Nanos, change: impl Fn(&mut Sums)) {
        let step = (now.get() / STEP.get()) as usize;
        if self.curve.len() <= step {
            self.curve.resize(step + 1, Sums::default());
        }
        change(&mut self.curve[step]);
        if now >= self.from {
            change(&mut self.sums);
        }
    }
}
