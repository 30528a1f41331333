//! What strangers may say to the rate limit service: it answers, and charges nobody what was refused.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use prost::Message;
use std::collections::BTreeSet;
use std::sync::Arc;
use tollgate_config::source::{Document, Format};
use tollgate_core::id::NodeId;
use tollgate_ledger::MemoryLedger;
use tollgate_node::{Node, Setup};
use tollgate_rls::Service;
use tollgate_rls::api::{Entry, RateLimitDescriptor, RateLimitRequest};
use tollgate_testkit::Fuzz;

const CONFIG: &str = "
[[rls.rules]]
domain = 'edge'
match = { tenant = '*', tier = 'gold' }
app = 'gold-{tenant}'
[[rls.rules]]
match = { internal = 'yes' }
unlimited = true
[[apps]]
id = 'app'
guaranteed_quota = 100000
burst_quota = 500000
[[apps]]
id = 'gold-a'
guaranteed_quota = 1
burst_quota = 5
";

/// A call as text, so that mutations make calls more often than not: a line for the domain, then a line for each
/// descriptor, with its entries between commas. What starts with a null byte is taken as it would come over the wire.
fn call(input: &[u8]) -> Option<RateLimitRequest> {
    if let Some((0, wire)) = input.split_first() {
        return RateLimitRequest::decode(wire).ok();
    }
    let text = String::from_utf8_lossy(input);
    let mut lines = text.lines();
    let domain = lines.next().unwrap_or_default().to_owned();
    let descriptor = |line: &str| {
        let pairs = line.split(',').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (numbers, entries): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| *key == "hits");
        let hits = numbers.first().and_then(|(_, value)| value.parse::<i64>().ok());
        let entry = |(key, value): (&str, &str)| Entry { key: key.to_owned(), value: value.to_owned() };
        RateLimitDescriptor {
            entries: entries.into_iter().map(entry).collect(),
            hits_addend: hits.map(i64::unsigned_abs),
            is_negative_hits: hits.is_some_and(i64::is_negative),
        }
    };
    let descriptors = lines.map(descriptor).collect();
    Some(RateLimitRequest { domain, descriptors, hits_addend: 0 })
}

#[test]
fn fuzz_rls_descriptors() {
    let config = Document::parse(CONFIG, Format::Toml).unwrap().read().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let service = runtime.block_on(async {
        let setup = Setup::new(NodeId::new("node-01").unwrap());
        let node = Node::start(MemoryLedger::new(), setup, &config.policy);
        Service::new(node, Arc::new(config.settings.rls.clone()))
    });
    let fuzz = Fuzz {
        target: "rls-descriptors",
        words: &[
            "app=",
            "app",
            "gold-a",
            "tenant=",
            "tier=gold",
            "internal=yes",
            "operation=PUT",
            "bytes=",
            "hits=",
            "hits=-1",
            "edge\n",
            "\n",
            ",",
            "\u{0}\n\u{4}edge\u{12}",
        ],
        mutations: 4_000,
    };
    let wanted = [
        ("Ok {1} 6 headers", 50),
        ("Ok {1} 0 headers", 100),
        ("unknown_app", 50),
        ("app_exhausted", 5),
        (" descriptors, expected", 100),
        (" entries in a descriptor, expected", 5),
        ("None", 50),
    ];
    fuzz.run_to(&wanted, |input| {
        let call = call(input)?;
        Some(match runtime.block_on(service.answer(&call)) {
            Ok(answer) => {
                assert_eq!(answer.statuses.len(), call.descriptors.len(), "an answer for each");
                let codes: BTreeSet<i32> = answer.statuses.iter().map(|status| status.code).collect();
                let told = answer.response_headers_to_add.len();
                let why =
                    answer.dynamic_metadata.as_ref().map(|fields| format!("{:?}", fields.fields["reason"]));
                format!("{:?} {codes:?} {told} headers {why:?}", answer.overall_code())
            }
            // How many there were is nothing new.
            Err(status) => status.message().chars().filter(|letter| !letter.is_ascii_digit()).collect(),
        })
    })
    .unwrap();
}
