use super::Imported;
use super::ratelimit::{Descriptor, Domain, Limit};
use std::collections::BTreeSet;
use std::fmt::Write;
use tollgate_core::cost::MAX_COST;
use tollgate_core::id::MAX_LEN;
use tollgate_core::units::{Rate, Tokens};

/// What a cluster can stand if nobody says anything.
const CAPACITY: u64 = 1_000_000;

/// What the burst allowance of an application is spread over: the longest there is, since the limit has none.
const BURST_DURATION_S: u64 = 86_400;

/// The domain as a configuration of ours.
pub(super) fn write(domain: &Domain) -> Imported {
    let mut writer = Writer { domain: &domain.name, ..Writer::default() };
    for descriptor in &domain.descriptors {
        writer.visit(descriptor, &[]);
    }
    writer.finish()
}

#[derive(Default)]
struct Writer<'a> {
    domain: &'a str,
    rules: Vec<Rule>,
    apps: String,
    names: BTreeSet<String>,
    promised: u64,
    notes: Vec<String>,
}

struct Rule {
    entries: Vec<(String, String)>,
    /// None if it limits nothing.
    app: Option<String>,
}

impl<'a> Writer<'a> {
    fn visit(&mut self, descriptor: &'a Descriptor, above: &[&'a Descriptor]) {
        let mut path = above.to_vec();
        path.push(descriptor);
        if let Some(limit) = &descriptor.limit {
            self.limit(limit, &path, descriptor.shadow);
        }
        for nested in &descriptor.descriptors {
            self.visit(nested, &path);
        }
    }

    fn limit(&mut self, limit: &Limit, path: &[&Descriptor], shadow: bool) {
        let shown = show(path);
        let Some(entries) = entries(path) else {
            self.note(&shown, "limits every value by itself, and applications are known by name: give each value that matters an application");
            return;
        };
        let (requests, seconds) = match *limit {
            Limit::None => return self.rules.push(Rule { entries, app: None }),
            Limit::Per { requests: 0, .. } => {
                return self.note(&shown, "lets nothing pass: disable the application");
            }
            Limit::Per { requests, seconds } => (requests, seconds),
        };
        // As many tokens for a request as it takes to make the rate a whole number of them per second.
        let price = seconds / gcd(requests, seconds);
        let (rate, burst) = (requests * price / seconds, requests.saturating_mul(price));
        if price > MAX_COST || rate > Rate::MAX.floor() || burst > Tokens::MAX.floor() {
            return self.note(&shown, "is too slow or too large to be said in whole tokens per second");
        }
        if price > 1 {
            self.note(
                &shown,
                &format!("is counted in tokens, {price} for a request; hits_addend is taken for tokens"),
            );
        }
        if seconds >= BURST_DURATION_S {
            self.note(
                &shown,
                "may let twice as much pass in its first days: the burst allowance is renewed daily",
            );
        }
        let app = self.name(path);
        self.promised = self.promised.saturating_add(rate);
        self.app(&app, rate, burst, price, shadow);
        self.rules.push(Rule { entries, app: Some(app) });
    }

    fn app(&mut self, id: &str, rate: u64, burst: u64, price: u64, shadow: bool) {
        let out = &mut self.apps;
        let _ = write!(
            out,
            "\n[[apps]]\nid = {id:?}\nguaranteed_quota = {rate}\nburst_quota = {burst}\nborrow = false\n"
        );
        if burst > rate {
            let _ = writeln!(out, "burst_duration_s = {BURST_DURATION_S}");
        }
        if shadow {
            let _ = writeln!(out, "shadow = true");
        }
        if price > 1 {
            let _ = write!(out, "\n[apps.cost]\nbase = {{ GET = {price} }}\n");
        }
    }

    /// A name that nobody has yet.
    fn name(&mut self, path: &[&Descriptor]) -> String {
        let words: Vec<&str> =
            std::iter::once(self.domain).chain(path.iter().filter_map(|one| one.value.as_deref())).collect();
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let full: String = words.join("-").chars().map(plain).take(MAX_LEN - 8).collect();
        let mut name = full.clone();
        for number in 2.. {
            if self.names.insert(name.clone()) {
                break;
            }
            name = format!("{full}-{number}");
        }
        name
    }

    fn note(&mut self, shown: &str, text: &str) {
        self.notes.push(format!("{shown} {text}"));
    }

    fn finish(mut self) -> Imported {
        // The more is known of a descriptor, the earlier its rule is asked.
        self.rules.sort_by_key(|rule| std::cmp::Reverse(rule.entries.len()));
        let mut toml =
            format!("# Limits of the domain {}, which were those of envoyproxy/ratelimit.\n", self.domain);
        for note in &self.notes {
            let _ = writeln!(toml, "# note: {note}");
        }
        for rule in &self.rules {
            let entries: Vec<String> = rule
                .entries
                .iter()
                .map(|(key, value)| format!("{} = {}", bare(key), quoted(value)))
                .collect();
            let _ = write!(
                toml,
                "\n[[rls.rules]]\ndomain = {}\nmatch = {{ {} }}\n",
                quoted(self.domain),
                entries.join(", ")
            );
            let _ = match &rule.app {
                Some(app) => writeln!(toml, "app = {app:?}"),
                None => writeln!(toml, "unlimited = true"),
            };
        }
        let capacity = CAPACITY.max(self.promised.saturating_mul(10).div_ceil(9));
        let _ = write!(toml, "\n[[clusters]]\nid = \"cluster-01\"\ncapacity = {capacity}\n{}", self.apps);
        Imported { toml, notes: self.notes }
    }
}

/// What a descriptor must have; `None` if any value of some key has a limit of its own.
fn entries(path: &[&Descriptor]) -> Option<Vec<(String, String)>> {
    let entry = |one: &&Descriptor| {
        let value = one.value.clone().filter(|value| !value.ends_with('*'))?;
        Some((one.key.clone(), value))
    };
    path.iter().map(entry).collect()
}

fn show(path: &[&Descriptor]) -> String {
    let entry = |one: &&Descriptor| format!("{}={}", one.key, one.value.as_deref().unwrap_or("(any)"));
    path.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// The greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A key as TOML has it.
fn bare(key: &str) -> String {
    let is_bare = key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
    if is_bare { key.to_owned() } else { quoted(key) }
}
