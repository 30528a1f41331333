//! The task that speaks to the ledger for all connections of a cluster.

mod agenda;
mod plan;
mod report;
mod round;

pub use round::Round;

use super::clock::NodeClock;
use super::connections::Connections;
use super::contact::Contact;
use crate::fence::Fence;
use agenda::Agenda;
use round::Scope;
use std::future::Future;
use std::pin::pin;
use tollgate_core::degrade::Level;
use tollgate_core::id::NodeId;
use tollgate_core::units::Nanos;
use tollgate_ledger::Slots;

/// Who a node is to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name.
    pub node: NodeId,
    /// Which life of it: each must be larger than the last. The slots of earlier ones are free at once.
    pub incarnation: u64,
}

/// Keeps the slots of a cluster in step with their use, looks for leaked connections and reports. There is one for each
/// [`Connections`].
#[derive(Debug)]
pub struct Keeper<L, T, C> {
    connections: Connections,
    identity: Identity,
    ledger: L,
    contact: T,
    clock: C,
    fence: Fence,
    seq: u64,
    /// The last call that was answered while the slots have not lapsed since; else zero.
    acked: u64,
    called_at: Nanos,
    agenda: Agenda,
}

impl<L: Slots, T: Contact, C: NodeClock> Keeper<L, T, C> {
    /// The keeper of these connections. `clock` must be the one whose time connections are opened at.
    pub fn new(connections: Connections, identity: Identity, ledger: L, contact: T, clock: C) -> Self {
        let now = clock.now();
        Self {
            connections,
            identity,
            ledger,
            contact,
            clock,
            fence: Fence::default(),
            seq: 0,
            acked: 0,
            called_at: now,
            agenda: Agenda::new(now),
        }
    }

    /// Does its work until `shutdown`, then gives everything back. Connections that are open by then should have been
    /// ended before: the ledger hands their slots to others.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let connections = self.connections.clone();
        loop {
            let wait = self.agenda.next().since(self.clock.now());
            tokio::select! {
                // In this order: those who wait for a slot come before chores, but see below.
                biased;
                () = &mut shutdown => break,
                () = connections.0.rounds.needed(), if wait > Nanos::ZERO => {
                    if self.round_of(Scope::Asked).await == Round::Partial {
                        self.agenda.hurry();
                    }
                }
                () = tokio::time::sleep(wait.into()) => self.tick().await,
            }
        }
        self.leave().await;
    }

    /// Does what is due now.
    pub async fn tick(&mut self) {
        let now = self.clock.now();
        if self.agenda.is_hold_due(now) {
            self.round().await;
        }
        let pace = self.publish_level().pace();
        if self.agenda.is_cleanup_due(now, &pace) {
            self.connections.sweep(pace.cleanup_budget as usize, now);
        }
        if self.agenda.is_report_due(now) {
            self.report().await;
        }
    }

    /// Compares slots with their use for all applications, and asks for more or gives back.
    pub async fn round(&mut self) -> Round {
        let now = self.clock.now();
        let round = self.round_of(Scope::All).await;
        self.agenda.plan_hold(now, round, self.connections.level());
        round
    }

    /// How well the ledger can be reached, for all to see.
    fn publish_level(&self) -> Level {
        let level = self.level();
        self.connections.0.shared.set_level(level);
        level
    }

    /// A ledger that does not listen to this life of the node is as good as none.
    fn level(&self) -> Level {
        if self.fence.is_up() { Level::FailOpen } else { self.contact.level() }
    }
}
