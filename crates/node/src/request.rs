use tollgate_core::cost::{Operation, Price};

/// A request as the limiter sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Whose it is. Any text a stranger may send: it is looked up, not kept.
    pub app: &'a str,
    /// What it does.
    pub operation: Operation,
    /// How many bytes it carries.
    pub bytes: u64,
    /// What it costs, where the caller knows better than the price list.
    pub cost: Option<u64>,
}

impl<'a> Request<'a> {
    /// A request without a body, priced by the list.
    pub const fn new(app: &'a str, operation: Operation) -> Self {
        Self { app, operation, bytes: 0, cost: None }
    }

    /// The same with a body.
    #[must_use]
    pub const fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// The same at a price that the caller names.
    #[must_use]
    pub const fn with_cost(mut self, cost: u64) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Whether it is what most requests are.
    #[inline]
    pub(crate) fn is_plain_get(&self) -> bool {
        self.operation == Operation::Get && self.bytes == 0 && self.cost.is_none()
    }

    pub(crate) fn price(&self, list: impl FnOnce() -> Price) -> Price {
        match self.cost {
            Some(cost) => Price { bytes: self.bytes, ..Price::named(self.operation, cost) },
            None => list(),
        }
    }
}
