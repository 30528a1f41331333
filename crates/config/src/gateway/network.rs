use crate::error::Problem;
use tollgate_core::network::Network;

/// What is accepted.
pub(crate) const EXPECTED: &str = "a network like 10.0.0.0/8 or an address";

pub(crate) fn parse(text: &str) -> Result<Network, Problem> {
    Network::new(text).ok_or(Problem::Malformed("not a network"))
}
