//! Notes, kept by scripts of their own: they share nothing with the book.

use super::engine::Engine;
use super::ledger::ScriptLedger;
use super::text::Script;
use super::wire::{Args, unexpected};
use crate::board::{Board, Note, check_size};
use crate::ledger::Answer;
use tollgate_core::id::{ClusterId, NodeId};

macro_rules! script {
    ($name:literal) => {
        Script {
            name: $name,
            text: concat!(include_str!("lua/clock.lua"), include_str!(concat!("lua/board/", $name, ".lua")),),
        }
    };
}

pub(super) static PIN: Script = script!("pin");
pub(super) static PINNED: Script = script!("pinned");

impl<E: Engine> Board for ScriptLedger<E> {
    async fn pin(&self, cluster: &ClusterId, note: &Note) -> Answer<()> {
        check_size(note)?;
        self.run(&PIN, cluster, Args::new().text(&note.node).text(&note.text)).await.map(drop)
    }

    async fn pinned(&self, cluster: &ClusterId) -> Answer<Vec<Note>> {
        let mut reply = self.run(&PINNED, cluster, Args::new()).await?;
        let mut notes = Vec::new();
        while !reply.is_at_end() {
            let node = reply.text()?;
            let node = NodeId::new(&node).map_err(|_| unexpected(&node))?;
            notes.push(Note { node, text: reply.text()? });
        }
        notes.sort_unstable_by(|a, b| a.node.cmp(&b.node));
        Ok(notes)
    }
}
