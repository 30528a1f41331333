//! A node behind the middleware of the limiter library.

use crate::node::Node;
use crate::request::Request;
use std::convert::Infallible;
use std::time::Duration;
use tollgate_core::cost::Operation;
use tollgate_core::decision::Decision;
use tollgate_core::units::Millis;
use tollgate_ledger::{Ledger, Slots};
use tollgate_limiter::{Outcome, Throttle};

/// What a request that comes through the middleware does. Its application is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fare {
    /// What it does.
    pub operation: Operation,
    /// How many bytes it carries.
    pub bytes: u64,
    /// What it costs, where the caller knows better than the price list.
    pub cost: Option<u64>,
}

impl Fare {
    /// A request without a body, priced by the list.
    pub const fn of(operation: Operation) -> Self {
        Self { operation, bytes: 0, cost: None }
    }
}

impl<L: Ledger + Slots + 'static> Throttle for Node<L> {
    type Rule = Fare;
    type Error = Infallible;

    async fn charge(&self, key: &str, rule: &Fare) -> Result<Outcome, Infallible> {
        let Fare { operation, bytes, cost } = *rule;
        Ok(match self.admit(&Request { app: key, operation, bytes, cost }).await {
            Ok(permit) => {
                let outcome = outcome(&permit.decision());
                permit.keep();
                outcome
            }
            Err(decision) => outcome(&decision),
        })
    }
}

fn outcome(decision: &Decision) -> Outcome {
    let allowed = decision.verdict.passes();
    Outcome {
        allowed,
        limit: decision.limit.floor(),
        remaining: decision.remaining.floor(),
        retry_after: if allowed { Some(Duration::ZERO) } else { decision.retry_after.map(duration) },
        reset_after: duration(decision.reset_after),
    }
}

fn duration(time: Millis) -> Duration {
    Duration::from_millis(time.get())
}
