/// Some of what there is.
#[derive(Clone, Debug)]
pub(crate) struct Page<T> {
    /// Those of this page.
    pub(crate) rows: Vec<T>,
    /// How many there are in all.
    pub(crate) total: i64,
}
