//! The life of policies: changed, versioned, compared, rolled back.

pub(crate) mod change;
pub(crate) mod cluster;
mod difference;
pub(crate) mod document;
mod find;
mod plan;

pub(crate) use change::{Change, Terms, Version};
pub(crate) use difference::{Difference, differences};
pub(crate) use document::PolicyDocument;
pub(crate) use find::{Found, all, find, to_come};
pub(crate) use plan::{Plan, Present};
