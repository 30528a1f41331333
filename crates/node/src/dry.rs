//! What is known of an application that has nothing left: until when, and why.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Nanos, Tokens};

/// Spares the ledger questions it has just answered. Each part is a word of its own: a reader that meets two of
/// them from different moments refuses or asks once too often, and no more.
#[derive(Debug, Default)]
pub(crate) struct Dry {
    /// One more than the position of the reason; zero if it is not dry.
    reason: AtomicU8,
    since: AtomicU64,
    until: AtomicU64,
    come_back: AtomicU64,
    /// Whoever needs less may ask nevertheless.
    need: AtomicU64,
}

/// How long nobody need ask, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spell {
    pub(crate) reason: Reason,
    /// Requests that need less may ask.
    pub(crate) need: Tokens,
    /// When there was nothing left.
    pub(crate) since: Nanos,
    /// Until when nobody need ask.
    pub(crate) until: Nanos,
    /// When to come back, as the ledger sees it; later than `until` if it takes long, never if waiting does not help.
    pub(crate) come_back: Nanos,
}

impl Spell {
    /// One that only another policy ends.
    pub(crate) const fn lasting(reason: Reason) -> Self {
        let need = Tokens::ZERO;
        Self { reason, need, since: Nanos::ZERO, until: Nanos::MAX, come_back: Nanos::MAX }
    }

    /// When a request should be back whose cost takes `whole` to come up, and the part of it that is missing takes
    /// `missing`; `None` if it may ask now.
    ///
    /// What comes up within half of the spell is not worth a question of its own: it is there at the end of it.
    /// Whoever needs more may ask as soon as that much must have come up.
    pub(crate) fn come_back(
        &self,
        whole: Option<Nanos>,
        missing: Option<Nanos>,
        now: Nanos,
    ) -> Option<Nanos> {
        if self.come_back == Nanos::MAX || self.reason != Reason::AppExhausted {
            return Some(self.come_back);
        }
        let Some((whole, missing)) = whole.zip(missing) else { return Some(Nanos::MAX) };
        let is_worth_asking = whole.get() >= self.until.since(self.since).get() / 2;
        let minted = self.since.plus(missing);
        if is_worth_asking {
            Some(minted).filter(|&minted| now < minted)
        } else {
            Some(self.until.max(minted))
        }
    }
}

impl Dry {
    /// A dry spell begins, or turns out to be another.
    pub(crate) fn set(&self, spell: &Spell) {
        self.since.store(spell.since.get(), Ordering::Relaxed);
        self.until.store(spell.until.get(), Ordering::Relaxed);
        self.come_back.store(spell.come_back.get(), Ordering::Relaxed);
        self.need.store(spell.need.micros(), Ordering::Relaxed);
        let position = Reason::ALL.iter().position(|&reason| reason == spell.reason).unwrap_or_default();
        self.reason.store(u8::try_from(position + 1).unwrap_or(u8::MAX), Ordering::Release);
    }

    /// Whoever comes may ask again.
    pub(crate) fn clear(&self) {
        self.reason.store(0, Ordering::Release);
    }

    /// The spell that a request of `cost` meets, if there is one.
    pub(crate) fn spell(&self, cost: Tokens, now: Nanos) -> Option<Spell> {
        let position = usize::from(self.reason.load(Ordering::Acquire)).checked_sub(1)?;
        let spell = Spell {
            reason: *Reason::ALL.get(position)?,
            need: Tokens::from_micros(self.need.load(Ordering::Relaxed)),
            since: Nanos::new(self.since.load(Ordering::Relaxed)),
            until: Nanos::new(self.until.load(Ordering::Relaxed)),
            come_back: Nanos::new(self.come_back.load(Ordering::Relaxed)),
        };
        (now < spell.until && cost >= spell.need).then_some(spell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPELL: Spell = Spell {
        reason: Reason::AppExhausted,
        need: Tokens::whole(5),
        since: Nanos::new(100),
        until: Nanos::new(200),
        come_back: Nanos::new(700),
    };

    #[test]
    fn stops_those_who_need_as_much_until_it_is_over() {
        let dry = Dry::default();
        assert_eq!(dry.spell(Tokens::whole(9), Nanos::ZERO), None);
        for &reason in Reason::ALL {
            let spell = Spell { reason, ..SPELL };
            dry.set(&spell);
            assert_eq!(dry.spell(Tokens::whole(5), Nanos::new(199)), Some(spell));
        }
        assert_eq!(dry.spell(Tokens::whole(4), Nanos::new(199)), None, "less may be there");
        assert_eq!(dry.spell(Tokens::whole(5), Nanos::new(200)), None, "it is over");
        dry.clear();
        assert_eq!(dry.spell(Tokens::whole(5), Nanos::new(199)), None);
    }

    #[test]
    fn a_large_request_asks_when_it_must_be_there_and_a_small_one_when_it_is_over() {
        let now = Nanos::new(155);
        let at = |time: u64| Some(Nanos::new(time));
        let come_back = |whole: u64, missing: u64| SPELL.come_back(at(whole), at(missing), now);
        assert_eq!(come_back(1, 1), at(200));
        assert_eq!(come_back(49, 10), at(200));
        assert_eq!(come_back(50, 50), None, "minted at 150");
        assert_eq!(come_back(700, 10), None, "minted at 110");
        assert_eq!(come_back(700, 60), at(160));
        assert_eq!(come_back(900, 900), at(1_000));
        assert_eq!(SPELL.come_back(None, None, now), Some(Nanos::MAX), "never minted");
        let emergency = Spell { reason: Reason::EmergencyBlocked, ..SPELL };
        assert_eq!(emergency.come_back(at(0), at(0), now), at(700));
    }
}
