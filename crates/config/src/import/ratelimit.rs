//! The configuration of envoyproxy/ratelimit, as written.

use crate::error::Problem;
use crate::reader::{Reading, Table};

/// The most descriptors beside each other.
const MAX_DESCRIPTORS: usize = 10_000;

/// How deep descriptors may lie within each other.
const MAX_DEPTH: usize = 8;

/// One domain.
pub(super) struct Domain {
    pub(super) name: String,
    pub(super) descriptors: Vec<Descriptor>,
}

/// An entry that a descriptor may have, and what holds for those that have it.
pub(super) struct Descriptor {
    pub(super) key: String,
    /// None for any value, each of which has a limit of its own.
    pub(super) value: Option<String>,
    pub(super) limit: Option<Limit>,
    pub(super) shadow: bool,
    pub(super) descriptors: Vec<Descriptor>,
}

pub(super) enum Limit {
    None,
    Per { requests: u64, seconds: u64 },
}

impl Domain {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let name = table.required("domain").text("the name of a domain", text).right();
        let descriptors = read_all(&mut table, MAX_DEPTH);
        table.finish();
        Some(Self { name: name?, descriptors: descriptors? })
    }
}

impl Descriptor {
    fn read(mut table: Table<'_>, depth: usize) -> Option<Self> {
        let key = table.required("key").text("the key of an entry", text).right();
        let value = table.field("value").text("the value of an entry", text).map(Some).or(None);
        let shadow = table.field("shadow_mode").flag().or(false);
        // Only about metrics: read so that they are no surprise.
        for about_metrics in ["detailed_metric", "value_to_metric", "share_threshold"] {
            table.field(about_metrics).flag();
        }
        let limit = Limit::read(&mut table);
        let descriptors = read_all(&mut table, depth);
        table.finish();
        let limit = limit.map(Some).or(None);
        Some(Self { key: key?, value: value?, limit: limit?, shadow: shadow?, descriptors: descriptors? })
    }
}

impl Limit {
    fn read(table: &mut Table<'_>) -> Reading<Self> {
        let Reading::Right(mut limit) = table.field("rate_limit").table() else { return Reading::Absent };
        limit.field("name").text("a name", text);
        limit.field("replaces").tables(MAX_DESCRIPTORS);
        if limit.field("unlimited").flag().or(false) == Some(true) {
            limit.finish();
            return Reading::Right(Self::None);
        }
        let unit = limit.required("unit").text(UNITS, seconds);
        let requests = limit.required("requests_per_unit").whole(0..=u64::from(u32::MAX));
        limit.finish();
        match requests.right().zip(unit.right()) {
            Some((requests, seconds)) => Reading::Right(Self::Per { requests, seconds }),
            None => Reading::Wrong,
        }
    }
}

const UNITS: &str = "second, minute, hour, day, week, month or year";

fn seconds(unit: &str) -> Result<u64, Problem> {
    let day = 86_400;
    match unit.to_ascii_lowercase().as_str() {
        "second" => Ok(1),
        "minute" => Ok(60),
        "hour" => Ok(3_600),
        "day" => Ok(day),
        "week" => Ok(7 * day),
        "month" => Ok(30 * day),
        "year" => Ok(365 * day),
        _ => Err(Problem::Malformed("unknown unit")),
    }
}

fn read_all(table: &mut Table<'_>, depth: usize) -> Option<Vec<Descriptor>> {
    let Some(deeper) = depth.checked_sub(1) else {
        let problem = Problem::TooLarge("nested too deep");
        table.fault("descriptors", problem, format!("at most {MAX_DEPTH} within each other"));
        return None;
    };
    let tables = table.field("descriptors").tables(MAX_DESCRIPTORS).or(Vec::new())?;
    let read: Vec<Option<Descriptor>> =
        tables.into_iter().map(|table| Descriptor::read(table, deeper)).collect();
    read.into_iter().collect()
}

fn text(text: &str) -> Result<String, Problem> {
    if text.is_empty() || text.len() > 256 || text.contains(char::is_control) {
        return Err(Problem::Malformed("not a short text"));
    }
    Ok(text.to_owned())
}
