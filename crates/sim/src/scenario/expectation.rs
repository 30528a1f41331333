use std::fmt;

/// What is expected of a run: a measure, and a bound for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// What is measured.
    pub measure: Measure,
    /// Of which application, by number; of the worst one if `None`.
    pub app: Option<usize>,
    /// The most it may be, or the least if `is_least`.
    pub bound: f64,
    /// Whether the bound is the least.
    pub is_least: bool,
}

/// What can be measured of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// What was let through beyond rate, burst and what was booked on top, in seconds of the rate.
    OverAdmission,
    /// What was let through of what a single bucket that sees everything would have.
    Utilisation,
    /// Jain's index over the nodes, of what was let through of what was asked for.
    Fairness,
    /// Requests that were refused.
    Refusals,
    /// Calls to the ledger for each thousand requests.
    Calls,
    /// The time after a shift of the load until as much passes as should, in seconds.
    Convergence,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 6] = [
        Self::OverAdmission,
        Self::Utilisation,
        Self::Fairness,
        Self::Refusals,
        Self::Calls,
        Self::Convergence,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OverAdmission => "over-admission",
            Self::Utilisation => "utilisation",
            Self::Fairness => "fairness",
            Self::Refusals => "refusals",
            Self::Calls => "calls",
            Self::Convergence => "convergence",
        }
    }

    /// A value of it, for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::OverAdmission | Self::Convergence => format!("{value:.3}s"),
            Self::Utilisation => format!("{:.2}%", value * 100.0),
            Self::Fairness => format!("{value:.4}"),
            Self::Refusals => format!("{value}"),
            Self::Calls => format!("{value:.2} per 1000 requests"),
        }
    }
}

impl Expectation {
    /// Whether a value is as expected.
    pub fn holds(&self, value: f64) -> bool {
        if self.is_least { value >= self.bound } else { value <= self.bound }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
