use std::fmt;

/// Why there is no answer. Being over the limit is not an error: see [`Outcome`](crate::Outcome).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The question makes no sense.
    Question(crate::Error),
    /// Waiting was not enabled, or not for this algorithm.
    NotSupported,
    /// More time than the caller had would pass.
    Timeout,
    /// The server cannot be reached, or did not answer in time, and there is no fallback.
    Unavailable(String),
    /// The server says that something is wrong.
    Server(String),
    /// That is not the address of a server.
    Address(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Question(error) => error.fmt(f),
            Self::NotSupported => {
                write!(f, "waiting is not enabled: it reserves tokens, see Builder::reserving_wait")
            }
            Self::Timeout => write!(f, "the tokens will not be there in time"),
            Self::Unavailable(why) => write!(f, "redis is out of reach: {why}"),
            Self::Server(why) => write!(f, "redis refused the call: {why}"),
            Self::Address(why) => write!(f, "not the address of a redis server: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Question(error)
    }
}
