//! What changes something is done to its end.

use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use tokio::sync::RwLock;

/// Calls that change something and are not done yet: each reads, and whoever writes has waited for all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Unfinished(Arc<RwLock<()>>);

impl Unfinished {
    /// Waits until all of them are done.
    pub(super) async fn done(&self) {
        drop(self.0.write().await);
    }
}

/// Answers calls that change something on a task of their own: a caller who hangs up in the middle ends the wait for the answer, and not
/// what has to follow a change, which are its version, the audit and the news of it.
pub(super) async fn finish(State(unfinished): State<Unfinished>, request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let turn = Arc::clone(&unfinished.0).read_owned().await;
    let answer = tokio::spawn(async move {
        let _turn = turn;
        next.run(request).await
    });
    answer.await.unwrap_or_else(|_| Problem::unavailable("the call ended early").into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::routing::any;
    use futures_util::FutureExt;
    use http::Method;
    use std::pin::pin;
    use tokio::sync::Semaphore;
    use tower::ServiceExt;

    /// Hangs up in the middle of a call; whether it is done to its end.
    async fn is_finished(method: Method) -> bool {
        let (began, goes_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let ended = Arc::new(Semaphore::new(0));
        let handler = {
            let (began, goes_on, ended) = (Arc::clone(&began), Arc::clone(&goes_on), Arc::clone(&ended));
            move || async move {
                began.add_permits(1);
                drop(goes_on.acquire().await);
                ended.add_permits(1);
            }
        };
        let unfinished = Unfinished::default();
        let router = Router::new()
            .route("/", any(handler))
            .layer(axum::middleware::from_fn_with_state(unfinished.clone(), finish));
        let request = http::Request::builder().method(method).uri("/").body(Body::empty()).unwrap();
        {
            let mut call = pin!(router.oneshot(request));
            tokio::select! {
                _ = call.as_mut() => panic!("it does not wait"),
                _ = began.acquire() => {}
            }
        }
        let is_awaited = unfinished.done().now_or_never().is_none();
        goes_on.add_permits(1);
        unfinished.done().await;
        let is_finished = ended.available_permits() == 1;
        assert_eq!(is_awaited, is_finished, "the database is not closed before");
        is_finished
    }

    #[tokio::test]
    async fn whoever_hangs_up_in_the_middle_of_a_change_does_not_end_it() {
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            assert!(is_finished(method).await);
        }
        assert!(!is_finished(Method::GET).await, "nothing is owed to who does not wait for an answer");
    }
}
