use crate::gateway::Operations;
use crate::reader::Table;
use serde_json::{Value, json};

/// The HTTP check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// The status of a refusal, where a request does not ask for another.
    pub refused_status: u16,
    /// How the operation of a request is told from what a proxy says of it.
    pub operations: Operations,
    /// How long a check can be taken back.
    pub rollback_s: u64,
}

impl Default for Check {
    fn default() -> Self {
        Self { refused_status: 429, operations: Operations::Http, rollback_s: 60 }
    }
}

impl Check {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let status = table.field("refused_status").whole(400..=499).or(u64::from(default.refused_status));
        let operations = table.field("operations").word(&Operations::WORDS).or(default.operations);
        let rollback_s = table.field("rollback_s").whole(0..=3_600).or(default.rollback_s);
        table.finish();
        let refused_status = u16::try_from(status?).ok()?;
        Some(Self { refused_status, operations: operations?, rollback_s: rollback_s? })
    }

    pub(super) fn to_value(self) -> Value {
        json!({
            "refused_status": self.refused_status,
            "operations": self.operations.name(),
            "rollback_s": self.rollback_s,
        })
    }
}
