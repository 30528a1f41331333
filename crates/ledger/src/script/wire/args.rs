use super::row::{MOST, Row};
use crate::protocol::{AppPolicy, Carry, Entry, MAX_AMOUNT, PutApp, Seed, Sync};
use tollgate_core::quota::Capacity;
use tollgate_core::units::{Millis, Rate, Ratio, Tokens};

/// The arguments of a script.
#[derive(Debug, Default)]
pub(in crate::script) struct Args(Vec<Vec<u8>>);

impl Args {
    pub(in crate::script) fn new() -> Self {
        Self::default()
    }

    pub(in crate::script) fn sync(sync: &Sync) -> Self {
        let calls = Row::new().counter(sync.incarnation).counter(sync.seq).counter(sync.acked);
        let head = calls.number(sync.epoch).number(sync.silence.get());
        sync.entries.iter().fold(Self::new().text(&sync.node).row(head), Self::entry)
    }

    pub(in crate::script) fn seed(seed: &Seed) -> Self {
        let head = Self::new().capacity(&seed.capacity).version(seed.remembered);
        seed.apps.iter().fold(head, Self::policy)
    }

    pub(in crate::script) fn put_app(put: &PutApp) -> Self {
        let carry = match put.carry {
            Carry::Keep => "keep",
            Carry::Scale => "scale",
            Carry::Reset => "reset",
        };
        Self::new().policy(&put.policy).version(put.replaces).text(carry).millis(put.effective_at)
    }

    pub(in crate::script) fn capacity(self, capacity: &Capacity) -> Self {
        let Capacity { rate, reserved, burst_ratio, emergency_threshold, connections } = *capacity;
        let tokens = self.rate(rate).ratio(reserved).ratio(burst_ratio).ratio(emergency_threshold);
        tokens.number(connections.into())
    }

    pub(in crate::script) fn text(mut self, text: &str) -> Self {
        self.0.push(text.into());
        self
    }

    pub(in crate::script) fn tokens(self, tokens: Tokens) -> Self {
        self.number(tokens.micros())
    }

    /// Something that is spent or asked for.
    pub(in crate::script) fn amount(self, amount: Tokens) -> Self {
        self.tokens(amount.min(MAX_AMOUNT))
    }

    pub(in crate::script) fn millis(self, millis: Millis) -> Self {
        self.number(millis.get())
    }

    pub(in crate::script) fn into_inner(self) -> Vec<Vec<u8>> {
        self.0
    }

    fn entry(self, entry: &Entry) -> Self {
        let numbers = Row::new()
            .number(entry.spent.min(MAX_AMOUNT).micros())
            .number(entry.requests)
            .number(entry.returned.micros())
            .number(entry.holding.micros())
            .number(entry.need.min(MAX_AMOUNT).micros())
            .number(entry.want.min(MAX_AMOUNT).micros())
            .number(entry.fallback.millis());
        let numbers = entry.by_operation.iter().fold(numbers, |numbers, used| {
            let index = used.operation.index() as u64;
            numbers.number(index).number(used.requests).number(used.cost.micros())
        });
        self.text(&entry.app).row(numbers)
    }

    fn policy(self, policy: &AppPolicy) -> Self {
        let quota = &policy.quota;
        self.text(&policy.app)
            .rate(quota.guaranteed)
            .tokens(quota.burst)
            .millis(quota.burst_window)
            .number(quota.priority.number().into())
            .tokens(quota.loan.limit)
            .ratio(quota.loan.interest)
            .ratio(quota.loan.repay_share)
            .number(quota.loan.automatic.into())
            .number(policy.enabled.into())
            .text(&policy.body)
    }

    fn rate(self, rate: Rate) -> Self {
        self.number(rate.millis())
    }

    fn ratio(self, ratio: Ratio) -> Self {
        self.number(ratio.parts().into())
    }

    fn version(self, version: Option<u64>) -> Self {
        match version {
            Some(version) => self.number(version),
            None => self.text("-1"),
        }
    }

    pub(in crate::script) fn number(self, number: u64) -> Self {
        self.text(&number.min(MOST).to_string())
    }

    fn row(mut self, row: Row) -> Self {
        self.0.push(row.into_inner());
        self
    }
}
