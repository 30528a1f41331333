//! `[cost]`, for all applications or for one: only what differs from what it inherits.

use crate::error::Problem;
use crate::path;
use crate::reader::Table;
use serde_json::{Map, Value, json};
use std::num::NonZeroU64;
use tollgate_core::cost::{MAX_COST, Operation, PriceList};

/// Reads what differs from `inherited`.
pub(super) fn read(mut table: Table<'_>, inherited: PriceList) -> Option<PriceList> {
    let quantum = table.field("quantum_bytes").whole(1..=u64::MAX).or(inherited.quantum().get());
    let coefficient = table.field("bandwidth_coefficient").ratio(0.0..=100.0).or(inherited.coefficient());
    let base = read_base(&table.table("base"));
    table.finish();
    let list = PriceList::new(NonZeroU64::new(quantum?)?, coefficient?);
    let list = Operation::ALL.into_iter().fold(list, |list, o| list.with_base(o, inherited.base(o)));
    Some(base?.into_iter().fold(list, |list, (operation, base)| list.with_base(operation, base)))
}

/// Every key is an operation, in any case.
fn read_base(table: &Table<'_>) -> Option<Vec<(Operation, u64)>> {
    let mut first: [Option<&str>; Operation::COUNT] = [None; Operation::COUNT];
    let mut bases = Some(Vec::new());
    for (key, field) in table.entries() {
        match read_operation(table, key, &mut first).zip(field.whole(0..=MAX_COST).right()) {
            Some(base) => bases.as_mut().into_iter().for_each(|bases| bases.push(base)),
            None => bases = None,
        }
    }
    bases
}

/// The operation that a key names, unless it was named before.
fn read_operation<'a>(
    table: &Table<'_>,
    key: &'a str,
    first: &mut [Option<&'a str>; Operation::COUNT],
) -> Option<Operation> {
    let Some(operation) = Operation::named(key) else {
        table.unknown(key, &Operation::ALL.map(Operation::name));
        return None;
    };
    if let Some(first) = first[operation.index()].replace(key) {
        let first = path::join(table.path(), first);
        table.fault(key, Problem::Duplicate { first }, "each operation once");
        return None;
    }
    Some(operation)
}

/// What differs from `inherited`, or everything if nothing is; [`read`] makes the same list of it.
pub(super) fn to_map(prices: &PriceList, inherited: Option<&PriceList>) -> Map<String, Value> {
    let mut map = Map::new();
    if inherited.is_none_or(|inherited| inherited.quantum() != prices.quantum()) {
        map.insert("quantum_bytes".into(), json!(prices.quantum().get()));
    }
    if inherited.is_none_or(|inherited| inherited.coefficient() != prices.coefficient()) {
        map.insert("bandwidth_coefficient".into(), json!(prices.coefficient().as_f64()));
    }
    let differs = |o: &Operation| inherited.is_none_or(|inherited| inherited.base(*o) != prices.base(*o));
    let base = Operation::ALL.into_iter().filter(differs);
    let base: Map<String, Value> = base.map(|o| (o.name().to_owned(), json!(prices.base(o)))).collect();
    if !base.is_empty() {
        map.insert("base".into(), Value::Object(base));
    }
    map
}
