//! Reservations: tokens taken ahead for work whose cost is known only when it is done. They are kept by the ledger,
//! so that they outlive the node that made them.

use crate::app::Retry;
use crate::desk::Refused;
use crate::node::{Inner, Node};
use std::fmt;
use std::str::FromStr;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::decision::{Decision, Tier};
use tollgate_core::id::{ClusterId, Hex};
use tollgate_core::reason::Reason;
use tollgate_core::reservation::{Reservation, Settlement};
use tollgate_core::units::{Millis, Nanos, Tokens};
use tollgate_ledger::{Answer, Ledger, LedgerError, Slots};

/// The name of a reservation: the cluster it was made on, and a number that nobody can guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationId {
    cluster: ClusterId,
    number: u128,
}

/// A text that is not the name of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAReservation;

/// Why a reservation was not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndError {
    /// There is none of that name, or it has ended.
    Unknown,
    /// The ledger could not be asked: it may have ended.
    Ledger(LedgerError),
}

impl<L: Ledger + Slots + 'static> Node<L> {
    /// Takes `estimate` now, or refuses. Ends by itself after `timeout`.
    pub async fn reserve(
        &self,
        app: &str,
        estimate: u64,
        timeout: Millis,
    ) -> Result<(ReservationId, Reservation), Decision> {
        let inner = self.inner();
        let price = Price::named(Operation::Other, estimate);
        let Some(app) = inner.resolve(app) else { return Err(inner.unknown(price)) };
        let cluster = app.terms().policy.cluster.clone();
        let id = ReservationId { cluster, number: inner.names.next().0 };
        let text = id.to_string();
        let call = inner.ledger.reserve(&id.cluster, app.id(), &text, price.tokens(), timeout);
        match inner.in_time(&id.cluster, call).await {
            Ok(reservation) => Ok((id, reservation)),
            Err(error) => Err(app.refuse_outright(price, refusal(&error))),
        }
    }

    /// The work is done and cost `actual`: the difference is given back or taken.
    pub async fn complete(&self, id: &ReservationId, actual: u64) -> Result<Settlement, EndError> {
        let (inner, text) = (self.inner(), id.to_string());
        let call = inner.ledger.complete(&id.cluster, &text, Tokens::whole(actual));
        ended(inner.in_time(&id.cluster, call).await)
    }

    /// The work was given up: all of it goes back.
    pub async fn cancel(&self, id: &ReservationId) -> Result<Settlement, EndError> {
        let (inner, text) = (self.inner(), id.to_string());
        ended(inner.in_time(&id.cluster, inner.ledger.cancel(&id.cluster, &text)).await)
    }
}

impl<L: Ledger + Slots + 'static> Inner<L> {
    /// A call that a request waits for.
    async fn in_time<T>(&self, cluster: &ClusterId, call: impl Future<Output = Answer<T>>) -> Answer<T> {
        if self.is_cut_off(cluster) {
            return Err(LedgerError::Connection("gave up on it a moment ago".into()));
        }
        tokio::time::timeout(self.patience, call).await.unwrap_or(Err(LedgerError::Timeout))
    }
}

fn ended(answer: Answer<Settlement>) -> Result<Settlement, EndError> {
    answer.map_err(|error| match error {
        LedgerError::NoReservation | LedgerError::Unseeded => EndError::Unknown,
        error => EndError::Ledger(error),
    })
}

fn refusal(error: &LedgerError) -> Refused {
    let in_a_second = Retry::after(Nanos::from_secs(1));
    let (reason, retry) = match error {
        LedgerError::Refused(refusal) => {
            let retry = refusal.wait.map_or(Retry::NEVER, |wait| Retry::after(wait.into()));
            (refusal.reason, retry)
        }
        LedgerError::UnknownApp => (Reason::UnknownApp, Retry::NEVER),
        LedgerError::Timeout => (Reason::RedisTimeout, in_a_second),
        _ => (Reason::RedisConnectionFailed, in_a_second),
    };
    Refused { reason, tier: Tier::App, retry }
}

impl fmt::Display for ReservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.cluster, Hex::of(self.number))
    }
}

impl FromStr for ReservationId {
    type Err = NotAReservation;

    fn from_str(text: &str) -> Result<Self, NotAReservation> {
        let (cluster, number) = text.rsplit_once('.').ok_or(NotAReservation)?;
        let cluster = ClusterId::new(cluster).map_err(|_| NotAReservation)?;
        let is_hex = number.len() == 32 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(number, 16).ok().filter(|_| is_hex).ok_or(NotAReservation)?;
        Ok(Self { cluster, number })
    }
}

impl fmt::Display for NotAReservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the id of a reservation, which is a cluster, a dot and 32 hexadecimal digits")
    }
}

impl std::error::Error for NotAReservation {}

impl fmt::Display for EndError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "no such reservation, or it has ended"),
            Self::Ledger(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for EndError {}
