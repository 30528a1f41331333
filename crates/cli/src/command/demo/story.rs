//! Some seconds in the life of a cluster, told second by second.

use super::cluster::{APPS, Cluster, Served, Tenant};
use super::script::{Plan, Script};
use super::table::{Side, Table, grouped};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Tokens};

/// How often an application asks: as often as a node speaks to the ledger.
const TICK: Millis = Millis::new(100);
const TICKS_PER_SECOND: u64 = 10;

/// What happened.
pub(super) struct Story {
    script: &'static Script,
    cluster: Cluster,
    seconds: Vec<[Tally; APPS]>,
}

/// What an application got in one second, and from where.
#[derive(Clone, Copy, Default)]
struct Tally {
    granted: Tokens,
    bucket: Tokens,
    allowance: Tokens,
    loan: Tokens,
    refused: Option<Reason>,
}

impl Tally {
    fn add(&mut self, served: &Served) {
        let grant = served.grant;
        self.granted = self.granted.plus(grant.total());
        self.bucket = self.bucket.plus(grant.bucket);
        self.allowance = self.allowance.plus(grant.allowance);
        self.loan = self.loan.plus(grant.loan);
        self.refused = served.refused.or(self.refused);
    }
}

impl Story {
    /// Plays a script.
    pub(super) fn play(script: &'static Script) -> Self {
        let mut cluster = Cluster::new(script.capacity);
        let mut now = Millis::ZERO;
        let seconds = script.seconds.iter().map(|plan| play_second(&mut cluster, plan, &mut now)).collect();
        Self { script, cluster, seconds }
    }

    /// The story as a table, with what it is about above and how it ended below.
    pub(super) fn to_text(&self) -> String {
        let Script { heading, note, .. } = self.script;
        format!("{heading}\n{note}\n\n{}\n\n{}", self.table(), self.sources())
    }

    /// The story for programs.
    pub(super) fn to_value(&self) -> Value {
        let second = |(n, plan, tallies): (u64, &Plan, &[Tally; APPS])| json!({ "second": n, "emergency": plan.emergency, "apps": self.tallies_to_value(plan, tallies) });
        json!({
            "name": self.script.name,
            "capacity": self.cluster.capacity(),
            "apps": self.cluster.tenants.iter().map(tenant_to_value).collect::<Map<_, _>>(),
            "seconds": self.told().map(second).collect::<Value>(),
        })
    }

    /// Each second's number, plan and outcome.
    fn told(&self) -> impl Iterator<Item = (u64, &'static Plan, &[Tally; APPS])> {
        (1..).zip(self.script.seconds).zip(&self.seconds).map(|((n, plan), tallies)| (n, plan, tallies))
    }

    fn tallies_to_value(&self, plan: &Plan, tallies: &[Tally; APPS]) -> Value {
        let apps = self.cluster.tenants.iter().zip(plan.asks).zip(tallies);
        let values = apps.map(|((tenant, asked), tally)| (tenant.name.to_owned(), tally.to_value(asked)));
        Value::Object(values.collect())
    }

    fn table(&self) -> String {
        let columns =
            [Side::Right, Side::Left].into_iter().chain([Side::Right; 2 * APPS]).chain([Side::Left]);
        let mut table = Table::new(columns.collect());
        let names = self.cluster.tenants.iter().flat_map(|tenant| [tenant.name, ""]);
        table.row(["", ""].into_iter().chain(names));
        let verbs = self.cluster.tenants.iter().flat_map(|_| ["asks", "gets"]);
        table.row(["second", "mode"].into_iter().chain(verbs).chain(["refused with"]));
        for (second, plan, tallies) in self.told() {
            let mode = if plan.emergency { "emergency" } else { "normal" };
            let head = [second.to_string(), mode.to_owned()];
            let amounts =
                plan.asks.into_iter().zip(tallies).flat_map(|(asked, tally)| [asked, tally.granted.floor()]);
            table.row(head.into_iter().chain(amounts.map(grouped)).chain([refusals(tallies)]));
        }
        table.to_text()
    }

    /// Where everybody's tokens came from.
    fn sources(&self) -> String {
        let mut table = Table::new([Side::Left].into_iter().chain([Side::Right; 5]).collect());
        table.row(["in all", "got", "bucket", "allowance", "loan", "still owes"]);
        for (app, tenant) in self.cluster.tenants.iter().enumerate() {
            let sum = |part: fn(&Tally) -> Tokens| {
                self.seconds.iter().map(|tallies| part(&tallies[app])).sum::<Tokens>()
            };
            let amounts = [
                sum(|a| a.granted),
                sum(|a| a.bucket),
                sum(|a| a.allowance),
                sum(|a| a.loan),
                tenant.account.loan.debt,
            ];
            table.row([tenant.name.to_owned()].into_iter().chain(amounts.map(|n| grouped(n.floor()))));
        }
        table.to_text()
    }
}

impl Tally {
    fn to_value(self, asked: u64) -> Value {
        json!({
            "asked": asked,
            "granted": self.granted.floor(),
            "bucket": self.bucket.floor(),
            "allowance": self.allowance.floor(),
            "loan": self.loan.floor(),
            "refused": self.refused.map(Reason::code),
        })
    }
}

fn play_second(cluster: &mut Cluster, plan: &Plan, now: &mut Millis) -> [Tally; APPS] {
    let asks = plan.asks.map(|ask| Tokens::whole(ask / TICKS_PER_SECOND));
    cluster.set_emergency(plan.emergency, *now);
    let mut tallies = [Tally::default(); APPS];
    for _ in 0..TICKS_PER_SECOND {
        *now = now.plus(TICK);
        let served = cluster.serve(asks, *now);
        tallies.iter_mut().zip(&served).for_each(|(tally, served)| tally.add(served));
    }
    tallies
}

/// Each reason for which anything was refused, once.
fn refusals(tallies: &[Tally; APPS]) -> String {
    let reasons: BTreeSet<Reason> = tallies.iter().filter_map(|tally| tally.refused).collect();
    reasons.into_iter().map(Reason::code).collect::<Vec<_>>().join(", ")
}

fn tenant_to_value(tenant: &Tenant) -> (String, Value) {
    let quota = &tenant.quota;
    let value = json!({
        "priority": quota.priority.number(),
        "guaranteed_quota": quota.guaranteed.floor(),
        "burst_quota": quota.burst.floor(),
        "debt": tenant.account.loan.debt.floor(),
    });
    (tenant.name.to_owned(), value)
}
