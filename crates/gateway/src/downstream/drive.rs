use super::watch::{Check, Patience, Watch};
use crate::server::{Mood, Seat};
use hyper::body::{Body, Incoming};
use hyper::rt::bounds::Http2ServerConnExec;
use hyper::rt::{Read, Write};
use hyper::server::conn::http2;
use hyper::service::HttpService;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::time::Sleep;

/// A connection that ends by itself, and sooner if it is asked to.
pub(super) trait Connection: Future {
    /// Requests that have begun are answered, no others are taken.
    fn wind_down(self: Pin<&mut Self>);
}

impl<I, B, S, E> Connection for http2::Connection<I, S, E>
where
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    I: Read + Write + Unpin,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    E: Http2ServerConnExec<S::Future, B>,
{
    /// GOAWAY tells which requests will be answered.
    fn wind_down(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Runs an HTTP/2 connection, and looks at the clock and at the gateway's mood now and then.
///
/// The alarm is not set anew for every request. When it goes off it is seen whether anything is overdue; what may be
/// overdue before that brings it forward.
pub(super) struct Drive<C> {
    connection: Pin<Box<C>>,
    watch: Rc<Watch>,
    patience: Patience,
    alarm: Pin<Box<Sleep>>,
    seat: Seat,
    is_winding_down: bool,
}

impl<C: Connection> Drive<C> {
    pub(super) fn new(connection: C, watch: Rc<Watch>, patience: Patience, seat: Seat) -> Self {
        Self {
            connection: Box::pin(connection),
            watch,
            patience,
            alarm: Box::pin(tokio::time::sleep(patience.idle)),
            seat,
            is_winding_down: false,
        }
    }

    fn wind_down(&mut self) {
        if !self.is_winding_down {
            self.is_winding_down = true;
            self.connection.as_mut().wind_down();
        }
    }

    /// Brings the alarm forward if it would come too late.
    fn hasten(&mut self) {
        let next = match self.watch.check(&self.patience) {
            Check::Until(next) => next.into(),
            Check::Idle | Check::Stuck => tokio::time::Instant::now(),
        };
        if next < self.alarm.deadline() {
            self.alarm.as_mut().reset(next);
        }
    }

    /// Whether the connection is to be given up.
    fn is_given_up(&mut self) -> bool {
        match self.watch.check(&self.patience) {
            Check::Until(next) => {
                self.alarm.as_mut().reset(next.into());
                return false;
            }
            Check::Stuck => return true,
            Check::Idle if self.is_winding_down => return true,
            Check::Idle => {
                self.watch.closing();
                self.wind_down();
            }
        }
        self.alarm.as_mut().reset(tokio::time::Instant::now() + self.patience.linger);
        false
    }
}

impl<C: Connection> Future for Drive<C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        loop {
            match this.seat.mood(cx) {
                Mood::Open => {}
                Mood::Draining | Mood::Closing => this.wind_down(),
                Mood::Over => return Poll::Ready(()),
            }
            if this.connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            if this.watch.take_urgent() {
                this.hasten();
            }
            if this.alarm.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if this.is_given_up() {
                return Poll::Ready(());
            }
        }
    }
}
