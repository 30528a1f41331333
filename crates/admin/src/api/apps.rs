//! Applications.

use super::etag::{IfMatch, etag, wants_new};
use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Params, Segment};
use crate::auth::{Operator, Viewer};
use crate::form::Form;
use crate::history::of_app;
use crate::live::{AppLive, Flow, Live};
use crate::policy::document::{self, CostDocument, OutageMode};
use crate::policy::{self, Found, PolicyDocument, Terms};
use crate::problem::{FieldError, Problem};
use crate::state::{Admin, Shared};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use tollgate_core::id::AppId;
use tollgate_ledger::protocol::Carry;
use utoipa::{IntoParams, ToSchema};

/// An application: what it was promised, what it has, and what it does.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct App {
    #[serde(flatten)]
    pub(crate) policy: PolicyDocument,
    /// The version of its policy, which is also its entity tag; 0 if it is only scheduled to be added.
    pub(crate) version: u64,
    /// How it is doing: `critical` if more than half of its requests of the last minutes were refused, `warning` if some
    /// were, if it is in debt, or if it is switched off.
    pub(crate) status: Health,
    /// What it has in the ledger.
    pub(crate) state: AppState,
    /// What it did in the last second, on this node.
    pub(crate) activity: Activity,
    /// The change that is scheduled, if there is one.
    pub(crate) pending: Option<Pending>,
}

/// How something is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    /// Well.
    Normal,
    /// Not quite well.
    Warning,
    /// Badly.
    Critical,
}

/// What an application has, in tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AppState {
    /// In its bucket.
    pub(crate) tokens: u64,
    /// Out on lease to nodes.
    pub(crate) leased: u64,
    /// Held by this node.
    pub(crate) held: u64,
    /// What is left of its burst allowance.
    pub(crate) burst_remaining: u64,
    /// What it has borrowed.
    pub(crate) borrowed: u64,
    /// What it owes, interest included.
    pub(crate) debt: u64,
    /// What it has spent in all.
    pub(crate) total_consumed: u64,
    /// Its requests in all.
    pub(crate) total_requests: u64,
    /// The same by operation.
    pub(crate) by_operation: BTreeMap<String, OperationUse>,
    /// Its connections on this node.
    pub(crate) connections: u64,
}

/// What was spent on one operation.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct OperationUse {
    /// How many requests.
    pub(crate) requests: u64,
    /// What they cost, in tokens.
    pub(crate) cost: u64,
}

/// What happened in one second.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub(crate) struct Activity {
    /// Requests that passed.
    pub(crate) requests: u64,
    /// What they cost, in tokens.
    pub(crate) cost: u64,
    /// Requests that were refused.
    pub(crate) refused: u64,
    /// Requests that would have been refused, but for shadow mode.
    pub(crate) shadowed: u64,
}

/// A change that is scheduled.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Pending {
    /// When it takes effect, in milliseconds since 1970.
    pub(crate) effective_time: u64,
    /// The application as it will be.
    pub(crate) policy: PolicyDocument,
}

/// Both ways to write an application: with its name, and without where the path has it.
macro_rules! app_input {
    ($($(#[$meta:meta])* $name:ident { $($id:tt)* })+) => {
        $($(#[$meta])*
        #[derive(Clone, Debug, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "describes what is read field by field, so that every mistake is said at once")]
        pub(crate) struct $name {
            $($id)*
            /// Tokens per second that it can always count on. All of a cluster's add up to at most 90 % of its capacity.
            #[schema(minimum = 1, maximum = 1_000_000_000)]
            guaranteed_quota: u64,
            /// The most tokens that it may save; at least the guarantee.
            #[schema(minimum = 1, maximum = 4_000_000_000u64)]
            burst_quota: u64,
            /// The cluster it runs on; may be left out where there is only one, and cannot be changed.
            cluster: Option<String>,
            /// How often the burst allowance starts anew, in seconds.
            #[schema(minimum = 1, maximum = 86_400, default = 60)]
            burst_duration_s: Option<u64>,
            /// 0 matters most, 3 least.
            #[schema(minimum = 0, maximum = 3, default = 2)]
            priority: Option<u8>,
            /// The most tokens that it may owe.
            #[schema(minimum = 0, maximum = 4_000_000_000u64, default = 10_000)]
            max_borrow: Option<u64>,
            /// Whether it borrows by itself when nothing else is left.
            #[schema(default = true)]
            borrow: Option<bool>,
            /// The share of its refill that goes into paying back, with at most 4 decimals.
            #[schema(minimum = 0, maximum = 1, default = 0.5)]
            repay_share: Option<f64>,
            /// Whether it may pass at all.
            #[schema(default = true)]
            enabled: Option<bool>,
            /// Whether decisions are made and counted, but not enforced.
            #[schema(default = false)]
            shadow: Option<bool>,
            /// Whether the bytes of responses are charged too.
            #[schema(default = false)]
            charge_response: Option<bool>,
            /// What passes while the ledger is out of reach.
            outage: Option<OutageMode>,
            /// Tokens per second and node that pass then.
            #[schema(minimum = 1, maximum = 1_000_000_000)]
            fail_open_tokens: Option<u64>,
            /// Or the share of what the node had that passes then, with at most 4 decimals.
            #[schema(minimum = 0, maximum = 1)]
            fallback_ratio: Option<f64>,
            /// Connections at any time.
            #[schema(minimum = 1, maximum = 4_294_967_295u64, default = 1_000)]
            max_connections: Option<u64>,
            /// Connections while the cluster has room; at least as many.
            #[schema(minimum = 1, maximum = 4_294_967_295u64)]
            burst_connections: Option<u64>,
            /// Prices of its own.
            cost: Option<CostDocument>,
            /// Why it is changed, for those who read it later.
            #[schema(max_length = 1_000)]
            reason: Option<String>,
            /// When it shall take effect, in milliseconds since 1970; at once if that has passed or is left out.
            #[schema(minimum = 0, maximum = 9_007_199_254_740_991i64)]
            effective_time: Option<i64>,
            /// What happens to the tokens in its bucket.
            carry: Option<CarryInput>,
        })+
    };
}

app_input! {
    /// An application as it shall be. What is left out is as if nothing was said of it, not as it was.
    AppInput {}

    /// A new application.
    NewApp {
        /// Its name.
        #[schema(min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9_-]+$")]
        app_id: String,
    }
}

/// What happens to the tokens in a bucket when its quota changes.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CarryInput {
    /// They stay, as far as the new burst allows.
    Keep,
    /// They stay the same share of the burst.
    Scale,
    /// They start over with one second of the new guarantee.
    Reset,
}

/// Which applications to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListApps {
    /// Only those of this cluster.
    cluster: Option<String>,
    /// Only those of this priority.
    #[param(minimum = 0, maximum = 3)]
    priority: Option<u8>,
    /// Only those that may pass, or may not.
    enabled: Option<bool>,
    /// Only those in shadow mode, or not.
    shadow: Option<bool>,
    /// Only those that are doing like this.
    #[param(inline)]
    status: Option<Health>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortApps>,
}

/// What applications are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortApps {
    /// Their names.
    #[default]
    AppId,
    /// What they are guaranteed.
    GuaranteedQuota,
    /// What they may save.
    BurstQuota,
    /// Their priority.
    Priority,
    /// What they have.
    Tokens,
    /// What they owe.
    Debt,
    /// What passed in the last second.
    Requests,
    /// What was refused in the last second.
    Refused,
    /// When they were last changed.
    Version,
}

/// Lists applications, those too that are scheduled to be added.
#[utoipa::path(get, path = "/api/v1/apps", tag = "apps", params(PageParams, ListParams, ListApps),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "a page of applications", body = Listed<App>)))]
pub(crate) async fn list(
    State(admin): State<Shared>,
    _: Viewer,
    asked: Asked,
    Params(params): Params<ListApps>,
) -> Result<Json<Listed<App>>, Problem> {
    params.check()?;
    let live = admin.live();
    let mut found = policy::all(&*admin.plane).await?;
    found.extend(policy::to_come(&*admin.plane, &found).await?);
    let wanted =
        found.into_iter().map(|found| Seen::new(&admin, found, &live)).filter(|seen| params.wants(seen));
    let page = asked.page(wanted, params.sort);
    Ok(Json(page.map(|seen| shown(&admin, &seen.found, seen.health, &live))))
}

/// Shows an application. One that is scheduled to be added is shown as it will be.
#[utoipa::path(get, path = "/api/v1/apps/{app_id}", tag = "apps", params(("app_id" = String, Path,)),
    extensions(("x-required-role" = json!("viewer"))),
    responses((status = 200, description = "the application", body = App, headers(("ETag" = String)))))]
pub(crate) async fn get(
    State(admin): State<Shared>,
    _: Viewer,
    Segment(name): Segment<String>,
) -> Result<impl IntoResponse, Problem> {
    let found = policy::find(&*admin.plane, &name).await?;
    let found = found.ok_or_else(|| Problem::not_found("application", &name))?;
    Ok((etag(&found.etag()), Json(shown_now(&admin, &found))))
}

/// Adds an application.
#[utoipa::path(post, path = "/api/v1/apps", tag = "apps", request_body = NewApp,
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 201, description = "it was added", body = App, headers(("ETag" = String), ("Location" = String))),
              (status = 202, description = "it will be added when its time has come", headers(("Location" = String)))))]
pub(crate) async fn create(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    mut form: Form,
) -> Result<Response, Problem> {
    let name = form.text("app_id", 1..=tollgate_core::id::MAX_LEN);
    let id = AppId::new(&name);
    if let (Err(error), false) = (&id, name.is_empty()) {
        form.fault(FieldError::new("app_id", "bad_id", error.to_string(), "1 to 128 of A-Z a-z 0-9 _ -"));
    }
    let terms = Terms { replaces: Some(0), ..terms(&mut form, "create") };
    let stand_in =
        id.clone().or_else(|_| AppId::new("-")).map_err(|error| Problem::malformed(error.to_string()))?;
    let app = read(&admin, &stand_in, form)?;
    let id = id.map_err(|error| Problem::malformed(error.to_string()))?;
    let _turn = admin.changing.lock().await;
    if policy::find(&*admin.plane, &id).await?.is_some() {
        return Err(Problem::conflict(format!("there is an application called {id} already")));
    }
    let change = admin.put_app(&id, &app, None, &terms).await?;
    admin.publish(&caller, &[change], &terms).await?;
    answer_created(&admin, &id).await
}

/// Sets an application, whether it is there or not. With `If-Match` it must be as the caller has seen it; with
/// `If-None-Match: *` it must not be there.
#[utoipa::path(put, path = "/api/v1/apps/{app_id}", tag = "apps", request_body = AppInput,
    params(("app_id" = String, Path,), ("If-Match" = Option<String>, Header,), ("If-None-Match" = Option<String>, Header,)),
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 200, description = "it was changed", body = App, headers(("ETag" = String))),
              (status = 201, description = "it was added", body = App, headers(("ETag" = String), ("Location" = String))),
              (status = 202, description = "it will be added when its time has come", headers(("Location" = String)))))]
pub(crate) async fn put(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(name): Segment<String>,
    headers: HeaderMap,
    mut form: Form,
) -> Result<Response, Problem> {
    let id = AppId::new(&name).map_err(|error| {
        Problem::invalid(vec![FieldError::new(
            "app_id",
            "bad_id",
            error.to_string(),
            "1 to 128 of A-Z a-z 0-9 _ -",
        )])
    })?;
    let mut terms = terms(&mut form, "update");
    let app = read(&admin, &id, form)?;
    let _turn = admin.changing.lock().await;
    let before = policy::find(&*admin.plane, &id).await?;
    if before.is_some() && wants_new(&headers) {
        return Err(Problem::changed_meanwhile(&before.as_ref().map(Found::etag).unwrap_or_default()));
    }
    IfMatch::read(&headers)?.check(before.as_ref().map(Found::etag).as_deref())?;
    if let Some(found) = before.as_ref().filter(|found| found.app.cluster != app.cluster) {
        let message = format!("an application cannot move, it is on {}", found.app.cluster);
        let error = FieldError::new("cluster", "conflict", message, found.app.cluster.to_string());
        return Err(Problem::invalid(vec![error]));
    }
    // Between reading and writing nobody may have changed it, also through another node.
    terms.replaces = Some(before.as_ref().map_or(0, Found::version));
    let is_scheduled = terms.effective_at.is_some_and(|at| at > crate::clock::wall());
    if before.as_ref().is_some_and(|found| found.app == app && found.view.pending.is_none()) && !is_scheduled
    {
        // The same again changes nothing, and makes no version.
        let found = existing(&admin, &id).await?;
        return Ok((etag(&found.etag()), Json(shown_now(&admin, &found))).into_response());
    }
    let is_new = !before.as_ref().is_some_and(Found::is_there);
    if is_new {
        terms.kind = "create";
    }
    let change = admin.put_app(&id, &app, before.as_ref(), &terms).await?;
    admin.publish(&caller, &[change], &terms).await?;
    if is_new {
        return answer_created(&admin, &id).await;
    }
    let found = existing(&admin, &id).await?;
    Ok((etag(&found.etag()), Json(shown_now(&admin, &found))).into_response())
}

/// Removes an application and what is scheduled for it. Its leases are void. One that is not there is as good as removed.
#[utoipa::path(delete, path = "/api/v1/apps/{app_id}", tag = "apps",
    params(("app_id" = String, Path,), ("If-Match" = Option<String>, Header,)),
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 204, description = "it is not there any more")))]
pub(crate) async fn delete(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(name): Segment<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let _turn = admin.changing.lock().await;
    let found = policy::find(&*admin.plane, &name).await?;
    IfMatch::read(&headers)?.check(found.as_ref().map(Found::etag).as_deref())?;
    let Some(found) = found else { return Ok(StatusCode::NO_CONTENT) };
    let change = admin.remove_app(&found).await?;
    admin.publish(&caller, &[change], &Terms::now("delete", "")).await?;
    admin.recorder().forget(&name);
    Ok(StatusCode::NO_CONTENT)
}

/// Starts an application's bucket over, debt and burst allowance included.
#[utoipa::path(post, path = "/api/v1/apps/{app_id}/reset", tag = "apps", params(("app_id" = String, Path,)),
    extensions(("x-required-role" = json!("operator"))),
    responses((status = 204, description = "it starts over")))]
pub(crate) async fn reset(
    State(admin): State<Shared>,
    Operator(caller): Operator,
    Segment(name): Segment<String>,
) -> Result<StatusCode, Problem> {
    let found = existing(&admin, &name).await?;
    admin.plane.reset(&found.app.cluster, &found.id).await?;
    admin.audit(&caller, "app.reset", &name, None, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The application of that name, if it is there.
pub(crate) async fn existing(admin: &Admin, name: &str) -> Result<Found, Problem> {
    let found = policy::find(&*admin.plane, name).await?.filter(Found::is_there);
    found.ok_or_else(|| Problem::not_found("application", name))
}

/// What is said about a change besides what changes.
pub(crate) fn terms(form: &mut Form, kind: &'static str) -> Terms {
    let reason = form.optional_text("reason", 0..=1_000).unwrap_or_default();
    let effective_at = form.whole("effective_time", 0..=9_007_199_254_740_991);
    let carries = [("keep", Carry::Keep), ("scale", Carry::Scale), ("reset", Carry::Reset)];
    let carry = form.word("carry", &carries).unwrap_or_default();
    Terms { reason, effective_at, carry, ..Terms::now(kind, "") }
}

/// Reads an application from what is left of a form, all mistakes of both at once.
pub(crate) fn read(
    admin: &Admin,
    id: &AppId,
    mut form: Form,
) -> Result<tollgate_config::policy::App, Problem> {
    let fields: Map<String, Value> = form.rest();
    let read = document::read(id, fields, &admin.clusters(), &admin.settings.prices);
    if let Err(errors) = &read {
        errors.iter().filter(|error| error.path != "app_id").cloned().for_each(|error| form.fault(error));
    }
    form.finish()?;
    read.map_err(Problem::invalid)
}

async fn answer_created(admin: &Admin, id: &AppId) -> Result<Response, Problem> {
    let location = [(http::header::LOCATION, format!("/api/v1/apps/{id}"))];
    // One that is scheduled is not there yet.
    let Some(found) = policy::find(&*admin.plane, id).await?.filter(Found::is_there) else {
        return Ok((StatusCode::ACCEPTED, location).into_response());
    };
    Ok((StatusCode::CREATED, location, etag(&found.etag()), Json(shown_now(admin, &found))).into_response())
}

fn shown_now(admin: &Admin, found: &Found) -> App {
    let live = admin.live();
    shown(admin, found, health(admin, found, live.apps.get(&found.id)), &live)
}

fn shown(admin: &Admin, found: &Found, status: Health, live: &Live) -> App {
    let (account, app) = (&found.view.account, live.apps.get(&found.id));
    let by_operation = found.view.by_operation.iter().map(|total| {
        (total.operation.name().to_owned(), OperationUse { requests: total.requests, cost: total.consumed })
    });
    let pending = found.view.pending.as_ref().and_then(|pending| {
        let app = document::from_ledger(&found.app.cluster, &pending.policy);
        let policy =
            serde_json::from_value(document::to_value(&found.id, &app, &admin.settings.prices)).ok()?;
        Some(Pending { effective_time: pending.at.get(), policy })
    });
    App {
        policy: policy_of(admin, found),
        version: found.version(),
        status,
        state: AppState {
            tokens: account.rights.floor(),
            leased: account.outstanding.floor(),
            held: app.map_or(0, |app| app.held),
            burst_remaining: account.allowance.left(&found.app.quota, account.refilled_at).floor(),
            borrowed: account.loan.borrowed.ceil(),
            debt: account.loan.debt.ceil(),
            total_consumed: found.view.total_consumed,
            total_requests: found.view.total_requests,
            by_operation: by_operation.collect(),
            connections: app.map_or(0, |app| app.connections.open),
        },
        activity: app.map(|app| Activity::from(app.flow)).unwrap_or_default(),
        pending,
    }
}

/// The policy of an application, as it is shown.
pub(crate) fn policy_of(admin: &Admin, found: &Found) -> PolicyDocument {
    let value = admin.document(found);
    serde_json::from_value(value).unwrap_or_else(|_| bare(found))
}

/// What can be said of an application whose document cannot be read, which no code writes.
fn bare(found: &Found) -> PolicyDocument {
    let quota = &found.app.quota;
    PolicyDocument {
        app_id: found.id.to_string(),
        cluster: found.app.cluster.to_string(),
        guaranteed_quota: quota.guaranteed.floor(),
        burst_quota: quota.burst.floor(),
        burst_duration_s: quota.burst_window.ceil_secs(),
        priority: quota.priority.number(),
        max_borrow: quota.loan.limit.floor(),
        borrow: quota.loan.automatic,
        repay_share: quota.loan.repay_share.as_f64(),
        enabled: found.app.enabled,
        shadow: found.app.shadow,
        charge_response: found.app.charge_response,
        outage: OutageMode::Limited,
        fail_open_tokens: None,
        fallback_ratio: None,
        max_connections: found.app.connections.max,
        burst_connections: found.app.connections.burst,
        cost: None,
    }
}

impl From<Flow> for Activity {
    fn from(flow: Flow) -> Self {
        Self { requests: flow.requests, cost: flow.cost, refused: flow.refused, shadowed: flow.shadowed }
    }
}

/// How an application is doing, by the last five minutes.
fn health(admin: &Admin, found: &Found, live: Option<&AppLive>) -> Health {
    let recorder = admin.recorder();
    let sum = |value| recorder.app(&found.id).map_or(0.0, |series| series.sum(0, value, 0));
    let (passed, refused) = (sum(of_app::REQUESTS), sum(of_app::REFUSED));
    let debt = live.and_then(|live| live.view.as_ref()).map_or(0, |view| view.account.loan.debt.floor());
    if refused > 0.0 && refused > passed {
        Health::Critical
    } else if refused > 0.0 || debt > 0 || !found.app.enabled {
        Health::Warning
    } else {
        Health::Normal
    }
}

impl ListApps {
    fn check(&self) -> Result<(), Problem> {
        if self.priority.is_none_or(|priority| priority <= 3) {
            return Ok(());
        }
        let expected = "a whole number from 0 to 3";
        Err(Problem::invalid(vec![FieldError::new("priority", "out_of_range", "out of range", expected)]))
    }

    fn wants(&self, Seen { found, health, .. }: &Seen) -> bool {
        self.cluster.as_ref().is_none_or(|cluster| *found.app.cluster == **cluster)
            && self.priority.is_none_or(|priority| found.app.quota.priority.number() == priority)
            && self.enabled.is_none_or(|enabled| found.app.enabled == enabled)
            && self.shadow.is_none_or(|shadow| found.app.shadow == shadow)
            && self.status.is_none_or(|status| status == *health)
    }
}

/// An application that may be listed, and how it is doing.
struct Seen {
    found: Found,
    health: Health,
    flow: Flow,
}

impl Seen {
    fn new(admin: &Admin, found: Found, live: &Live) -> Self {
        let app = live.apps.get(&found.id);
        let health = health(admin, &found, app);
        Self { found, health, flow: app.map(|app| app.flow).unwrap_or_default() }
    }
}

impl Entry for Seen {
    type Sort = SortApps;

    fn name(&self) -> &str {
        &self.found.id
    }

    fn compare(&self, other: &Self, by: SortApps) -> Ordering {
        let (a, b) = (&self.found, &other.found);
        match by {
            SortApps::AppId => a.id.cmp(&b.id),
            SortApps::GuaranteedQuota => a.app.quota.guaranteed.cmp(&b.app.quota.guaranteed),
            SortApps::BurstQuota => a.app.quota.burst.cmp(&b.app.quota.burst),
            SortApps::Priority => a.app.quota.priority.cmp(&b.app.quota.priority),
            SortApps::Tokens => a.view.account.rights.cmp(&b.view.account.rights),
            SortApps::Debt => a.view.account.loan.debt.cmp(&b.view.account.loan.debt),
            SortApps::Requests => self.flow.requests.cmp(&other.flow.requests),
            SortApps::Refused => self.flow.refused.cmp(&other.flow.refused),
            SortApps::Version => a.version().cmp(&b.version()),
        }
    }
}
