use super::BoxError;
use super::download::Download;
use super::journey::Journey;
use crate::gate::Ticket;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// The body of a response.
pub(crate) enum Outgoing<T: Ticket> {
    /// From a server.
    Relayed(Download<T>),
    /// Our own. It holds the request until it is written.
    Own(Option<Bytes>, Rc<Journey<T>>),
}

impl<T: Ticket> Outgoing<T> {
    pub(crate) fn own(body: Bytes, journey: &Rc<Journey<T>>) -> Self {
        Self::Own(Some(body).filter(|body| !body.is_empty()), Rc::clone(journey))
    }

    fn journey(&self) -> &Journey<T> {
        match self {
            Self::Relayed(download) => download.journey(),
            Self::Own(_, journey) => journey,
        }
    }
}

impl<T: Ticket> Body for Outgoing<T> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        this.journey().taken();
        let frame = match this {
            Self::Relayed(download) => Pin::new(download).poll_frame(cx),
            Self::Own(body, journey) => Poll::Ready(body.take().map(|body| {
                journey.received(body.len());
                Ok(Frame::data(body))
            })),
        };
        if matches!(frame, Poll::Ready(Some(Ok(_)))) {
            this.journey().offered();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Relayed(download) => download.is_end_stream(),
            Self::Own(body, _) => body.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Relayed(download) => download.size_hint(),
            Self::Own(body, _) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
        }
    }
}
