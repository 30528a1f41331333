//! A story: who is there, what they do, what goes wrong, and what is expected nevertheless.

mod expectation;
mod fault;
mod load;
mod reader;

pub use expectation::{Expectation, Measure};
pub use fault::{Direction, Fault, Many, Planned};
pub use load::{Load, Place, Shape};
pub use reader::ScenarioError;

use tollgate_config::Policy;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::Nanos;
use tollgate_node::desk::Manners;

/// A story, ready to be played.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// What it is about: the comment that it begins with.
    pub about: String,
    /// How many nodes there are.
    pub nodes: usize,
    /// How long there is traffic.
    pub duration: Nanos,
    /// From when on it is measured.
    pub measured_from: Nanos,
    /// Clusters and applications.
    pub policy: Policy,
    /// How nodes deal with the ledger.
    pub manners: Manners,
    /// What lies between nodes and store.
    pub network: Network,
    /// How long the store works on a call.
    pub service: Service,
    /// Who asks for what.
    pub loads: Vec<Load>,
    /// What goes wrong, and when.
    pub faults: Vec<Planned>,
    /// How many random faults there are besides.
    pub random_faults: usize,
    /// What is expected.
    pub expectations: Vec<Expectation>,
}

/// What lies between nodes and store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// The least that a message takes one way.
    pub latency: Nanos,
    /// What comes on top on average.
    pub tail: Nanos,
    /// How that is spread.
    pub spread: Spread,
    /// The share of messages that get lost.
    pub loss: f64,
    /// The share of calls that reach the store twice.
    pub duplicates: f64,
    /// The share of messages that take much longer, up to ten seconds: others overtake them.
    pub reorder: f64,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            latency: Nanos::new(300_000),
            tail: Nanos::new(200_000),
            spread: Spread::Usual,
            loss: 0.0,
            duplicates: 0.0,
            reorder: 0.0,
        }
    }
}

/// How what comes on top of the least latency is spread around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Exponentially: mostly little, now and then several times as much.
    #[default]
    Usual,
    /// Evenly, up to twice the mean.
    Even,
    /// With a heavy tail: mostly a third, and seldom a hundred times as much.
    Heavy,
}

/// How long the store works on a call. Each cluster is one slot, and a slot does one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// For the call.
    pub call: Nanos,
    /// For each application in it.
    pub entry: Nanos,
}

/// As the bench of the ledger found.
impl Default for Service {
    fn default() -> Self {
        Self { call: Nanos::new(40_000), entry: Nanos::new(10_000) }
    }
}

impl Scenario {
    /// Reads a story. `name` is what it is called, as its file is.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        reader::read(name, text)
    }

    /// The applications, in the order of their names, which is that of their numbers.
    pub fn apps(&self) -> Vec<AppId> {
        self.policy.apps().keys().cloned().collect()
    }

    /// The clusters, in the order of their names, which is that of their numbers.
    pub fn clusters(&self) -> Vec<ClusterId> {
        self.policy.clusters().keys().cloned().collect()
    }
}
