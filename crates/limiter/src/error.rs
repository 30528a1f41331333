use std::fmt;
use tollgate_core::algorithm::LimitError;

/// Why there is no answer. Being over the limit is not an error: see [`Answer`](crate::Answer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key is empty.
    EmptyKey,
    /// No tokens were asked for.
    ZeroTokens,
    /// The numbers do not make a limit.
    Limit(LimitError),
    /// More was waited for than the limit ever holds at once.
    ExceedsCapacity {
        /// What was asked for.
        asked: u64,
        /// What the limit holds at most.
        capacity: u64,
    },
    /// The tokens will not be there in time.
    Timeout,
    /// The limiter has been closed.
    Closed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyKey => write!(f, "the key is empty"),
            Self::ZeroTokens => write!(f, "asked for 0 tokens, at least 1 is needed"),
            Self::Limit(error) => write!(f, "not a limit: {error}"),
            Self::ExceedsCapacity { asked, capacity } => {
                write!(f, "asked for {asked} tokens, the limit holds at most {capacity}")
            }
            Self::Timeout => write!(f, "the tokens will not be there in time"),
            Self::Closed => write!(f, "the limiter is closed"),
        }
    }
}

impl std::error::Error for Error {}

impl From<LimitError> for Error {
    fn from(error: LimitError) -> Self {
        Self::Limit(error)
    }
}
