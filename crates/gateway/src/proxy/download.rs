use super::BoxError;
use super::headers;
use super::journey::Journey;
use super::patience::Patience;
use super::upload::Upload;
use crate::gate::Ticket;
use crate::upstream::Lease;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The body of a response on its way to the client. When it came to its end, the connection it came by is free.
pub(crate) struct Download<T: Ticket> {
    lease: Lease<Upload<T>>,
    journey: Rc<Journey<T>>,
    is_broken: bool,
    /// What is to be said about that.
    failure: Option<BoxError>,
    patience: Patience,
}

impl<T: Ticket> Download<T> {
    pub(crate) fn new(lease: Lease<Upload<T>>, journey: Rc<Journey<T>>, patience: Duration) -> Self {
        Self { lease, journey, is_broken: false, failure: None, patience: Patience::new(patience) }
    }

    pub(crate) fn journey(&self) -> &Journey<T> {
        &self.journey
    }

    /// The response breaks off. hyper throws away what it has not written yet when a body fails, so it is told only when it
    /// comes back for more.
    fn fail(&mut self, error: BoxError, cx: &Context<'_>) {
        self.is_broken = true;
        self.failure = Some(error);
        self.journey.aborted();
        cx.waker().wake_by_ref();
    }
}

impl<T: Ticket> Body for Download<T> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if let Some(error) = this.failure.take() {
            return Poll::Ready(Some(Err(error)));
        }
        match this.lease.poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.patience.end();
                this.journey.received(frame.data_ref().map_or(0, Bytes::len));
                return Poll::Ready(Some(Ok(without_claims(frame))));
            }
            Poll::Ready(Some(Err(error))) => this.fail(error, cx),
            Poll::Ready(None) => {
                this.lease.give_back();
                return Poll::Ready(None);
            }
            Poll::Pending if this.patience.is_over(cx) => this.fail("the response does not go on".into(), cx),
            Poll::Pending => {}
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.lease.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lease.size_hint()
    }
}

/// A piece as a server may send it: in trailers it cannot speak for us either.
fn without_claims(frame: Frame<Bytes>) -> Frame<Bytes> {
    if frame.is_data() {
        return frame;
    }
    frame.into_trailers().map_or_else(std::convert::identity, |mut trailers| {
        headers::strip_response_trailers(&mut trailers);
        Frame::trailers(trailers)
    })
}

impl<T: Ticket> Drop for Download<T> {
    /// A body whose end was seen coming is not asked for it.
    fn drop(&mut self) {
        if !self.is_broken && self.lease.is_end_stream() {
            self.lease.give_back();
        }
    }
}
