use crate::api::{
    DescriptorStatus, RateLimitDescriptor, RateLimitRequest, RateLimitResponse, RateLimitService,
};
use crate::claim::{Claim, Found, Hits};
use crate::counts::{Counters, count};
use crate::reply::{self, Spokesman};
use crate::verdicts::{self, Held};
use std::sync::Arc;
use tollgate_config::rls::{Rls, Unmatched};
use tollgate_core::decision::Decision;
use tollgate_core::units::Rate;
use tollgate_ledger::{Ledger, Slots};
use tollgate_node::Node;
use tonic::Status;

/// The most descriptors of a call, and the most entries of a descriptor.
const MAX_LIST: usize = 64;

/// Answers calls by asking a node.
#[derive(Debug)]
pub struct Service<L> {
    node: Node<L>,
    settings: Arc<Rls>,
    pub(crate) counters: Arc<Counters>,
}

impl<L> Service<L> {
    /// A service in front of that node.
    pub fn new(node: Node<L>, settings: Arc<Rls>) -> Self {
        Self { node, settings, counters: Arc::default() }
    }
}

impl<L: Ledger + Slots + 'static> Service<L> {
    /// Decides about a call.
    pub async fn answer(&self, call: &RateLimitRequest) -> Result<RateLimitResponse, Status> {
        check(call).inspect_err(|_| count(&self.counters.invalid))?;
        let claims: Vec<Option<Claim<'_>>> =
            call.descriptors.iter().map(|descriptor| self.claim(call, descriptor)).collect();
        let held = verdicts::decide(&self.node, &claims).await;
        let statuses =
            held.iter().zip(&claims).map(|(held, claim)| self.status(held, claim.as_ref())).collect();
        let mut spokesman = self.spokesman(&held, &claims);
        if let Some(spokesman) = &mut spokesman
            && spokesman.decision.verdict.reason().is_some()
        {
            spokesman.id = Some(self.node.record(spokesman.app, &spokesman.decision));
        }
        let response = reply::response(statuses, spokesman.as_ref(), self.settings.headers);
        if held.iter().any(Held::is_refused) {
            // Dropped, all permits give back what was paid.
            count(&self.counters.refused);
        } else {
            count(&self.counters.passed);
            self.keep(held, &claims);
        }
        Ok(response)
    }

    fn claim<'a>(
        &self,
        call: &'a RateLimitRequest,
        descriptor: &'a RateLimitDescriptor,
    ) -> Option<Claim<'a>> {
        match (Claim::find(&self.settings, call, descriptor), self.settings.unmatched) {
            (Found::Claim(claim), _) => Some(claim),
            (Found::Unlimited, _) => None,
            (Found::Nobody, unmatched) => {
                count(&self.counters.unmatched);
                (unmatched == Unmatched::Refuse).then(Claim::nobody)
            }
        }
    }

    fn status(&self, held: &Held, claim: Option<&Claim<'_>>) -> DescriptorStatus {
        match (held, claim) {
            (Held::Paid(permit), _) => {
                let app = permit.app();
                reply::status(held, app.id(), app.terms().policy.quota.guaranteed)
            }
            (_, Some(claim)) => {
                let app = self.node.resolve(&claim.app);
                let rate = app.as_ref().map_or(Rate::ZERO, |app| app.terms().policy.quota.guaranteed);
                reply::status(held, app.as_ref().map_or("", |app| app.id()), rate)
            }
            (_, None) => reply::status(held, "", Rate::ZERO),
        }
    }

    fn spokesman<'a>(&self, held: &[Held], claims: &'a [Option<Claim<'_>>]) -> Option<Spokesman<'a>> {
        let (at, decision) = chosen(held)?;
        let app = claims[at].as_ref().map_or("", |claim| &*claim.app);
        let payer = match &held[at] {
            Held::Paid(permit) => Some(permit.app().id().clone()),
            _ => self.node.resolve(app).map(|app| app.id().clone()),
        };
        Some(Spokesman { app, payer, decision, id: None })
    }

    fn keep(&self, held: Vec<Held>, claims: &[Option<Claim<'_>>]) {
        for held in held {
            if let Held::Paid(permit) = held {
                permit.keep();
            }
        }
        for claim in claims.iter().flatten() {
            if let Hits::Returned(_) = claim.hits {
                self.node.give_back(&claim.request());
            }
        }
    }
}

impl<L: Ledger + Slots + 'static> RateLimitService for Service<L> {
    async fn should_rate_limit(self: Arc<Self>, call: RateLimitRequest) -> Result<RateLimitResponse, Status> {
        self.answer(&call).await
    }
}

/// Of the decisions of a call the one that all of it is told of, by its place: the first refusal, or else whoever has least left
/// of what it may have.
fn chosen(held: &[Held]) -> Option<(usize, Decision)> {
    let decided = held.iter().enumerate().filter_map(|(at, held)| Some((at, held.decision()?)));
    decided.min_by(|(_, a), (_, b)| {
        let rank = |one: &Decision| (one.verdict.passes(), one.verdict.reason().is_none());
        let share = |one: &Decision, other: &Decision| {
            u128::from(one.remaining.micros()) * u128::from(other.limit.micros())
        };
        rank(a).cmp(&rank(b)).then_with(|| share(a, b).cmp(&share(b, a)))
    })
}

fn check(call: &RateLimitRequest) -> Result<(), Status> {
    let descriptors = call.descriptors.len();
    if !(1..=MAX_LIST).contains(&descriptors) {
        return Err(Status::invalid_argument(format!("{descriptors} descriptors, expected 1 to {MAX_LIST}")));
    }
    match call.descriptors.iter().map(|descriptor| descriptor.entries.len()).max() {
        Some(entries) if entries > MAX_LIST => Err(Status::invalid_argument(format!(
            "{entries} entries in a descriptor, expected at most {MAX_LIST}"
        ))),
        _ => Ok(()),
    }
}
