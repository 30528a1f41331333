/// Some of what there is.
#[derive(Clone, Debug)]
pub(crate) struct Page<T> {
    /// Those of this page.
    pub(crate) rows: Vec<T>,
    /// How many there are in all.
    pub(crate) total: i64,
}

/// Which rows, of those that are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) order: Order,
    pub(crate) skip: i64,
    pub(crate) limit: i64,
}

/// In which order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    EarliestFirst,
    LatestFirst,
}

impl Order {
    pub(super) const fn sql(self) -> &'static str {
        match self {
            Self::EarliestFirst => "ASC",
            Self::LatestFirst => "DESC",
        }
    }
}

/// What `LIKE ... ESCAPE '!'` takes for a text that has this in it. `LOWER` makes both databases mean the same.
pub(super) fn containing(text: &str) -> String {
    let escaped = text.to_lowercase().replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}
