//! Pages and views, as scripts write them.

use super::reply::{Reply, emergency, ratio, unexpected};
use super::row::Numbers;
use crate::ledger::Answer;
use crate::protocol::{
    AppPolicy, AppView, Carry, Changes, ClusterView, OperationTotal, Scheduled, VersionedPolicy,
};
use tollgate_core::cost::Operation;
use tollgate_core::id::AppId;
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Ratio};

impl Reply {
    pub(in crate::script) fn changes(&mut self) -> Answer<Changes> {
        let (version, next) = (self.number()?, self.number()?);
        let (more, is_whole, capacity) = (self.flag()?, self.flag()?, self.capacity()?);
        let (mut apps, mut gone) = (Vec::new(), Vec::new());
        for (id, policy) in self.each(Self::change)? {
            match policy {
                Some(policy) => apps.push(policy),
                None => gone.push(id),
            }
        }
        Ok(Changes { version, next, more, is_whole, capacity, apps, gone })
    }

    pub(in crate::script) fn app_views(&mut self) -> Answer<Vec<AppView>> {
        self.each(Self::app_view)
    }

    pub(in crate::script) fn all_scheduled(&mut self) -> Answer<Vec<Scheduled>> {
        self.each(|change| {
            let app = change.app()?;
            change.scheduled(app)?.ok_or_else(|| unexpected(&"no time"))
        })
    }

    pub(in crate::script) fn cluster_view(&mut self) -> Answer<ClusterView> {
        Ok(ClusterView {
            now: self.millis()?,
            version: self.number()?,
            epoch: self.number()?,
            capacity: self.capacity()?,
            promised: self.rate()?,
            slack: self.tokens()?,
            usage: self.ratio()?,
            cut: self.ratio()?,
            emergency: emergency(self.number()?, self.millis()?, self.millis()?)?,
            emergency_reason: self.text()?,
            apps: self.number()?,
            nodes: self.number()?,
            silent_nodes: self.number()?,
        })
    }

    /// An application that changed; without a policy if it is gone.
    fn change(&mut self) -> Answer<(AppId, Option<VersionedPolicy>)> {
        let id = self.app()?;
        let policy = if self.is_at_end() { None } else { Some(self.versioned(id.clone())?) };
        Ok((id, policy))
    }

    fn app_view(&mut self) -> Answer<AppView> {
        let id = self.app()?;
        Ok(AppView {
            policy: self.versioned(id.clone())?,
            account: self.account()?,
            suspect_rate: self.rate()?,
            total_consumed: self.number()?,
            total_requests: self.number()?,
            by_operation: self.operations()?,
            pending: self.scheduled(id)?,
        })
    }

    /// Rows of operation, requests, whole tokens and the fraction of one, which is not told.
    fn operations(&mut self) -> Answer<Vec<OperationTotal>> {
        let row = self.bytes()?;
        let mut numbers = Numbers::new(&row)?;
        let mut totals = Vec::new();
        while !numbers.is_at_end() {
            let index = usize::try_from(numbers.number()?).ok();
            let operation = index.and_then(|index| Operation::ALL.get(index).copied());
            totals.push(OperationTotal {
                operation: operation.ok_or_else(|| unexpected(&index))?,
                requests: numbers.number()?,
                consumed: numbers.number()?,
            });
            numbers.number()?;
        }
        totals.retain(|total| total.requests > 0 || total.consumed > 0);
        totals.sort_by_key(|total| total.operation);
        Ok(totals)
    }

    fn versioned(&mut self, app: AppId) -> Answer<VersionedPolicy> {
        Ok(VersionedPolicy { version: self.number()?, policy: self.policy(app)? })
    }

    fn scheduled(&mut self, app: AppId) -> Answer<Option<Scheduled>> {
        let Some(at) = self.optional()?.map(Millis::new) else { return Ok(None) };
        let carry = match self.text()?.as_str() {
            "keep" => Carry::Keep,
            "scale" => Carry::Scale,
            "reset" => Carry::Reset,
            other => return Err(unexpected(&other)),
        };
        Ok(Some(Scheduled { at, carry, policy: self.policy(app)? }))
    }

    fn policy(&mut self, app: AppId) -> Answer<AppPolicy> {
        Ok(AppPolicy { app, quota: self.quota()?, enabled: self.flag()?, body: self.text()? })
    }

    fn quota(&mut self) -> Answer<Quota> {
        Ok(Quota {
            guaranteed: self.rate()?,
            burst: self.tokens()?,
            burst_window: self.millis()?,
            priority: Priority::try_from(self.number()?).map_err(|unknown| unexpected(&unknown))?,
            loan: LoanTerms {
                limit: self.tokens()?,
                interest: self.ratio()?,
                repay_share: self.ratio()?,
                automatic: self.flag()?,
            },
        })
    }

    fn capacity(&mut self) -> Answer<Capacity> {
        Ok(Capacity {
            rate: self.rate()?,
            reserved: self.ratio()?,
            burst_ratio: self.ratio()?,
            emergency_threshold: self.ratio()?,
            connections: self.count()?,
        })
    }

    fn count(&mut self) -> Answer<u32> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| unexpected(&number))
    }

    fn rate(&mut self) -> Answer<Rate> {
        self.number().map(Rate::from_millis)
    }

    fn ratio(&mut self) -> Answer<Ratio> {
        ratio(self.number()?)
    }

    fn flag(&mut self) -> Answer<bool> {
        self.number().map(|number| number == 1)
    }
}
