use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A random part of a pause, at least half of it: nodes that lost the same server shall not come back all at once.
pub(super) fn up_to(pause: Duration) -> Duration {
    let parts = RandomState::new().hash_one(()) % 500;
    pause * (500 + u32::try_from(parts).unwrap_or_default()) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_half_to_all_of_it_and_not_always_the_same() {
        let whole = Duration::from_secs(1);
        let pauses: Vec<Duration> = (0..200).map(|_| up_to(whole)).collect();
        assert!(pauses.iter().all(|pause| (whole / 2..whole).contains(pause)));
        assert!(pauses.iter().any(|pause| *pause != pauses[0]));
    }
}
