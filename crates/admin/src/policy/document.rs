//! Applications as they are written in calls, versions and exports.

use crate::problem::FieldError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tollgate_config::{Policy, policy};
use tollgate_core::cost::PriceList;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::Rate;
use tollgate_ledger::protocol::AppPolicy;
use utoipa::ToSchema;

/// What an application was promised and how it is treated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "these are the switches an application has")]
pub(crate) struct PolicyDocument {
    /// Its name: 1 to 128 of `A-Z a-z 0-9 _ -`.
    #[schema(min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9_-]+$", example = "video-service")]
    pub(crate) app_id: String,
    /// The cluster it runs on.
    #[schema(example = "cluster-01")]
    pub(crate) cluster: String,
    /// Tokens per second that it can always count on.
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub(crate) guaranteed_quota: u64,
    /// The most tokens that it may save; at least the guarantee.
    #[schema(minimum = 1, maximum = 4_000_000_000u64)]
    pub(crate) burst_quota: u64,
    /// How often the burst allowance starts anew, in seconds.
    #[schema(minimum = 1, maximum = 86_400)]
    pub(crate) burst_duration_s: u64,
    /// 0 matters most, 3 least.
    #[schema(minimum = 0, maximum = 3)]
    pub(crate) priority: u8,
    /// The most tokens that it may owe.
    pub(crate) max_borrow: u64,
    /// Whether it borrows by itself when nothing else is left.
    pub(crate) borrow: bool,
    /// The share of its refill that goes into paying back.
    #[schema(minimum = 0, maximum = 1)]
    pub(crate) repay_share: f64,
    /// Whether it may pass at all.
    pub(crate) enabled: bool,
    /// Whether decisions are made and counted, but not enforced.
    pub(crate) shadow: bool,
    /// Whether the bytes of responses are charged too.
    pub(crate) charge_response: bool,
    /// What passes while the ledger is out of reach.
    pub(crate) outage: OutageMode,
    /// Tokens per second and node that pass then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) fail_open_tokens: Option<u64>,
    /// Or the share of what the node had that passes then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) fallback_ratio: Option<f64>,
    /// Connections at any time.
    pub(crate) max_connections: u32,
    /// Connections while the cluster has room.
    pub(crate) burst_connections: u32,
    /// Prices of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) cost: Option<CostDocument>,
}

/// What passes while the ledger is out of reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutageMode {
    /// A little.
    Limited,
    /// Nothing.
    Closed,
}

/// What requests cost, as far as it differs from what holds for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CostDocument {
    /// Bytes in one unit of bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    pub(crate) quantum_bytes: Option<u64>,
    /// Tokens for one unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0, maximum = 100)]
    pub(crate) bandwidth_coefficient: Option<f64>,
    /// Tokens for an operation: `GET`, `PUT`, `LIST` and so on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    pub(crate) base: BTreeMap<String, u64>,
}

/// An application as a tree, the same that is kept in versions and exports.
pub(crate) fn to_value(id: &AppId, app: &policy::App, prices: &PriceList) -> Value {
    let mut value = app.to_value(prices);
    if let Value::Object(map) = &mut value {
        map.insert("app_id".into(), json!(&**id));
    }
    value
}

/// An application as a ledger keeps it, or as it was made of what a ledger keeps.
pub(crate) fn from_ledger(cluster: &ClusterId, kept: &AppPolicy) -> policy::App {
    policy::App::with_treatment(cluster.clone(), kept.quota, kept.enabled, &kept.body)
        .unwrap_or_else(|_| policy::App::plain(cluster.clone(), kept.quota, kept.enabled))
}

/// An application as a ledger keeps it.
pub(crate) fn to_ledger(id: &AppId, app: &policy::App) -> AppPolicy {
    AppPolicy { app: id.clone(), quota: app.quota, enabled: app.enabled, body: app.treatment() }
}

/// Reads one application, by the same rules as the configuration file. `fields` has no name in it.
pub(crate) fn read(
    id: &AppId,
    mut fields: Map<String, Value>,
    clusters: &[ClusterId],
    prices: &PriceList,
) -> Result<policy::App, Vec<FieldError>> {
    fields.insert("id".into(), json!(&**id));
    // Whether the guarantees fit is for the ledger to say, which knows all of them.
    let clusters: Vec<Value> =
        clusters.iter().map(|id| json!({"id": &**id, "capacity": Rate::MAX.floor()})).collect();
    let tree = json!({"clusters": clusters, "apps": [fields], "cost": cost_tree(prices)});
    match Policy::from_value(&tree) {
        Ok(policy) => policy.apps().get(&**id).cloned().ok_or_else(Vec::new),
        Err(errors) => Err(errors.iter().map(|error| relative(FieldError::from(error))).collect()),
    }
}

/// Prices as they are written for all.
fn cost_tree(prices: &PriceList) -> Value {
    let base: Map<String, Value> = tollgate_core::cost::Operation::ALL
        .into_iter()
        .map(|operation| (operation.name().to_owned(), json!(prices.base(operation))))
        .collect();
    json!({
        "quantum_bytes": prices.quantum().get(),
        "bandwidth_coefficient": prices.coefficient().as_f64(),
        "base": base,
    })
}

/// Where the mistake is, as the caller wrote it.
fn relative(mut error: FieldError) -> FieldError {
    error.path = match error.path.strip_prefix("apps[0].") {
        Some("id") => "app_id".into(),
        Some(path) => path.into(),
        None => "guaranteed_quota".into(),
    };
    error
}

/// The greatest name before this one: asked for what comes after it, a ledger answers with this one.
pub(crate) fn name_before(id: &AppId) -> Option<AppId> {
    const SORTED: &[u8] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    let (head, last) = id.split_at(id.len().checked_sub(1)?);
    let at = SORTED.iter().position(|letter| last.as_bytes() == [*letter])?;
    let Some(before) = at.checked_sub(1).map(|at| char::from(SORTED[at])) else {
        return AppId::new(head).ok();
    };
    let filler = "z".repeat(tollgate_core::id::MAX_LEN - id.len());
    AppId::new(&format!("{head}{before}{filler}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_fits_between_a_name_and_the_one_before(id in "[A-Za-z0-9_-]{1,5}", other in "[A-Za-z0-9_-]{1,7}") {
            let (id, other) = (AppId::new(&id).unwrap(), AppId::new(&other).unwrap());
            match name_before(&id) {
                Some(before) => {
                    prop_assert!(before < id);
                    prop_assert!(other <= before || other >= id, "{other} is between {before} and {id}");
                }
                None => prop_assert!(other >= id),
            }
        }
    }

    #[test]
    fn every_mistake_is_said_at_once_where_it_is() {
        let id = AppId::new("a").unwrap();
        let fields = json!({"guaranteed_quota": 0, "burst_quota": "x", "priority": 9, "colour": 1});
        let fields = fields.as_object().unwrap().clone();
        let errors = read(&id, fields, &[ClusterId::new("c").unwrap()], &PriceList::default()).unwrap_err();
        let mut paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["burst_quota", "colour", "guaranteed_quota", "priority"]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (id, cluster) = (AppId::new("a").unwrap(), ClusterId::new("c").unwrap());
        let prices = PriceList::default();
        let fields = json!({"guaranteed_quota": 5, "burst_quota": 9, "cost": {"base": {"GET": 7}}, "fallback_ratio": 0.5});
        let fields = fields.as_object().unwrap().clone();
        let app = read(&id, fields, std::slice::from_ref(&cluster), &prices).unwrap();
        let mut written = to_value(&id, &app, &prices).as_object().unwrap().clone();
        let document: PolicyDocument = serde_json::from_value(written.clone().into()).unwrap();
        assert_eq!((document.guaranteed_quota, document.fallback_ratio), (5, Some(0.5)));
        assert_eq!(document.cost.unwrap().base["GET"], 7);
        written.remove("app_id");
        assert_eq!(read(&id, written, &[cluster], &prices), Ok(app));
    }
}
