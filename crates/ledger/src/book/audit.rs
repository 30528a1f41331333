//! The balance: every right is accounted for, and the headroom is within its bounds.

use super::{Book, Flows};
use tollgate_core::account::Account;
use tollgate_core::id::AppId;
use tollgate_core::reconcile::{self, Finding};
use tollgate_core::units::{Millis, Ratio, Tokens};

/// The balance of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// Headroom for anybody.
    pub slack: Tokens,
    /// All private headroom.
    pub meters: Tokens,
    /// The most that both together may be.
    pub depth: Tokens,
    /// One line for each application.
    pub lines: Vec<Line>,
}

/// The balance of one application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Which application.
    pub app: AppId,
    /// What it holds.
    pub account: Account,
    /// How it came to hold that.
    pub flows: Flows,
    /// What its leases add up to, node by node.
    pub leased: Tokens,
}

impl Line {
    /// Whether every right is accounted for.
    pub fn balances(&self) -> bool {
        self.flows.balances(&self.account) && self.leased == self.account.outstanding
    }
}

impl Audit {
    /// Whether everything is accounted for.
    pub fn balances(&self) -> bool {
        self.slack.plus(self.meters) <= self.depth && self.lines.iter().all(Line::balances)
    }
}

impl Book {
    /// The balance as of now.
    pub fn audit(&mut self, now: Millis) -> Audit {
        self.advance(now);
        let ids: Vec<AppId> = self.apps.keys().cloned().collect();
        for id in &ids {
            let _ = self.refill(id, now);
        }
        let lines: Vec<Line> = self
            .apps
            .iter()
            .map(|(id, app)| Line {
                app: id.clone(),
                account: app.account,
                flows: app.flows,
                leased: self.leased(id),
            })
            .collect();
        Audit {
            slack: self.pool.slack,
            meters: lines.iter().map(|line| line.account.meter).sum(),
            depth: self.capacity.depth(),
            lines,
        }
    }

    /// Compares what is out with what the leases add up to, and corrects it where it drifted too far. Returns the
    /// drift of each application that was corrected.
    pub fn reconcile(&mut self, now: Millis) -> Vec<(AppId, Ratio)> {
        let audit = self.audit(now);
        let mut corrected = Vec::new();
        for line in audit.lines {
            let mut outstanding = line.account.outstanding;
            if let Finding::Corrected(drift) = reconcile::reconcile(line.leased, &mut outstanding)
                && let Some(app) = self.apps.get_mut(&line.app)
            {
                app.correct(outstanding);
                corrected.push((line.app, drift));
            }
        }
        corrected
    }

    fn leased(&self, app: &AppId) -> Tokens {
        let Some(since) = self.apps.get(app).map(|app| app.since) else { return Tokens::ZERO };
        let current = self.nodes.values().filter(|node| node.epoch == self.epoch);
        let leases = current.filter_map(|node| node.leases.get(app)).filter(|lease| lease.since == since);
        leases.map(|lease| lease.amount).sum()
    }
}
