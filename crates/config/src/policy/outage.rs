use crate::error::Problem;
use crate::reader::Table;
use serde_json::{Map, Value, json};
use tollgate_core::fallback::Outage;
use tollgate_core::units::Rate;

/// `outage = "..."`
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Limited,
    Closed,
}

impl Mode {
    fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "limited" => Ok(Self::Limited),
            "closed" => Ok(Self::Closed),
            _ => Err(Problem::Malformed("unknown word")),
        }
    }
}

/// Reads what passes of an application while its ledger is out of reach.
pub(super) fn read(table: &mut Table<'_>) -> Option<Outage> {
    let mode = table.field("outage").text("\"limited\" or \"closed\"", Mode::parse).or(Mode::Limited);
    let tokens = table.field("fail_open_tokens").whole(1..=Rate::MAX.floor()).map(Rate::per_second);
    let tokens = tokens.map(Outage::Limited).or(Outage::default());
    let share = table.field("fallback_ratio").ratio(0.0..=1.0).map(|share| Some(Outage::Share(share)));
    let share = share.or(None);
    match mode? {
        Mode::Closed => {
            report_unused(table, "outage is \"closed\"", &["fail_open_tokens", "fallback_ratio"]);
            Some(Outage::Closed)
        }
        Mode::Limited if table.has("fail_open_tokens") && table.has("fallback_ratio") => {
            report_unused(table, "fail_open_tokens is given", &["fallback_ratio"]);
            None
        }
        Mode::Limited => share?.or(tokens),
    }
}

/// Writes it as it is read.
pub(super) fn write(outage: Outage, map: &mut Map<String, Value>) {
    let mode = if outage == Outage::Closed { "closed" } else { "limited" };
    map.insert("outage".into(), json!(mode));
    match outage {
        Outage::Limited(rate) => map.insert("fail_open_tokens".into(), json!(rate.floor())),
        Outage::Share(share) => map.insert("fallback_ratio".into(), json!(share.as_f64())),
        Outage::Closed => None,
    };
}

fn report_unused(table: &Table<'_>, why: &str, keys: &[&str]) {
    for key in keys.iter().filter(|key| table.has(key)) {
        table.fault(key, Problem::Conflict(format!("has no meaning where {why}")), "no such key");
    }
}
