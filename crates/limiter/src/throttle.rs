use crate::clock::Clock;
use crate::error::Error;
use crate::limiter::Limiter;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tollgate_core::algorithm::Limit;

/// What was decided, whoever did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a refusal has to be acted on"]
pub struct Outcome {
    /// Whether the request may pass.
    pub allowed: bool,
    /// How much may be had at once.
    pub limit: u64,
    /// What is left.
    pub remaining: u64,
    /// When to come back; `None` if waiting does not help, zero if it may pass now.
    pub retry_after: Option<Duration>,
    /// How long until all is there again.
    pub reset_after: Duration,
}

/// Whoever can say whether a request may pass: a limiter in this process, one over Redis, or something larger.
pub trait Throttle: Send + Sync + 'static {
    /// What a request is held to.
    type Rule: Send + Sync;
    /// Why there is no answer.
    type Error: std::error::Error + Send;

    /// Charges a request of `key`, if it may pass.
    fn charge(
        &self,
        key: &str,
        rule: &Self::Rule,
    ) -> impl Future<Output = Result<Outcome, Self::Error>> + Send;
}

impl<C: Clock + 'static> Throttle for Limiter<C> {
    type Rule = Limit;
    type Error = Error;

    async fn charge(&self, key: &str, rule: &Limit) -> Result<Outcome, Error> {
        let answer = self.allow(key, rule)?;
        Ok(Outcome {
            allowed: answer.is_allowed(),
            limit: answer.capacity(),
            remaining: answer.remaining(),
            retry_after: answer.retry_after(),
            reset_after: answer.reset_after(),
        })
    }
}

impl<T: Throttle> Throttle for Arc<T> {
    type Rule = T::Rule;
    type Error = T::Error;

    async fn charge(&self, key: &str, rule: &T::Rule) -> Result<Outcome, T::Error> {
        (**self).charge(key, rule).await
    }
}
