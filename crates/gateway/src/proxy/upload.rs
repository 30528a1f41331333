use super::journey::{Journey, Trouble};
use super::patience::Patience;
use super::{BoxError, headers};
use crate::downstream::Inbound;
use crate::gate::Ticket;
use bytes::Bytes;
use http::HeaderName;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The body of a request on its way to a server: counted, and cut off if it is too large or too slow.
pub(crate) struct Upload<T: Ticket> {
    /// None for a request without a body.
    inner: Option<Inbound>,
    journey: Rc<Journey<T>>,
    pace: Pace,
    limit: Option<u64>,
    /// The fields by which applications are told, which only a head may have.
    vouching: Rc<[HeaderName]>,
}

/// How fast a client sends while it is waited for. Time that the server takes to accept bytes does not count.
struct Pace {
    /// Its limit is also the time over which the rate is measured.
    patience: Patience,
    /// In bytes per second.
    rate: u64,
    waited: Duration,
    bytes: u64,
}

/// What a body has to keep to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) limit: Option<u64>,
    pub(crate) patience: Duration,
    pub(crate) rate: u64,
}

impl<T: Ticket> Upload<T> {
    pub(crate) fn new(
        body: Inbound,
        journey: &Rc<Journey<T>>,
        terms: Terms,
        vouching: &Rc<[HeaderName]>,
    ) -> Self {
        let inner = Some(body).filter(|body| !body.is_end_stream());
        Self { inner, ..Self::empty(journey, terms, vouching) }
    }

    /// No body at all.
    pub(crate) fn empty(journey: &Rc<Journey<T>>, terms: Terms, vouching: &Rc<[HeaderName]>) -> Self {
        let pace = Pace {
            patience: Patience::new(terms.patience),
            rate: terms.rate,
            waited: Duration::ZERO,
            bytes: 0,
        };
        let (journey, vouching) = (Rc::clone(journey), Rc::clone(vouching));
        Self { inner: None, journey, pace, limit: terms.limit, vouching }
    }

    /// Whether there is no body.
    pub(crate) const fn is_empty(&self) -> bool {
        self.inner.is_none()
    }

    fn pass(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, Trouble> {
        let Some(data) = frame.data_ref() else {
            return Ok(match frame.into_trailers() {
                Ok(mut trailers) => {
                    headers::strip_request_trailers(&mut trailers, &self.vouching);
                    Frame::trailers(trailers)
                }
                Err(frame) => frame,
            });
        };
        let now = Instant::now();
        let so_far = self.journey.sent(data.len(), now);
        if self.limit.is_some_and(|limit| so_far > limit) {
            return Err(Trouble::TooLarge);
        }
        if self.pace.is_kept(data.len(), now) { Ok(frame) } else { Err(Trouble::TooSlow) }
    }

    fn fail(&self, trouble: Trouble) -> BoxError {
        self.journey.troubled(trouble);
        match trouble {
            Trouble::TooLarge => "the body of the request is too large".into(),
            Trouble::TooSlow => "the body of the request comes too slowly".into(),
            Trouble::Broken => "the body of the request breaks off".into(),
        }
    }
}

impl Pace {
    /// Bytes came.
    fn is_kept(&mut self, bytes: usize, now: Instant) -> bool {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if let Some(since) = self.patience.end() {
            self.waited += now.duration_since(since);
        }
        if self.waited < self.patience.limit() {
            return true;
        }
        let millis = u64::try_from(self.waited.as_millis()).unwrap_or(u64::MAX);
        let is_kept = self.bytes >= self.rate.saturating_mul(millis) / 1_000;
        self.waited = Duration::ZERO;
        self.bytes = 0;
        is_kept
    }
}

impl<T: Ticket> Body for Upload<T> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        match Pin::new(inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                Poll::Ready(Some(this.pass(frame).map_err(|trouble| this.fail(trouble))))
            }
            Poll::Ready(Some(Err(_))) => Poll::Ready(Some(Err(this.fail(Trouble::Broken)))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending if this.pace.patience.is_over(cx) => {
                Poll::Ready(Some(Err(this.fail(Trouble::TooSlow))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Whoever writes a message asks this first, to know whether a body follows its head: a message that was not asked
    /// was not written.
    fn is_end_stream(&self) -> bool {
        self.journey.taken_up();
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
