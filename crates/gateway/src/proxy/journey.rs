use crate::access_log::Entry;
use crate::downstream::Turn;
use crate::gate::{Receipt, Ticket, Traffic};
use crate::server::Duties;
use http::{HeaderMap, StatusCode};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

/// The life of a request, from its head to the last byte of its answer.
///
/// Everything that is still at work on a request holds it; when the last lets go, by whatever turn of events, the
/// request is settled, counted and written down. So that happens once.
pub(crate) struct Journey<T: Ticket> {
    duties: Rc<Duties>,
    turn: Turn,
    started: Instant,
    fare: RefCell<Fare<T>>,
    request_bytes: Cell<u64>,
    response_bytes: Cell<u64>,
    /// When the last byte of the request's body went on.
    moved: Cell<Instant>,
    /// Zero until there is one.
    status: Cell<u16>,
    /// Whether its answer shares the connection with others, which go on if the client leaves this one where it is.
    is_shared: Cell<bool>,
    trouble: Cell<Option<Trouble>>,
    entry: Option<Box<RefCell<Entry>>>,
}

/// How far a request has got.
enum Fare<T: Ticket> {
    /// Not admitted, or done with.
    None,
    /// On its way to a server. Dropped here, the ticket is given back.
    Admitted(T),
    /// Handed to a connection, which may have taken it up to be written or not.
    Handed(T, bool),
    /// A server has it.
    Reached(T::Receipt),
}

/// The end of all attempts to get a request to a server.
pub(crate) struct Abandoned<'a, T: Ticket>(&'a Journey<T>);

/// What is wrong with a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is larger than allowed.
    TooLarge,
    /// It comes too slowly.
    TooSlow,
    /// It breaks off, or breaks the rules.
    Broken,
}

impl<T: Ticket> Journey<T> {
    pub(crate) fn new(duties: &Rc<Duties>, turn: Turn) -> Self {
        let started = Instant::now();
        duties.counters.requests_active.up();
        Self {
            duties: Rc::clone(duties),
            turn,
            started,
            fare: RefCell::new(Fare::None),
            request_bytes: Cell::new(0),
            response_bytes: Cell::new(0),
            moved: Cell::new(started),
            status: Cell::new(0),
            is_shared: Cell::new(false),
            trouble: Cell::new(None),
            entry: duties.log.is_on().then(Box::default),
        }
    }

    pub(crate) fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Fills in the entry of the access log, if there is one.
    pub(crate) fn note(&self, fill: impl FnOnce(&mut Entry)) {
        if let Some(entry) = &self.entry {
            fill(&mut entry.borrow_mut());
        }
    }

    pub(crate) fn admitted(&self, ticket: T) {
        self.fare.replace(Fare::Admitted(ticket));
    }

    /// The request is handed to a connection.
    pub(crate) fn handed(&self) {
        self.change(|fare| match fare {
            Fare::Admitted(ticket) => Fare::Handed(ticket, false),
            other => other,
        });
    }

    /// The connection takes it up: from here on the server may see something of it.
    pub(crate) fn taken_up(&self) {
        if let Fare::Handed(_, is_taken_up) = &mut *self.fare.borrow_mut() {
            *is_taken_up = true;
        }
    }

    /// It came back: nothing of it was sent.
    pub(crate) fn returned(&self) {
        self.change(|fare| match fare {
            Fare::Handed(ticket, _) => Fare::Admitted(ticket),
            other => other,
        });
    }

    /// A server has it.
    pub(crate) fn reached(&self) {
        self.change(|fare| match fare {
            Fare::Admitted(ticket) | Fare::Handed(ticket, _) => Fare::Reached(ticket.reached()),
            other => other,
        });
    }

    /// When what this returns is dropped and no server has the request, none will: what was taken for it is given
    /// back then.
    pub(crate) fn abandoned_after(&self) -> Abandoned<'_, T> {
        Abandoned(self)
    }

    fn abandon(&self) {
        self.change(|fare| match fare {
            Fare::Admitted(_) | Fare::Handed(_, false) => Fare::None,
            other => other,
        });
    }

    /// Adds the gate's headers to the response.
    pub(crate) fn decorate(&self, headers: &mut HeaderMap) {
        if let Fare::Reached(receipt) = &*self.fare.borrow() {
            receipt.decorate(headers);
        }
    }

    /// There is an answer; on HTTP/2 it has to be seen to that the client takes it.
    pub(crate) fn answered(&self, status: StatusCode, is_http2: bool) {
        self.status.set(status.as_u16());
        self.is_shared.set(is_http2);
        self.offered();
    }

    /// There is something to take for the client.
    pub(crate) fn offered(&self) {
        if self.is_shared.get() {
            self.turn.offered();
        }
    }

    /// The client has room for more.
    pub(crate) fn taken(&self) {
        if self.is_shared.get() {
            self.turn.taken();
        }
    }

    /// Bytes of the request's body went on; tells how many have by now.
    pub(crate) fn sent(&self, bytes: usize, now: Instant) -> u64 {
        self.moved.set(now);
        self.request_bytes.set(self.request_bytes.get().saturating_add(bytes as u64));
        self.request_bytes.get()
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.response_bytes.set(self.response_bytes.get().saturating_add(bytes as u64));
    }

    /// When the request's body last moved.
    pub(crate) fn moved(&self) -> Instant {
        self.moved.get()
    }

    pub(crate) fn waits_from_now(&self) {
        self.moved.set(Instant::now());
    }

    pub(crate) fn troubled(&self, trouble: Trouble) {
        self.trouble.set(Some(trouble));
    }

    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.trouble.get()
    }

    /// The server broke off the response.
    pub(crate) fn aborted(&self) {
        self.duties.counters.upstream_aborts.up();
        self.note(|entry| entry.reason = "upstream_aborted");
    }

    pub(crate) fn duties(&self) -> &Rc<Duties> {
        &self.duties
    }

    fn change(&self, turn: impl FnOnce(Fare<T>) -> Fare<T>) {
        let fare = self.fare.replace(Fare::None);
        self.fare.replace(turn(fare));
    }
}

impl<T: Ticket> Drop for Abandoned<'_, T> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl<T: Ticket> Drop for Journey<T> {
    fn drop(&mut self) {
        let traffic = Traffic { request: self.request_bytes.get(), response: self.response_bytes.get() };
        match self.fare.replace(Fare::None) {
            Fare::None => {}
            Fare::Admitted(ticket) | Fare::Handed(ticket, false) => drop(ticket),
            Fare::Handed(ticket, true) => ticket.reached().finish(traffic),
            Fare::Reached(receipt) => receipt.finish(traffic),
        }
        let counters = &self.duties.counters;
        counters.requests_active.down();
        counters.responded(self.status.get());
        counters.bytes_received.add(traffic.request);
        counters.bytes_sent.add(traffic.response);
        if let Some(entry) = self.entry.take() {
            self.duties.log.write(&entry.into_inner(), self.status.get(), traffic, self.started.elapsed());
        }
    }
}
