//! Why a request was refused.

use core::fmt;

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident $code:literal,)+) => {
        /// Why a request was refused, or what went wrong with it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum Reason {
            $($(#[$doc])* $variant,)+
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The code that clients, logs and metrics see.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }
        }
    };
}

reasons! {
    /// The node's lease is used up and there was no time to ask for more.
    LocalExhausted "local_exhausted",
    /// The application has used up its bucket, its burst allowance and what it may borrow.
    AppExhausted "app_exhausted",
    /// The cluster has nothing left beyond the guarantees.
    ClusterExhausted "cluster_exhausted",
    /// The ledger did not answer in time.
    RedisTimeout "redis_timeout",
    /// The ledger could not be reached.
    RedisConnectionFailed "redis_connection_failed",
    /// Applications of this priority get nothing in an emergency.
    EmergencyBlocked "emergency_blocked",
    /// The application has used up the share of its guarantee that an emergency leaves.
    EmergencyQuotaExceeded "emergency_quota_exceeded",
    /// The application may not borrow more.
    BorrowLimitExceeded "borrow_limit_exceeded",
    /// The cluster is down to its reserve and lends nothing.
    ClusterInsufficient "cluster_insufficient",
    /// A configuration was refused.
    ConfigValidationFailed "config_validation_failed",
    /// The application has too many connections.
    AppLimitExceeded "app_limit_exceeded",
    /// The cluster has too many connections.
    ClusterLimitExceeded "cluster_limit_exceeded",
    /// A connection was never released and had to be.
    ConnectionLeaked "connection_leaked",
    /// The application is switched off.
    AppDisabled "app_disabled",
    /// No application of that name is known.
    UnknownApp "unknown_app",
    /// The request itself makes no sense.
    InvalidInput "invalid_input",
}

/// Whose doing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// There is a limit and it was reached: come back later.
    Limit,
    /// The call is wrong and will be wrong again.
    Caller,
    /// Something of ours failed.
    Service,
}

impl Reason {
    /// The reason of that code.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.code() == code)
    }

    /// Whose doing it is.
    pub const fn blame(self) -> Blame {
        match self {
            Self::ConfigValidationFailed | Self::InvalidInput | Self::UnknownApp | Self::AppDisabled => {
                Blame::Caller
            }
            Self::RedisTimeout | Self::RedisConnectionFailed | Self::ConnectionLeaked => Blame::Service,
            _ => Blame::Limit,
        }
    }

    /// Whether the same request may pass later with nothing changed but the time.
    pub const fn is_temporary(self) -> bool {
        !matches!(self.blame(), Blame::Caller)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back() {
        for &reason in Reason::ALL {
            assert_eq!(Reason::parse(reason.code()), Some(reason));
        }
        assert_eq!(Reason::ALL.len(), 16);
        assert_eq!(Reason::parse("because"), None);
    }
}
