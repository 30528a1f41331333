//! A node as it should behave: it spends what it holds, reports it and asks for more.

use anyhow::{Context, ensure};
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::{Millis, Rate, Tokens};
use tollgate_ledger::protocol::{Entry, Sync, SyncReply};

/// What a node likes to hold of each application.
const LEASE: Tokens = Tokens::whole(2);

/// What it spends of each application between two calls.
const SPENT: Tokens = Tokens::whole(1);

/// What it says it would let through without the ledger. So little that ten thousand nodes fit into one guarantee.
const FALLBACK: Rate = Rate::per_second(1);

/// A node and the call it makes next.
#[derive(Clone, Debug)]
pub(super) struct Node {
    call: Sync,
    /// What it holds of each application, in the order of the entries.
    held: Vec<Tokens>,
}

impl Node {
    pub(super) fn new(name: &str, apps: &[AppId]) -> anyhow::Result<Self> {
        let node = NodeId::new(name).with_context(|| format!("{name:?} names no node"))?;
        let entries =
            apps.iter().map(|app| Entry { fallback: FALLBACK, ..Entry::idle(app.clone()) }).collect();
        let call =
            Sync { node, incarnation: 1, seq: 0, acked: 0, epoch: 0, silence: Millis::from_secs(5), entries };
        Ok(Self { call, held: vec![Tokens::ZERO; apps.len()] })
    }

    /// Spends a token of each application that it holds one of, and says so in its next call.
    pub(super) fn next_call(&mut self) -> &Sync {
        self.call.seq += 1;
        for (entry, held) in self.call.entries.iter_mut().zip(&mut self.held) {
            let spent = SPENT.min(*held);
            *held = held.minus(spent);
            entry.spent = spent;
            entry.requests = u64::from(!spent.is_zero());
            entry.holding = *held;
            entry.want = LEASE.minus(*held);
        }
        &self.call
    }

    /// Takes what was granted, which must be all that was wanted: a call that gets nothing measures something else.
    pub(super) fn take(&mut self, reply: &SyncReply) -> anyhow::Result<()> {
        self.call.acked = self.call.seq;
        ensure!(reply.entries.len() == self.held.len(), "{} answers", reply.entries.len());
        for ((entry, held), answer) in self.call.entries.iter().zip(&mut self.held).zip(&reply.entries) {
            let (app, want, granted) = (&entry.app, entry.want, answer.granted);
            ensure!(granted == want, "{app} got {granted} of {want}: {:?}", answer.refusal);
            *held = held.plus(granted);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::ground::{apps, seed};
    use tollgate_ledger::Book;

    #[test]
    fn every_call_reports_a_token_and_gets_one() {
        let mut book = Book::seed(seed(4).unwrap(), Millis::ZERO).unwrap();
        let mut node = Node::new("node", &apps(4).unwrap()).unwrap();
        for round in 0..5 {
            let call = node.next_call();
            assert_eq!(call.acked + 1, call.seq);
            assert!(call.entries.iter().all(|entry| entry.spent == SPENT || round == 0));
            let reply = book.sync(call, Millis::new(round)).unwrap();
            node.take(&reply).unwrap();
        }
        assert_eq!(node.held, [LEASE; 4]);
        let spent: Tokens = book.audit(Millis::new(5)).lines.iter().map(|line| line.flows.spent).sum();
        assert_eq!(spent, Tokens::whole(16));
    }

    #[test]
    fn a_call_that_gets_less_is_an_error() {
        let mut book = Book::seed(seed(1).unwrap(), Millis::ZERO).unwrap();
        let mut node = Node::new("node", &apps(2).unwrap()).unwrap();
        let reply = book.sync(node.next_call(), Millis::ZERO).unwrap();
        assert!(node.take(&reply).unwrap_err().to_string().starts_with("app-00001 got 0"));
    }
}
