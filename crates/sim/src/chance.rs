//! Chance, by the seed: each part of the world draws from a stream of its own, so that taking one part away leaves what
//! happens to the others as it was.

use tollgate_core::units::Nanos;

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance(fastrand::Rng);

impl Chance {
    /// The stream of that name, and of that number where there are several.
    pub(crate) fn new(seed: u64, name: &str, number: u64) -> Self {
        let hash = name.bytes().fold(mixed(seed), |hash, byte| mixed(hash ^ u64::from(byte)));
        Self(fastrand::Rng::with_seed(mixed(hash ^ number)))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.u64(..)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.usize(..end) }
    }

    /// At least `low`, at most `high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0.u64(low..=high.max(low))
    }

    /// From zero to one, without one.
    pub(crate) fn share(&mut self) -> f64 {
        self.0.f64()
    }

    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.0.f64() < probability
    }

    /// How long until the next of many independent arrivals.
    pub(crate) fn wait(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.0.f64()).ln()
    }

    /// So much on average, after Pareto: four fifths are below that, and one in a thousand is thirty times as much.
    pub(crate) fn heavy(&mut self, mean: f64) -> f64 {
        const SHAPE: f64 = 1.5;
        mean * (SHAPE - 1.0) / SHAPE * (1.0 - self.0.f64()).powf(-1.0 / SHAPE)
    }

    /// `count` of the numbers below `end`, in order.
    pub(crate) fn some(&mut self, count: usize, end: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..end).collect();
        self.0.shuffle(&mut all);
        all.truncate(count);
        all.sort_unstable();
        all
    }
}

/// Seconds as nanoseconds.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and the cast saturates"
)]
pub(crate) fn nanos(seconds: f64) -> Nanos {
    Nanos::new((seconds * 1e9) as u64)
}

/// Nanoseconds as seconds.
#[allow(clippy::cast_precision_loss, reason = "exact up to a hundred days")]
pub(crate) fn seconds(time: Nanos) -> f64 {
    time.get() as f64 / 1e9
}

/// Spreads the bits of a number over all of it.
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_tail_has_its_mean_from_a_few() {
        let mut chance = Chance::new(1, "test", 0);
        let mut all: Vec<f64> = (0..100_000).map(|_| chance.heavy(3.0)).collect();
        all.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / 100_000.0;
        assert!((2.5..3.5).contains(&mean), "{mean}");
        assert!(all[0] >= 1.0 && all[80_000] < 3.1, "most are below: {} and {}", all[0], all[80_000]);
        assert!((80.0..120.0).contains(&all[99_900]), "{}", all[99_900]);
    }
}
