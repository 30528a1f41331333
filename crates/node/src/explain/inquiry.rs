//! Asks the other nodes about a decision that this one has no record of, by way of the ledger.

use super::{DecisionId, Record, told};
use crate::node::{Inner, Node};
use crate::sync::lock;
use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tollgate_core::id::ClusterId;
use tollgate_ledger::question::{Asked, Question};
use tollgate_ledger::{Ledger, LedgerError, Notices, Slots};

/// How many decisions a node asks about at a time. More would only let whoever makes up ids keep the others busy.
const MAX_INQUIRIES: usize = 4;

/// The pauses before each look for an answer. Most come within the first; who has nothing to say says nothing, so a decision
/// that nobody has takes all of them: one second, and eight calls to the ledger.
const PAUSES_MS: [u64; 7] = [10, 20, 40, 80, 150, 300, 400];

/// How long a node that may be alone waits for its own question.
const ECHO: Duration = Duration::from_millis(100);

/// The longest that asking takes, whatever becomes of the ledger.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause after each question of another node, so that no flood of them keeps this one from its work.
const PACE: Duration = Duration::from_millis(10);

/// What a question about a decision starts with.
const SUBJECT: &str = "decision ";

/// Why a decision is not explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// Neither this node has it nor did another say so.
    Unknown {
        /// How many other nodes were asked, if that is known.
        others: Option<u64>,
    },
    /// This node has not, and too many questions to the others are open.
    Busy,
    /// This node has not, and the others cannot be asked.
    Unasked(LedgerError),
}

type Outcome = Result<Record, Unexplained>;

/// What this node is asking the others. Whoever wants to know the same waits for the same answer.
#[derive(Debug, Default)]
pub(crate) struct Inquiries(Mutex<HashMap<DecisionId, watch::Receiver<Option<Outcome>>>>);

impl<L: Ledger + Slots + 'static> Node<L> {
    /// A decision that was recorded by this node or by another one that shares its ledger. Never takes longer than two
    /// seconds; if this node is alone, no time at all.
    pub async fn explain_anywhere(&self, id: DecisionId) -> Result<Record, Unexplained> {
        if let Some(record) = self.explain(id) {
            return Ok(record);
        }
        let mut outcome = self.inner().inquire(id).ok_or(Unexplained::Busy)?;
        let told = outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        told.unwrap_or(Err(Unexplained::Unasked(LedgerError::Timeout)))
    }
}

impl<L: Ledger + Slots + 'static> Inner<L> {
    /// Where it will be told what the others said; `None` if this node asks too much already.
    fn inquire(self: &Arc<Self>, id: DecisionId) -> Option<watch::Receiver<Option<Outcome>>> {
        let mut inquiries = lock(&self.inquiries.0);
        inquiries.retain(|_, outcome| outcome.has_changed().is_ok());
        if let Some(outcome) = inquiries.get(&id) {
            return Some(outcome.clone());
        }
        if inquiries.len() == MAX_INQUIRIES {
            return None;
        }
        let (teller, outcome) = watch::channel(None);
        inquiries.insert(id, outcome.clone());
        let this = Arc::clone(self);
        // It goes on if whoever asked first gives up: others may be waiting for it.
        tokio::spawn(async move { teller.send_replace(Some(this.ask_around(id).await)) });
        Some(outcome)
    }

    /// Asks in all clusters: others may share but one of them.
    async fn ask_around(self: Arc<Self>, id: DecisionId) -> Outcome {
        let question = Question { name: self.names.next().0, text: format!("{SUBJECT}{id}") };
        let mut asked = JoinSet::new();
        for cluster in self.desks.keys() {
            let (this, cluster, question) = (Arc::clone(&self), cluster.clone(), question.clone());
            asked.spawn(async move {
                let told = timeout(PATIENCE, this.ask_in(&cluster, &question, id)).await;
                told.unwrap_or(Err(Unexplained::Unasked(LedgerError::Timeout)))
            });
        }
        let mut so_far = Unexplained::Unknown { others: Some(0) };
        while let Some(Ok(told)) = asked.join_next().await {
            match told {
                Ok(record) => return Ok(record),
                Err(why) => so_far = so_far.or(why),
            }
        }
        Err(so_far)
    }

    async fn ask_in(&self, cluster: &ClusterId, question: &Question, id: DecisionId) -> Outcome {
        let Some(counter) = self.desks.get(cluster) else {
            return Err(Unexplained::Unknown { others: None });
        };
        let mut notices = counter.notices.clone();
        let Asked::Told(told) = self.ledger.ask(cluster, question).await? else {
            return Err(Unexplained::Busy);
        };
        let others = told.map(|told| told.saturating_sub(1));
        if told == Some(0) || told == Some(1) && is_heard(question, &mut notices).await {
            return Err(Unexplained::Unknown { others });
        }
        let mut last_look = Ok(None);
        for pause in PAUSES_MS {
            sleep(Duration::from_millis(pause)).await;
            // One that fails is no more than one look less, unless it is the last.
            last_look = self.ledger.answer_to(cluster, question.name).await;
            let answer = last_look.as_ref().ok().and_then(Option::as_deref);
            if let Some(record) = answer.and_then(|text| told::read(text, id)) {
                return Ok(record);
            }
        }
        last_look?;
        Err(Unexplained::Unknown { others })
    }

    /// Answers what the other nodes of a cluster ask, until the node stops. Who has no answer says nothing.
    pub(crate) async fn answer_others(self: Arc<Self>, cluster: ClusterId) {
        let Some(counter) = self.desks.get(&cluster) else { return };
        let mut notices = counter.notices.clone();
        let mut closing = pin!(self.closing());
        loop {
            let question = tokio::select! {
                question = notices.next_question() => question,
                () = &mut closing => return,
            };
            if let Some(text) = self.knows(&question) {
                // Whether the ledger can be reached is told elsewhere.
                let answer = self.ledger.answer(&cluster, question.name, &text);
                let _ = timeout(self.call_timeout, answer).await;
            }
            sleep(PACE).await;
        }
    }

    fn knows(&self, question: &Question) -> Option<String> {
        let id = question.text.strip_prefix(SUBJECT)?.parse().ok()?;
        told::write(&self.recorder.find(id)?)
    }
}

/// Whether this node hears its own question, which it does almost at once if it is one of those that were told.
async fn is_heard(question: &Question, notices: &mut Notices) -> bool {
    let echo = async { while notices.next_question().await != *question {} };
    timeout(ECHO, echo).await.is_ok()
}

impl Unexplained {
    /// Of what two clusters said: that it could not be asked for everywhere counts for more than that nobody has it.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown { others: a }, Self::Unknown { others: b }) => {
                Self::Unknown { others: a.zip(b).map(|(a, b)| a.max(b)) }
            }
            (Self::Unknown { .. }, other) => other,
            (this, _) => this,
        }
    }
}

impl From<LedgerError> for Unexplained {
    fn from(error: LedgerError) -> Self {
        Self::Unasked(error)
    }
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this node keeps no such decision, ")?;
        match self {
            Self::Unknown { others: Some(0) } => f.write_str("and there is no other node"),
            Self::Unknown { others: Some(1) } => f.write_str("and the other node did not say that it does"),
            Self::Unknown { others: Some(n) } => write!(f, "and none of the {n} others said that it does"),
            Self::Unknown { others: None } => f.write_str("and no other node said that it does"),
            Self::Busy => f.write_str("and too many questions to the others are open"),
            Self::Unasked(error) => write!(f, "and the others cannot be asked: {error}"),
        }
    }
}

impl std::error::Error for Unexplained {}
