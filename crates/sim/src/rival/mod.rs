//! How others would have done: the same requests and the same faults, under simpler strategies.
//!
//! These are models, not implementations: whatever is not the point of a strategy is done for it, without delay and
//! without mistakes.

mod bucket;
mod optimistic;

use crate::check::Bound;
use crate::measure::{AppSummary, Summary, Tenant};
use crate::plan::Plan;
use crate::queue::Queue;
use crate::report::Strategy;
use crate::scenario::{Fault, Scenario};
use crate::world::{Request, Source};
use bucket::Bucket;
use optimistic::Views;
use tollgate_core::quota::Quota;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Nanos, Tokens};

/// A strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    /// Every request asks the store.
    PerRequest,
    /// Every node has its part, and nobody asks anybody.
    FixedSplit,
    /// Every node counts for itself and tells the others ten times a second.
    Optimistic,
    /// As with leases while the store is there; without it, every node goes on with the whole limit.
    NaiveFallback,
}

impl Rival {
    const ALL: [Self; 4] = [Self::PerRequest, Self::FixedSplit, Self::Optimistic, Self::NaiveFallback];

    const fn name(self) -> &'static str {
        match self {
            Self::PerRequest => "per request",
            Self::FixedSplit => "fixed split",
            Self::Optimistic => "optimistic",
            Self::NaiveFallback => "naive fallback",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::PerRequest => "every request asks the store and waits for it; without the store all pass",
            Self::FixedSplit => "each node has an equal part of rate and burst, whoever needs it",
            Self::Optimistic => {
                "each node counts by itself and reports every 100 ms; all see what was left then"
            }
            Self::NaiveFallback => {
                "one bucket for all while the store is there, the whole limit at each node without it"
            }
        }
    }
}

impl Scenario {
    /// The same story under other strategies.
    pub fn compare(&self, seed: u64) -> Vec<Strategy> {
        let play = |rival: Rival| Strategy {
            name: rival.name(),
            about: rival.about(),
            summary: Game::play(self, rival, seed),
        };
        Rival::ALL.into_iter().map(play).collect()
    }
}

/// A strategy at work.
struct Game<'a> {
    scenario: &'a Scenario,
    rival: Rival,
    now: Nanos,
    is_up: Vec<bool>,
    /// How many faults keep a node from the store.
    cuts: Vec<u32>,
    /// One bucket for each application.
    shared: Vec<Bucket>,
    /// One bucket for each application at each node.
    own: Vec<Bucket>,
    views: Views,
    tenants: Vec<Tenant>,
    bounds: Vec<Bound>,
    calls: u64,
}

enum Event {
    Arrive(usize),
    Fault(usize),
    Heal(usize),
    Report(usize),
}

const REPORT_EVERY: Nanos = Nanos::new(100_000_000);

impl<'a> Game<'a> {
    fn play(scenario: &'a Scenario, rival: Rival, seed: u64) -> Summary {
        let quotas: Vec<Quota> = scenario.policy.apps().values().map(|app| app.quota).collect();
        let share = if rival == Rival::FixedSplit { scenario.nodes as u64 } else { 1 };
        let own = (0..scenario.nodes).flat_map(|_| quotas.iter().map(move |quota| Bucket::new(quota, share)));
        let mut game = Game {
            scenario,
            rival,
            now: Nanos::ZERO,
            is_up: vec![true; scenario.nodes],
            cuts: vec![0; scenario.nodes],
            shared: quotas.iter().map(|quota| Bucket::new(quota, 1)).collect(),
            own: own.collect(),
            views: Views::new(scenario.nodes, &quotas),
            tenants: quotas
                .iter()
                .map(|quota| Tenant::new(*quota, scenario.nodes, scenario.measured_from))
                .collect(),
            bounds: quotas.iter().map(|quota| Bound::new(quota.guaranteed, quota.burst)).collect(),
            calls: 0,
        };
        game.run(seed);
        game.summary()
    }

    fn run(&mut self, seed: u64) {
        let plan = Plan::new(self.scenario, seed);
        let loads = self.scenario.loads.iter().zip(0..);
        let mut sources: Vec<Source> =
            loads.map(|(load, number)| Source::new(load.clone(), seed, number)).collect();
        let mut queue = Queue::new();
        for (number, source) in sources.iter_mut().enumerate() {
            source.first().into_iter().for_each(|at| queue.push(at, Event::Arrive(number)));
        }
        for (number, planned) in plan.faults.iter().enumerate() {
            queue.push(planned.at, Event::Fault(number));
            queue.push(planned.at.plus(planned.fault.lasts()), Event::Heal(number));
        }
        for node in 0..self.scenario.nodes {
            queue.push(
                Nanos::new(1 + REPORT_EVERY.get() * node as u64 / self.scenario.nodes as u64),
                Event::Report(node),
            );
        }
        while let Some((at, event)) = queue.pop() {
            self.now = at;
            match event {
                Event::Arrive(number) => {
                    let request = sources[number].request(at, &self.is_up);
                    sources[number]
                        .next(at)
                        .into_iter()
                        .for_each(|next| queue.push(next, Event::Arrive(number)));
                    if let Some(request) = request {
                        self.arrive(request);
                    }
                }
                Event::Fault(number) => self.fault(&plan, number, true),
                Event::Heal(number) => self.fault(&plan, number, false),
                Event::Report(node) if at < self.scenario.duration => {
                    self.report(node);
                    queue.push(at.plus(REPORT_EVERY), Event::Report(node));
                }
                Event::Report(_) => {}
            }
        }
    }

    fn arrive(&mut self, request: Request) {
        let Request { app, node, cost, .. } = request;
        self.tenants[app].ask(node, cost, self.now);
        if self.passes(app, node, Tokens::whole(cost)) {
            self.tenants[app].pass(node, cost, self.now);
            // How much is too much is read from the bound at the end.
            self.bounds[app].pass(Tokens::whole(cost), self.now);
        } else {
            self.tenants[app].refuse(Reason::AppExhausted, self.now);
        }
    }

    fn passes(&mut self, app: usize, node: usize, cost: Tokens) -> bool {
        let is_alone = self.cuts[node] > 0;
        let own = node * self.shared.len() + app;
        match self.rival {
            Rival::PerRequest => {
                self.count_call();
                is_alone || self.shared[app].take(cost, self.now)
            }
            Rival::FixedSplit => self.own[own].take(cost, self.now),
            Rival::Optimistic => self.views.take(node, app, cost, self.now),
            Rival::NaiveFallback if is_alone => self.own[own].take(cost, self.now),
            Rival::NaiveFallback => self.shared[app].take(cost, self.now),
        }
    }

    fn report(&mut self, node: usize) {
        let speaks = matches!(self.rival, Rival::Optimistic | Rival::NaiveFallback);
        if !speaks || !self.is_up[node] || self.cuts[node] > 0 {
            return;
        }
        self.count_call();
        if self.rival == Rival::Optimistic {
            self.views.report(node, &mut self.shared, self.now);
        }
    }

    fn fault(&mut self, plan: &Plan, number: usize, begins: bool) {
        let all: Vec<usize> = (0..self.scenario.nodes).collect();
        match plan.faults[number].fault {
            Fault::Crash(..) | Fault::Restart(..) => {
                plan.nodes[number].iter().for_each(|&node| self.is_up[node] = !begins);
            }
            Fault::Partition(..) => self.cut(&plan.nodes[number], begins),
            Fault::Outage(_) | Fault::Failover { .. } => self.cut(&all, begins),
            Fault::Wipe if begins => self.shared.iter_mut().for_each(Bucket::fill),
            _ => {}
        }
    }

    fn cut(&mut self, nodes: &[usize], begins: bool) {
        for &node in nodes {
            if begins {
                self.cuts[node] += 1;
                let apps = self.shared.len();
                self.own[node * apps..(node + 1) * apps].iter_mut().for_each(Bucket::fill);
            } else {
                self.cuts[node] -= 1;
            }
        }
    }

    fn count_call(&mut self) {
        self.calls += u64::from(self.now >= self.scenario.measured_from);
    }

    fn summary(&self) -> Summary {
        let names = self.scenario.apps();
        let apps = names.iter().zip(&self.tenants).zip(&self.bounds);
        let apps: Vec<AppSummary> =
            apps.map(|((id, tenant), bound)| AppSummary::of(id, tenant, bound)).collect();
        let end = self.scenario.duration;
        let mut summary = Summary {
            requests: apps.iter().map(|app| app.requests).sum(),
            apps,
            calls: self.calls,
            seconds: crate::chance::seconds(end.since(self.scenario.measured_from)),
            ..Summary::default()
        };
        summary.find_shifts(&self.scenario.loads, end);
        summary
    }
}
