//! Sharing what is not enough: guarantees first, then by weight, and nobody gets more than it asks for.
//!
//! This is weighted max-min fairness, also known as water-filling: raise the water level for all alike, in
//! proportion to their weights, until a claim is met or the supply is used up.

use crate::priority::Priority;
use crate::units::Tokens;

/// One application's claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What it is entitled to whatever the others ask for.
    pub guaranteed: Tokens,
    /// What it asks for in all.
    pub demand: Tokens,
    /// How much it matters.
    pub priority: Priority,
    /// What it gets: filled in by [`split`].
    pub share: Tokens,
}

impl Claim {
    /// A claim that has not been answered yet.
    pub const fn new(guaranteed: Tokens, demand: Tokens, priority: Priority) -> Self {
        Self { guaranteed, demand, priority, share: Tokens::ZERO }
    }

    /// What it asks for beyond its guarantee.
    const fn excess(&self) -> Tokens {
        self.demand.minus(self.guaranteed)
    }

    /// The water level that meets this claim, as a fraction over the weight: `a` before `b` if it is lower.
    fn lower(a: &Self, b: &Self) -> core::cmp::Ordering {
        let cross = |x: &Self, y: &Self| u128::from(x.excess().micros()) * u128::from(y.priority.weight());
        cross(a, b).cmp(&cross(b, a))
    }
}

/// Splits `supply` over `claims`, which are put in the order in which rising water meets them. Returns what is
/// left over.
pub fn split(supply: Tokens, claims: &mut [Claim]) -> Tokens {
    let mut left = supply;
    for claim in claims.iter_mut() {
        claim.share = claim.demand.min(claim.guaranteed).min(left);
        left = left.minus(claim.share);
    }
    claims.sort_unstable_by(Claim::lower);
    let mut weights: u64 = claims.iter().map(|claim| claim.priority.weight()).sum();
    for claim in claims {
        let weight = claim.priority.weight();
        let level = left.proportion(Tokens::from_micros(weight), Tokens::from_micros(weights));
        let more = claim.excess().min(level);
        claim.share = claim.share.plus(more);
        left = left.minus(more);
        weights -= weight;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn claim(guaranteed: u64, demand: u64, priority: Priority) -> Claim {
        Claim::new(Tokens::whole(guaranteed), Tokens::whole(demand), priority)
    }

    #[test]
    fn weights_are_eight_four_two_one() {
        let mut claims = Priority::ALL.map(|priority| claim(0, 10_000, priority));
        assert_eq!(split(Tokens::whole(1_500), &mut claims), Tokens::ZERO);
        for claim in claims {
            assert_eq!(claim.share, Tokens::whole(100 * claim.priority.weight()));
        }
    }

    #[test]
    fn what_one_does_not_need_goes_to_the_others() {
        let mut claims =
            [claim(100, 100, Priority::P3), claim(0, 50, Priority::P0), claim(0, 900, Priority::P2)];
        assert_eq!(split(Tokens::whole(1_000), &mut claims), Tokens::ZERO);
        let share = |priority| claims.iter().find(|c| c.priority == priority).unwrap().share;
        assert_eq!(share(Priority::P3), Tokens::whole(100));
        assert_eq!(share(Priority::P0), Tokens::whole(50));
        assert_eq!(share(Priority::P2), Tokens::whole(850));
    }

    fn any_claims() -> impl Strategy<Value = Vec<Claim>> {
        let any = (0..1_000u64, 0..5_000u64, 0..4u64)
            .prop_map(|(guaranteed, demand, p)| claim(guaranteed, demand, Priority::try_from(p).unwrap()));
        prop::collection::vec(any, 1..30)
    }

    proptest! {
        #[test]
        fn no_token_is_made_lost_or_left_while_somebody_asks(mut claims in any_claims(), supply in 0..60_000u64) {
            let supply = Tokens::whole(supply);
            let left = split(supply, &mut claims);
            prop_assert_eq!(claims.iter().map(|c| c.share).sum::<Tokens>().plus(left), supply);
            let demand: Tokens = claims.iter().map(|c| c.demand).sum();
            prop_assert_eq!(left, supply.minus(demand));
            prop_assert!(claims.iter().all(|c| c.share <= c.demand));
        }

        #[test]
        fn guarantees_come_first(mut claims in any_claims(), more in 0..5_000u64) {
            let promised: Tokens = claims.iter().map(|c| c.guaranteed).sum();
            split(promised.plus(Tokens::whole(more)), &mut claims);
            prop_assert!(claims.iter().all(|c| c.share >= c.demand.min(c.guaranteed)));
        }

        /// Max-min: whoever did not get all it asked for has, per weight, at least what anybody else got beyond
        /// its guarantee.
        #[test]
        fn nobody_could_be_raised_without_lowering_a_poorer_one(mut claims in any_claims(), supply in 0..60_000u64) {
            let promised: Tokens = claims.iter().map(|c| c.guaranteed).sum();
            split(promised.plus(Tokens::whole(supply)), &mut claims);
            let beyond = |c: &Claim| u128::from(c.share.minus(c.guaranteed).micros());
            for poor in claims.iter().filter(|c| c.share < c.demand) {
                for other in &claims {
                    let (a, b) = (beyond(poor), beyond(other));
                    let (wa, wb) = (u128::from(poor.priority.weight()), u128::from(other.priority.weight()));
                    let rounding = wa * wb * 32;
                    prop_assert!(a * wb + rounding >= b * wa, "{poor:?} {other:?}");
                }
            }
        }
    }
}
