//! What is in the book, for those who look: a page at a time, brought up to now.

use super::Book;
use crate::protocol::{AppView, Changes, ClusterView, MAX_PAGE, Scheduled, VersionedPolicy};
use std::ops::Bound;
use tollgate_core::emergency::{Cause, Emergency};
use tollgate_core::id::AppId;
use tollgate_core::units::Millis;

impl Book {
    /// The policies that changed after `since`, the oldest change first, at most `limit` of them.
    pub fn changes(&mut self, since: u64, limit: u32, now: Millis) -> Changes {
        self.advance(now);
        let page = self.history.page(since, page(limit), self.version);
        let (mut apps, mut gone) = (Vec::new(), Vec::new());
        for id in page.ids {
            match self.policy(&id) {
                Some(policy) => apps.push(policy),
                None => gone.push(id),
            }
        }
        Changes {
            version: self.version,
            next: page.next,
            more: page.more,
            is_whole: page.is_whole,
            capacity: self.capacity,
            apps,
            gone,
        }
    }

    /// Up to `limit` applications after `after` in the order of their ids, from the first one on if `None`.
    pub fn app_views(&mut self, after: Option<&AppId>, limit: u32, now: Millis) -> Vec<AppView> {
        self.advance(now);
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = self.apps.range::<AppId, _>((from, Bound::Unbounded));
        let ids: Vec<AppId> = later.take(page(limit)).map(|(id, _)| id.clone()).collect();
        ids.iter().filter_map(|id| self.app_view(id, now)).collect()
    }

    /// Up to `limit` of the changes that are scheduled, the earliest first, without the first `skip`.
    pub fn scheduled(&mut self, skip: u32, limit: u32, now: Millis) -> Vec<Scheduled> {
        self.advance(now);
        let mut all: Vec<&Scheduled> = self.pending.iter().collect();
        all.sort_by_key(|change| (change.at, &change.policy.app));
        all.into_iter().skip(skip as usize).take(page(limit)).cloned().collect()
    }

    /// The cluster itself.
    pub fn cluster_view(&mut self, now: Millis) -> ClusterView {
        self.advance(now);
        let is_declared = matches!(self.emergency, Emergency::On { cause: Cause::Operator, .. });
        ClusterView {
            now,
            version: self.version,
            epoch: self.epoch,
            capacity: self.capacity,
            promised: self.promised,
            slack: self.pool.slack,
            usage: self.usage.ratio(&self.capacity, now),
            cut: self.overload.cut,
            emergency: self.emergency,
            emergency_reason: if is_declared { self.emergency_reason.clone() } else { String::new() },
            apps: self.apps.len() as u64,
            nodes: (self.heard.len() + self.late.len()) as u64,
            silent_nodes: (self.silent.len() + self.quiet.len()) as u64,
        }
    }

    fn policy(&self, id: &AppId) -> Option<VersionedPolicy> {
        let app = self.apps.get(id)?;
        Some(VersionedPolicy { version: app.version, policy: app.policy.clone() })
    }

    fn app_view(&mut self, id: &AppId, now: Millis) -> Option<AppView> {
        self.refill(id, now).ok()?;
        let app = self.apps.get(id)?;
        Some(AppView {
            policy: self.policy(id)?,
            account: app.account,
            suspect_rate: app.suspects.rate,
            total_consumed: app.total_consumed,
            total_requests: app.total_requests,
            by_operation: app.operations.totals(),
            pending: self.pending.iter().find(|pending| pending.policy.app == *id).cloned(),
        })
    }
}

/// How many are on a page when so many are asked for.
fn page(limit: u32) -> usize {
    limit.clamp(1, MAX_PAGE) as usize
}
