use super::client::ClientAddress;
use super::counts::{Counters, Counts};
use super::service::RateLimit;
use crate::throttle::Throttle;
use http::request::Parts;
use std::fmt;
use std::sync::Arc;
use tower_layer::Layer;

/// Finds the key of a request.
type FindKey = dyn Fn(&Parts) -> Option<String> + Send + Sync;

/// Finds the rule that a request is held to.
type FindRule<R> = dyn Fn(&Parts) -> Option<R> + Send + Sync;

/// Asks a throttle before each request goes on: see the [module](super).
pub struct RateLimitLayer<T: Throttle> {
    pub(super) shared: Arc<Shared<T>>,
}

/// What all services of a layer share.
pub(super) struct Shared<T: Throttle> {
    pub(super) throttle: T,
    pub(super) key: Box<FindKey>,
    pub(super) rule: Box<FindRule<T::Rule>>,
    pub(super) headers: bool,
    pub(super) counters: Arc<Counters>,
}

impl<T: Throttle> RateLimitLayer<T> {
    /// For servers: holds requests to the rule that `rule` finds, by the address of the client. Requests that it finds none for
    /// pass.
    pub fn new(throttle: T, rule: impl Fn(&Parts) -> Option<T::Rule> + Send + Sync + 'static) -> Self {
        let client = ClientAddress::new();
        Self::with_key(throttle, rule, move |parts| client.of(parts).map(|address| address.to_string()))
    }

    /// For clients: holds requests to the rule that `rule` finds, by the host that they go to.
    pub fn outgoing(throttle: T, rule: impl Fn(&Parts) -> Option<T::Rule> + Send + Sync + 'static) -> Self {
        Self::with_key(throttle, rule, |parts| {
            let host = || parts.headers.get(http::header::HOST)?.to_str().ok();
            parts.uri.authority().map(http::uri::Authority::as_str).or_else(host).map(str::to_owned)
        })
    }

    /// Finds the address of the client in another way.
    #[must_use]
    pub fn client(self, client: ClientAddress) -> Self {
        self.key(move |parts| client.of(parts).map(|address| address.to_string()))
    }

    /// Finds the key in another way. Requests without one pass.
    #[must_use]
    pub fn key(self, key: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.change(|shared| shared.key = Box::new(key))
    }

    /// Whether responses say what is left: `X-RateLimit-Limit`, `-Remaining` and `-Reset`, in seconds from now.
    #[must_use]
    pub fn headers(self, headers: bool) -> Self {
        self.change(|shared| shared.headers = headers)
    }

    /// What became of the requests so far, over all services of this layer.
    pub fn counts(&self) -> Counts {
        self.shared.counters.counts()
    }

    fn with_key(
        throttle: T,
        rule: impl Fn(&Parts) -> Option<T::Rule> + Send + Sync + 'static,
        key: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let (key, rule) = (Box::new(key), Box::new(rule));
        let shared = Shared { throttle, key, rule, headers: false, counters: Arc::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Before a service is made of it, nobody else has a hand on it.
    fn change(mut self, change: impl FnOnce(&mut Shared<T>)) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            change(shared);
        }
        self
    }
}

impl<T: Throttle, S> Layer<S> for RateLimitLayer<T> {
    type Service = RateLimit<T, S>;

    fn layer(&self, inner: S) -> RateLimit<T, S> {
        RateLimit { inner, shared: Arc::clone(&self.shared) }
    }
}

impl<T: Throttle> Clone for RateLimitLayer<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T: Throttle> fmt::Debug for RateLimitLayer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayer").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
