//! The answer to one request, with everything a person may ask about it.

use crate::cost::Price;
use crate::reason::Reason;
use crate::units::{Millis, Tokens};

/// Which tier had the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// The node, from its lease (L3).
    Node,
    /// The application's account (L2).
    App,
    /// The cluster (L1).
    Cluster,
    /// The node on its own, while the ledger is away.
    Fallback,
}

impl Tier {
    /// The name, as in logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "l3",
            Self::App => "l2",
            Self::Cluster => "l1",
            Self::Fallback => "fallback",
        }
    }

    /// The tier of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Node, Self::App, Self::Cluster, Self::Fallback].into_iter().find(|tier| tier.name() == name)
    }
}

/// Whether the request may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Allowed,
    /// It may not.
    Refused(Reason),
    /// It would not, but the application is in shadow mode: it passes and is marked.
    Shadowed(Reason),
}

impl Verdict {
    /// Whether the request goes on.
    pub const fn passes(self) -> bool {
        !matches!(self, Self::Refused(_))
    }

    /// Why it was refused, or would have been.
    pub const fn reason(self) -> Option<Reason> {
        match self {
            Self::Allowed => None,
            Self::Refused(reason) | Self::Shadowed(reason) => Some(reason),
        }
    }

    /// The same under shadow mode: nothing is refused.
    #[must_use]
    pub const fn in_shadow(self) -> Self {
        match self {
            Self::Refused(reason) => Self::Shadowed(reason),
            other => other,
        }
    }
}

/// The answer to one request. Headers, JSON and logs are renderings of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may pass.
    pub verdict: Verdict,
    /// Which tier had the last word.
    pub tier: Tier,
    /// What it costs, and how that was found.
    pub price: Price,
    /// What the application may have at once.
    pub limit: Tokens,
    /// What the application has left, as far as the deciding tier knows.
    pub remaining: Tokens,
    /// When to come back, if refused; `None` if waiting will not help.
    pub retry_after: Option<Millis>,
    /// How long until the application has its limit again.
    pub reset_after: Millis,
    /// The version of the policy that was applied.
    pub policy_version: u64,
}

/// What one tier did about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It had too little and asked the next.
    PassedOn,
    /// It had enough.
    Granted,
    /// It said no.
    Refused,
}

impl Step {
    /// The name, as in explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PassedOn => "passed_on",
            Self::Granted => "granted",
            Self::Refused => "refused",
        }
    }
}

impl Decision {
    /// The way from the node to the tier that had the last word, and what each did.
    pub fn trace(&self) -> impl Iterator<Item = (Tier, Step)> + use<> {
        let way: &[Tier] = match self.tier {
            Tier::Node => &[Tier::Node],
            Tier::App => &[Tier::Node, Tier::App],
            Tier::Cluster => &[Tier::Node, Tier::App, Tier::Cluster],
            Tier::Fallback => &[Tier::Node, Tier::Fallback],
        };
        let last = self.tier;
        let end = if self.verdict.reason().is_none() { Step::Granted } else { Step::Refused };
        way.iter().map(move |&tier| (tier, if tier == last { end } else { Step::PassedOn }))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::cost::Operation;
    use std::vec::Vec;

    #[test]
    fn a_trace_ends_with_the_tier_that_had_the_last_word() {
        let decision = |tier, verdict| Decision {
            verdict,
            tier,
            price: Price::named(Operation::Get, 1),
            limit: Tokens::ZERO,
            remaining: Tokens::ZERO,
            retry_after: None,
            reset_after: Millis::ZERO,
            policy_version: 1,
        };
        let trace = |tier, verdict| decision(tier, verdict).trace().collect::<Vec<_>>();
        assert_eq!(trace(Tier::Node, Verdict::Allowed), [(Tier::Node, Step::Granted)]);
        assert_eq!(
            trace(Tier::Cluster, Verdict::Refused(Reason::ClusterExhausted)),
            [(Tier::Node, Step::PassedOn), (Tier::App, Step::PassedOn), (Tier::Cluster, Step::Refused)]
        );
        let shadowed = trace(Tier::Fallback, Verdict::Shadowed(Reason::LocalExhausted));
        assert_eq!(shadowed, [(Tier::Node, Step::PassedOn), (Tier::Fallback, Step::Refused)]);
    }

    #[test]
    fn shadow_mode_lets_pass_and_remembers_why() {
        let refused = Verdict::Refused(Reason::AppExhausted);
        assert!(!refused.passes());
        assert!(refused.in_shadow().passes());
        assert_eq!(refused.in_shadow().reason(), Some(Reason::AppExhausted));
        assert_eq!(Verdict::Allowed.in_shadow(), Verdict::Allowed);
    }
}
