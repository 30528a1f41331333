//! How long to wait between reports: briefly while anything is short, longer while there is plenty of everything.

use tollgate_core::units::{Millis, Ratio, Tokens};
use tollgate_ledger::protocol::{Granted, SyncReply};

/// How calm it has been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calm {
    /// Answers without any sign of shortage, one after the other.
    answers: u32,
}

/// How much there is of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Supply {
    Short,
    Enough,
    Plenty,
}

impl Calm {
    /// The interval to the next report: twice as long after each calm answer, at most `longest`.
    pub(super) fn interval(self, usual: Millis, longest: Millis) -> Millis {
        let stretched = usual.get().saturating_mul(1 << self.answers.min(10));
        Millis::new(stretched.min(longest.get()).max(usual.get()))
    }

    /// The ledger answered; each application comes with its burst.
    pub(super) fn follow<'a>(
        &mut self,
        reply: &SyncReply,
        grants: impl Iterator<Item = (&'a Granted, Tokens)>,
    ) {
        let least = grants.map(|(granted, burst)| supply(granted, burst)).min().unwrap_or(Supply::Plenty);
        let is_normal = reply.cut == Ratio::ZERO && !reply.emergency.is_on();
        self.answers = match least {
            Supply::Plenty if is_normal => self.answers.saturating_add(1),
            Supply::Enough if is_normal => self.answers,
            _ => 0,
        };
    }
}

fn supply(granted: &Granted, burst: Tokens) -> Supply {
    let left = granted.remaining;
    if granted.refusal.is_some() || left < Ratio::percent(25).of(burst) {
        Supply::Short
    } else if left < Ratio::percent(50).of(burst) {
        Supply::Enough
    } else {
        Supply::Plenty
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::emergency::Emergency;
    use tollgate_core::reason::Reason;

    const USUAL: Millis = Millis::new(100);
    const LONGEST: Millis = Millis::new(1_000);

    fn answer(remaining: u64, refusal: Option<Reason>) -> Granted {
        let remaining = Tokens::whole(remaining);
        Granted { granted: Tokens::ZERO, remaining, wait: None, policy_version: 1, refusal }
    }

    fn reply(emergency: Emergency, cut: Ratio) -> SyncReply {
        let now = Millis::ZERO;
        SyncReply {
            now,
            epoch: 1,
            version: 1,
            lease_ttl: Millis::from_secs(5),
            emergency,
            cut,
            entries: Vec::new(),
        }
    }

    fn after(answers: &[Granted]) -> u64 {
        let mut calm = Calm::default();
        for granted in answers {
            let reply = reply(Emergency::default(), Ratio::ZERO);
            calm.follow(&reply, [(granted, Tokens::whole(100))].into_iter());
        }
        calm.interval(USUAL, LONGEST).get()
    }

    #[test]
    fn each_calm_answer_doubles_the_interval() {
        let plenty = answer(50, None);
        let intervals: Vec<u64> = (0..6).map(|count| after(&vec![plenty; count])).collect();
        assert_eq!(intervals, [100, 200, 400, 800, 1_000, 1_000]);
    }

    #[test]
    fn a_shortage_ends_it_and_enough_keeps_it() {
        let (plenty, enough, short) = (answer(50, None), answer(49, None), answer(24, None));
        assert_eq!(after(&[plenty, plenty, enough]), 400);
        assert_eq!(after(&[plenty, plenty, short]), 100);
        assert_eq!(after(&[plenty, answer(100, Some(Reason::ClusterExhausted))]), 100);
    }

    #[test]
    fn an_overloaded_cluster_is_not_calm() {
        let mut calm = Calm { answers: 3 };
        calm.follow(&reply(Emergency::default(), Ratio::percent(1)), std::iter::empty());
        assert_eq!(calm, Calm::default());
    }

    #[test]
    fn nothing_to_report_is_calm() {
        let mut calm = Calm::default();
        calm.follow(&reply(Emergency::default(), Ratio::ZERO), std::iter::empty());
        assert_eq!(calm.interval(USUAL, LONGEST), Millis::new(200));
        assert_eq!(calm.interval(USUAL, USUAL), USUAL);
    }
}
