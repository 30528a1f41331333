use super::*;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;
use tollgate_core::cost::Operation::{Delete, Get, Put};
use tollgate_core::fallback::Outage;
use tollgate_core::units::{Rate, Ratio, Tokens};

fn ratio(from: u32, to: u32) -> impl Strategy<Value = f64> {
    (from..=to).prop_map(|parts| Ratio::from_parts(parts).as_f64())
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][A-Za-z0-9_-]{0,12}"
}

fn cost() -> impl Strategy<Value = Value> {
    let base = btree_map(prop::sample::select(vec!["GET", "PUT", "list", "OTHER"]), 0..=1_000_000u64, 0..3);
    (1..=u64::MAX, ratio(0, 1_000_000), base).prop_map(|(quantum, coefficient, base)| {
        json!({"quantum_bytes": quantum, "bandwidth_coefficient": coefficient, "base": base})
    })
}

fn outage() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"outage": "closed"})),
        Just(json!({})),
        (1..=1_000_000_000u64).prop_map(|tokens| json!({"outage": "limited", "fail_open_tokens": tokens})),
        ratio(0, 10_000).prop_map(|share| json!({"fallback_ratio": share})),
    ]
}

fn cluster() -> impl Strategy<Value = Value> {
    (500_000_000..=1_000_000_000u64, ratio(0, 10_000), ratio(10_000, 20_000), ratio(1, 10_000), 1..=u32::MAX)
        .prop_map(|(capacity, reserved, burst, emergency, connections)| {
            json!({
                "capacity": capacity, "reserved_ratio": reserved, "burst_ratio": burst,
                "emergency_threshold": emergency, "max_connections": connections,
            })
        })
}

fn app() -> impl Strategy<Value = Value> {
    let quota = (1..=1_000_000u64, 0..=1_000_000u64, 1..=86_400u64, 0..=3u8);
    let loan = (0..=4_000_000_000u64, any::<bool>(), ratio(0, 10_000));
    let switches = any::<[bool; 3]>();
    let connections = (1..=1_000_000u32, 0..=1_000_000u32);
    (quota, loan, switches, connections, prop::option::of(cost()), outage()).prop_map(
        |((guaranteed, extra, window, priority), loan, switches, (max, more), cost, outage)| {
            let app = json!({
                "guaranteed_quota": guaranteed, "burst_quota": guaranteed + extra, "burst_duration_s": window,
                "priority": priority, "max_borrow": loan.0, "borrow": loan.1, "repay_share": loan.2,
                "enabled": switches[0], "shadow": switches[1], "charge_response": switches[2],
                "max_connections": max, "burst_connections": max + more, "cost": cost,
            });
            merged(app, outage)
        },
    )
}

fn merged(mut table: Value, more: Value) -> Value {
    if let (Some(table), Value::Object(more)) = (table.as_object_mut(), more) {
        table.extend(more);
    }
    table
}

/// A tree from which a policy can be read.
fn written() -> impl Strategy<Value = Value> {
    let clusters = btree_map(name(), cluster(), 1..4);
    let apps = btree_map(name(), (app(), any::<prop::sample::Index>()), 0..8);
    (clusters, apps, prop::option::of(cost())).prop_map(|(clusters, apps, cost)| {
        let names: Vec<&String> = clusters.keys().collect();
        let apps: Value = apps
            .into_iter()
            .map(|(id, (app, cluster))| merged(app, json!({"id": id, "cluster": cluster.get(&names)})))
            .collect();
        let clusters: Value =
            clusters.iter().map(|(id, cluster)| merged(cluster.clone(), json!({"id": id}))).collect();
        json!({"clusters": clusters, "apps": apps, "cost": cost})
    })
}

/// Any policy.
pub(crate) fn any_policy() -> impl Strategy<Value = Policy> {
    written().prop_map(|tree| Policy::from_value(&tree).unwrap())
}

/// A tree of anything, with many of the keys that mean something.
fn garbage() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        prop::sample::select(vec![
            "clusters",
            "apps",
            "cost",
            "base",
            "id",
            "cluster",
            "guaranteed_quota",
            "burst_quota",
            "priority",
            "capacity",
            "outage",
            "GET",
            "get",
            "max_connections",
            "burst_connections",
            "fallback_ratio",
        ])
        .prop_map(String::from),
        ".{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0..5u64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(key.clone(), inner, 0..8).prop_map(|table| table.into_iter().collect()),
        ]
    })
}

fn paths(tree: &Value) -> Vec<String> {
    match Policy::from_value(tree) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(|error| error.path.clone()).collect(),
    }
}

fn one_app(extra: Value) -> Value {
    let app = json!({"id": "a", "guaranteed_quota": 10, "burst_quota": 20});
    json!({"apps": [merged(app, extra)]})
}

#[test]
fn silence_means_the_defaults() {
    assert_eq!(Policy::from_value(&json!({})).unwrap(), Policy::default());
    assert_eq!(Policy::from_value(&json!({"clusters": [], "apps": null})).unwrap(), Policy::default());
    let policy = Policy::from_value(&one_app(json!({}))).unwrap();
    let app = &policy.apps()["a"];
    assert_eq!(&*app.cluster, DEFAULT_CLUSTER);
    assert_eq!(app.quota.loan.limit, Tokens::whole(10_000));
    assert_eq!(app.quota.priority.number(), 2);
    assert_eq!((app.connections.max, app.connections.burst), (1_000, 1_000));
    assert_eq!(app.outage, Outage::Limited(Rate::per_second(100)));
    assert!(app.enabled && !app.shadow && !app.charge_response);
    assert_eq!(policy.clusters()[DEFAULT_CLUSTER], Cluster::default());
}

#[test]
fn an_application_inherits_the_prices() {
    let tree = json!({
        "cost": {"quantum_bytes": 1_024, "base": {"get": 2, "PUT": 7}},
        "apps": [{"id": "a", "guaranteed_quota": 1, "burst_quota": 1, "cost": {"base": {"PUT": 9}}}],
    });
    let policy = Policy::from_value(&tree).unwrap();
    let prices = policy.apps()["a"].prices;
    assert_eq!((prices.base(Get), prices.base(Put), prices.base(Delete)), (2, 9, 2));
    assert_eq!(prices.quantum().get(), 1_024);
}

#[test]
fn prices_name_known_operations_once() {
    let errors = |base: Value| paths(&json!({"cost": {"base": base}}));
    assert_eq!(errors(json!({"FETCH": 1})), ["cost.base.FETCH"]);
    assert_eq!(errors(json!({"GET": 1, "get": 2})), ["cost.base.get"]);
    assert_eq!(errors(json!({"GET": 1_000_001, "PUT": -1, "LIST": 0.5, "COPY": null})).len(), 4);
    assert_eq!(paths(&json!({"cost": {"bandwidth_coefficient": "NaN"}})), ["cost.bandwidth_coefficient"]);
    assert_eq!(paths(&json!({"cost": {"bandwidth_coefficient": -0.5}})), ["cost.bandwidth_coefficient"]);
    assert_eq!(paths(&json!({"cost": {"quantum_bytes": 0}})), ["cost.quantum_bytes"]);
}

#[test]
fn an_outage_has_one_policy() {
    assert_eq!(paths(&one_app(json!({"outage": "open"}))), ["apps[0].outage"]);
    assert_eq!(
        paths(&one_app(json!({"fail_open_tokens": 1, "fallback_ratio": 0.5}))),
        ["apps[0].fallback_ratio"]
    );
    assert_eq!(
        paths(&one_app(json!({"outage": "closed", "fail_open_tokens": 1}))),
        ["apps[0].fail_open_tokens"]
    );
}

#[test]
fn a_cluster_must_be_known_and_may_be_left_out_only_if_it_is_the_only_one() {
    let app = json!({"id": "a", "guaranteed_quota": 1, "burst_quota": 1});
    let tree = |clusters: Value, app: Value| json!({"clusters": clusters, "apps": [app]});
    let two = json!([{"id": "x"}, {"id": "y"}]);
    assert_eq!(paths(&tree(json!([{"id": "x"}]), app.clone())), [""; 0]);
    assert_eq!(paths(&tree(two.clone(), app.clone())), ["apps[0].cluster"]);
    assert_eq!(paths(&tree(two, merged(app.clone(), json!({"cluster": "z"})))), ["apps[0].cluster"]);
    // A cluster without a name may be the one that is meant: one mistake, one error.
    let unnamed = json!([{"id": "x"}, {}]);
    assert_eq!(paths(&tree(unnamed, merged(app.clone(), json!({"cluster": "z"})))), ["clusters[1].id"]);
    assert_eq!(paths(&tree(json!("x"), app)), ["clusters"]);
}

#[test]
fn a_wrong_limit_is_not_compared() {
    assert_eq!(paths(&one_app(json!({"max_connections": 2_000}))), [""; 0]);
    assert_eq!(paths(&one_app(json!({"burst_connections": 5}))), ["apps[0].burst_connections"]);
    assert_eq!(
        paths(&one_app(json!({"max_connections": 0, "burst_connections": 5}))),
        ["apps[0].max_connections"]
    );
}

#[test]
fn nothing_saturates_in_silence() {
    assert_eq!(paths(&one_app(json!({"burst_quota": 4_000_000_000u64}))), [""; 0]);
    assert_eq!(paths(&one_app(json!({"burst_quota": 4_000_000_001u64}))), ["apps[0].burst_quota"]);
    assert_eq!(paths(&one_app(json!({"guaranteed_quota": 1_000_000_001u64}))), ["apps[0].guaranteed_quota"]);
    assert_eq!(
        paths(&json!({"clusters": [{"id": "x", "capacity": 1_000_000_001u64}]})),
        ["clusters[0].capacity"]
    );
    assert_eq!(paths(&one_app(json!({"repay_share": 0.12345}))), ["apps[0].repay_share"]);
}

#[test]
fn too_many_and_too_deep_are_refused() {
    let apps: Value = (0..=MAX_APPS).map(|_| json!({})).collect();
    let errors = Policy::from_value(&json!({"apps": apps})).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "apps: too many (got a list of 100001, expected a list of at most 100000 tables)"
    );
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let errors = Policy::from_value(&json!({"apps": deep})).unwrap_err();
    assert!(errors.to_string().starts_with("nested too deep (expected at most 16"), "{errors}");
}

/// Takes an application apart at one place.
type Fault = (&'static str, &'static str, fn(usize) -> Value);

/// Independent faults: the key that is set, where the error is expected, and the value.
const FAULTS: [Fault; 10] = [
    ("id", "id", |_| json!("no good")),
    ("cluster", "cluster", |_| json!("nowhere")),
    ("guaranteed_quota", "guaranteed_quota", |_| json!(0)),
    ("burst_quota", "burst_quota", |_| json!(9)),
    ("burst_quota", "burst_quota", |_| Value::Null),
    ("priority", "priority", |i| json!(4 + i)),
    ("priority", "priority", |_| json!(-1)),
    ("repay_share", "repay_share", |_| json!(1.5)),
    ("enabled", "enabled", |_| json!("yes")),
    ("colour", "colour", |i| json!(i)),
];

proptest! {
    #[test]
    fn p11_accepts_exactly_what_fits(
        capacity in 1..2_000u64,
        apps in vec((0..400u64, 0..500u64, 0..6u64), 0..6),
    ) {
        let written: Value = apps.iter().enumerate().map(|(i, (guaranteed, burst, priority))| json!({
            "id": format!("app-{i}"), "guaranteed_quota": guaranteed, "burst_quota": burst, "priority": priority,
        })).collect();
        let sum: u64 = apps.iter().map(|app| app.0).sum();
        let fits = sum * 10 <= capacity * 9
            && apps.iter().all(|&(guaranteed, burst, priority)| guaranteed > 0 && burst >= guaranteed && priority <= 3);
        let tree = json!({"clusters": [{"id": "c", "capacity": capacity}], "apps": written});
        prop_assert_eq!(Policy::from_value(&tree).is_ok(), fits);
    }

    #[test]
    fn p11_ninety_percent_and_not_one_more(capacity in 10..=1_000_000_000u64, parts in 1..5u64) {
        let most = capacity * 9 / 10;
        let tree = |sum: u64| {
            let apps: Value = (0..parts).map(|i| {
                let share = sum / parts + if i == 0 { sum % parts } else { 0 };
                json!({"id": format!("app-{i}"), "guaranteed_quota": share, "burst_quota": share})
            }).collect();
            json!({"clusters": [{"id": "c", "capacity": capacity}], "apps": apps})
        };
        prop_assert_eq!(paths(&tree(most)), Vec::<String>::new());
        prop_assert_eq!(paths(&tree(most + 1)), vec!["clusters[0].capacity"]);
    }

    #[test]
    fn p11_every_fault_is_reported_where_it_is(
        faults in vec(prop::option::of(0..FAULTS.len()), 1..20),
        is_overcommitted in any::<bool>(),
    ) {
        let mut expected: Vec<String> = Vec::new();
        let mut apps: Vec<Value> = Vec::new();
        for (i, fault) in faults.iter().enumerate() {
            let app = json!({"id": format!("app-{i}"), "guaranteed_quota": 10, "burst_quota": 20});
            apps.push(match fault.map(|fault| FAULTS[fault]) {
                Some((key, at, value)) => {
                    expected.push(format!("apps[{i}].{at}"));
                    merged(app, json!({key: value(i)}))
                }
                None => app,
            });
        }
        if is_overcommitted {
            apps.push(json!({"id": "greedy", "guaranteed_quota": 950_000, "burst_quota": 950_000}));
            expected.push("clusters[0].capacity".into());
        }
        let mut found = paths(&json!({"apps": apps}));
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn p11_a_name_is_used_once(copies in 1..6usize) {
        let apps: Value = (0..=copies)
            .map(|_| json!({"id": "a", "guaranteed_quota": 900_000, "burst_quota": 900_000}))
            .collect();
        let expected: Vec<String> = (1..=copies).map(|i| format!("apps[{i}].id")).collect();
        prop_assert_eq!(paths(&json!({"apps": apps})), expected);
    }

    #[test]
    fn p11_no_tree_breaks_the_reader(tree in garbage()) {
        if let Ok(policy) = Policy::from_value(&tree) {
            prop_assert_eq!(Policy::from_value(&policy.to_value()), Ok(policy));
        }
        let _ = crate::source::Document::from(tree).read();
    }

    #[test]
    fn what_a_ledger_keeps_is_read_back(policy in any_policy()) {
        for app in policy.apps().values() {
            let read = App::with_treatment(app.cluster.clone(), app.quota, app.enabled, &app.treatment());
            prop_assert_eq!(read.as_ref(), Ok(app));
        }
    }

    #[test]
    fn what_is_written_is_read_back(policy in any_policy()) {
        prop_assert_eq!(Policy::from_value(&policy.to_value()), Ok(policy));
    }

    #[test]
    fn what_is_read_keeps_its_promises(policy in any_policy()) {
        for (id, cluster) in policy.clusters() {
            prop_assert!(policy.promised(id) * 10 <= cluster.capacity.rate.floor() * 9);
        }
        for app in policy.apps().values() {
            prop_assert!(policy.clusters().contains_key(&app.cluster));
            prop_assert!(app.quota.burst >= app.quota.guaranteed.per_one_second());
        }
    }
}

#[test]
fn a_ledger_may_keep_more_or_nothing_but_not_nonsense() {
    let tree = json!({"apps": [{"id": "a", "guaranteed_quota": 5, "burst_quota": 9}]});
    let policy = Policy::from_value(&tree).unwrap();
    let app = &policy.apps()["a"];
    let read = |text: &str| App::with_treatment(app.cluster.clone(), app.quota, app.enabled, text);
    assert_eq!(read(""), Ok(app.clone()));
    assert_eq!(read(r#"{"of_a_later_version": [1, 2]}"#), Ok(app.clone()));
    assert!(read(r#"{"shadow": "perhaps"}"#).is_err());
    assert!(read("not json").is_err());
}
