//! Rules broken on purpose, at the border between the parts, to see that somebody notices.
//!
//! Nothing here reaches into the code that is shipped: messages are changed on their way, as a ledger or a node would
//! have sent them that did not know the rule.

use tollgate_core::emergency::Emergency;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Tokens};
use tollgate_ledger::LedgerError;
use tollgate_ledger::protocol::{Changes, Sync, SyncReply};
use tollgate_node::desk::{Job, Reply};

/// A rule to be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sabotage {
    /// The ledger takes a call that it has answered for a new one.
    AnswerTwice,
    /// The ledger takes the last words of a node's earlier life for words of this one.
    ForgetFence,
    /// A ledger that lost its memory starts full, as a new one does.
    OpenFull,
    /// The ledger does not book what nodes report as spent.
    ForgetReports,
    /// The ledger keeps more than the burst.
    ForgetBurst,
    /// The ledger's clock is too fast by a twentieth.
    RunFast,
    /// Nodes are not told that leases end.
    ForgetLeaseEnd,
    /// Nodes get twice what was granted.
    GrantTwice,
    /// Nodes are not told of emergencies.
    IgnoreEmergency,
    /// Nodes are not told that an application is switched off.
    IgnoreSwitch,
    /// Nodes let through a hundred times as much on their own as was agreed.
    MintAlone,
    /// Now and then the ledger refuses what it has.
    Starve,
    /// What a node gives back is lost.
    LoseReturns,
}

impl Sabotage {
    /// Every rule that can be broken.
    pub const ALL: [Self; 13] = [
        Self::AnswerTwice,
        Self::ForgetFence,
        Self::OpenFull,
        Self::ForgetReports,
        Self::ForgetBurst,
        Self::RunFast,
        Self::ForgetLeaseEnd,
        Self::GrantTwice,
        Self::IgnoreEmergency,
        Self::IgnoreSwitch,
        Self::MintAlone,
        Self::Starve,
        Self::LoseReturns,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AnswerTwice => "answer-twice",
            Self::ForgetFence => "forget-fence",
            Self::OpenFull => "open-full",
            Self::ForgetReports => "forget-reports",
            Self::ForgetBurst => "forget-burst",
            Self::RunFast => "run-fast",
            Self::ForgetLeaseEnd => "forget-lease-end",
            Self::GrantTwice => "grant-twice",
            Self::IgnoreEmergency => "ignore-emergency",
            Self::IgnoreSwitch => "ignore-switch",
            Self::MintAlone => "mint-alone",
            Self::Starve => "starve",
            Self::LoseReturns => "lose-returns",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sabotage| sabotage.name() == name)
    }

    /// What the ledger hears instead of what a node said. `newest` is the last call of this node that it answered, and
    /// of which life.
    pub(crate) fn hear(self, job: &mut Job, is_repeated: bool, newest: (u64, u64)) {
        match (self, job) {
            (Self::AnswerTwice, Job::Sync(sync)) if is_repeated && sync.incarnation == newest.0 => {
                renew(sync, newest);
            }
            (Self::ForgetFence, Job::Sync(sync)) if sync.incarnation < newest.0 => renew(sync, newest),
            (Self::OpenFull, Job::Seed(seed)) => seed.remembered = None,
            (Self::OpenFull, Job::Sync(sync) | Job::Depart(sync)) => sync.acked = 0,
            (Self::ForgetBurst, Job::Seed(seed)) => {
                for app in &mut seed.apps {
                    app.quota.burst = app.quota.burst.plus(app.quota.burst);
                }
            }
            (Self::ForgetReports, Job::Sync(sync)) => {
                sync.entries.iter_mut().for_each(|entry| entry.spent = Tokens::ZERO);
            }
            (Self::LoseReturns, Job::Sync(sync)) => {
                sync.entries.iter_mut().for_each(|entry| entry.returned = Tokens::ZERO);
            }
            _ => {}
        }
    }

    /// What a node hears instead of what the ledger answered to its call of this number.
    pub(crate) fn answer(self, call: u64, answer: &mut Result<Reply, LedgerError>) {
        match answer {
            Ok(Reply::Sync(reply)) => self.answer_sync(call, reply),
            Ok(Reply::Changes(changes)) if self == Self::MintAlone => mint_alone(changes),
            Ok(Reply::Changes(changes)) if self == Self::IgnoreSwitch => {
                changes.apps.iter_mut().for_each(|app| app.policy.enabled = true);
            }
            _ => {}
        }
    }

    fn answer_sync(self, call: u64, reply: &mut SyncReply) {
        match self {
            Self::ForgetLeaseEnd => reply.lease_ttl = Millis::from_secs(3_600),
            Self::GrantTwice => {
                for granted in &mut reply.entries {
                    granted.granted = granted.granted.plus(granted.granted);
                }
            }
            Self::IgnoreEmergency => reply.emergency = Emergency::default(),
            Self::Starve if call.is_multiple_of(50) => {
                for granted in &mut reply.entries {
                    granted.refusal = Some(Reason::AppExhausted);
                }
            }
            _ => {}
        }
    }

    /// By how many milliseconds in a second the ledger's clock is wrong.
    pub(crate) const fn haste(self) -> u64 {
        if matches!(self, Self::RunFast) { 50 } else { 0 }
    }
}

fn renew(sync: &mut Sync, newest: (u64, u64)) {
    (sync.incarnation, sync.seq, sync.acked) = (newest.0, newest.1 + 1, newest.1);
}

fn mint_alone(changes: &mut Changes) {
    for app in &mut changes.apps {
        app.policy.body = app.policy.body.replace("\"fail_open_tokens\":100", "\"fail_open_tokens\":10000");
    }
}
