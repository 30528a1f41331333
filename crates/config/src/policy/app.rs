use super::cluster::{Directory, read_connections};
use super::{Draft, outage, prices};
use crate::error::{Errors, Problem};
use crate::reader::{Report, Table};
use crate::source::Origins;
use serde_json::{Map, Value, json};
use tollgate_core::cost::PriceList;
use tollgate_core::fallback::Outage;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{LoanTerms, Quota};
use tollgate_core::units::{Millis, Rate, Tokens};

/// The longest burst window, in seconds: a day.
const MAX_BURST_WINDOW_S: u64 = 86_400;

/// What an application was promised and how it is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// The cluster it runs on.
    pub cluster: ClusterId,
    /// Its tokens.
    pub quota: Quota,
    /// Its connections.
    pub connections: Connections,
    /// What its requests cost.
    pub prices: PriceList,
    /// What passes while the ledger is out of reach.
    pub outage: Outage,
    /// Whether it may pass at all.
    pub enabled: bool,
    /// Whether decisions are made and counted but not enforced.
    pub shadow: bool,
    /// Whether the bytes of responses are charged too.
    pub charge_response: bool,
}

/// How many connections an application may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// At any time.
    pub max: u32,
    /// While the cluster has room; never less.
    pub burst: u32,
}

impl Default for Connections {
    fn default() -> Self {
        Self { max: Self::DEFAULT_MAX, burst: Self::DEFAULT_MAX }
    }
}

impl Connections {
    const DEFAULT_MAX: u32 = 1_000;

    fn read(table: &mut Table<'_>) -> Option<Self> {
        let max = read_connections(table, "max_connections", Self::DEFAULT_MAX);
        // Without a `max` to compare to there is nothing to say but whether `burst` is a number.
        let burst = read_connections(table, "burst_connections", max.unwrap_or(u32::MAX));
        let (max, burst) = max.zip(burst)?;
        if burst < max {
            let problem = Problem::Conflict("less than max_connections".into());
            table.fault("burst_connections", problem, format!("at least {max}"));
            return None;
        }
        Some(Self { max, burst })
    }
}

impl App {
    /// Every key but the name; prices only as far as they differ from `inherited`.
    pub(crate) fn to_map(&self, inherited: &PriceList) -> Map<String, Value> {
        let Quota { guaranteed, burst, burst_window, priority, loan } = self.quota;
        let mut map = self.treatment_map(inherited);
        map.extend([
            ("cluster".into(), json!(&*self.cluster)),
            ("guaranteed_quota".into(), json!(guaranteed.floor())),
            ("burst_quota".into(), json!(burst.floor())),
            ("burst_duration_s".into(), json!(burst_window.ceil_secs())),
            ("priority".into(), json!(priority.number())),
            ("max_borrow".into(), json!(loan.limit.floor())),
            ("borrow".into(), json!(loan.automatic)),
            ("repay_share".into(), json!(loan.repay_share.as_f64())),
            ("enabled".into(), json!(self.enabled)),
        ]);
        map
    }

    /// Every key but the name, as it is read; prices only as far as they differ from `inherited`.
    pub fn to_value(&self, inherited: &PriceList) -> Value {
        Value::Object(self.to_map(inherited))
    }

    /// All that a ledger keeps for its nodes without reading it, as JSON: how requests are priced and treated.
    /// [`App::with_treatment`] reads it back.
    pub fn treatment(&self) -> String {
        Value::Object(self.treatment_map(&PriceList::default())).to_string()
    }

    /// An application from what a ledger keeps of it. Keys that are not known are left alone: nodes of a later
    /// version may have written them. No text at all stands for the defaults.
    pub fn with_treatment(
        cluster: ClusterId,
        quota: Quota,
        enabled: bool,
        treatment: &str,
    ) -> Result<Self, Errors> {
        let origins = Origins::default();
        let report = Report::new(&origins, Errors::default());
        let text = if treatment.is_empty() { "{}" } else { treatment };
        let value = serde_json::from_str(text).unwrap_or_default();
        let mut table = Table::root(&value, &report);
        let treatment = Treatment::read(&mut table, PriceList::default());
        report.conclude(treatment).map(|treatment| treatment.of(cluster, quota, enabled))
    }

    /// An application that is treated as one of which nothing is said.
    pub fn plain(cluster: ClusterId, quota: Quota, enabled: bool) -> Self {
        Treatment::default().of(cluster, quota, enabled)
    }

    fn treatment_map(&self, inherited: &PriceList) -> Map<String, Value> {
        let mut map = Map::from_iter([
            ("shadow".into(), json!(self.shadow)),
            ("charge_response".into(), json!(self.charge_response)),
            ("max_connections".into(), json!(self.connections.max)),
            ("burst_connections".into(), json!(self.connections.burst)),
        ]);
        outage::write(self.outage, &mut map);
        let cost = prices::to_map(&self.prices, Some(inherited));
        if !cost.is_empty() {
            map.insert("cost".into(), Value::Object(cost));
        }
        map
    }
}

/// An application as far as it could be read.
pub(super) struct AppDraft {
    path: String,
    id: Option<AppId>,
    pub(super) cluster: Option<ClusterId>,
    pub(super) guaranteed: Option<Rate>,
    app: Option<App>,
}

impl Draft for AppDraft {
    type Id = AppId;
    type Meant = App;

    fn path(&self) -> &str {
        &self.path
    }

    fn id(&self) -> Option<&AppId> {
        self.id.as_ref()
    }

    fn meant(self) -> Option<App> {
        self.app
    }
}

/// Reads one application.
pub(super) fn read(mut table: Table<'_>, inherited: PriceList, clusters: &Directory) -> AppDraft {
    let id = table.required("id").id(AppId::new).right();
    let cluster = clusters.resolve(&mut table);
    let guaranteed = table.required("guaranteed_quota").whole(1..=Rate::MAX.floor()).right();
    let guaranteed = guaranteed.map(Rate::per_second);
    let app = read_terms(&mut table, cluster.clone(), guaranteed, inherited);
    let path = table.path().to_owned();
    table.finish();
    AppDraft { path, id, cluster, guaranteed, app }
}

fn read_terms(
    table: &mut Table<'_>,
    cluster: Option<ClusterId>,
    guaranteed: Option<Rate>,
    inherited: PriceList,
) -> Option<App> {
    let quota = read_quota(table, guaranteed);
    let treatment = Treatment::read(table, inherited);
    let enabled = table.field("enabled").flag().or(true);
    Some(treatment?.of(cluster?, quota?, enabled?))
}

/// How an application's requests are priced and treated, whatever it was promised.
#[derive(Default)]
struct Treatment {
    connections: Connections,
    prices: PriceList,
    outage: Outage,
    shadow: bool,
    charge_response: bool,
}

impl Treatment {
    fn read(table: &mut Table<'_>, inherited: PriceList) -> Option<Self> {
        let connections = Connections::read(table);
        let prices = prices::read(table.table("cost"), inherited);
        let outage = outage::read(table);
        let shadow = table.field("shadow").flag().or(false);
        let charge_response = table.field("charge_response").flag().or(false);
        Some(Self {
            connections: connections?,
            prices: prices?,
            outage: outage?,
            shadow: shadow?,
            charge_response: charge_response?,
        })
    }

    fn of(self, cluster: ClusterId, quota: Quota, enabled: bool) -> App {
        let Self { connections, prices, outage, shadow, charge_response } = self;
        App { cluster, quota, connections, prices, outage, enabled, shadow, charge_response }
    }
}

fn read_quota(table: &mut Table<'_>, guaranteed: Option<Rate>) -> Option<Quota> {
    let burst = table.required("burst_quota").whole(1..=Tokens::MAX.floor()).right().map(Tokens::whole);
    let window = table.field("burst_duration_s").whole(1..=MAX_BURST_WINDOW_S).map(Millis::from_secs);
    let priority = read_priority(table);
    let loan = read_loan(table);
    let (guaranteed, burst) = guaranteed.zip(burst)?;
    if burst < guaranteed.per_one_second() {
        let problem = Problem::Conflict("less than guaranteed_quota".into());
        table.fault("burst_quota", problem, format!("at least {}", guaranteed.floor()));
        return None;
    }
    let burst_window = window.or(Quota::DEFAULT_BURST_WINDOW)?;
    Some(Quota { guaranteed, burst, burst_window, priority: priority?, loan: loan? })
}

fn read_priority(table: &mut Table<'_>) -> Option<Priority> {
    let default = u64::from(Priority::default().number());
    let number = table.field("priority").whole(0..=3).or(default)?;
    Priority::try_from(number).ok()
}

fn read_loan(table: &mut Table<'_>) -> Option<LoanTerms> {
    let default = LoanTerms::default();
    let limit = table.field("max_borrow").whole(0..=Tokens::MAX.floor()).map(Tokens::whole).or(default.limit);
    let automatic = table.field("borrow").flag().or(default.automatic);
    let repay_share = table.field("repay_share").ratio(0.0..=1.0).or(default.repay_share);
    Some(LoanTerms {
        limit: limit?,
        automatic: automatic?,
        repay_share: repay_share?,
        interest: default.interest,
    })
}
