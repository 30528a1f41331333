//! Stories as people write them: a line for each thing, read word by word.

mod app;
mod fault;
mod load;
mod words;

pub use words::ScenarioError;

use super::{Expectation, Load, Measure, Network, Planned, Scenario, Service, Spread};
use crate::chance::nanos;
use app::Apps;
use serde_json::{Value, json};
use tollgate_config::Policy;
use tollgate_core::units::{Millis, Nanos, Tokens};
use tollgate_node::desk::Manners;
use words::Words;

/// The most nodes in a story.
const MAX_NODES: u64 = 10_000;

/// The longest story.
const MAX_DURATION: f64 = 86_400.0;

/// The longest text of a story.
const MAX_BYTES: usize = 1 << 20;

/// A story half read: names are not resolved yet.
struct Draft<'a> {
    nodes: usize,
    duration: Nanos,
    measured_from: Nanos,
    manners: Manners,
    network: Network,
    service: Service,
    clusters: Vec<Value>,
    apps: Apps,
    later: Vec<Words<'a>>,
    random_faults: usize,
}

/// Reads a story.
pub(super) fn read(name: &str, text: &str) -> Result<Scenario, ScenarioError> {
    if text.len() > MAX_BYTES {
        return Err(ScenarioError::new(
            1,
            format!("{} bytes long, at most {MAX_BYTES} are read", text.len()),
        ));
    }
    let mut draft = Draft {
        nodes: 1,
        duration: Nanos::from_secs(60),
        measured_from: Nanos::ZERO,
        manners: Manners::default(),
        network: Network::default(),
        service: Service::default(),
        clusters: Vec::new(),
        apps: Apps::default(),
        later: Vec::new(),
        random_faults: 0,
    };
    for words in Words::lines(text) {
        draft.line(words)?;
    }
    draft.finish(name, about(text))
}

/// The comment that a story begins with.
fn about(text: &str) -> String {
    let comment = text.lines().map_while(|line| line.trim().strip_prefix('#'));
    comment.map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
}

impl<'a> Draft<'a> {
    fn line(&mut self, mut words: Words<'a>) -> Result<(), ScenarioError> {
        match words.next("what the line is about")? {
            "nodes" => self.nodes = words.count(1, MAX_NODES)?,
            "run" => self.duration = words.time(MAX_DURATION)?,
            "measure" => {
                words.expect("from")?;
                self.measured_from = words.time(MAX_DURATION)?;
            }
            "sync" => {
                words.expect("every")?;
                self.manners.sync_interval = millis(words.time(60.0)?);
                if words.takes("holding") {
                    self.manners.reserve_target = Tokens::whole(words.number(1, 4_000_000_000)?);
                }
            }
            "network" => self.network = network(&mut words)?,
            "store" => self.service = service(&mut words)?,
            "cluster" => self.cluster(&mut words)?,
            "app" => self.apps.one(&mut words)?,
            "apps" => self.apps.many(&mut words)?,
            "faults" => {
                words.expect("mixed")?;
                self.random_faults = if words.is_over() { 6 } else { words.count(0, 1_000)? };
            }
            "load" | "at" | "expect" => {
                // They name applications, which may stand further down.
                words.back();
                self.later.push(words);
                return Ok(());
            }
            other => {
                return Err(words.wrong(
                    other,
                    "nodes, run, measure, sync, network, store, cluster, app, apps, load, at, faults or expect",
                ));
            }
        }
        words.end()
    }

    fn cluster(&mut self, words: &mut Words<'_>) -> Result<(), ScenarioError> {
        let id = words.next("the name of a cluster")?;
        words.expect("capacity")?;
        let capacity: u64 = words.number(1, 1_000_000_000)?;
        let mut cluster = json!({ "id": id, "capacity": capacity });
        while let Some(word) = words.peek() {
            words.expect(word)?;
            let key = match word {
                "reserved" => "reserved_ratio",
                "depth" => "burst_ratio",
                "emergency" => "emergency_threshold",
                other => return Err(words.wrong(other, "reserved, depth or emergency, with a percentage")),
            };
            cluster[key] = json!(words.share(10.0)?);
        }
        self.clusters.push(cluster);
        Ok(())
    }

    fn finish(self, name: &str, about: String) -> Result<Scenario, ScenarioError> {
        let mut value = json!({ "apps": self.apps.values() });
        if !self.clusters.is_empty() {
            value["clusters"] = Value::Array(self.clusters);
        }
        let policy = Policy::from_value(&value).map_err(|errors| ScenarioError::whole(errors.to_string()))?;
        let mut scenario = Scenario {
            name: name.to_owned(),
            about,
            nodes: self.nodes,
            duration: self.duration,
            measured_from: self.measured_from,
            policy,
            manners: self.manners,
            network: self.network,
            service: self.service,
            loads: Vec::new(),
            faults: Vec::new(),
            random_faults: self.random_faults,
            expectations: Vec::new(),
        };
        for mut words in self.later {
            match words.next("load, at or expect")? {
                "load" => scenario.loads.push(Load::read(&mut words, &scenario)?),
                "at" => scenario.faults.push(Planned::read(&mut words, &scenario)?),
                _ => scenario.expectations.push(Expectation::read(&mut words, &scenario)?),
            }
            words.end()?;
        }
        Ok(scenario)
    }
}

impl Expectation {
    fn read(words: &mut Words<'_>, scenario: &Scenario) -> Result<Self, ScenarioError> {
        let name = words.next("a measure")?;
        let is_none = name == "no";
        let name = if is_none { words.next("a measure")? } else { name };
        let names = Measure::ALL.map(Measure::name).join(", ");
        let measure = Measure::ALL.into_iter().find(|measure| measure.name() == name);
        let measure = measure.ok_or_else(|| words.wrong(name, &names))?;
        let app = if words.takes("of") { Some(app::named(words, scenario)?) } else { None };
        if is_none {
            return Ok(Self { measure, app, bound: 0.0, is_least: false });
        }
        words.expect("at")?;
        let is_least = match words.next("most or least")? {
            "most" => false,
            "least" => true,
            other => return Err(words.wrong(other, "most or least")),
        };
        let bound = match measure {
            Measure::OverAdmission | Measure::Convergence => {
                crate::chance::seconds(words.time(MAX_DURATION)?)
            }
            Measure::Utilisation => words.share(10.0)?,
            Measure::Fairness => words.decimal(0.0, 1.0)?,
            Measure::Refusals => words.decimal(0.0, 1e12)?,
            Measure::Calls => {
                let bound = words.decimal(0.0, 1e6)?;
                for word in ["per", "1000", "requests"] {
                    words.expect(word)?;
                }
                bound
            }
        };
        Ok(Self { measure, app, bound, is_least })
    }
}

fn network(words: &mut Words<'_>) -> Result<Network, ScenarioError> {
    let mut network = Network::default();
    while let Some(word) = words.peek() {
        words.expect(word)?;
        match word {
            "latency" => network.latency = words.time(60.0)?,
            "tail" => network.tail = words.time(60.0)?,
            "spread" => network.spread = spread(words)?,
            "loss" => network.loss = words.share(1.0)?,
            "duplicates" => network.duplicates = words.share(1.0)?,
            "reorder" => network.reorder = words.share(1.0)?,
            other => return Err(words.wrong(other, "latency, tail, spread, loss, duplicates or reorder")),
        }
    }
    Ok(network)
}

fn spread(words: &mut Words<'_>) -> Result<Spread, ScenarioError> {
    let word = words.peek().unwrap_or_default();
    let spread = match word {
        "usual" => Spread::Usual,
        "even" => Spread::Even,
        "heavy" => Spread::Heavy,
        other => return Err(words.wrong(other, "usual, even or heavy")),
    };
    words.expect(word)?;
    Ok(spread)
}

fn service(words: &mut Words<'_>) -> Result<Service, ScenarioError> {
    words.expect("takes")?;
    let call = words.time(1.0)?;
    words.expect("and")?;
    let entry = words.time(1.0)?;
    words.expect("per")?;
    words.expect("app")?;
    Ok(Service { call, entry })
}

const fn millis(time: Nanos) -> Millis {
    Millis::new(time.get() / 1_000_000)
}

/// The time of a text such as `1.5s`, in seconds.
fn parse_time(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 5] = [("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1.0), ("m", 60.0)];
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    number.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number * unit)
}

impl Words<'_> {
    /// A time such as `1.5s`.
    fn time(&mut self, most: f64) -> Result<Nanos, ScenarioError> {
        let word = self.next("a time such as 250ms or 1.5s")?;
        let time = parse_time(word).filter(|time| *time <= most);
        time.map(nanos)
            .ok_or_else(|| self.wrong(word, &format!("a time such as 250ms or 1.5s, at most {most}s")))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::scenario::Fault;

    fn story(lines: &str) -> Result<Scenario, ScenarioError> {
        let text = format!("nodes 9\ncluster main capacity 1000\napp a guaranteed 10 burst 20\n{lines}\n");
        Scenario::parse("test", &text)
    }

    #[test]
    fn the_network_is_read_word_by_word() {
        let network = story("network latency 2ms tail 1ms spread heavy loss 1% duplicates 5% reorder 0.5%")
            .unwrap()
            .network;
        let (latency, tail, spread) = (Nanos::new(2_000_000), Nanos::new(1_000_000), Spread::Heavy);
        assert_eq!(story("network spread wide").unwrap_err().line, 4);
        assert_eq!(network, Network { latency, tail, spread, loss: 0.01, duplicates: 0.05, reorder: 0.005 });
        assert_eq!(story("network jitter 5ms").unwrap_err().line, 4);
    }

    /// What a report says of a fault can be written in a story.
    #[test]
    fn faults_are_told_as_they_are_written() {
        let lines = [
            "at 1s crash 3 nodes for 2s",
            "at 1s restart 1 node for 2s",
            "at 1s partition 50% of the nodes one way in for 2s",
            "at 1s wipe the store",
            "at 1s fail over the store losing 0.5s down for 2s",
            "at 1s stop the store for 2s",
            "at 1s slow the store by 0.25s for 2s",
            "at 1s lose 25% of messages for 2s",
            "at 1s duplicate 25% of messages for 2s",
            "at 1s reorder 25% of messages for 2s",
            "at 1s set the clock back 1500ms",
            "at 1s declare an emergency for 2s",
            "at 1s end the emergency",
        ];
        for line in lines {
            assert_eq!(story(line).unwrap().faults[0].to_string(), line);
        }
        assert_eq!(story("at 1s switch a off").unwrap().faults[0].fault, Fault::Switch(0, false));
        assert!(story("at 1s reorder 5% of nodes for 1s").is_err());
    }
}
