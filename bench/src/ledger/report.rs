//! The answers about the ledger, as tables, numbers and a picture.

use super::finding::{Bound, Goal, Performance};
use super::growth::Growth;
use super::relay::{Slice, Track};
use super::weight::{Share, Weight};
use super::{BATCH, CLIENTS, Plan, SIZES};
use crate::machine::{Machine, locked_version};
use crate::plot::{Bar, Panel, Plot, Sense};
use crate::report::{Report, Section, pretty};
use crate::spread::{Quartiles, Range};
use serde::Serialize;
use std::io;

/// What was found.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) plan: Plan,
    /// The version of the server.
    pub(super) server: String,
    /// The counter, the bare limiter and the ledger with the sizes of calls there are.
    pub(super) tracks: Vec<Track>,
    pub(super) growth: Vec<Growth>,
    pub(super) weights: Vec<Weight>,
    pub(super) commands: Vec<Share>,
    /// What went wrong meanwhile, a sentence each.
    pub(super) remarks: Vec<String>,
}

/// A sync of one application does far more than the bare limiter; not more than about three times as much.
const LEAST_OF_LIMITER: f64 = 0.3;

/// A call about many applications must be worth it.
const LEAST_OF_BATCHING: f64 = 3.0;

/// What does not grow may still be this much more, by chance and by caches.
const MOST_GROWTH: f64 = 1.1;

const READING: &str = "\
Numbers are medians over all rounds, [..] the quartiles: how noisy the machine was. Latencies are those of all \
rounds together, from the client's side, and include waiting for the other clients' calls. *server µs* is what the \
server says it worked, by `INFO commandstats`. A ratio is taken within a round, so it need not be that of the \
medians.";

const METHOD: &str = include_str!("method.md");

#[derive(Serialize)]
struct Json<'a> {
    machine: &'a Machine,
    redis_server: &'a str,
    plan: JsonPlan,
    goals: Vec<Goal>,
    contenders: Vec<Performance>,
    growth: &'a [Growth],
    memory_bytes: &'a [Weight],
    commands_per_sync: &'a [Share],
    remarks: &'a [String],
}

#[derive(Serialize)]
struct JsonPlan {
    rounds: u32,
    slice_ms: u128,
    clients: u32,
}

impl Answers {
    pub(super) fn report(self) -> io::Result<Report> {
        let machine = Machine::this();
        Ok(Report {
            broken: Vec::new(),
            name: "ledger",
            title: format!("The ledger on Redis {}", self.server),
            sections: self.sections(),
            reading: READING,
            method: vec![self.course(), METHOD.into()],
            numbers: self.numbers(&machine)?,
            picture: self.picture(&machine),
            remarks: self.remarks,
            machine,
        })
    }

    fn sections(&self) -> Vec<Section> {
        let sections = [
            Section::of("Goals", &self.goal_table()),
            Section::of("Calls and leases", &self.throughput()),
            Section::of("Growth", &self.growth_table()),
            Section::of("Memory", &self.memory()),
            Section::of("Commands in a sync of one application", &self.command_table()),
        ];
        sections.into_iter().flatten().collect()
    }

    fn course(&self) -> String {
        format!(
            "{} rounds, in which each contender ran one slice of {} ms, another one first in each round; as many again \
             for growth by applications, and by nodes. A slice that does not count came first. redis-rs {}, \
             redis-server {}.",
            self.plan.batches() * BATCH,
            self.plan.slice.as_millis(),
            locked_version("redis"),
            self.server,
        )
    }

    pub(super) fn goals(&self) -> Vec<Goal> {
        let [_, limiter, one, .., most] = self.tracks.as_slice() else { return Vec::new() };
        let mut goals = vec![
            Goal::new(
                "calls/s: a sync of 1 application to the bare GCRA script",
                Bound::AtLeast(LEAST_OF_LIMITER),
                one.ratio_to(limiter, Slice::rate),
            ),
            Goal::new(
                format!("leases/s: {} in a call to 1 in a call", most.applications),
                Bound::AtLeast(LEAST_OF_BATCHING),
                batching(most, one),
            ),
        ];
        for growth in self.growth.iter().filter(|growth| !growth.is_smallest()) {
            let what = format!("time per application: {} known to the fewest", growth.name());
            goals.push(Goal::new(what, Bound::AtMost(MOST_GROWTH), growth.ratio));
        }
        goals
    }

    fn numbers(&self, machine: &Machine) -> io::Result<String> {
        let Plan { slice, .. } = self.plan;
        let rounds = self.plan.batches() * BATCH;
        pretty(&Json {
            machine,
            redis_server: &self.server,
            plan: JsonPlan { rounds, slice_ms: slice.as_millis(), clients: CLIENTS },
            goals: self.goals(),
            contenders: self.tracks.iter().map(Performance::of).collect(),
            growth: &self.growth,
            memory_bytes: &self.weights,
            commands_per_sync: &self.commands,
            remarks: &self.remarks,
        })
    }

    fn picture(&self, machine: &Machine) -> String {
        let plot = Plot {
            title: format!("The ledger on Redis {}", self.server),
            subtitle: format!(
                "bars: median of {} rounds; whiskers: quartiles; {}",
                self.plan.batches() * BATCH,
                machine.date()
            ),
            spread: "in most rounds".into(),
            panels: vec![self.calls_panel(), self.leases_panel(), self.growth_panel()],
        };
        plot.svg()
    }

    fn calls_panel(&self) -> Panel {
        let limiter = self.tracks.get(1);
        let others = self.tracks.iter().enumerate().filter(|(index, _)| *index != 1);
        let bar = |(index, track): (usize, &Track)| {
            let goal = (index == 2).then_some(LEAST_OF_LIMITER);
            limiter.map(|limiter| bar(track.name.clone(), track.ratio_to(limiter, Slice::rate), goal))
        };
        Panel {
            one: "bare GCRA script".into(),
            axis: "calls per second relative to the bare GCRA script".into(),
            sense: Sense::LongerIsFaster,
            bars: others.filter_map(bar).collect(),
        }
    }

    fn leases_panel(&self) -> Panel {
        let sizes = self.tracks.get(2..).unwrap_or_default();
        let goal = |track: &Track| (track.applications == SIZES[2]).then_some(LEAST_OF_BATCHING);
        let larger = sizes.iter().skip(1);
        Panel {
            one: "1 in a call".into(),
            axis: "leases per second relative to one application in a call".into(),
            sense: Sense::LongerIsFaster,
            bars: larger
                .map(|track| bar(track.name.clone(), batching(track, &sizes[0]), goal(track)))
                .collect(),
        }
    }

    fn growth_panel(&self) -> Panel {
        Panel {
            one: "fewest known".into(),
            axis: "time per application, 16 in a call, relative to the fewest known".into(),
            sense: Sense::ShorterIsFaster,
            bars: self
                .growth
                .iter()
                .filter(|growth| !growth.is_smallest())
                .map(|growth| bar(format!("{} known", growth.name()), growth.ratio, Some(MOST_GROWTH)))
                .collect(),
        }
    }
}

/// What a call about more applications is worth: leases per second to those of a call about one.
fn batching(track: &Track, one: &Track) -> Quartiles {
    let more = f64::from(track.applications) / f64::from(one.applications);
    let Quartiles { low, median, high } = track.ratio_to(one, Slice::rate);
    Quartiles { low: low * more, median: median * more, high: high * more }
}

fn bar(name: String, ratio: Quartiles, goal: Option<f64>) -> Bar {
    let Quartiles { low, median, high } = ratio;
    Bar { name, ratio: Range { min: low, median, max: high }, goal }
}
