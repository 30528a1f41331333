//! The world: nodes, a store, what lies between them and what goes wrong, in virtual time.
//!
//! One thing happens at a time, in an order that only the story and the seed decide: the same two give the same world
//! to the last bit. Nodes and ledger are the code that is shipped; the rest is here.

mod calls;
mod drain;
mod faults;
mod lua;
mod measuring;
mod network;
mod requests;
mod station;
mod store;
mod traffic;
mod watch;

pub(crate) use lua::Lua;
pub(crate) use traffic::{Request, Source};

use crate::chance::{Chance, seconds};
use crate::check::{Rule, Violation};
use crate::measure::{STEP, Summary, Tiers};
use crate::plan::Plan;
use crate::queue::Queue;
use crate::sabotage::Sabotage;
use crate::scenario::Scenario;
use crate::trace::Trace;
use calls::{Call, Landing};
use network::{Fate, Network};
use requests::Asking;
use station::Station;
use std::collections::HashMap;
use store::Store;
use tollgate_core::id::{AppId, ClusterId, IdError};
use tollgate_core::units::Nanos;
use tollgate_node::Permit;
use watch::Watch;

/// How a world is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// What chance depends on.
    pub(crate) seed: u64,
    /// After how many calls the whole balance is checked.
    pub(crate) audit_every: u64,
    /// From which event on it is checked after every call.
    pub(crate) closely_from: u64,
    /// How many of the last events are remembered.
    pub(crate) traced: usize,
    /// The rule that is broken on purpose, if one is.
    pub(crate) sabotage: Option<Sabotage>,
}

/// What came of a world.
pub(crate) struct Played {
    pub(crate) summary: Summary,
    pub(crate) events: u64,
    /// The rule that was broken, if one was.
    pub(crate) violation: Option<Violation>,
    pub(crate) trace: Trace,
    /// The event after which the whole balance of every cluster was last found to be right.
    pub(crate) audited: u64,
}

/// Everything there is.
pub(crate) struct World<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    terms: Terms,
    clusters: Vec<ClusterId>,
    apps: Vec<AppId>,
    numbers: HashMap<AppId, usize>,
    /// The cluster of each application, and the applications of each cluster.
    cluster_of: Vec<usize>,
    apps_of: Vec<Vec<usize>>,

    now: Nanos,
    events: u64,
    queue: Queue<Event>,
    stations: Vec<Station>,
    is_up: Vec<bool>,
    store: Store,
    network: Network,
    sources: Vec<Source>,
    nodes_chance: Chance,
    calls: HashMap<u64, Call>,
    called: u64,
    bytes: u64,
    asking: HashMap<u64, Asking>,
    asked: u64,
    held: HashMap<u64, (usize, u64, usize, Permit)>,
    watch: Watch,
    tiers: Vec<Tiers>,
    busy: f64,
    trace: Trace,
}

/// What can happen.
#[derive(Debug)]
pub(crate) enum Event {
    /// A request comes.
    Arrive(usize),
    /// A request has waited as long as it may.
    Impatient(u64),
    /// A request that passed is given up.
    Cancel(u64),
    /// A desk has asked to be woken.
    Wake {
        node: usize,
        desk: usize,
        turn: u64,
    },
    /// A node hears that there is another version.
    Hint {
        node: usize,
        desk: usize,
        life: u64,
        version: u64,
    },
    /// A call reaches the store.
    Reach(u64),
    /// An answer reaches a node, or word that there will be none.
    Land(Box<Landing>),
    /// A node waits no longer for an answer.
    GiveUp(u64),
    /// Something goes wrong, or is over.
    Fault(usize),
    Heal(usize),
    /// What another store would know.
    Copy,
    /// From now on it is measured.
    Measure,
    /// Look at what everybody holds.
    Look,
    /// Everybody says goodbye.
    Close,
}

impl<'a> World<'a> {
    /// A world about to begin.
    pub(crate) fn new(
        scenario: &'a Scenario,
        plan: &'a Plan,
        terms: Terms,
        lua: Option<Lua>,
    ) -> Result<Self, IdError> {
        let (clusters, apps) = (scenario.clusters(), scenario.apps());
        let policies = scenario.policy.apps();
        let position =
            |cluster: &ClusterId| clusters.iter().position(|other| other == cluster).unwrap_or_default();
        let cluster_of: Vec<usize> = policies.values().map(|app| position(&app.cluster)).collect();
        let mut apps_of = vec![Vec::new(); clusters.len()];
        for (app, cluster) in cluster_of.iter().enumerate() {
            apps_of[*cluster].push(app);
        }
        let station = |number| Station::new(number, clusters.len());
        let stations: Result<Vec<Station>, IdError> = (0..scenario.nodes).map(station).collect();
        let sources = scenario.loads.iter().zip(0..);
        let seed = terms.seed;
        Ok(Self {
            numbers: apps.iter().cloned().zip(0..).collect(),
            cluster_of,
            apps_of,
            now: Nanos::ZERO,
            events: 0,
            queue: Queue::new(),
            stations: stations?,
            is_up: vec![false; scenario.nodes],
            store: Store::new(
                clusters.clone(),
                scenario.service,
                lua,
                terms.sabotage.map_or(0, Sabotage::haste),
            ),
            network: Network::new(scenario.network, scenario.nodes, seed),
            sources: sources.map(|(load, number)| Source::new(load.clone(), seed, number)).collect(),
            nodes_chance: Chance::new(seed, "nodes", 0),
            calls: HashMap::new(),
            called: 0,
            bytes: 0,
            asking: HashMap::new(),
            asked: 0,
            held: HashMap::new(),
            watch: Watch::new(scenario),
            tiers: Vec::new(),
            busy: 0.0,
            trace: Trace::new(terms.traced),
            scenario,
            plan,
            terms,
            clusters,
            apps,
        })
    }

    /// Plays it to the end, or until a rule is broken, and tells how far it has got.
    pub(crate) fn play(mut self, tell: &mut dyn FnMut(f64)) -> Played {
        self.begin();
        let end = seconds(self.close_at());
        while let Some((at, event)) = self.queue.pop() {
            self.now = at;
            self.events += 1;
            if self.trace.is_on() {
                self.trace.add(self.now, self.events, &format!("{event:?}"));
            }
            if matches!(event, Event::Look) {
                tell(seconds(self.now) / end);
            }
            self.happen(event);
            if self.watch.violation.is_some() {
                break;
            }
        }
        if self.watch.violation.is_none() {
            self.check_return();
        }
        tell(1.0);
        let summary = self.summary();
        let Watch { violation, audited, .. } = self.watch;
        let audited = audited.into_iter().min().unwrap_or_default();
        Played { summary, events: self.events, violation, trace: self.trace, audited }
    }

    fn begin(&mut self) {
        for node in 0..self.stations.len() {
            self.start(node);
        }
        for source in 0..self.sources.len() {
            if let Some(at) = self.sources[source].first() {
                self.queue.push(at, Event::Arrive(source));
            }
        }
        self.plan_faults();
        self.queue.push(self.scenario.measured_from, Event::Measure);
        let mut at = Nanos::ZERO;
        while at < self.scenario.duration {
            self.queue.push(at, Event::Look);
            at = at.plus(STEP);
        }
        self.queue.push(self.close_at(), Event::Close);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive(source) => self.arrive(source),
            Event::Impatient(ticket) => self.lose_patience(ticket),
            Event::Cancel(permit) => self.cancel(permit),
            Event::Wake { node, desk, turn } => self.wake(node, desk, turn),
            Event::Hint { node, desk, life, version } => self.hint(node, desk, life, version),
            Event::Reach(call) => self.reach(call),
            Event::Land(landing) => self.land(*landing),
            Event::GiveUp(call) => self.give_up(call),
            Event::Fault(number) => self.fault(number),
            Event::Heal(number) => self.heal(number),
            Event::Copy => self.copy_store(),
            Event::Measure => self.measure(),
            Event::Look => self.look(),
            Event::Close => self.close(),
        }
    }

    /// A node begins a new life.
    fn start(&mut self, node: usize) {
        let seed = self.nodes_chance.number();
        let station = &mut self.stations[node];
        station.start(&self.clusters, &self.scenario.policy, &self.scenario.manners, seed, self.now);
        self.is_up[node] = true;
        self.watch.begin_life(node);
        for desk in 0..self.clusters.len() {
            self.drive(node, desk);
        }
    }

    fn wake(&mut self, node: usize, desk: usize, turn: u64) {
        let Some(counter) = self.stations[node].counters.get_mut(desk) else { return };
        if counter.turn != turn {
            return;
        }
        let millisecond = self.now.get() / 1_000_000;
        counter.wakes = if counter.wakes.0 == millisecond {
            (millisecond, counter.wakes.1 + 1)
        } else {
            (millisecond, 1)
        };
        if counter.wakes.1 > 100 {
            self.violate(Rule::Rest, format!("node {node} was woken a hundred times within a millisecond"));
        }
        self.drive(node, desk);
    }

    /// The store tells all nodes of its version, once and whether they hear it or not.
    fn tell(&mut self, desk: usize) {
        let Some(version) = self.store.book(desk).map(tollgate_ledger::Book::version) else { return };
        for node in 0..self.stations.len() {
            if let Fate::Arrives(latency) = self.network.answer(node) {
                let life = self.stations[node].life;
                self.queue.push(self.now.plus(latency), Event::Hint { node, desk, life, version });
            }
        }
    }

    fn hint(&mut self, node: usize, desk: usize, life: u64, version: u64) {
        let station = &mut self.stations[node];
        if station.life != life {
            return;
        }
        let Some(counter) = station.counters.get_mut(desk) else { return };
        counter.desk.hint(version);
        // Hints overtake each other: of the last change only the last one tells.
        if self.store.book(desk).is_some_and(|book| book.version() <= version) {
            counter.hinted_at = Some(self.now);
        }
        self.drive(node, desk);
    }

    /// Lets a desk do what it has to, and finds out when it wants to be woken.
    fn drive(&mut self, node: usize, desk: usize) {
        let time = self.stations[node].time(self.now);
        let before = self.holdings_if_alone(node, desk);
        let Some(counter) = self.stations[node].counters.get_mut(desk) else { return };
        let outcomes = counter.desk.tick(time);
        let has_ended = counter.lease_end.is_some_and(|end| self.now >= end);
        if has_ended {
            self.end_lease(node, desk);
        }
        self.note_minting(node, desk, before.as_deref(), has_ended, &outcomes);
        self.deliver(node, outcomes);
        let counter = &mut self.stations[node].counters[desk];
        if let Some(job) = counter.desk.next_job(time) {
            self.send(node, desk, job);
        }
        let station = &mut self.stations[node];
        let counter = &station.counters[desk];
        if counter.desk.is_closed() {
            return;
        }
        let wake = station.in_world(counter.desk.wake_at(time)).max(self.now.plus(Nanos::new(1)));
        let counter = &mut station.counters[desk];
        if wake != counter.wake || counter.wake <= self.now {
            counter.wake = wake;
            counter.turn += 1;
            self.queue.push(wake, Event::Wake { node, desk, turn: counter.turn });
        }
    }

    fn violate(&mut self, rule: Rule, what: String) {
        let violation = Violation { rule, at: self.now, event: self.events, what };
        self.watch.violation.get_or_insert(violation);
    }
}
