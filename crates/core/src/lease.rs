//! L3: how many tokens a node should hold for an application, when to ask for more, and when to give back.

use crate::units::{Millis, Rate, Ratio, Tokens};

/// A node asks for more when it holds less than this share of its target.
pub const REFILL_THRESHOLD: Ratio = Ratio::percent(20);

/// What covers one interval of demand: a quarter more than expected, and twice the spread of random arrivals.
pub fn cover(demand: Rate, interval: Millis) -> Tokens {
    let expected = demand.over(interval);
    let spread = square_root(expected);
    Ratio::percent(125).of(expected).plus(spread).plus(spread)
}

/// What a node should hold: what covers the demand, at least the need that is waiting, at most its fair share.
pub fn target(demand: Rate, interval: Millis, need: Tokens, fair_share: Tokens) -> Tokens {
    cover(demand, interval).max(need).min(fair_share)
}

/// A node's fair share of what is available: in proportion to its part of the demand, or an equal part where
/// nobody has shown any.
pub fn fair_share(available: Tokens, demand: Rate, total_demand: Rate, nodes: u64) -> Tokens {
    let part =
        |mine: u64, all: u64| available.proportion(Tokens::from_micros(mine), Tokens::from_micros(all));
    if total_demand.is_zero() {
        part(1, nodes.max(1))
    } else {
        part(demand.min(total_demand).millis(), total_demand.millis())
    }
}

/// Whether a node that holds this much should ask for more.
pub fn is_low(held: Tokens, target: Tokens, threshold: Ratio) -> bool {
    held < threshold.of(target)
}

/// What to give back: all above the target, once that is more than the target again. The gap keeps a node
/// from giving back what it will ask for a moment later.
pub fn surplus(held: Tokens, target: Tokens) -> Tokens {
    if held > target.plus(target) { held.minus(target) } else { Tokens::ZERO }
}

/// The square root of a number of tokens, in tokens.
fn square_root(amount: Tokens) -> Tokens {
    let root = (u128::from(amount.micros()) * u128::from(Tokens::MICROS_PER_TOKEN)).isqrt();
    Tokens::from_micros(u64::try_from(root).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INTERVAL: Millis = Millis::new(100);

    #[test]
    fn covers_the_demand_with_a_margin() {
        // A hundred expected in the interval: 125 and twice the root of a hundred.
        assert_eq!(cover(Rate::per_second(1_000), INTERVAL), Tokens::whole(145));
        assert_eq!(cover(Rate::ZERO, INTERVAL), Tokens::ZERO);
        assert_eq!(cover(Rate::MAX, Millis::MAX), Tokens::MAX);
    }

    #[test]
    fn a_target_is_at_least_the_need_and_at_most_the_share() {
        let idle = Rate::ZERO;
        assert_eq!(target(idle, INTERVAL, Tokens::whole(17), Tokens::MAX), Tokens::whole(17));
        assert_eq!(target(idle, INTERVAL, Tokens::whole(17), Tokens::whole(3)), Tokens::whole(3));
    }

    #[test]
    fn shares_follow_the_demand() {
        let available = Tokens::whole(9_000);
        let rate = Rate::per_second;
        assert_eq!(fair_share(available, rate(100), rate(300), 5), Tokens::whole(3_000));
        assert_eq!(fair_share(available, Rate::ZERO, Rate::ZERO, 3), Tokens::whole(3_000));
        assert_eq!(fair_share(available, Rate::ZERO, Rate::ZERO, 0), available);
    }

    #[test]
    fn gives_back_only_what_is_clearly_too_much() {
        let target = Tokens::whole(100);
        assert_eq!(surplus(Tokens::whole(200), target), Tokens::ZERO);
        assert_eq!(surplus(Tokens::whole(201), target), Tokens::whole(101));
        assert_eq!(
            surplus(Tokens::whole(5), Tokens::ZERO),
            Tokens::whole(5),
            "an idle application keeps nothing"
        );
    }

    proptest! {
        #[test]
        fn p12_low_is_under_a_fifth_of_the_target(held in 0..5_000u64, target in 0..5_000u64) {
            let low = is_low(Tokens::whole(held), Tokens::whole(target), REFILL_THRESHOLD);
            prop_assert_eq!(low, held * 5 < target);
        }

        #[test]
        fn shares_never_add_up_to_more_than_there_is(
            available in 0..1_000_000u64, demands in prop::collection::vec(0..100_000u64, 1..20),
        ) {
            let available = Tokens::whole(available);
            let total = Rate::per_second(demands.iter().sum());
            let nodes = demands.len() as u64;
            let sum: Tokens =
                demands.iter().map(|&d| fair_share(available, Rate::per_second(d), total, nodes)).sum();
            prop_assert!(sum <= available);
        }
    }
}
