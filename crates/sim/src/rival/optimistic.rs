use super::bucket::Bucket;
use tollgate_core::quota::Quota;
use tollgate_core::units::{Nanos, Tokens};

/// What each node believes is left, and what it has not told yet.
#[derive(Clone, Debug)]
pub(super) struct Views {
    apps: usize,
    views: Vec<View>,
}

#[derive(Clone, Debug)]
struct View {
    believed: Bucket,
    untold: Tokens,
}

impl Views {
    pub(super) fn new(nodes: usize, quotas: &[Quota]) -> Self {
        let view = |quota: &Quota| View { believed: Bucket::new(quota, 1), untold: Tokens::ZERO };
        let views = (0..nodes).flat_map(|_| quotas.iter().map(view)).collect();
        Self { apps: quotas.len(), views }
    }

    pub(super) fn take(&mut self, node: usize, app: usize, cost: Tokens, now: Nanos) -> bool {
        let view = &mut self.views[node * self.apps + app];
        let passes = view.believed.take(cost, now);
        if passes {
            view.untold = view.untold.plus(cost);
        }
        passes
    }

    /// A node tells what it let through, and hears what is left.
    pub(super) fn report(&mut self, node: usize, shared: &mut [Bucket], now: Nanos) {
        for (app, bucket) in shared.iter_mut().enumerate() {
            let view = &mut self.views[node * self.apps + app];
            bucket.take_up_to(std::mem::take(&mut view.untold), now);
            let left = bucket.left(now);
            view.believed.take_up_to(Tokens::MAX, now);
            view.believed.put(left);
        }
    }
}
