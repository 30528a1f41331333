use crate::store::{Store, Stored};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// When to raise an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Rule {
    /// Its name.
    pub(crate) id: String,
    /// What it looks at.
    pub(crate) description: String,
    /// Whether it raises alerts.
    pub(crate) enabled: bool,
    /// The number at which it does.
    pub(crate) threshold: f64,
    /// Whether it does below that number, and not above.
    pub(crate) below: bool,
    /// For how many seconds it must be so.
    pub(crate) for_s: u32,
    /// How bad it is.
    pub(crate) severity: Severity,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// Good to know.
    Info,
    /// Somebody should look.
    Warning,
    /// Somebody must look now.
    Critical,
}

impl Severity {
    pub(crate) const ALL: [(&'static str, Self); 3] =
        [("info", Self::Info), ("warning", Self::Warning), ("critical", Self::Critical)];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

macro_rules! rules {
    ($($id:ident $name:literal, $description:literal, $threshold:literal, $below:literal, $for_s:literal, $severity:ident;)+) => {
        $(pub(super) const $id: &str = $name;)+

        /// The rules there are, as they are unless somebody changed them.
        fn defaults() -> Vec<Rule> {
            vec![$(Rule {
                id: $name.into(),
                description: $description.into(),
                enabled: true,
                threshold: $threshold,
                below: $below,
                for_s: $for_s,
                severity: Severity::$severity,
            }),+]
        }
    };
}

rules! {
    REFUSAL_RATIO "refusal_ratio", "the share of an application's requests that are refused", 0.1, false, 30, Warning;
    SLACK_LOW "slack_low", "headroom for anybody, as a share of the cluster's capacity", 0.2, true, 10, Warning;
    LEDGER_DEGRADED "ledger_degraded", "how badly the ledger can be reached: 1 mild, 2 significant, 3 not at all", 1.0, false, 5, Critical;
    EMERGENCY "emergency", "whether the cluster is in emergency mode", 1.0, false, 0, Critical;
    CONNECTION_LEAK "connection_leak", "connections that were never released, in the last five minutes", 1.0, false, 0, Warning;
    DRIFT "drift", "by which share what is out differs from what the leases add up to", 0.05, false, 30, Critical;
    DEBT "debt", "what an application owes, as a share of the most that it may borrow", 0.8, false, 10, Warning;
    UPKEEP_FAILING "upkeep_failing", "whether what a node does beside requests fails", 1.0, false, 0, Warning;
}

/// The rules in force.
pub(crate) async fn rules(store: &Store) -> Stored<Vec<Rule>> {
    let changed: BTreeMap<String, String> = store.alert_rules().await?.into_iter().collect();
    let merged = defaults().into_iter().map(|rule| {
        let text = changed.get(&rule.id).map(String::as_str);
        rule.changed_to(text)
    });
    Ok(merged.collect())
}

impl Rule {
    /// The rule of that name as it is unless somebody changed it.
    pub(crate) fn of(id: &str) -> Option<Self> {
        defaults().into_iter().find(|rule| rule.id == id)
    }

    /// The rule as somebody changed it, if anybody did.
    pub(crate) fn changed_to(self, text: Option<&str>) -> Self {
        let Some(read) = text.and_then(|text| serde_json::from_str::<Self>(text).ok()) else { return self };
        // What a rule looks at is ours to say.
        Self { id: self.id, description: self.description, below: self.below, ..read }
    }
}

/// The rules as they are unless somebody changed them.
#[cfg(test)]
pub(super) fn defaults_for_tests() -> Vec<Rule> {
    defaults()
}
