//! Tickets for the WebSocket: browsers cannot send a header with it, and a token in its address would end up in logs.

use crate::auth::Caller;
use crate::secret;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How long a ticket is good for, in milliseconds.
pub(crate) const LIFETIME_MS: i64 = 30_000;

/// The most tickets that are out.
const MAX_OUT: usize = 10_000;

/// Tickets that are out. Each is good once.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    out: Mutex<BTreeMap<String, Holder>>,
}

/// Who holds a ticket.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub(crate) caller: Caller,
    pub(crate) until: i64,
}

impl Tickets {
    /// A new ticket; none if too many are out.
    pub(crate) fn issue(&self, caller: Caller, now: i64) -> Option<String> {
        let ticket = secret::token().ok()?;
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.retain(|_, holder| holder.until > now);
        if out.len() >= MAX_OUT {
            return None;
        }
        out.insert(secret::digest(&ticket), Holder { caller, until: now + LIFETIME_MS });
        Some(ticket)
    }

    /// Takes a ticket in.
    pub(crate) fn redeem(&self, ticket: &str, now: i64) -> Option<Holder> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.remove(&secret::digest(ticket)).filter(|holder| holder.until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Role;
    use crate::auth::caller::CallerKind;

    fn ann() -> Caller {
        let kind = CallerKind::User { session: "s".into(), must_change: false };
        Caller { name: "ann".into(), kind, role: Role::Viewer, ip: [127, 0, 0, 1].into() }
    }

    #[test]
    fn so_many_are_out_at_once_and_no_more_until_some_have_expired() {
        let tickets = Tickets::default();
        let until = |until| Holder { caller: ann(), until };
        {
            let mut out = tickets.out.lock().unwrap();
            out.extend((0..MAX_OUT - 2).map(|number| (number.to_string(), until(100))));
            out.insert("early".into(), until(50));
        }
        let last = tickets.issue(ann(), 0).expect("there is room for one");
        assert_eq!(tickets.out.lock().unwrap().len(), 10_000);
        assert_eq!(tickets.issue(ann(), 49), None);
        assert!(tickets.issue(ann(), 50).is_some(), "one has expired");
        assert_eq!(tickets.issue(ann(), 50), None);
        assert!(tickets.redeem(&last, 50).is_some());
        assert!(tickets.issue(ann(), 50).is_some(), "one was taken in");
    }

    #[test]
    fn a_ticket_is_good_once_and_for_half_a_minute() {
        let tickets = Tickets::default();
        let ticket = tickets.issue(ann(), 0).unwrap();
        assert_eq!(tickets.redeem(&ticket, 29_999).unwrap().caller.name, "ann");
        assert!(tickets.redeem(&ticket, 29_999).is_none());
        let late = tickets.issue(ann(), 0).unwrap();
        assert!(tickets.redeem(&late, 30_000).is_none());
        assert!(tickets.redeem("made up", 0).is_none());
    }
}
