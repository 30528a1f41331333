//! Configurations of other limiters, said in Tollgate's words.

mod ratelimit;
mod write;

use crate::error::Errors;
use crate::reader::{Report, Table};
use crate::source::{Document, Format};
use ratelimit::Domain;

/// What came of another limiter's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The same as a TOML file that `tollgate validate` accepts.
    pub toml: String,
    /// What could not be said, or means something else, in words for people.
    pub notes: Vec<String>,
}

/// Reads the configuration of one domain of envoyproxy/ratelimit (YAML), and says the same in Tollgate's words: an
/// application for each limit, and a rule by which descriptors find it.
///
/// ```
/// let imported = tollgate_config::import::ratelimit(
///     "domain: edge\ndescriptors:\n- {key: tenant, value: acme, rate_limit: {unit: second, requests_per_unit: 50}}",
/// )?;
/// assert!(imported.toml.contains("match = { tenant = \"acme\" }"));
/// assert!(imported.notes.is_empty());
/// # Ok::<(), tollgate_config::Errors>(())
/// ```
pub fn ratelimit(text: &str) -> Result<Imported, Errors> {
    let document = Document::parse(text, Format::Yaml)?;
    let report = Report::new(&document.origins, document.faults);
    let domain = Domain::read(Table::root(&document.tree, &report));
    let domain = report.conclude(domain)?;
    Ok(write::write(&domain))
}

#[cfg(test)]
mod tests;
