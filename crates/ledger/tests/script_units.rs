//! The arithmetic of the scripts against that of the units, on random and on extreme numbers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "whole numbers, no larger than 2^53"
)]

use mlua::{Function, Lua, Table};
use proptest::prelude::*;
use std::sync::LazyLock;
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};

/// The functions under test, by name.
static UNITS: LazyLock<(Lua, Table)> = LazyLock::new(|| {
    let exports = "return {
        plus = plus, minus = minus, divide = divide, apply = apply, share = share,
        share_rounded_up = share_rounded_up, proportion = proportion, ratio_of = ratio_of, scaled = scaled,
        over = over, per_second = per_second, time_to_mint = time_to_mint, text = text, before = before,
    }";
    let text = [
        include_str!("../src/script/lua/book/units.lua"),
        include_str!("../src/script/lua/book/rare/units.lua"),
        exports,
    ]
    .concat();
    let lua = Lua::new();
    let units = lua.load(text).eval().unwrap();
    (lua, units)
});

fn function(name: &str) -> Function {
    UNITS.1.get(name).unwrap()
}

/// What a function of whole numbers returns, if anything.
fn optional(name: &str, args: &[u64]) -> Option<u64> {
    let args = args.iter().map(|&arg| arg as f64).collect::<mlua::Variadic<f64>>();
    let answer: Option<f64> = function(name).call(args).unwrap();
    answer.map(|number| {
        assert!(number >= 0.0 && number.fract() == 0.0, "{name} returned {number}");
        number as u64
    })
}

fn lua(name: &str, args: &[u64]) -> u64 {
    optional(name, args).unwrap()
}

/// Numbers up to `most`: of every size, round ones, and those next to an edge.
fn up_to(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => 0..=most,
        2 => (0..=63u32, any::<u64>()).prop_map(move |(bits, number)| (number >> bits) % (most + 1)),
        1 => (0..=3u64).prop_map(move |less| most - less.min(most)),
        1 => 0..=3u64.min(most),
        1 => (0..=52u32, 0..=2u64).prop_map(move |(bits, near)| ((1 << bits) + near).saturating_sub(1).min(most)),
        1 => (0..=15u32).prop_map(move |zeros| 10u64.pow(zeros).min(most)),
    ]
}

fn tokens() -> impl Strategy<Value = Tokens> {
    up_to(Tokens::MAX.micros()).prop_map(Tokens::from_micros)
}

fn rate() -> impl Strategy<Value = Rate> {
    up_to(Rate::MAX.millis()).prop_map(Rate::from_millis)
}

fn ratio() -> impl Strategy<Value = Ratio> {
    up_to(Ratio::MAX.parts().into()).prop_map(|parts| Ratio::from_parts(u32::try_from(parts).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn amounts_add_and_subtract_alike(a in tokens(), b in tokens()) {
        prop_assert_eq!(lua("plus", &[a.micros(), b.micros()]), a.plus(b).micros());
        prop_assert_eq!(lua("minus", &[a.micros(), b.micros()]), a.minus(b).micros());
    }

    #[test]
    fn proportions_are_exact(a in tokens(), part in tokens(), whole in tokens()) {
        let [amount, part_of, all] = [a, part, whole].map(Tokens::micros);
        prop_assert_eq!(lua("proportion", &[amount, part_of, all]), a.proportion(part, whole).micros());
    }

    #[test]
    fn quotients_and_remainders_are_exact(
        a in up_to(Tokens::MAX.micros()), b in up_to(Tokens::MAX.micros()), c in up_to(Tokens::MAX.micros()),
    ) {
        prop_assume!(c > 0);
        let (quotient, rest): (f64, f64) = function("divide").call((a as f64, b as f64, c as f64)).unwrap();
        let product = u128::from(a) * u128::from(b);
        let (exact, remains) = (product / u128::from(c), product % u128::from(c));
        prop_assert_eq!(rest, remains as f64);
        if exact < 1 << 53 {
            prop_assert_eq!(quotient, exact as f64);
        } else {
            prop_assert!(quotient >= 9e15);
        }
    }

    #[test]
    fn ratios_apply_alike(ratio in ratio(), amount in tokens(), rate in rate()) {
        let parts = u64::from(ratio.parts());
        prop_assert_eq!(lua("share", &[parts, amount.micros()]), ratio.of(amount).micros());
        let rounded = ratio.of_rounded_up(amount).micros();
        prop_assert_eq!(lua("share_rounded_up", &[parts, amount.micros()]), rounded);
        prop_assert_eq!(lua("scaled", &[rate.millis(), parts]), rate.scaled(ratio).millis());
    }

    #[test]
    fn shares_are_told_alike(part in tokens(), whole in tokens()) {
        let (part, whole) = (part.micros(), whole.micros());
        prop_assert_eq!(lua("ratio_of", &[part, whole]), u64::from(Ratio::of_parts(part, whole).parts()));
    }

    #[test]
    fn rates_mint_alike(rate in rate(), elapsed in up_to(1 << 50), amount in tokens()) {
        prop_assert_eq!(lua("over", &[rate.millis(), elapsed]), rate.over(Millis::new(elapsed)).micros());
        prop_assert_eq!(lua("per_second", &[rate.millis()]), rate.per_one_second().micros());
        let wait = optional("time_to_mint", &[rate.millis(), amount.micros()]);
        prop_assert_eq!(wait, rate.time_to_mint(amount).map(Millis::get));
    }

    #[test]
    fn texts_keep_every_digit(number in up_to(1 << 53)) {
        let text: String = function("text").call(number as f64).unwrap();
        prop_assert_eq!(text, number.to_string());
    }

    #[test]
    fn names_are_in_the_order_of_their_bytes(a in "[A-Za-z0-9_-]{1,6}", b in "[A-Za-z0-9_-]{1,6}") {
        let is_before: bool = function("before").call((a.as_str(), b.as_str())).unwrap();
        prop_assert_eq!(is_before, a < b);
    }
}
