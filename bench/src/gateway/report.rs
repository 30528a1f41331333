use super::Plan;
use super::contender::Kind;
use super::load::Lap;
use crate::machine::Machine;
use crate::plot::{Bar, Panel, Plot, Sense};
use crate::report::{Report, Section, pretty};
use crate::spread::Range;
use crate::table::Table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;

/// What becomes of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Path {
    Allowed,
    Refused,
}

impl Path {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
        }
    }

    /// Whom the others are compared with.
    const fn base(self) -> Kind {
        match self {
            Self::Allowed => Kind::Nginx,
            Self::Refused => Kind::LimitReq,
        }
    }
}

/// All laps of one contender, round by round.
type Laps = BTreeMap<(Path, Kind), Vec<Lap>>;

/// What was found.
#[derive(Debug)]
pub(super) struct Answers {
    laps: Laps,
    /// By the number of connections.
    grown: BTreeMap<(u32, Kind), Vec<Lap>>,
    weights: Vec<(Kind, f64)>,
    rounds: u32,
    seconds: f64,
    idle: usize,
}

/// A line of the numbers.
#[derive(Serialize)]
struct Line<'a> {
    path: &'static str,
    contender: &'static str,
    laps: &'a [Lap],
}

impl Answers {
    pub(super) fn new(plan: &Plan) -> Self {
        let Plan { rounds, lap, idle, .. } = *plan;
        Self {
            laps: Laps::new(),
            grown: BTreeMap::new(),
            weights: Vec::new(),
            rounds,
            seconds: lap.as_secs_f64(),
            idle,
        }
    }

    pub(super) fn add(&mut self, path: Path, laps: &[(Kind, Lap)]) {
        for &(kind, lap) in laps {
            self.laps.entry((path, kind)).or_default().push(lap);
        }
    }

    pub(super) fn grow(&mut self, connections: u32, kind: Kind, lap: Lap) {
        self.grown.entry((connections, kind)).or_default().push(lap);
    }

    pub(super) fn weigh(&mut self, kind: Kind, bytes: f64) {
        self.weights.push((kind, bytes));
    }

    /// The ratio within each round, of what `of` takes from a lap.
    fn ratio(&self, path: Path, kind: Kind, base: Kind, of: impl Fn(&Lap) -> f64) -> Range {
        let laps = |kind| self.laps.get(&(path, kind)).map_or(&[][..], Vec::as_slice);
        Range::of(laps(kind).iter().zip(laps(base)).map(|(lap, base)| of(lap) / of(base)))
    }

    fn table(&self, path: Path) -> Table<7> {
        let mut table =
            Table::new(["", "requests/s", "ratio", "CPU us/request", "ratio", "p50 ms", "p99 ms"]);
        for (&(of, kind), laps) in self.laps.iter().filter(|((of, _), _)| *of == path) {
            let median = |part: fn(&Lap) -> f64| Range::of(laps.iter().map(part)).median;
            let ratio = |part: fn(&Lap) -> f64| spread(self.ratio(of, kind, path.base(), part));
            table.push([
                kind.name().into(),
                format!("{:.0}", median(|lap| lap.requests_per_second)),
                ratio(|lap| lap.requests_per_second),
                format!("{:.1}", median(|lap| lap.cpu_us_per_request)),
                ratio(|lap| lap.cpu_us_per_request),
                format!("{:.2}", median(|lap| lap.p50_ms)),
                format!("{:.2}", median(|lap| lap.p99_ms)),
            ]);
        }
        table
    }

    fn growth(&self) -> Table<6> {
        let mut table = Table::new(["connections", "", "requests/s", "CPU us/request", "to nginx", "p50 ms"]);
        for (&(connections, kind), laps) in &self.grown {
            let median = |part: fn(&Lap) -> f64| Range::of(laps.iter().map(part)).median;
            let nginx = self.grown.get(&(connections, Kind::Nginx)).map_or(&[][..], Vec::as_slice);
            let cpu =
                laps.iter().zip(nginx).map(|(lap, base)| lap.cpu_us_per_request / base.cpu_us_per_request);
            table.push([
                connections.to_string(),
                kind.name().into(),
                format!("{:.0}", median(|lap| lap.requests_per_second)),
                format!("{:.1}", median(|lap| lap.cpu_us_per_request)),
                spread(Range::of(cpu)),
                format!("{:.2}", median(|lap| lap.p50_ms)),
            ]);
        }
        table
    }

    fn memory(&self) -> Table<2> {
        let mut table = Table::new(["", "bytes per idle connection"]);
        for (kind, bytes) in &self.weights {
            table.push([kind.name().into(), format!("{bytes:.0}")]);
        }
        table
    }

    fn remarks(&self) -> Vec<String> {
        let cpu = |path, base| spread(self.ratio(path, Kind::Tollgate, base, |lap| lap.cpu_us_per_request));
        let rate = |path, base| spread(self.ratio(path, Kind::Tollgate, base, |lap| lap.requests_per_second));
        vec![
            format!(
                "Tollgate to nginx + Lua that does the same three-tier work: CPU per request {} (goal: at most 0.9), requests per \
                 second {} (goal: at least 1.1).",
                cpu(Path::Allowed, Kind::Lua),
                rate(Path::Allowed, Kind::Lua)
            ),
            format!(
                "Tollgate to plain nginx without a limiter: CPU per request {}, requests per second {}.",
                cpu(Path::Allowed, Kind::Nginx),
                rate(Path::Allowed, Kind::Nginx)
            ),
            format!(
                "A loop that reads once and writes the bytes of our refusal, and looks at nothing: {} of nginx limit_req without its log. That is what the kernel takes for \
                 these two calls, so nobody who makes them gets below it.",
                spread(self.ratio(Path::Refused, Kind::Kernel, Kind::LimitReq, |lap| lap.cpu_us_per_request))
            ),
            format!(
                "Refused requests, Tollgate to nginx limit_req: CPU per request {} (goal: at most 0.8); {} of one that writes a \
                 line for each refusal, as it does unless it is told otherwise.",
                cpu(Path::Refused, Kind::LimitReq),
                cpu(Path::Refused, Kind::LimitReqLogging)
            ),
        ]
    }

    fn panel(&self, path: Path) -> Panel {
        let kinds = Kind::ALL.into_iter().filter(|&kind| kind != path.base());
        let kinds = kinds.filter(|&kind| self.laps.contains_key(&(path, kind)));
        Panel {
            one: path.base().name().into(),
            axis: format!("CPU per request, {}", path.name()),
            sense: Sense::ShorterIsFaster,
            bars: kinds
                .map(|kind| Bar {
                    name: kind.name().into(),
                    ratio: self.ratio(path, kind, path.base(), |lap| lap.cpu_us_per_request),
                    goal: (path == Path::Refused && kind == Kind::Tollgate).then_some(0.8),
                })
                .collect(),
        }
    }

    pub(super) fn report(&self) -> io::Result<Report> {
        let machine = Machine::this();
        let lines: Vec<Line<'_>> = self
            .laps
            .iter()
            .map(|((path, kind), laps)| Line { path: path.name(), contender: kind.name(), laps })
            .collect();
        let plot = Plot {
            title: "Gateway: CPU per request beside other proxies".into(),
            subtitle: machine.to_string(),
            spread: "in every round".into(),
            panels: vec![self.panel(Path::Allowed), self.panel(Path::Refused)],
        };
        let sections = [
            Section::of("Requests that pass, to nginx without a limiter", &self.table(Path::Allowed)),
            Section::of(
                "Requests that are refused, to nginx limit_req without its log",
                &self.table(Path::Refused),
            ),
            Section::of("How it grows with connections that send all the time", &self.growth()),
            Section::of("Memory", &self.memory()),
        ];
        Ok(Report {
            broken: Vec::new(),
            name: "gateway",
            title: "The gateway beside nginx, nginx + Lua, HAProxy and Envoy".into(),
            machine,
            sections: sections.into_iter().flatten().collect(),
            reading: "Numbers are medians of the rounds. Ratios are taken within each round: their median, and in brackets the lowest and highest. CPU \
                      per request is all time that the threads of a proxy had on a processor, as the scheduler counts it; it is the column to trust, since load, \
                      proxy and server share the machine. Tails (p99) say more about the machine than about a proxy.",
            remarks: self.remarks(),
            method: vec![
                format!(
                    "{} rounds, in which every contender runs a lap of {:.0} s; the order is shifted from round to round. One worker each, \
                     `wrk` with one thread and 32 connections that are kept alive where nothing else is said, and one nginx behind all of them that answers with five bytes.",
                    self.rounds, self.seconds
                ),
                "Everything of Tollgate is on but the access log: identity, connection limit, price, check, headers, timeouts, and the node's own \
                 tasks, which are counted. nginx + Lua does the same work in shared memory: a look-up of the application, a count of connections, a lease \
                 refilled from two buckets, and the same header fields. The others look up one bucket and say nothing about it."
                    .into(),
                format!(
                    "Memory: the resident size before and after {} connections, each of which has had one request answered and stands idle.",
                    self.idle
                ),
            ],
            numbers: pretty(&lines)?,
            picture: plot.svg(),
        })
    }
}

fn spread(range: Range) -> String {
    format!("{:.2} ({:.2}-{:.2})", range.median, range.min, range.max)
}
