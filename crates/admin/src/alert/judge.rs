//! Holds what is seen against the rules.

use super::rule::{
    self, CONNECTION_LEAK, DEBT, DRIFT, EMERGENCY, LEDGER_DEGRADED, REFUSAL_RATIO, Rule, SLACK_LOW,
    UPKEEP_FAILING,
};
use crate::history::{Recorder, of_all, of_app};
use crate::live::Live;
use crate::upkeep::Task;
use std::collections::BTreeMap;

/// How many seconds the share of refusals is taken over.
const WINDOW_S: u32 = 30;

/// How many requests there must be before their share says anything.
const MIN_REQUESTS: f64 = 20.0;

/// The most alerts that are open at a time: an outage of everything is one story, not thousands.
const MAX_OPEN: usize = 500;

/// For how long nobody has seen an alert when its node is taken to be gone, in milliseconds.
const ORPHANED_MS: i64 = 60_000;

/// What the rules look at, by rule and subject.
pub(super) type Seen = BTreeMap<(&'static str, String), (f64, String)>;

/// Knows since when what is seen is not as it should be.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// Since when, and whether it was raised.
    wrong: BTreeMap<(String, String), (u32, bool)>,
}

/// What is to be done about an alert.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// It is not as it should be, and has been for long enough.
    Raise {
        /// The rule.
        rule: Rule,
        /// What it is about.
        subject: String,
        /// The number that the rule looked at.
        value: f64,
        /// What is the matter.
        message: String,
    },
    /// It is as it should be again.
    Resolve {
        /// The rule.
        rule: String,
        /// What it was about.
        subject: String,
    },
}

impl Judge {
    /// Alerts that were open when the process started: they are over unless they are seen again.
    pub(crate) fn remember(&mut self, rule: String, subject: String) {
        self.wrong.insert((rule, subject), (0, true));
    }

    /// Holds what is seen in this second against the rules.
    pub(crate) fn judge(&mut self, rules: &[Rule], seen: &Seen, now: u32) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let mut still = BTreeMap::new();
        for ((id, subject), (value, message)) in seen {
            let Some(rule) = rules.iter().find(|rule| rule.id == *id && rule.enabled) else { continue };
            let is_wrong = if rule.below { *value < rule.threshold } else { *value >= rule.threshold };
            if !is_wrong || still.len() >= MAX_OPEN {
                continue;
            }
            let key = ((*id).to_owned(), subject.clone());
            let (since, was_raised) = self.wrong.get(&key).copied().unwrap_or((now, false));
            let is_due = now.saturating_sub(since) >= rule.for_s;
            if is_due {
                verdicts.push(Verdict::Raise {
                    rule: rule.clone(),
                    subject: subject.clone(),
                    value: *value,
                    message: message.clone(),
                });
            }
            still.insert(key, (since, was_raised || is_due));
        }
        for ((rule, subject), (_, was_raised)) in std::mem::take(&mut self.wrong) {
            if was_raised && !still.contains_key(&(rule.clone(), subject.clone())) {
                verdicts.push(Verdict::Resolve { rule, subject });
            }
        }
        self.wrong = still;
        verdicts
    }
}

/// What the rules look at, as things stand.
pub(super) fn look(live: &Live, recorder: &Recorder, node: &str, drift: &BTreeMap<String, f64>) -> Seen {
    let mut seen = Seen::new();
    let now = u32::try_from(live.at / 1_000).unwrap_or(u32::MAX);
    for (id, view) in &live.clusters {
        let capacity = view.capacity.rate.floor().max(1) as f64;
        let share = view.slack.floor() as f64 / capacity;
        let message = format!("{id} has {:.0} % of its capacity left for anybody", share * 100.0);
        seen.insert((SLACK_LOW, id.to_string()), (share, message));
        let is_on = view.emergency.is_on();
        let message = format!("{id} is in emergency mode: {}", view.emergency_reason);
        seen.insert((EMERGENCY, id.to_string()), (f64::from(u8::from(is_on)), message));
    }
    for (id, standing) in &live.standing {
        let message = format!("the ledger of {id} is {} as seen from {node}", standing.level.name());
        seen.insert((LEDGER_DEGRADED, format!("{node}/{id}")), (f64::from(standing.level as u8), message));
    }
    for (app, share) in drift {
        seen.insert((DRIFT, app.clone()), (*share, format!("{app} drifted by {:.1} %", share * 100.0)));
    }
    let leaked = recorder.overall().sum(0, of_all::CONNECTIONS_LEAKED, now.saturating_sub(300));
    let message = format!("{leaked} connections of {node} were never released");
    seen.insert((CONNECTION_LEAK, node.to_owned()), (leaked, message));
    // That the database cannot be written to could not be written down.
    for task in live.failing.iter().filter(|task| **task != Task::Database) {
        let message = format!("{node} {}, its log says why", task.trouble());
        seen.insert((UPKEEP_FAILING, format!("{node}/{}", task.name())), (1.0, message));
    }
    look_at_apps(live, recorder, now, &mut seen);
    seen
}

fn look_at_apps(live: &Live, recorder: &Recorder, now: u32, seen: &mut Seen) {
    let since = now.saturating_sub(WINDOW_S);
    for (id, app) in &live.apps {
        if let Some(series) = recorder.app(id) {
            let (passed, refused) =
                (series.sum(0, of_app::REQUESTS, since), series.sum(0, of_app::REFUSED, since));
            if passed + refused >= MIN_REQUESTS {
                let share = refused / (passed + refused);
                let message = format!("{:.0} % of the requests of {id} are refused", share * 100.0);
                seen.insert((REFUSAL_RATIO, id.to_string()), (share, message));
            }
        }
        let Some(view) = &app.view else { continue };
        let (debt, limit) = (view.account.loan.debt.ceil(), view.policy.policy.quota.loan.limit.floor());
        if debt > 0 {
            let share = debt as f64 / limit.max(1) as f64;
            seen.insert((DEBT, id.to_string()), (share, format!("{id} owes {debt} of {limit} tokens")));
        }
    }
}

/// Raises and resolves what is to be.
pub(crate) async fn run(
    judge: &mut Judge,
    admin: &crate::state::Admin,
    live: &Live,
    drift: &BTreeMap<String, f64>,
) {
    let Ok(rules) = rule::rules(&admin.store).await else { return };
    let now = u32::try_from(live.at / 1_000).unwrap_or(u32::MAX);
    let seen = look(live, &admin.recorder(), &admin.settings.node, drift);
    for verdict in judge.judge(&rules, &seen, now) {
        if let Err(error) = follow(admin, verdict, live.at).await {
            tracing::warn!(%error, "an alert could not be written down");
        }
    }
}

async fn follow(admin: &crate::state::Admin, verdict: Verdict, now: i64) -> crate::store::Stored<()> {
    match verdict {
        Verdict::Raise { rule, subject, value, message } => {
            let row = crate::store::AlertRow {
                id: crate::secret::ordered_id()?,
                rule: rule.id,
                subject,
                severity: rule.severity.name().into(),
                message,
                value,
                raised_at: now,
                seen_at: now,
                acknowledged_at: None,
                acknowledged_by: None,
                resolved_at: None,
                node: admin.settings.node.to_string(),
            };
            if admin.store.raise_alert(&row).await? {
                super::tell(admin, "raised", &row);
            }
        }
        Verdict::Resolve { rule, subject } => {
            let open = admin.store.open_alert(&rule, &subject).await?;
            if admin.store.resolve_alert(&rule, &subject, &admin.settings.node, now).await?
                && let Some(mut row) = open
            {
                row.resolved_at = Some(now);
                super::tell(admin, "resolved", &row);
            }
        }
    }
    Ok(())
}

/// Closes alerts that nobody has seen for a while: the node that saw them is gone.
pub(crate) async fn close_orphans(admin: &crate::state::Admin, now: i64) {
    for mut alert in admin.store.unseen_alerts(now - ORPHANED_MS).await.unwrap_or_default() {
        if admin.store.close_alert(&alert.id, now).await.unwrap_or(false) {
            alert.resolved_at = Some(now);
            super::tell(admin, "resolved", &alert);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert::rule::defaults_for_tests;
    use crate::history::WHOLE_WIDTH;
    use crate::live::AppLive;
    use serde_json::json;
    use std::sync::Arc;
    use tollgate_config::Policy;
    use tollgate_core::degrade::Level;
    use tollgate_core::id::ClusterId;
    use tollgate_core::units::{Millis, Ratio, Tokens};
    use tollgate_ledger::Book;
    use tollgate_ledger::protocol::{ClusterView, Seed};
    use tollgate_node::desk::{Calls, Standing};

    fn seen(value: f64) -> Seen {
        Seen::from([((REFUSAL_RATIO, "app-a".to_owned()), (value, String::new()))])
    }

    fn kinds(verdicts: &[Verdict]) -> Vec<&'static str> {
        verdicts
            .iter()
            .map(|v| if matches!(v, Verdict::Raise { .. }) { "raise" } else { "resolve" })
            .collect()
    }

    #[test]
    fn an_alert_is_raised_when_it_lasts_and_resolved_when_it_is_over() {
        let (mut judge, rules) = (Judge::default(), defaults_for_tests());
        for now in 0..30 {
            assert_eq!(judge.judge(&rules, &seen(0.5), now), [], "at {now}");
        }
        assert_eq!(kinds(&judge.judge(&rules, &seen(0.5), 30)), ["raise"]);
        assert_eq!(kinds(&judge.judge(&rules, &seen(0.01), 31)), ["resolve"]);
        assert_eq!(judge.judge(&rules, &seen(0.01), 32), []);
    }

    /// What the rules raise when all is as `live` and `recorder` say.
    fn raised(live: &Live, recorder: &Recorder, drift: &BTreeMap<String, f64>) -> Vec<(String, String)> {
        let mut rules = defaults_for_tests();
        for rule in &mut rules {
            rule.for_s = 0;
        }
        let seen = look(live, recorder, "node-01", drift);
        let verdicts = Judge::default().judge(&rules, &seen, 1_000);
        let raised = verdicts.into_iter().filter_map(|verdict| match verdict {
            Verdict::Raise { rule, subject, .. } => Some((rule.id, subject)),
            Verdict::Resolve { .. } => None,
        });
        raised.collect()
    }

    fn one(rule: &str, subject: &str) -> Vec<(String, String)> {
        vec![(rule.into(), subject.into())]
    }

    /// A cluster with so much of its capacity left, and an application that owes so much of the ten tokens it may.
    fn live(slack: u64, debt: u64, level: Level) -> Live {
        let policy = Policy::from_value(&json!({
            "clusters": [{"id": "c", "capacity": 1_000}],
            "apps": [{"id": "a", "guaranteed_quota": 10, "burst_quota": 10, "max_borrow": 10}],
        }))
        .unwrap();
        let (id, app) = policy.apps().iter().next().unwrap();
        let seed = Seed {
            capacity: policy.clusters()["c"].capacity,
            apps: vec![crate::policy::document::to_ledger(id, app)],
            remembered: None,
        };
        let now = Millis::from_secs(1_000);
        let mut book = Book::seed(seed, now).unwrap();
        let mut view = book.app_views(None, 1, now).remove(0);
        view.account.loan.debt = Tokens::whole(debt);
        let cluster = ClusterView { slack: Tokens::whole(slack), ..book.cluster_view(now) };
        let standing = Standing {
            level,
            is_cut_off: false,
            is_emergency: false,
            cut: Ratio::ZERO,
            version: 1,
            epoch: 1,
            leases: 0,
            calls: Calls::default(),
        };
        let c = ClusterId::new("c").unwrap();
        Live {
            at: 1_000_000,
            apps: BTreeMap::from([(
                id.clone(),
                AppLive { view: Some(Arc::new(view)), ..AppLive::default() },
            )]),
            clusters: BTreeMap::from([(c.clone(), cluster)]),
            standing: BTreeMap::from([(c, standing)]),
            ..Live::default()
        }
    }

    #[test]
    fn each_rule_raises_what_it_is_there_for() {
        let (well, none) = (live(200, 0, Level::Normal), BTreeMap::new());
        let quiet = Recorder::default();
        assert_eq!(raised(&well, &quiet, &none), []);
        assert_eq!(raised(&live(199, 0, Level::Normal), &quiet, &none), one(SLACK_LOW, "c"));
        assert_eq!(raised(&live(200, 0, Level::Mild), &quiet, &none), one(LEDGER_DEGRADED, "node-01/c"));
        assert_eq!(raised(&live(200, 7, Level::Normal), &quiet, &none), []);
        assert_eq!(raised(&live(200, 8, Level::Normal), &quiet, &none), one(DEBT, "a"));
        let drift = |share| BTreeMap::from([("a".to_owned(), share)]);
        assert_eq!(raised(&well, &quiet, &drift(0.04)), []);
        assert_eq!(raised(&well, &quiet, &drift(0.05)), one(DRIFT, "a"));
        let mut leaking = Recorder::default();
        let mut values = [0.0; WHOLE_WIDTH];
        values[of_all::CONNECTIONS_LEAKED] = 1.0;
        leaking.add_overall(999, &values);
        assert_eq!(raised(&well, &leaking, &none), one(CONNECTION_LEAK, "node-01"));
        let unsaved = Live { failing: vec![Task::Snapshot, Task::Database], ..well };
        assert_eq!(raised(&unsaved, &quiet, &none), one(UPKEEP_FAILING, "node-01/snapshot"));
    }

    #[test]
    fn a_moment_of_calm_starts_the_clock_anew() {
        let (mut judge, rules) = (Judge::default(), defaults_for_tests());
        judge.judge(&rules, &seen(0.5), 0);
        judge.judge(&rules, &seen(0.0), 20);
        assert_eq!(judge.judge(&rules, &seen(0.5), 35), []);
    }

    #[test]
    fn what_was_open_before_a_restart_is_resolved_if_it_is_over() {
        let (mut judge, rules) = (Judge::default(), defaults_for_tests());
        judge.remember(EMERGENCY.into(), "c".into());
        assert_eq!(kinds(&judge.judge(&rules, &Seen::new(), 1)), ["resolve"]);
    }

    #[test]
    fn a_rule_that_is_off_raises_nothing_and_the_number_of_alerts_is_bounded() {
        let mut rules = defaults_for_tests();
        for rule in &mut rules {
            (rule.enabled, rule.for_s) = (rule.id != REFUSAL_RATIO, 0);
        }
        assert_eq!(Judge::default().judge(&rules, &seen(1.0), 0), []);
        let many: Seen = (0..2_000).map(|i| ((DEBT, format!("app-{i}")), (1.0, String::new()))).collect();
        assert_eq!(Judge::default().judge(&rules, &many, 0).len(), MAX_OPEN);
    }
}
