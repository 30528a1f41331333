use super::error::Error;
use super::limiter::RedisLimiter;
use std::time::Duration;

/// Which algorithm decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// No window: a bucket that is refilled at the rate (GCRA).
    #[default]
    Gcra,
    /// A fixed window, which opens with the first token that is taken.
    Fixed,
}

/// How a [`RedisLimiter`] is set up.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(super) algorithm: Window,
    pub(super) prefix: String,
    pub(super) timeout: Duration,
    pub(super) fallback: Option<f64>,
    pub(super) reserving_wait: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            algorithm: Window::Gcra,
            prefix: "ratelimit:".into(),
            timeout: Duration::from_millis(50),
            fallback: None,
            reserving_wait: false,
        }
    }
}

impl Builder {
    /// Which algorithm decides; GCRA unless told otherwise.
    #[must_use]
    pub const fn algorithm(mut self, algorithm: Window) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// What all keys on the server begin with; `ratelimit:` unless told otherwise.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The longest that any call waits for the server; 50 ms unless told otherwise.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Decides in this process while the server is away, at this share of every limit: with as many processes as usual, one
    /// divided by their number admits what the limit says. Shares are from a thousandth to 1; without one, calls fail.
    #[must_use]
    pub const fn fallback(mut self, ratio: f64) -> Self {
        self.fallback = Some(ratio);
        self
    }

    /// Lets callers wait. A wait takes its tokens in advance: whoever came first passes first, in whatever process, and
    /// nobody asks the server twice. One that is dropped before its time gives them back. Only for GCRA.
    #[must_use]
    pub const fn reserving_wait(mut self, enabled: bool) -> Self {
        self.reserving_wait = enabled;
        self
    }

    /// The limiter on that server: `redis://`, `rediss://` or, for a cluster, `redis+cluster://` with one or more hosts
    /// separated by commas. It connects when it is first asked. Must be called within a tokio runtime.
    pub fn connect(self, url: &str) -> Result<RedisLimiter, Error> {
        RedisLimiter::new(self, url)
    }
}
