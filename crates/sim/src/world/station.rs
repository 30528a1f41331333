//! A node in the world: the production desks, without the runtime that usually carries their calls.

use std::sync::Arc;
use tollgate_config::Policy;
use tollgate_core::id::{ClusterId, IdError, NodeId};
use tollgate_core::units::Nanos;
use tollgate_node::desk::{Desk, Identity, Manners};
use tollgate_node::{Bell, Roster};

/// The ticket of a request that waits.
pub(crate) type Ticket = u64;

/// One node.
pub(crate) struct Station {
    id: NodeId,
    pub(crate) roster: Arc<Roster>,
    /// One for each cluster.
    pub(crate) counters: Vec<Counter>,
    /// When this life of it began.
    born: Nanos,
    /// How many lives it has had: what was meant for an earlier one is of no concern to it.
    pub(crate) life: u64,
    /// The last life that said goodbye.
    pub(crate) departed: Option<u64>,
    /// For each cluster, the life and the number of the last call that the store answered and knows of.
    pub(crate) newest: Vec<(u64, u64)>,
}

/// A desk, and what is known of it outside.
pub(crate) struct Counter {
    pub(crate) desk: Desk<Ticket>,
    pub(crate) bell: Arc<Bell>,
    /// The call that is out.
    pub(crate) flight: Option<u64>,
    /// When it is woken, and which of the wake-ups counts.
    pub(crate) wake: Nanos,
    pub(crate) turn: u64,
    /// The last report, and when it was first sent.
    pub(crate) reported: (u64, u64),
    pub(crate) first_sent: Nanos,
    /// When the lease ends, by the clock of the world.
    pub(crate) lease_end: Option<Nanos>,
    /// When it was last told of a change.
    pub(crate) hinted_at: Option<Nanos>,
    /// How often it was woken in this millisecond.
    pub(crate) wakes: (u64, u32),
}

impl Station {
    pub(crate) fn new(number: usize, clusters: usize) -> Result<Self, IdError> {
        Ok(Self {
            id: NodeId::new(&format!("node-{number:05}"))?,
            roster: Arc::default(),
            counters: Vec::new(),
            born: Nanos::ZERO,
            life: 0,
            departed: None,
            newest: vec![(0, 0); clusters],
        })
    }

    /// Begins a new life that knows nothing of earlier ones.
    pub(crate) fn start(
        &mut self,
        clusters: &[ClusterId],
        policy: &Policy,
        manners: &Manners,
        seed: u64,
        now: Nanos,
    ) {
        self.life += 1;
        self.born = now;
        let roster = Arc::new(Roster::default());
        let counters = clusters.iter().zip(seed..).map(|(cluster, seed)| {
            let bell = Arc::new(Bell::default());
            roster.enrol(cluster, policy, &bell);
            let identity = Identity {
                node: self.id.clone(),
                cluster: cluster.clone(),
                incarnation: 1_000_000 + now.get() / 1_000,
                seed,
            };
            let capacity = policy.clusters().get(cluster).map(|cluster| cluster.capacity).unwrap_or_default();
            let desk = Desk::new(identity, manners.clone(), capacity, Arc::clone(&roster), Arc::clone(&bell));
            Counter {
                desk,
                bell,
                flight: None,
                wake: Nanos::MAX,
                turn: 0,
                reported: (0, 0),
                first_sent: now,
                lease_end: None,
                hinted_at: None,
                wakes: (0, 0),
            }
        });
        self.counters = counters.collect();
        self.roster = roster;
    }

    /// Its own time: it starts with each life.
    pub(crate) fn time(&self, now: Nanos) -> Nanos {
        now.since(self.born)
    }

    /// The world's time of one of its own.
    pub(crate) fn in_world(&self, time: Nanos) -> Nanos {
        self.born.plus(time)
    }
}
