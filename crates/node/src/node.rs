//! A node: its applications, a desk for each cluster, and the tasks that carry what the desks have to say.

use crate::app::App;
use crate::bell::Bell;
use crate::clock::{self, RuntimeClock};
use crate::connect;
use crate::connection::{self, Connections};
use crate::decide::{Decided, bare};
use crate::desk::{Asked, Desk, Identity, Manners, Refused, Standing};
use crate::explain::{DecisionId, Inquiries, Record, Recorder};
use crate::names::Names;
use crate::permit::{ByName, Permit};
use crate::request::Request;
use crate::roster::Roster;
use crate::spans::{SharedSpans, Spans};
use crate::speak::{Ticket, deliver};
use crate::sync::lock;
use crate::trace::TraceParent;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tollgate_config::Policy;
use tollgate_core::cost::{Operation, Price, PriceList};
use tollgate_core::decision::{Decision, Verdict};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::reason::Reason;
use tollgate_core::units::Nanos;
use tollgate_ledger::{Ledger, Notices, Slots};

/// What a node needs to know before it starts.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its name: no other node that runs at the same time has it.
    pub id: NodeId,
    /// How it deals with the ledger.
    pub manners: Manners,
    /// The application that requests of unknown ones are counted as; without one they are refused.
    pub strangers: Option<AppId>,
}

impl Setup {
    /// The defaults under that name.
    pub fn new(id: NodeId) -> Self {
        Self { id, manners: Manners::default(), strangers: None }
    }
}

/// A node: decides about requests in memory, and keeps what it may spend in step with the ledger.
///
/// Cloning it gives another handle to the same node.
#[derive(Debug)]
pub struct Node<L> {
    inner: Arc<Inner<L>>,
}

#[derive(Debug)]
pub(crate) struct Inner<L> {
    pub(crate) ledger: Arc<L>,
    pub(crate) clock: RuntimeClock,
    /// How long a request waits for the ledger.
    pub(crate) patience: Duration,
    /// How long a call may take before it counts as lost.
    pub(crate) call_timeout: Duration,
    pub(crate) roster: Arc<Roster>,
    pub(crate) desks: BTreeMap<ClusterId, Counter>,
    strangers: Option<AppId>,
    strangers_refused: AtomicU64,
    prices: PriceList,
    pub(crate) recorder: Recorder,
    pub(crate) inquiries: Inquiries,
    waits: SharedSpans,
    pub(crate) names: Names,
    /// Said once, when the node stops.
    closing: watch::Sender<bool>,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

/// What the node has of one cluster: a desk and the bell on it, and the connections.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) desk: Mutex<Desk<Ticket>>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) connections: Connections,
    /// What is heard of the cluster.
    pub(crate) notices: Notices,
}

/// A request that found too little in the purse: only the ledger can tell.
#[derive(Debug)]
#[must_use = "nothing is decided until it has waited"]
pub struct Miss {
    app: Arc<App>,
    price: Price,
}

/// A request that did not pass at once.
#[derive(Debug)]
pub enum NotYet {
    /// It will not pass.
    Refused(Decision),
    /// It may, if it [waits](Node::wait).
    Miss(Miss),
}

impl<L: Ledger + Slots + 'static> Node<L> {
    /// Starts a node on a ledger that is seeded with `policy` if it is empty. The ledger need not be there yet. Must be
    /// called within a tokio runtime.
    pub fn start(ledger: L, setup: Setup, policy: &Policy) -> Self {
        let (roster, clock) = (Arc::new(Roster::default()), RuntimeClock::default());
        let incarnation = clock::wall().get().saturating_mul(1_000);
        let desks = policy.clusters().iter().map(|(id, cluster)| {
            let bell = Arc::new(Bell::default());
            roster.enrol(id, policy, &bell);
            let identity = Identity {
                node: setup.id.clone(),
                cluster: id.clone(),
                incarnation,
                seed: fastrand::u64(..),
            };
            let (roster, manners) = (Arc::clone(&roster), setup.manners.clone());
            let desk = Desk::new(identity, manners, cluster.capacity, roster, Arc::clone(&bell));
            let connections = connect::connections(id, cluster, &setup.manners);
            let notices = ledger.notices(id);
            (id.clone(), Counter { desk: Mutex::new(desk), bell, connections, notices })
        });
        let inner = Arc::new(Inner {
            clock,
            patience: setup.manners.patience.into(),
            call_timeout: setup.manners.call_timeout().into(),
            desks: desks.collect(),
            ledger: Arc::new(ledger),
            roster,
            strangers: setup.strangers,
            strangers_refused: AtomicU64::new(0),
            prices: *policy.prices(),
            recorder: Recorder::default(),
            inquiries: Inquiries::default(),
            waits: SharedSpans::default(),
            names: Names::default(),
            closing: watch::Sender::new(false),
            tasks: tokio::sync::Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        for (cluster, counter) in &inner.desks {
            inner.set_limits(cluster, counter);
            let identity = connection::Identity { node: setup.id.clone(), incarnation };
            tasks.spawn(inner.keeper(counter, identity).run(inner.closing()));
            tasks.spawn(Arc::clone(&inner).answer_others(cluster.clone()));
            tasks.spawn(Arc::clone(&inner).speak(cluster.clone()));
        }
        if let Ok(mut slot) = inner.tasks.try_lock() {
            *slot = tasks;
        }
        Self { inner }
    }

    /// The application of that name, to be kept and asked again and again.
    pub fn app(&self, id: &str) -> Option<Arc<App>> {
        self.inner.roster.find(id)
    }

    /// The application of that name, or the one that strangers are counted as.
    pub fn resolve(&self, id: &str) -> Option<Arc<App>> {
        self.inner.resolve(id)
    }

    /// All applications that the node knows, in no order.
    pub fn apps(&self) -> Vec<Arc<App>> {
        self.inner.roster.all()
    }

    /// Decides about a request without waiting: it passes if its cost is in the purse. The permit is for whoever has the node and the
    /// name at hand until it is used; to take it elsewhere, [own](Node::check_owned) it.
    #[inline]
    pub fn check<'a>(&'a self, request: &Request<'a>) -> Result<Permit<ByName<'a>>, NotYet> {
        let (roster, name) = (&*self.inner.roster, request.app);
        match roster.with(name, |app| app.buy_plainly(request)) {
            Some((Some(cost), stamp)) => {
                Ok(Permit::paid(ByName { roster, name, stamp }, Price::named(Operation::Get, cost)))
            }
            _ => self.inner.check_at_length(request),
        }
    }

    /// The same with a permit that goes wherever it is needed.
    pub fn check_owned(&self, request: &Request<'_>) -> Result<Permit, NotYet> {
        self.inner.check_by_name(request).map(|(permit, _)| permit)
    }

    /// Decides about a request of an application that was [found](Node::resolve) before.
    #[inline]
    pub fn check_of(&self, app: &Arc<App>, request: &Request<'_>) -> Result<Permit, NotYet> {
        self.inner.check(app, request)
    }

    /// Decides about a request, and asks the ledger if it has to. Never takes longer than the ledger's timeout.
    pub async fn admit(&self, request: &Request<'_>) -> Result<Permit, Decision> {
        match self.check_owned(request) {
            Ok(permit) => Ok(permit),
            Err(NotYet::Refused(decision)) => Err(decision),
            Err(NotYet::Miss(miss)) => self.wait(miss).await,
        }
    }

    /// Waits for what the ledger has to say about a request.
    pub async fn wait(&self, miss: Miss) -> Result<Permit, Decision> {
        let Miss { app, price } = miss;
        let since = self.inner.clock.now();
        let answer = self.inner.ask(&app, price).await;
        self.inner.waits.note(self.inner.clock.now().since(since));
        answer.or_else(|refused| app.refuse(price, refused))
    }

    /// What would be decided about a request now. Nothing is charged, counted or borrowed: where only a loan would let it pass, it is
    /// said to be refused.
    pub async fn foresee(&self, request: &Request<'_>) -> Decision {
        match self.glance(request) {
            Ok(decision) => decision,
            Err(miss) => self.look(miss).await,
        }
    }

    /// The same without waiting, if that much can be told.
    pub fn glance(&self, request: &Request<'_>) -> Result<Decision, Miss> {
        let Some(app) = self.inner.resolve(request.app) else {
            let price = request.price(|| self.inner.prices.price(request.operation, request.bytes));
            return Ok(bare(Verdict::Refused(Reason::UnknownApp), price));
        };
        let price = request.price(|| app.price(request.operation, request.bytes));
        app.glance(price, self.inner.clock.now()).ok_or(Miss { app, price })
    }

    /// Waits for what the ledger has to say about a request that nobody makes.
    pub async fn look(&self, miss: Miss) -> Decision {
        let Miss { app, price } = miss;
        match self.inner.foresee(&app, price).await {
            Ok(permit) => permit.decision(),
            Err(refused) => app.foretell(price, refused),
        }
    }

    /// Decides about a request of an application that may have no connection more: it is refused, or passes in shadow mode, and
    /// whether it could pay is not asked.
    pub fn crowd_out(
        &self,
        app: &Arc<App>,
        request: &Request<'_>,
        refused: &connection::Refused,
    ) -> Result<Permit, Decision> {
        let price = request.price(|| app.price(request.operation, request.bytes));
        app.crowd_out(price, refused)
    }

    /// Gives back what requests of an application were charged and turned out not to need, where nobody holds their permits
    /// any more. No more comes back than passed at this node, nor than the application may have at once. Returns how much
    /// did, in whole tokens.
    pub fn give_back(&self, request: &Request<'_>) -> u64 {
        let Some(app) = self.inner.resolve(request.app) else { return 0 };
        let price = request.price(|| app.price(request.operation, request.bytes));
        app.take_back(price.operation, price.cost())
    }

    /// Keeps a decision to be [explained](Node::explain) later, and gives it a name.
    pub fn record(&self, app: &str, decision: &Decision) -> DecisionId {
        self.record_within(app, decision, None)
    }

    /// The same for a decision that is part of a span of whoever asks.
    pub fn record_within(&self, app: &str, decision: &Decision, parent: Option<TraceParent>) -> DecisionId {
        self.inner.recorder.record(app, decision, parent, self.inner.clock.now(), clock::wall())
    }

    /// A decision that this node recorded, if it still has it.
    pub fn explain(&self, id: DecisionId) -> Option<Record> {
        self.inner.recorder.find(id)
    }

    /// How the node stands with the ledger of each cluster.
    pub fn standing(&self) -> BTreeMap<ClusterId, Standing> {
        let now = self.inner.clock.now();
        self.inner.desks.iter().map(|(id, counter)| (id.clone(), lock(&counter.desk).standing(now))).collect()
    }

    /// How long requests waited for the ledger, of those that had to ask it.
    pub fn waited(&self) -> Spans {
        self.inner.waits.read()
    }

    /// The last decisions that were recorded, the latest first.
    pub fn latest(&self, most: usize) -> Vec<Record> {
        self.inner.recorder.latest(most)
    }

    /// How many requests of unknown applications were refused.
    pub fn strangers_refused(&self) -> u64 {
        self.inner.strangers_refused.load(Ordering::Relaxed)
    }

    /// The time by which its connections are dated.
    pub fn now(&self) -> Nanos {
        self.inner.clock.now()
    }

    /// The ledger, for what is said to it directly.
    pub fn ledger(&self) -> &L {
        &self.inner.ledger
    }

    /// Gives everything back to the ledger and stops. What could not be said by then is lost, and expires there.
    pub async fn shut_down(&self, grace: Duration) {
        for counter in self.inner.desks.values() {
            let mut out = Vec::new();
            lock(&counter.desk).close(&mut out);
            deliver(out);
        }
        self.inner.closing.send_replace(true);
        let mut tasks = self.inner.tasks.lock().await;
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("the ledger was not told everything before the node stopped");
            tasks.abort_all();
        }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner<L>> {
        &self.inner
    }
}

impl<L: Ledger + Slots + 'static> Inner<L> {
    /// Ends when the node stops.
    pub(crate) fn closing(&self) -> impl Future<Output = ()> + use<L> {
        let mut closing = self.closing.subscribe();
        async move {
            // An error means that nobody is left who could say so.
            let _ = closing.wait_for(|is_closing| *is_closing).await;
        }
    }

    #[inline]
    fn check(&self, app: &Arc<App>, request: &Request<'_>) -> Result<Permit, NotYet> {
        match app.buy(request) {
            Ok(price) => Ok(Permit::paid(Arc::clone(app), price)),
            Err(price) => self.miss(app, price),
        }
    }

    /// Decides about a request that is not as most are: what is written about it is nothing that those have to make room for.
    #[inline(never)]
    fn check_at_length<'a>(&'a self, request: &Request<'a>) -> Result<Permit<ByName<'a>>, NotYet> {
        self.check_by_name(request).map(|(permit, payer)| permit.held_by(payer))
    }

    /// Decides about a request of an application that is known, or as of the one that strangers are counted as.
    fn check_by_name<'a>(&'a self, request: &Request<'a>) -> Result<(Permit, ByName<'a>), NotYet> {
        let roster = &*self.roster;
        for name in [Some(request.app), self.strangers.as_deref()].into_iter().flatten() {
            if let Some((decided, stamp)) = roster.with(name, |app| self.check(app, request)) {
                return decided.map(|permit| (permit, ByName { roster, name, stamp }));
            }
        }
        let price = request.price(|| self.prices.price(request.operation, request.bytes));
        Err(NotYet::Refused(self.unknown(price)))
    }

    #[cold]
    fn miss(&self, app: &Arc<App>, price: Price) -> Result<Permit, NotYet> {
        match app.decide_without(price, self.clock.now()) {
            Decided::Passed(permit) => Ok(permit),
            Decided::Refused(decision) => Err(NotYet::Refused(decision)),
            Decided::Ask => Err(NotYet::Miss(Miss { app: Arc::clone(app), price })),
        }
    }

    /// The application that strangers are counted as.
    fn host(&self) -> Option<Arc<App>> {
        self.roster.find(self.strangers.as_deref()?)
    }

    /// The application of that name, or the one that strangers are counted as.
    pub(crate) fn resolve(&self, app: &str) -> Option<Arc<App>> {
        self.roster.find(app).or_else(|| self.host())
    }

    /// The answer to a request of nobody that is known.
    pub(crate) fn unknown(&self, price: Price) -> Decision {
        self.strangers_refused.fetch_add(1, Ordering::Relaxed);
        bare(Verdict::Refused(Reason::UnknownApp), price)
    }

    /// Whether the node decides without the ledger of that cluster just now.
    pub(crate) fn is_cut_off(&self, cluster: &ClusterId) -> bool {
        let now = self.clock.now();
        self.desks.get(cluster).is_some_and(|counter| lock(&counter.desk).is_cut_off(now))
    }

    async fn ask(&self, app: &Arc<App>, price: Price) -> Result<Permit, Refused> {
        let Some(counter) = self.desks.get(&app.terms().policy.cluster) else {
            return Err(Refused::timed_out());
        };
        let (ticket, answer) = oneshot::channel();
        let asked = lock(&counter.desk).ask(app, price, ticket, self.clock.now());
        match asked {
            Asked::Passed(permit, _) => return Ok(permit),
            Asked::Refused(refused, _) => return Err(refused),
            Asked::Waiting => {}
        }
        match tokio::time::timeout(self.patience, answer).await {
            Ok(Ok(answer)) => answer,
            // Whoever gives up looks once more: a neighbour may have given something back.
            _ if app.pay(&price) => Ok(Permit::paid(Arc::clone(app), price)),
            _ => Err(Refused::timed_out()),
        }
    }

    async fn foresee(&self, app: &Arc<App>, price: Price) -> Result<Permit, Refused> {
        let Some(counter) = self.desks.get(&app.terms().policy.cluster) else {
            return Err(Refused::timed_out());
        };
        let (ticket, answer) = oneshot::channel();
        let asked = lock(&counter.desk).foresee(app, price, ticket, self.clock.now());
        match asked {
            Asked::Passed(permit, _) => return Ok(permit),
            Asked::Refused(refused, _) => return Err(refused),
            Asked::Waiting => {}
        }
        tokio::time::timeout(self.patience, answer)
            .await
            .ok()
            .and_then(Result::ok)
            .unwrap_or(Err(Refused::timed_out()))
    }
}

impl<L> Clone for Node<L> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}
