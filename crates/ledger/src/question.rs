//! Questions that nodes put to each other, where a ledger is all that they share.
//!
//! A question is told to whoever listens ([`Notices`](crate::Notices)), and whoever knows the answer leaves it in the ledger for
//! the one who asked. Nobody need know any address, and while nobody asks, nothing happens. The ledger reads neither
//! questions nor answers, and nothing that it decides depends on them. Like all hints, questions may get lost.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use tollgate_core::id::{ClusterId, Hex};
use tollgate_core::units::Millis;

/// How long a question is open. Answers that come later are not taken.
pub const QUESTION_TTL: Millis = Millis::from_secs(2);

/// The most questions that are open in a cluster, whoever asked them.
pub const MAX_OPEN: usize = 32;

/// The longest question, in bytes.
pub const MAX_QUESTION: usize = 256;

/// The longest answer, in bytes.
pub const MAX_ANSWER: usize = 4_096;

/// A question to the other nodes of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name under which it is answered. Whoever asks makes it up, unguessable.
    pub name: u128,
    /// What is asked.
    pub text: String,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It was told to so many who listen, the one who asks included; `None` where nobody counts all of them.
    Told(Option<u64>),
    /// It was not: it is too long, or too many are open.
    Refused,
}

impl Question {
    /// Whether it is short enough to be asked.
    pub(crate) fn is_short(&self) -> bool {
        self.text.len() <= MAX_QUESTION
    }
}

/// As scripts know a question.
pub(crate) fn name(name: u128) -> String {
    Hex::of(name).to_string()
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", name(self.name), self.text)
    }
}

/// A text that is no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAQuestion;

impl FromStr for Question {
    type Err = NotAQuestion;

    /// Reads what [`Display`](fmt::Display) writes. Anybody may publish anything.
    fn from_str(text: &str) -> Result<Self, NotAQuestion> {
        let (name, text) = text.split_once(' ').ok_or(NotAQuestion)?;
        let is_name = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let name = u128::from_str_radix(name, 16).ok().filter(|_| is_name).ok_or(NotAQuestion)?;
        Some(Self { name, text: text.to_owned() }).filter(Self::is_short).ok_or(NotAQuestion)
    }
}

/// What is asked in this process, by cluster and name: when, and the answer if there is one.
#[derive(Debug, Default)]
pub(crate) struct Forum(Mutex<BTreeMap<ClusterId, Open>>);

type Open = BTreeMap<u128, (Millis, Option<String>)>;

impl Forum {
    /// Opens a question, unless too many are.
    pub(crate) fn ask(&self, cluster: &ClusterId, question: &Question, now: Millis) -> bool {
        self.with(cluster, now, |open| {
            let is_taken = question.is_short() && open.len() < MAX_OPEN;
            if is_taken {
                open.insert(question.name, (now, None));
            }
            is_taken
        })
    }

    pub(crate) fn answer(&self, cluster: &ClusterId, question: u128, text: &str, now: Millis) -> bool {
        self.with(cluster, now, |open| {
            let asked = open.get_mut(&question).filter(|_| text.len() <= MAX_ANSWER);
            asked.map(|(_, answer)| *answer = Some(text.to_owned())).is_some()
        })
    }

    pub(crate) fn answer_to(&self, cluster: &ClusterId, question: u128, now: Millis) -> Option<String> {
        self.with(cluster, now, |open| open.get(&question)?.1.clone())
    }

    fn with<T>(&self, cluster: &ClusterId, now: Millis, step: impl FnOnce(&mut Open) -> T) -> T {
        // Changed in steps that do not panic; one that did would have left it between two of them.
        let mut clusters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = clusters.entry(cluster.clone()).or_default();
        open.retain(|_, (at, _)| now.since(*at) < QUESTION_TTL);
        step(open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_as_it_is_written() {
        let question = Question { name: 7, text: "decision größer als nichts".into() };
        assert_eq!(question.to_string().parse(), Ok(question));
        let longest = Question { name: u128::MAX, text: "x".repeat(MAX_QUESTION) };
        assert_eq!(longest.to_string().parse(), Ok(longest.clone()));
        for wrong in [String::new(), "7 x".into(), format!("+{} x", "0".repeat(31)), format!("{longest}x")] {
            assert_eq!(wrong.parse::<Question>(), Err(NotAQuestion), "{wrong}");
        }
    }
}
