use super::builder::{Builder, Window};
use super::error::Error;
use super::link::Link;
use super::reservation::Reservation;
use super::script::{Answer, Scripts};
use crate::throttle::{Outcome, Throttle};
use crate::{Error as Question, Limiter};
use redis::{Pipeline, ScriptInvocation};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tollgate_core::algorithm::{Algorithm, Limit};

/// The longest key, in bytes.
const MAX_KEY: usize = 1_024;

/// What keys begin with that are counted in this process while the server is away.
const FALLBACK_PREFIX: &str = "redis_fallback:";

/// The smallest share of a limit that a process goes on with.
const SMALLEST_SHARE: f64 = 0.001;

/// A limiter for many keys, shared by all processes that name the same server.
pub struct RedisLimiter {
    pub(super) shared: Arc<Shared>,
    settings: Builder,
    fallback: Option<Limiter>,
}

pub(super) struct Shared {
    pub(super) link: Link,
    pub(super) scripts: Scripts,
}

/// One question of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Whose tokens.
    pub key: &'a str,
    /// By which limit.
    pub limit: &'a Limit,
    /// How many.
    pub n: u64,
}

impl RedisLimiter {
    /// A limiter to be set up.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) fn new(settings: Builder, url: &str) -> Result<Self, Error> {
        let link = Link::open(url, settings.timeout)?;
        let algorithm = match settings.algorithm {
            Window::Gcra => Algorithm::Gcra,
            Window::Fixed => Algorithm::FixedWindow,
        };
        let fallback = settings.fallback.map(|_| Limiter::builder().algorithm(algorithm).build());
        Ok(Self { shared: Arc::new(Shared { link, scripts: Scripts::default() }), settings, fallback })
    }

    /// Takes one token of `key` if it is there.
    pub async fn allow(&self, key: &str, limit: &Limit) -> Result<Outcome, Error> {
        self.allow_n(key, limit, 1).await
    }

    /// Takes `n` tokens of `key` if they are there.
    pub async fn allow_n(&self, key: &str, limit: &Limit, n: u64) -> Result<Outcome, Error> {
        let ask = Ask { key, limit, n };
        let full = self.full_key(&ask)?;
        let call = self.call(&full, &ask);
        let answer = self.shared.link.run(&call).await.and_then(|value| self.read(value));
        self.conclude(&ask, answer)
    }

    /// Asks several questions in one round trip; on a cluster, side by side. Each is answered by itself.
    pub async fn allow_batch(&self, asks: &[Ask<'_>]) -> Vec<Result<Outcome, Error>> {
        if self.shared.link.is_cluster() {
            return join_all(asks.iter().map(|ask| self.allow_n(ask.key, ask.limit, ask.n))).await;
        }
        let keys: Vec<Result<String, Error>> = asks.iter().map(|ask| self.full_key(ask)).collect();
        let right: Vec<(&String, &Ask<'_>)> =
            keys.iter().zip(asks).filter_map(|(key, ask)| key.as_ref().ok().map(|key| (key, ask))).collect();
        let mut answers = self.run_all(&right).await.map(Vec::into_iter);
        let answer = |(key, ask): (&Result<String, Error>, &Ask<'_>)| {
            key.as_ref().map_err(Clone::clone)?;
            let answer = match &mut answers {
                Ok(values) => {
                    values.next().unwrap_or_else(|| Err(Error::Server("an answer is missing".into())))
                }
                Err(error) => Err(error.clone()),
            };
            self.conclude(ask, answer.and_then(|value| self.read(value)))
        };
        keys.iter().zip(asks).map(answer).collect()
    }

    /// Waits for one token of `key`, if that was [enabled](Builder::reserving_wait).
    pub async fn wait(&self, key: &str, limit: &Limit) -> Result<(), Error> {
        self.wait_timeout(key, limit, 1, Duration::MAX).await
    }

    /// Waits for `n` tokens of `key`, but not longer than `timeout`: fails at once if they will not be there by then.
    pub async fn wait_timeout(
        &self,
        key: &str,
        limit: &Limit,
        n: u64,
        timeout: Duration,
    ) -> Result<(), Error> {
        if !self.settings.reserving_wait || self.settings.algorithm != Window::Gcra {
            return Err(Error::NotSupported);
        }
        let full = self.full_key(&Ask { key, limit, n })?;
        let call = self.shared.scripts.gcra(&full, limit, n, timeout);
        let answer = self.read(self.shared.link.run(&call).await?)?;
        let Some(wait) = answer.wait else {
            return Err(Question::ExceedsCapacity { asked: n, capacity: limit.burst() }.into());
        };
        if !answer.allowed {
            return Err(Error::Timeout);
        }
        Reservation::new(Arc::clone(&self.shared), full, n).wait(wait).await;
        Ok(())
    }

    fn call(&self, key: &str, ask: &Ask<'_>) -> ScriptInvocation<'_> {
        match self.settings.algorithm {
            Window::Gcra => self.shared.scripts.gcra(key, ask.limit, ask.n, Duration::ZERO),
            Window::Fixed => self.shared.scripts.fixed_window(key, ask.limit, ask.n),
        }
    }

    /// Runs a batch; what fails because the server does not know the script is asked again when it does.
    async fn run_all(&self, asks: &[(&String, &Ask<'_>)]) -> Result<Vec<Result<redis::Value, Error>>, Error> {
        if asks.is_empty() {
            return Ok(Vec::new());
        }
        let mut answers = self.shared.link.run_all(&self.pipeline(asks.iter())).await?;
        let unknown: Vec<usize> = (0..answers.len()).filter(|&i| is_unknown_script(&answers[i])).collect();
        if !unknown.is_empty() {
            self.shared.link.load(self.shared.scripts.of(self.settings.algorithm)).await?;
            let again = self.pipeline(unknown.iter().filter_map(|&i| asks.get(i)));
            for (i, answer) in unknown.into_iter().zip(self.shared.link.run_all(&again).await?) {
                answers[i] = answer;
            }
        }
        Ok(answers
            .into_iter()
            .map(|answer| answer.map_err(|error| Error::Server(error.to_string())))
            .collect())
    }

    fn pipeline<'a>(&self, asks: impl Iterator<Item = &'a (&'a String, &'a Ask<'a>)>) -> Pipeline {
        let mut calls = Pipeline::new();
        for (key, ask) in asks {
            calls.invoke_script(&self.call(key, ask));
        }
        calls.ignore_errors();
        calls
    }

    fn read(&self, value: redis::Value) -> Result<Answer, Error> {
        let unit = match self.settings.algorithm {
            Window::Gcra => 1,
            Window::Fixed => 1_000,
        };
        Answer::read(value, unit)
    }

    /// What the server said, or what the fallback says if it said nothing.
    fn conclude(&self, ask: &Ask<'_>, answer: Result<Answer, Error>) -> Result<Outcome, Error> {
        let capacity = match self.settings.algorithm {
            Window::Gcra => ask.limit.burst(),
            Window::Fixed => ask.limit.amount(),
        };
        match (answer, &self.fallback) {
            (Ok(answer), _) => Ok(answer.outcome(capacity)),
            (Err(Error::Unavailable(_)), Some(fallback)) => self.fall_back(fallback, ask),
            (Err(error), _) => Err(error),
        }
    }

    fn fall_back(&self, fallback: &Limiter, ask: &Ask<'_>) -> Result<Outcome, Error> {
        let share = self.settings.fallback.unwrap_or(1.0).clamp(SMALLEST_SHARE, 1.0);
        let limit = scaled(ask.limit, share).map_err(Question::Limit)?;
        let answer = fallback.allow_n(format!("{FALLBACK_PREFIX}{}", ask.key), &limit, ask.n)?;
        Ok(Outcome {
            allowed: answer.is_allowed(),
            limit: answer.capacity(),
            remaining: answer.remaining(),
            retry_after: answer.retry_after(),
            reset_after: answer.reset_after(),
        })
    }

    /// A bucket is a key and a limit: another limit is another bucket.
    fn full_key(&self, ask: &Ask<'_>) -> Result<String, Error> {
        if ask.key.is_empty() {
            return Err(Question::EmptyKey.into());
        }
        if ask.n == 0 {
            return Err(Question::ZeroTokens.into());
        }
        if ask.key.len() > MAX_KEY {
            return Err(Error::Server(format!(
                "a key of {} bytes, expected at most {MAX_KEY}",
                ask.key.len()
            )));
        }
        Ok(format!("{}{}:{:x}", self.settings.prefix, ask.key, ask.limit.fingerprint()))
    }
}

impl Throttle for RedisLimiter {
    type Rule = Limit;
    type Error = Error;

    async fn charge(&self, key: &str, rule: &Limit) -> Result<Outcome, Error> {
        self.allow(key, rule).await
    }
}

impl fmt::Debug for RedisLimiter {
    /// Says nothing of the address: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLimiter").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// That share of a limit, at least one token.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a limit need not be exact, and is never negative"
)]
fn scaled(limit: &Limit, share: f64) -> Result<Limit, crate::LimitError> {
    let part = |amount: u64| ((amount as f64 * share) as u64).max(1);
    // Where a whole token does not come up in a period, the period is longer.
    let stretched = limit.amount() as f64 * share;
    let period = Duration::from(limit.period());
    let period = if stretched < 1.0 { period.mul_f64(1.0 / stretched).min(Limit::MAX_SPAN) } else { period };
    Limit::per(part(limit.amount()), period)?.with_burst(part(limit.burst()))
}

fn is_unknown_script(answer: &redis::RedisResult<redis::Value>) -> bool {
    let kind = answer.as_ref().err().map(redis::RedisError::kind);
    kind == Some(redis::ErrorKind::Server(redis::ServerErrorKind::NoScript))
}

async fn join_all<T>(calls: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    let mut answers: Vec<Option<T>> = calls.iter().map(|_| None).collect();
    std::future::poll_fn(move |cx| {
        let mut is_done = true;
        for (call, answer) in calls.iter_mut().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
            match call.as_mut().poll(cx) {
                std::task::Poll::Ready(value) => *answer = Some(value),
                std::task::Poll::Pending => is_done = false,
            }
        }
        if is_done {
            return std::task::Poll::Ready(answers.iter_mut().filter_map(Option::take).collect());
        }
        std::task::Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_limit_is_never_nothing() {
        let limit = Limit::new(100, 200).unwrap();
        let half = scaled(&limit, 0.5).unwrap();
        assert_eq!((half.amount(), half.burst()), (50, 100));
        let small = scaled(&Limit::per(1, Duration::from_secs(1)).unwrap(), 0.25).unwrap();
        assert_eq!(
            (small.amount(), Duration::from(small.period()), small.burst()),
            (1, Duration::from_secs(4), 1)
        );
    }
}
