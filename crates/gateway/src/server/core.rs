use super::registry::Registry;
use crate::access_log::LogBook;
use crate::gate::Gate;
use crate::plan::Plan;
use crate::proxy::{RequestIds, Upload};
use crate::stats::Counters;
use crate::upstream::{Fleet, LocalExecutor};
use http::HeaderName;
use hyper::server::conn::http2;
use hyper_util::rt::TokioTimer;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// How much an HTTP/2 client may send ahead for one request, and for all of a connection.
const STREAM_WINDOW: u32 = 256 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// How much of a response is kept ready for an HTTP/2 client.
const SEND_BUFFER: usize = 256 * 1024;

/// How often an HTTP/2 client is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// What one thread has for its own.
pub(crate) struct Core<G: Gate> {
    pub(crate) gate: G,
    pub(crate) duties: Rc<Duties>,
    pub(crate) registry: Registry,
    pub(crate) ids: RequestIds,
    plan: RefCell<Rc<CorePlan<G>>>,
    /// Among all threads.
    pub(crate) connections: Arc<AtomicU64>,
    number: usize,
}

/// What has to be done about every request, whatever becomes of it.
#[derive(Debug)]
pub(crate) struct Duties {
    pub(crate) counters: Arc<Counters>,
    pub(crate) log: LogBook,
}

/// A plan with what one thread needs for it.
pub(crate) struct CorePlan<G: Gate> {
    pub(crate) shared: Arc<Plan>,
    /// The fields by which applications are told, at hand for this thread.
    pub(crate) vouching: Rc<[HeaderName]>,
    fleets: Vec<Fleet<Upload<G::Ticket>>>,
    pub(crate) http2: http2::Builder<LocalExecutor>,
}

impl<G: Gate> Core<G> {
    pub(crate) fn new(
        gate: G,
        plan: Arc<Plan>,
        counters: Arc<Counters>,
        log: LogBook,
        connections: Arc<AtomicU64>,
        number: usize,
    ) -> Self {
        Self {
            gate,
            registry: Registry::new(Arc::clone(&counters)),
            duties: Rc::new(Duties { counters, log }),
            ids: RequestIds::new(),
            plan: RefCell::new(Rc::new(CorePlan::new(plan, None, number))),
            connections,
            number,
        }
    }

    /// The plan of this moment.
    pub(crate) fn plan(&self) -> Rc<CorePlan<G>> {
        Rc::clone(&self.plan.borrow())
    }

    /// From now on that plan; requests under way go on by the one they started with.
    pub(crate) fn change(&self, plan: Arc<Plan>) {
        let next = Rc::new(CorePlan::new(plan, Some(&self.plan()), self.number));
        self.plan.replace(next);
    }

    /// What is done every second.
    pub(crate) fn tick(&self) {
        self.duties.log.flush();
        let plan = self.plan();
        let limit = plan.shared.config.timeouts.upstream_idle;
        let stations = plan.fleets.iter().flat_map(Fleet::stations);
        stations.for_each(|station| station.sweep(limit));
    }
}

impl<G: Gate> CorePlan<G> {
    fn new(plan: Arc<Plan>, before: Option<&Self>, number: usize) -> Self {
        let known = |name: &str| {
            let before = before?;
            let at = before.shared.groups.iter().position(|group| group.name == name)?;
            before.fleets.get(at)
        };
        let fleets = plan.groups.iter().map(|group| Fleet::new(group, known(&group.name), number)).collect();
        let http2 = http2(&plan);
        Self { vouching: Rc::new(plan.identifier.fields()), shared: plan, fleets, http2 }
    }

    /// The servers that a route leads to.
    pub(crate) fn fleet_of(&self, route: usize) -> &Fleet<Upload<G::Ticket>> {
        &self.fleets[self.shared.destinations[route]]
    }
}

fn http2(plan: &Plan) -> http2::Builder<LocalExecutor> {
    let limits = &plan.config.limits;
    let mut builder = http2::Builder::new(LocalExecutor);
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}
