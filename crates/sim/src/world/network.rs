//! What lies between nodes and store.

use crate::chance::{Chance, nanos, seconds};
use crate::scenario::{self, Direction, Spread};
use tollgate_core::units::{Millis, Nanos};

/// The longest that a message is held up by a heavy tail, in seconds.
const LONGEST: f64 = 60.0;

/// The network, and the way to the store.
pub(crate) struct Network {
    terms: scenario::Network,
    chance: Chance,
    /// How many partitions keep a node's messages from the store, and the store's from it.
    cuts: Vec<(u32, u32)>,
    /// How many outages the store has just now.
    outages: u32,
    delays: Vec<Nanos>,
    losses: Vec<f64>,
    duplicates: Vec<f64>,
    late: Vec<f64>,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives after so long.
    Arrives(Nanos),
    /// It is lost, and nobody is told.
    Lost,
    /// Nobody is there, which is known after so long.
    Refused(Nanos),
}

impl Network {
    pub(crate) fn new(terms: scenario::Network, nodes: usize, seed: u64) -> Self {
        Self {
            terms,
            chance: Chance::new(seed, "network", 0),
            cuts: vec![(0, 0); nodes],
            outages: 0,
            delays: Vec::new(),
            losses: Vec::new(),
            duplicates: Vec::new(),
            late: Vec::new(),
        }
    }

    /// A message from a node to the store.
    pub(crate) fn ask(&mut self, node: usize) -> Fate {
        let latency = self.latency();
        if self.cuts[node].0 > 0 || self.is_lost() {
            return Fate::Lost;
        }
        if self.outages > 0 { Fate::Refused(latency.plus(latency)) } else { Fate::Arrives(latency) }
    }

    /// A message from the store to a node.
    pub(crate) fn answer(&mut self, node: usize) -> Fate {
        let latency = self.latency();
        if self.cuts[node].1 > 0 || self.outages > 0 || self.is_lost() {
            return Fate::Lost;
        }
        Fate::Arrives(latency)
    }

    /// Whether a call reaches the store twice, and how much later.
    pub(crate) fn echo(&mut self) -> Option<Nanos> {
        let share = self.duplicates.iter().fold(self.terms.duplicates, |most, share| share.max(most));
        // As likely right behind the first as after others have been.
        self.chance.happens(share).then(|| Nanos::new(self.chance.between(0, 400_000_000)))
    }

    pub(crate) fn cut(&mut self, nodes: &[usize], direction: Direction) {
        for &node in nodes {
            self.cuts[node].0 += u32::from(direction != Direction::In);
            self.cuts[node].1 += u32::from(direction != Direction::Out);
        }
    }

    pub(crate) fn mend(&mut self, nodes: &[usize], direction: Direction) {
        for &node in nodes {
            self.cuts[node].0 -= u32::from(direction != Direction::In);
            self.cuts[node].1 -= u32::from(direction != Direction::Out);
        }
    }

    pub(crate) const fn stop(&mut self) {
        self.outages += 1;
    }

    pub(crate) const fn start(&mut self) {
        self.outages -= 1;
    }

    pub(crate) fn slow(&mut self, by: Nanos) {
        self.delays.push(by);
    }

    pub(crate) fn speed_up(&mut self, by: Nanos) {
        remove(&mut self.delays, &by);
    }

    pub(crate) fn lose(&mut self, share: f64) {
        self.losses.push(share);
    }

    pub(crate) fn keep(&mut self, share: f64) {
        remove(&mut self.losses, &share);
    }

    pub(crate) fn double(&mut self, share: f64) {
        self.duplicates.push(share);
    }

    pub(crate) fn single(&mut self, share: f64) {
        remove(&mut self.duplicates, &share);
    }

    pub(crate) fn reorder(&mut self, share: f64) {
        self.late.push(share);
    }

    pub(crate) fn order(&mut self, share: f64) {
        remove(&mut self.late, &share);
    }

    /// Whether no partition keeps a node from the store.
    pub(crate) fn is_reachable(&self, node: usize) -> bool {
        self.cuts[node] == (0, 0)
    }

    fn latency(&mut self) -> Nanos {
        let mean = seconds(self.terms.tail);
        let tail = nanos(match self.terms.spread {
            Spread::Usual => self.chance.wait(mean),
            Spread::Even => 2.0 * mean * self.chance.share(),
            Spread::Heavy => self.chance.heavy(mean).min(LONGEST),
        });
        let usual = self.terms.latency.plus(tail).plus(self.lateness());
        self.delays.iter().fold(usual, |sum, delay| sum.plus(*delay))
    }

    /// How much later a message arrives that others overtake; mostly not at all.
    fn lateness(&mut self) -> Nanos {
        let share = self.late.iter().fold(self.terms.reorder, |most, share| share.max(most));
        if !self.chance.happens(share) {
            return Nanos::ZERO;
        }
        // As likely by a moment as by longer than a call is waited for, or than a lease lasts.
        let most = [50, 1_000, 10_000][self.chance.below(3)];
        Nanos::from(Millis::new(self.chance.between(1, most)))
    }

    fn is_lost(&mut self) -> bool {
        let share = self.losses.iter().fold(self.terms.loss, |most, share| share.max(most));
        self.chance.happens(share)
    }
}

fn remove<T: PartialEq>(list: &mut Vec<T>, item: &T) {
    if let Some(at) = list.iter().position(|other| other == item) {
        list.swap_remove(at);
    }
}
