//! Requests: when the next one comes, whose it is, and where to.

use crate::chance::{Chance, nanos};
use crate::scenario::{Load, Shape};
use tollgate_core::units::Nanos;

/// One load, on its way through time.
pub(crate) struct Source {
    load: Load,
    chance: Chance,
    /// How likely one of the first applications is drawn, for each of them.
    ranks: Vec<f64>,
    turn: usize,
}

/// A request before anybody has decided about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) app: usize,
    pub(crate) node: usize,
    pub(crate) cost: u64,
    pub(crate) is_cancelled: bool,
}

impl Source {
    pub(crate) fn new(load: Load, seed: u64, number: u64) -> Self {
        let ranks = ranks(load.apps.len(), load.skew);
        Self { load, chance: Chance::new(seed, "load", number), ranks, turn: 0 }
    }

    /// When the first request comes.
    pub(crate) fn first(&mut self) -> Option<Nanos> {
        self.next(self.load.from)
    }

    /// When the next request comes after one at `at`.
    pub(crate) fn next(&mut self, at: Nanos) -> Option<Nanos> {
        if self.load.rate <= 0.0 {
            return None;
        }
        let mean = 1.0 / self.load.rate;
        let mut next = at;
        loop {
            let wait = if self.load.shape == Shape::Steady { mean } else { self.chance.wait(mean) };
            next = next.plus(nanos(wait).max(Nanos::new(1)));
            if next >= self.load.until {
                return None;
            }
            let strength = self.load.strength(next);
            if strength >= 1.0 || self.chance.happens(strength) {
                return Some(next);
            }
        }
    }

    /// The request that comes at `at`; none if nobody is there to take it.
    pub(crate) fn request(&mut self, at: Nanos, is_up: &[bool]) -> Option<Request> {
        let (first, count) = self.load.nodes(at, is_up.len());
        self.turn += 1;
        let start = if self.load.shape == Shape::Steady { self.turn } else { self.chance.below(count) };
        // Whoever balances the load leaves out nodes that are down.
        let mut around = (0..count).map(|step| (first + (start + step) % count) % is_up.len());
        let node = around.find(|node| is_up[*node])?;
        let app = self.draw_app();
        let (least, most) = self.load.cost;
        let cost = if least == most { least } else { self.chance.between(least, most) };
        let is_cancelled = self.chance.happens(self.load.cancelled);
        Some(Request { app, node, cost, is_cancelled })
    }

    fn draw_app(&mut self) -> usize {
        if self.load.apps.len() == 1 {
            return self.load.apps[0];
        }
        let share = self.chance.share();
        let rank = self.ranks.partition_point(|upper| *upper <= share);
        self.load.apps[rank.min(self.load.apps.len() - 1)]
    }
}

/// How likely one of the first is drawn: of `count`, by Zipf's law.
#[allow(clippy::cast_precision_loss, reason = "small")]
fn ranks(count: usize, skew: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-skew)).collect();
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    weights
        .iter()
        .map(|weight| {
            sum += weight / total;
            sum
        })
        .collect()
}
