//! A board on which each node pins a note about itself, for the operators of the others.
//!
//! The ledger does not read notes, and nothing that it decides depends on them.

use crate::clock::LedgerClock;
use crate::ledger::Answer;
use crate::memory::MemoryLedger;
use crate::protocol::LedgerError;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use tollgate_core::id::{ClusterId, NodeId};
use tollgate_core::units::Millis;

/// How long a note is shown without a new one.
pub const NOTE_TTL: Millis = Millis::from_secs(15);

/// The longest note, in bytes.
pub const MAX_NOTE: usize = 8_192;

/// The most nodes whose notes are shown.
const MAX_NODES: usize = 1_000;

/// A note and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Who pinned it.
    pub node: NodeId,
    /// What it says.
    pub text: String,
}

/// Keeps the notes of any number of clusters.
pub trait Board: Send + Sync {
    /// Pins a node's note, in place of the one before. It is gone after [`NOTE_TTL`].
    fn pin(&self, cluster: &ClusterId, note: &Note) -> impl Future<Output = Answer<()>> + Send;

    /// The notes that are there, by node.
    fn pinned(&self, cluster: &ClusterId) -> impl Future<Output = Answer<Vec<Note>>> + Send;
}

/// What is pinned in this process, and when.
#[derive(Debug, Default)]
pub(crate) struct Boards(Mutex<BTreeMap<ClusterId, Pinned>>);

type Pinned = BTreeMap<NodeId, (Millis, String)>;

impl Boards {
    fn with<T>(&self, cluster: &ClusterId, step: impl FnOnce(&mut Pinned) -> T) -> T {
        // Changed in steps that do not panic; one that did would have left it between two of them.
        let mut boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        step(boards.entry(cluster.clone()).or_default())
    }
}

impl<C: LedgerClock> Board for MemoryLedger<C> {
    async fn pin(&self, cluster: &ClusterId, note: &Note) -> Answer<()> {
        check_size(note)?;
        let now = self.now();
        self.boards().with(cluster, |pinned| {
            pinned.retain(|_, (at, _)| now.since(*at) < NOTE_TTL);
            pinned.insert(note.node.clone(), (now, note.text.clone()));
        });
        Ok(())
    }

    async fn pinned(&self, cluster: &ClusterId) -> Answer<Vec<Note>> {
        let now = self.now();
        let note =
            |(node, (_, text)): (&NodeId, &(Millis, String))| Note { node: node.clone(), text: text.clone() };
        Ok(self.boards().with(cluster, |pinned| {
            pinned.iter().filter(|(_, (at, _))| now.since(*at) < NOTE_TTL).take(MAX_NODES).map(note).collect()
        }))
    }
}

/// A note is no place for a novel.
pub(crate) fn check_size(note: &Note) -> Answer<()> {
    if note.text.len() > MAX_NOTE {
        return Err(LedgerError::Protocol(format!(
            "a note of {} bytes, at most {MAX_NOTE}",
            note.text.len()
        )));
    }
    Ok(())
}
