use super::row::Numbers;
use crate::book::{Audit, Flows, Line};
use crate::ledger::Answer;
use crate::protocol::{Granted, LedgerError, Refusal, SyncReply};
use crate::script::Value;
use tollgate_core::account::Account;
use tollgate_core::borrow::Loan;
use tollgate_core::burst::Allowance;
use tollgate_core::emergency::{Cause, Emergency};
use tollgate_core::id::AppId;
use tollgate_core::reason::Reason;
use tollgate_core::reservation::{Reservation, Settlement};
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};

/// The reasons that scripts know, by number: the first is 1.
const REASONS: [Reason; 8] = [
    Reason::UnknownApp,
    Reason::AppDisabled,
    Reason::AppExhausted,
    Reason::ClusterExhausted,
    Reason::EmergencyBlocked,
    Reason::EmergencyQuotaExceeded,
    Reason::BorrowLimitExceeded,
    Reason::ClusterInsufficient,
];

/// What a script answered, read from front to back.
#[derive(Debug)]
pub(in crate::script) struct Reply(std::vec::IntoIter<Value>);

impl Reply {
    /// The answer, or the error that it tells.
    pub(in crate::script) fn open(value: Value) -> Answer<Self> {
        let mut reply = Self::list(value)?;
        match reply.text()?.as_str() {
            "ok" => Ok(reply),
            "err" => Err(reply.error()?),
            other => Err(unexpected(&other)),
        }
    }

    pub(in crate::script) fn number(&mut self) -> Answer<u64> {
        self.optional()?.ok_or_else(|| unexpected(&"a number below zero"))
    }

    pub(in crate::script) fn tokens(&mut self) -> Answer<Tokens> {
        self.number().map(Tokens::from_micros)
    }

    pub(in crate::script) fn reservation(&mut self) -> Answer<Reservation> {
        Ok(Reservation::new(self.tokens()?, self.millis()?))
    }

    pub(in crate::script) fn settlement(&mut self) -> Answer<Settlement> {
        Ok(Settlement { refund: self.tokens()?, charged: self.tokens()?, owed: self.tokens()? })
    }

    pub(in crate::script) fn sync_reply(&mut self) -> Answer<SyncReply> {
        let row = self.bytes()?;
        Numbers::new(&row)?.sync_reply()
    }

    pub(in crate::script) fn drifts(&mut self) -> Answer<Vec<(AppId, Ratio)>> {
        let mut drifts = Vec::new();
        while !self.is_at_end() {
            drifts.push((self.app()?, ratio(self.number()?)?));
        }
        Ok(drifts)
    }

    pub(in crate::script) fn audit(&mut self) -> Answer<Audit> {
        let (slack, depth) = (self.tokens()?, self.tokens()?);
        let lines = self.each(Self::line)?;
        let meters = lines.iter().map(|line| line.account.meter).sum();
        Ok(Audit { slack, meters, depth, lines })
    }

    /// All that is left, each a list of its own.
    pub(super) fn each<T>(&mut self, read: impl Fn(&mut Self) -> Answer<T>) -> Answer<Vec<T>> {
        self.0.by_ref().map(|value| read(&mut Self::list(value)?)).collect()
    }

    /// Whether there is no more.
    pub(in crate::script) fn is_at_end(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// A list within the answer.
    pub(in crate::script) fn list_within(&mut self) -> Answer<Self> {
        Self::list(self.0.next().unwrap_or(Value::Nil))
    }

    pub(super) fn list(value: Value) -> Answer<Self> {
        match value {
            Value::Array(values) => Ok(Self(values.into_iter())),
            other => Err(unexpected(&other)),
        }
    }

    fn line(&mut self) -> Answer<Line> {
        Ok(Line { app: self.app()?, account: self.account()?, flows: self.flows()?, leased: self.tokens()? })
    }

    pub(super) fn account(&mut self) -> Answer<Account> {
        Ok(Account {
            rights: self.tokens()?,
            meter: self.tokens()?,
            outstanding: self.tokens()?,
            allowance: Allowance { drawn: self.tokens()?, opened_at: self.optional()?.map(Millis::new) },
            loan: Loan { borrowed: self.tokens()?, debt: self.tokens()? },
            refilled_at: self.millis()?,
        })
    }

    fn flows(&mut self) -> Answer<Flows> {
        Ok(Flows {
            opened: self.tokens()?,
            minted: self.tokens()?,
            drawn: self.tokens()?,
            loaned: self.tokens()?,
            adopted: self.tokens()?,
            overrun: self.tokens()?,
            spent: self.tokens()?,
            lost: self.tokens()?,
            repaid: self.tokens()?,
            expired: self.tokens()?,
            suspected: self.tokens()?,
            dropped: self.tokens()?,
        })
    }

    fn error(&mut self) -> Answer<LedgerError> {
        Ok(match self.text()?.as_str() {
            "fenced" => LedgerError::Fenced,
            "stale" => LedgerError::Stale,
            "unseeded" => LedgerError::Unseeded,
            "unknown_app" => LedgerError::UnknownApp,
            "no_reservation" => LedgerError::NoReservation,
            "conflict" => LedgerError::Conflict(self.number()?),
            "overpromised" => LedgerError::Overpromised(Rate::from_millis(self.number()?)),
            "refused" => LedgerError::Refused(self.refusal()?),
            "arity" => {
                let (keys, args, expected) = (self.number()?, self.number()?, self.number()?);
                LedgerError::Protocol(format!("{keys} keys and {args} arguments, not 1 and {expected}"))
            }
            other => unexpected(&other),
        })
    }

    fn refusal(&mut self) -> Answer<Refusal> {
        Ok(Refusal {
            reason: reason(self.number()?)?.ok_or_else(|| unexpected(&"no reason"))?,
            wait: self.optional()?.map(Millis::new),
            available: self.tokens()?,
        })
    }

    pub(super) fn app(&mut self) -> Answer<AppId> {
        let text = self.text()?;
        AppId::new(&text).map_err(|_| unexpected(&text))
    }

    pub(super) fn millis(&mut self) -> Answer<Millis> {
        self.number().map(Millis::new)
    }

    /// A number, or `None` for one below zero.
    pub(super) fn optional(&mut self) -> Answer<Option<u64>> {
        match self.0.next() {
            Some(Value::Int(number)) => Ok(u64::try_from(number).ok()),
            other => Err(unexpected(&other)),
        }
    }

    pub(in crate::script) fn text(&mut self) -> Answer<String> {
        String::from_utf8(self.bytes()?).map_err(|error| unexpected(&error))
    }

    pub(super) fn bytes(&mut self) -> Answer<Vec<u8>> {
        match self.0.next() {
            Some(Value::Bulk(bytes)) => Ok(bytes),
            other => Err(unexpected(&other)),
        }
    }
}

/// The reply to a sync is one row, so that it can be kept and sent again.
impl Numbers<'_> {
    fn sync_reply(&mut self) -> Answer<SyncReply> {
        Ok(SyncReply {
            now: self.millis()?,
            epoch: self.number()?,
            version: self.number()?,
            lease_ttl: self.millis()?,
            emergency: emergency(self.number()?, self.millis()?, self.millis()?)?,
            cut: ratio(self.number()?)?,
            entries: self.entries()?,
        })
    }

    fn entries(&mut self) -> Answer<Vec<Granted>> {
        let mut entries = Vec::new();
        while !self.is_at_end() {
            entries.push(Granted {
                granted: Tokens::from_micros(self.number()?),
                remaining: Tokens::from_micros(self.number()?),
                wait: self.optional()?.map(Millis::new),
                policy_version: self.number()?,
                refusal: reason(self.number()?)?,
            });
        }
        Ok(entries)
    }

    fn millis(&mut self) -> Answer<Millis> {
        self.number().map(Millis::new)
    }
}

pub(super) fn emergency(state: u64, since: Millis, until: Millis) -> Answer<Emergency> {
    match state {
        0 => Ok(Emergency::Off { quiet_until: until }),
        1 => Ok(Emergency::On { cause: Cause::Operator, since, until }),
        2 => Ok(Emergency::On { cause: Cause::Usage, since, until }),
        other => Err(unexpected(&other)),
    }
}

pub(super) fn ratio(parts: u64) -> Answer<Ratio> {
    u32::try_from(parts).map(Ratio::from_parts).map_err(|_| unexpected(&parts))
}

/// The reason of that number; none for zero.
fn reason(number: u64) -> Answer<Option<Reason>> {
    let Some(index) = number.checked_sub(1) else { return Ok(None) };
    let reason = usize::try_from(index).ok().and_then(|index| REASONS.get(index));
    reason.copied().map(Some).ok_or_else(|| unexpected(&number))
}

pub(in crate::script) fn unexpected(what: &dyn std::fmt::Debug) -> LedgerError {
    LedgerError::Protocol(format!("a script answered {what:?}"))
}
