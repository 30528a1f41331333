//! What must hold whatever happens: checked while it happens.

mod bound;
mod guarantee;
mod pocket;

pub use bound::Extra;
pub(crate) use bound::{Bound, Extras};
pub(crate) use guarantee::Guarantee;
pub(crate) use pocket::Pocket;

use std::fmt;
use tollgate_core::units::Nanos;

/// A rule of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Every right is accounted for, and leases add up to what is out.
    Balance,
    /// Rights and leases together stay within the burst, but for what was drawn and borrowed on top.
    BurstCap,
    /// No more passes than rate, burst and what is booked on top allow, over any time.
    OverAdmission,
    /// A node spends only what it was given, for as long as the lease lasts.
    Spending,
    /// A node reports exactly what it let through.
    Reporting,
    /// A node that is cut off lets through what it announced, and no more.
    Fallback,
    /// Whoever stays within its guarantee passes.
    Guarantee,
    /// A call that arrives twice changes nothing the second time.
    Idempotency,
    /// In an emergency, who keeps nothing passes nothing.
    Emergency,
    /// Who is switched off passes nothing.
    Switch,
    /// What is out comes back: no token is lost for ever.
    Return,
    /// The scripts do what the book does.
    Scripts,
    /// A desk sleeps until there is something to do.
    Rest,
}

impl Rule {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Balance => "balance",
            Self::BurstCap => "burst cap",
            Self::OverAdmission => "over-admission",
            Self::Spending => "spending",
            Self::Reporting => "reporting",
            Self::Fallback => "fallback",
            Self::Guarantee => "guarantee",
            Self::Idempotency => "idempotency",
            Self::Emergency => "emergency",
            Self::Switch => "switch",
            Self::Return => "return",
            Self::Scripts => "scripts",
            Self::Rest => "rest",
        }
    }
}

/// A rule that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub rule: Rule,
    /// When.
    pub at: Nanos,
    /// After how many events.
    pub event: u64,
    /// What was found.
    pub what: String,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = crate::chance::seconds(self.at);
        write!(f, "{} at {at:.6}s, event {}: {}", self.rule, self.event, self.what)
    }
}
