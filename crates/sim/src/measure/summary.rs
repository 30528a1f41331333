//! What a run comes to.

use super::tenant::Sums;
use super::{Moved, STEP, Tenant, Tiers};
use crate::chance::seconds;
use crate::check::{Bound, Extra, Extras};
use crate::scenario::{Expectation, Load, Measure, Place, Scenario};
use std::collections::BTreeMap;
use tollgate_core::reason::Reason;
use tollgate_core::units::Nanos;

/// What a run comes to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// One for each application.
    pub apps: Vec<AppSummary>,
    /// Requests of all.
    pub requests: u64,
    /// Calls to the ledger.
    pub calls: u64,
    /// What the calls and their answers weigh, in bytes.
    pub bytes: u64,
    /// The share of the time that the busiest shard of the store worked.
    pub busy: f64,
    /// How long was measured, in seconds.
    pub seconds: f64,
    /// After each shift of a load, the application and how long it took until as much passed as should, in seconds.
    pub shifts: Vec<(usize, f64)>,
    /// What the tiers held over time.
    pub tiers: Vec<Tiers>,
    /// What came to all nodes and went from them, each tenth of a second.
    pub at_nodes: Vec<Moved>,
}

/// What became of one application.
#[derive(Clone, Debug, Default)]
pub struct AppSummary {
    /// Its name.
    pub app: String,
    /// Its guarantee, in tokens a second.
    pub rate: f64,
    /// Requests.
    pub requests: u64,
    /// Tokens asked for.
    pub asked: u64,
    /// Tokens that passed.
    pub passed: u64,
    /// Tokens that one bucket in one place would have let pass.
    pub ideal: u64,
    /// Refusals by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// What passed beyond rate, burst and what is booked, over any time, in seconds of the rate.
    pub over_admission: f64,
    /// Jain's index over the nodes.
    pub fairness: f64,
    /// What was on top of rate and burst, in tokens, by kind.
    pub extras: Extras,
    /// Asked for, passed and ideal, each tenth of a second.
    pub curve: Vec<[f64; 3]>,
    /// What the ledger gave to nodes, booked as spent and got back, each tenth of a second.
    pub at_ledger: Vec<Moved>,
}

impl AppSummary {
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub(crate) fn of(app: &str, tenant: &Tenant, bound: &Bound) -> Self {
        let Sums { requests, asked, passed, ideal } = tenant.sums;
        let rate = bound.rate().millis() as f64 / 1e3;
        let refusals = Reason::ALL.iter().zip(tenant.refused).filter(|(_, count)| *count > 0);
        Self {
            app: app.to_owned(),
            rate,
            requests,
            asked,
            passed,
            ideal,
            refused: refusals.map(|(reason, count)| (reason.code(), count)).collect(),
            over_admission: bound.worst().micros() as f64 / 1e6 / rate,
            fairness: fairness(&tenant.nodes),
            extras: std::array::from_fn(|i| bound.extras()[i].micros() as f64 / 1e6),
            at_ledger: tenant.flow.curve(),
            curve: tenant.curve.iter().map(|s| [s.asked as f64, s.passed as f64, s.ideal as f64]).collect(),
        }
    }

    /// What passed of what one bucket in one place would have let pass.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub fn utilisation(&self) -> f64 {
        if self.ideal == 0 { 1.0 } else { self.passed as f64 / self.ideal as f64 }
    }

    /// Refusals for any reason.
    pub fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }

    /// What was on top of rate and burst.
    pub fn extra(&self, extra: Extra) -> f64 {
        self.extras[extra as usize]
    }
}

impl Summary {
    /// A measure, of one application or of the one that fares worst; `None` if there is nothing to measure.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub fn measure(&self, measure: Measure, app: Option<usize>) -> Option<f64> {
        let apps =
            self.apps.iter().enumerate().filter(|(i, _)| app.is_none_or(|app| app == *i)).map(|(_, app)| app);
        let asked = apps.filter(|app| app.requests > 0);
        match measure {
            Measure::OverAdmission => asked.map(|app| app.over_admission).reduce(f64::max),
            Measure::Utilisation => asked.map(AppSummary::utilisation).reduce(f64::min),
            Measure::Fairness => asked.map(|app| app.fairness).reduce(f64::min),
            Measure::Refusals => Some(asked.map(AppSummary::refusals).sum::<u64>() as f64),
            Measure::Calls => (self.requests > 0).then(|| self.calls as f64 * 1e3 / self.requests as f64),
            Measure::Convergence => {
                let shifts = self.shifts.iter().filter(|(i, _)| app.is_none_or(|app| app == *i));
                percentile(&shifts.map(|(_, time)| *time).collect::<Vec<_>>(), 0.99)
            }
        }
    }

    /// The expectations that are not met, and what was found instead.
    pub fn unmet(&self, scenario: &Scenario) -> Vec<(Expectation, Option<f64>)> {
        let found = scenario.expectations.iter().map(|expected| {
            let value = self.measure(expected.measure, expected.app);
            (expected.clone(), value)
        });
        found.filter(|(expected, value)| !value.is_some_and(|value| expected.holds(value))).collect()
    }

    /// How long it took after each shift of a load until as much passed as should.
    pub(crate) fn find_shifts(&mut self, loads: &[Load], end: Nanos) {
        for load in loads {
            let Place::Moving { every, .. } = load.place else { continue };
            let mut at = load.from.plus(every);
            while at.plus(every) <= load.until.min(end) {
                for &app in &load.apps {
                    let took = settled(&self.apps[app].curve, at, every);
                    self.shifts.extend(took.map(|took| (app, took)));
                }
                at = at.plus(every);
            }
        }
    }
}

/// After how many seconds a second begins in which as much passes as should; all of the time if none does. Nothing can be
/// said of an application that nobody asks for meanwhile. A curve ends with the last request: nothing happens after it.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small")]
fn settled(curve: &[[f64; 3]], at: Nanos, every: Nanos) -> Option<f64> {
    const WINDOW: usize = 10;
    let first = (at.get() / STEP.get()) as usize;
    let last = (at.plus(every).get() / STEP.get()) as usize;
    let steps: Vec<[f64; 3]> =
        (first..last).map(|step| curve.get(step).copied().unwrap_or_default()).collect();
    let sum = |window: &[[f64; 3]], i: usize| window.iter().map(|step| step[i]).sum::<f64>();
    if sum(&steps, 0) == 0.0 {
        return None;
    }
    let settled = steps.windows(WINDOW).position(|window| sum(window, 1) >= 0.95 * sum(window, 2));
    Some(settled.map_or(seconds(every), |step| step as f64 * seconds(STEP)))
}

/// Jain's index of what was let through of what was asked for, at each node that anything was asked of.
#[allow(clippy::cast_precision_loss, reason = "for people")]
fn fairness(nodes: &[(u64, u64)]) -> f64 {
    let shares: Vec<f64> = nodes
        .iter()
        .filter(|(asked, _)| *asked > 0)
        .map(|(asked, passed)| *passed as f64 / *asked as f64)
        .collect();
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// The value that so large a share of all is at most.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small"
)]
pub(crate) fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Nanos = Nanos::from_secs(5);

    /// What was asked for, passed and should have passed, in a tenth of a second.
    const SERVED: [f64; 3] = [3.0, 3.0, 3.0];
    const REFUSED: [f64; 3] = [3.0, 0.0, 3.0];
    const QUIET: [f64; 3] = [0.0; 3];

    fn is_settled_after(curve: &[[f64; 3]], expected: Option<f64>) -> bool {
        match (settled(curve, EVERY, EVERY), expected) {
            (Some(took), Some(expected)) => (took - expected).abs() < 1e-9,
            (took, expected) => took == expected,
        }
    }

    #[test]
    fn it_takes_until_a_second_begins_in_which_all_passes() {
        let mut curve = vec![SERVED; 100];
        assert!(is_settled_after(&curve, Some(0.0)));
        curve[50..57].fill(REFUSED);
        assert!(is_settled_after(&curve, Some(0.7)));
        curve[50..].fill(REFUSED);
        assert!(is_settled_after(&curve, Some(5.0)));
    }

    #[test]
    fn whoever_asks_seldom_and_gets_it_has_settled_although_its_curve_ends_early() {
        let mut curve = vec![QUIET; 55];
        curve[52] = SERVED;
        assert!(is_settled_after(&curve, Some(0.0)));
    }

    #[test]
    fn nothing_is_said_of_whoever_asks_for_nothing() {
        assert!(is_settled_after(&[SERVED; 20], None));
        assert!(is_settled_after(&[QUIET; 100], None));
    }
}
