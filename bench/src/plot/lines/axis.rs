//! From values to where they lie.

/// What lies where along one side of a frame.
#[derive(Clone, Debug)]
pub(super) enum Axis {
    /// From nought, in equal steps.
    Even { most: f64, ticks: Vec<f64> },
    /// From one power of ten to another, each as wide as the next.
    Decades { low: i32, high: i32 },
}

impl Axis {
    /// So many seconds.
    pub(super) fn seconds(all: f64) -> Self {
        let step = [1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0].into_iter().find(|step| all / step <= 8.0);
        let step = step.unwrap_or(600.0);
        let ticks = (0_u32..).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= all);
        Self::Even { most: all, ticks: ticks.collect() }
    }

    /// Amounts up to the highest, and some room above it; told are nought and the one that matters.
    pub(super) fn amounts(highest: f64, told: f64) -> Self {
        Self::Even { most: highest * 1.1, ticks: vec![0.0, round(told)] }
    }

    /// The powers of ten that values lie between.
    #[allow(clippy::cast_possible_truncation, reason = "logarithms are small")]
    pub(super) fn decades(values: impl Iterator<Item = f64>) -> Self {
        let logarithms = values.filter(|value| *value > 0.0).map(f64::log10);
        let (low, high) = logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), logarithm| {
            (low.min(logarithm), high.max(logarithm))
        });
        if low > high {
            return Self::Decades { low: 0, high: 1 };
        }
        let low = low.floor() as i32;
        Self::Decades { low, high: (high.ceil() as i32).max(low + 1) }
    }

    /// Where a value lies: nought at the beginning, one at the end.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match self {
            Self::Even { most, .. } => value / most,
            Self::Decades { low, high } => {
                (value.max(f64::MIN_POSITIVE).log10() - f64::from(*low)) / f64::from(high - low)
            }
        };
        share.clamp(0.0, 1.0)
    }

    pub(super) fn ticks(&self) -> Vec<f64> {
        match self {
            Self::Even { ticks, .. } => ticks.clone(),
            Self::Decades { low, high } => (*low..=*high).map(|power| 10_f64.powi(power)).collect(),
        }
    }
}

fn round(value: f64) -> f64 {
    if value > 20.0 { value.round() } else { (value * 10.0).round() / 10.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lies_at(axis: &Axis, value: f64, share: f64) -> bool {
        (axis.share(value) - share).abs() < 1e-9
    }

    #[test]
    fn everything_lies_within() {
        let seconds = Axis::seconds(4.0);
        assert!(lies_at(&seconds, 0.0, 0.0) && lies_at(&seconds, 4.0, 1.0) && lies_at(&seconds, 9.0, 1.0));
        let amounts = Axis::amounts(200.0, 150.0);
        assert!(lies_at(&amounts, 220.0, 1.0) && lies_at(&amounts, 999.0, 1.0));
    }

    #[test]
    fn there_are_few_ticks_however_long_it_takes() {
        for seconds in [1.0, 7.0, 50.0, 3_000.0] {
            assert!(Axis::seconds(seconds).ticks().len() <= 10);
        }
    }

    #[test]
    fn powers_of_ten_enclose_what_is_shown() {
        let decades = Axis::decades([3.0, 70.0, 0.0].into_iter());
        assert!(matches!(decades, Axis::Decades { low: 0, high: 2 }));
        assert!(lies_at(&decades, 1.0, 0.0) && lies_at(&decades, 10.0, 0.5) && lies_at(&decades, 100.0, 1.0));
        assert!(matches!(Axis::decades([].into_iter()), Axis::Decades { low: 0, high: 1 }));
    }
}
