use super::*;
use serde_json::json;
use tollgate_config::Policy;
use tollgate_core::cost::Operation;

fn desk(roster: &Arc<Roster>) -> Desk<()> {
    let policy = Policy::from_value(&json!({
        "clusters": [{"id": "c", "capacity": 100_000}],
        "apps": [{"id": "a", "guaranteed_quota": 1_000, "burst_quota": 2_000}],
    }))
    .unwrap();
    let (cluster, bell) = (ClusterId::new("c").unwrap(), Arc::new(Bell::default()));
    roster.enrol(&cluster, &policy, &bell);
    let capacity = policy.clusters()[&cluster].capacity;
    let identity = Identity { node: NodeId::new("n").unwrap(), cluster, incarnation: 1, seed: 1 };
    Desk::new(identity, Manners::default(), capacity, Arc::clone(roster), bell)
}

fn lose(desk: &mut Desk<()>, now: Nanos) {
    desk.on_wire = Some(Wire { sent: now });
    desk.failed(&LedgerError::Timeout, now);
}

/// Nothing is reported in an outage, and the word that requests are counted in has room for sixteen million.
#[test]
fn what_passes_in_a_long_outage_is_counted_and_reported() {
    const HALF: u64 = 1 << 23;
    let roster = Arc::new(Roster::default());
    let (mut desk, app) = (desk(&roster), roster.find("a"));
    let app = app.unwrap();
    let at = |second: u64| Nanos::from_secs(100 + second);
    (0..3).for_each(|_| lose(&mut desk, at(0)));
    let get = Price::named(Operation::Get, 1);
    assert!(matches!(desk.ask(&app, get, (), at(0)), Asked::Passed(..)));
    for second in 1..=5 {
        app.spent(Operation::Put).count_all((HALF, 1));
        desk.tick(at(second * 2));
    }
    let passed = 5 * HALF;
    assert_eq!(app.counts().spent[Operation::Put.index()].requests, passed);
    let entry = desk.report(at(20)).entries.remove(0);
    let put = entry.by_operation.iter().find(|used| used.operation == Operation::Put).unwrap();
    assert_eq!((put.requests, put.cost), (passed, Tokens::whole(passed)));
}
