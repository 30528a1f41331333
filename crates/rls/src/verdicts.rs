//! What is decided about the descriptors of one call: all pass, or none is charged.

use crate::claim::{Claim, Hits};
use futures_util::future::join_all;
use tollgate_core::decision::Decision;
use tollgate_ledger::{Ledger, Slots};
use tollgate_node::{Miss, Node, NotYet, Permit};

/// What became of one descriptor.
#[derive(Debug)]
pub(crate) enum Held {
    /// It limits nothing.
    Free,
    /// It may pass, and is paid for.
    Paid(Permit),
    /// It may pass, and was not to be charged.
    Seen(Decision),
    /// It may not.
    Refused(Decision),
    /// Nobody was asked, since another descriptor was refused already.
    Unasked(Miss),
}

impl Held {
    /// The decision, if there was one.
    pub(crate) fn decision(&self) -> Option<Decision> {
        match self {
            Self::Paid(permit) => Some(permit.decision()),
            Self::Seen(decision) | Self::Refused(decision) => Some(*decision),
            Self::Free | Self::Unasked(_) => None,
        }
    }

    pub(crate) const fn is_refused(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// What was only looked at is not charged.
    const fn seen(decision: Decision) -> Self {
        if decision.verdict.passes() { Self::Seen(decision) } else { Self::Refused(decision) }
    }
}

/// Decides about all claims. Those that need the ledger ask it together, unless something is refused already.
pub(crate) async fn decide<L: Ledger + Slots + 'static>(
    node: &Node<L>,
    claims: &[Option<Claim<'_>>],
) -> Vec<Held> {
    let mut held: Vec<Held> = claims.iter().map(|claim| look(node, claim.as_ref())).collect();
    if !held.iter().any(Held::is_refused) {
        ask(node, claims, &mut held).await;
    }
    held
}

fn look<L: Ledger + Slots + 'static>(node: &Node<L>, claim: Option<&Claim<'_>>) -> Held {
    let Some(claim) = claim.filter(|claim| !matches!(claim.hits, Hits::Returned(_))) else {
        return Held::Free;
    };
    if is_peek(claim) {
        return node.glance(&claim.request()).map_or_else(Held::Unasked, Held::seen);
    }
    match node.check_owned(&claim.request()) {
        Ok(permit) => Held::Paid(permit),
        Err(NotYet::Refused(decision)) => Held::Refused(decision),
        Err(NotYet::Miss(miss)) => Held::Unasked(miss),
    }
}

async fn ask<L: Ledger + Slots + 'static>(node: &Node<L>, claims: &[Option<Claim<'_>>], held: &mut [Held]) {
    let waiting = held.iter_mut().zip(claims).filter(|(held, _)| matches!(held, Held::Unasked(_)));
    let answers = waiting.map(async |(held, claim)| {
        if let Held::Unasked(miss) = std::mem::replace(held, Held::Free) {
            *held = if claim.as_ref().is_some_and(is_peek) {
                Held::seen(node.look(miss).await)
            } else {
                node.wait(miss).await.map_or_else(Held::Refused, Held::Paid)
            };
        }
    });
    join_all(answers).await;
}

fn is_peek(claim: &Claim<'_>) -> bool {
    matches!(claim.hits, Hits::Peek)
}
