use super::counts::count;
use super::layer::Shared;
use super::refusal::{describe, is_grpc, refusal};
use crate::throttle::{Outcome, Throttle};
use http::request::Parts;
use http::{Request, Response};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service that is asked for only as often as its limit allows: see the [module](super).
pub struct RateLimit<T: Throttle, S> {
    pub(super) inner: S,
    pub(super) shared: Arc<Shared<T>>,
}

impl<T, S, B, R> Service<Request<B>> for RateLimit<T, S>
where
    T: Throttle,
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
    R: Default + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that was found ready does the work; its clone waits for the next.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let outcome = shared.ask(&parts).await;
            match outcome {
                Some(outcome) if !outcome.allowed => Ok(refusal(&outcome, is_grpc(&parts), shared.headers)),
                outcome => {
                    let mut response = inner.call(Request::from_parts(parts, body)).await?;
                    if let Some(outcome) = outcome.filter(|_| shared.headers) {
                        describe(&outcome, response.headers_mut());
                    }
                    Ok(response)
                }
            }
        })
    }
}

impl<T: Throttle> Shared<T> {
    /// What is decided about a request; `None` if nothing is, and it passes.
    async fn ask(&self, parts: &Parts) -> Option<Outcome> {
        let Some((key, rule)) = (self.key)(parts).zip((self.rule)(parts)) else {
            count(&self.counters.skipped);
            return None;
        };
        let Ok(outcome) = self.throttle.charge(&key, &rule).await else {
            count(&self.counters.failed);
            return None;
        };
        count(if outcome.allowed { &self.counters.passed } else { &self.counters.refused });
        Some(outcome)
    }
}

impl<T: Throttle, S: Clone> Clone for RateLimit<T, S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<T: Throttle, S: fmt::Debug> fmt::Debug for RateLimit<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// A server of gRPC knows its services by name: this one goes by the name of what it stands before.
#[cfg(feature = "tonic")]
impl<T: Throttle, S: tonic::server::NamedService> tonic::server::NamedService for RateLimit<T, S> {
    const NAME: &'static str = S::NAME;
}
