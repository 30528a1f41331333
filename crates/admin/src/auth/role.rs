use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What somebody may do. Each role may do all that the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look.
    Viewer,
    /// Change applications, declare emergencies, acknowledge alerts.
    Operator,
    /// Change clusters, accounts, tokens and rules.
    Admin,
}

impl Role {
    /// Every role with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("viewer", Self::Viewer), ("operator", Self::Operator), ("admin", Self::Admin)];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    /// The role of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, role)| role)
    }
}
