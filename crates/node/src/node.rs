//! A node: its applications, a desk for each cluster, and the tasks that carry what the desks have to say.

use crate::app::{App, Retry, Terms};
use crate::bell::Bell;
use crate::clock::{self, Clock};
use crate::desk::{Asked, Desk, Identity, Job, Manners, Outcome, Refused, Reply, Standing};
use crate::explain::{DecisionId, Record, Recorder};
use crate::permit::Permit;
use crate::request::Request;
use crate::roster::Roster;
use crate::sync::lock;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tollgate_config::Policy;
use tollgate_core::cost::{Price, PriceList};
use tollgate_core::decision::{Decision, Tier, Verdict};
use tollgate_core::id::{AppId, ClusterId, NodeId};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Tokens};
use tollgate_ledger::protocol::MAX_PAGE;
use tollgate_ledger::{Ledger, LedgerError};

/// The shortest time after which a call that was not answered counts as lost. Requests wait much less.
const SHORTEST_CALL_TIMEOUT: Duration = Duration::from_millis(500);

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
    pub(crate) ledger: L,
    pub(crate) clock: Clock,
    pub(crate) patience: Duration,
    roster: Arc<Roster>,
    desks: BTreeMap<ClusterId, Counter>,
    strangers: Option<AppId>,
    prices: PriceList,
    recorder: Recorder,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

type Ticket = oneshot::Sender<Result<Permit, Refused>>;

#[derive(Debug)]
struct Counter {
    desk: Mutex<Desk<Ticket>>,
    bell: Arc<Bell>,
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

impl<L: Ledger + 'static> Node<L> {
    /// Starts a node on a ledger that is seeded with `policy` if it is empty. The ledger need not be there yet. Must be
    /// called within a tokio runtime.
    pub fn start(ledger: L, setup: Setup, policy: &Policy) -> Self {
        let roster = Arc::new(Roster::default());
        let incarnation = clock::wall().get().saturating_mul(1_000);
        let desks = policy.clusters().iter().map(|(id, cluster)| {
            let bell = Arc::new(Bell::default());
            let apps = policy.apps().iter().filter(|(_, app)| app.cluster == *id);
            let apps = apps.map(|(name, app)| {
                let terms = Terms { policy: app.clone(), version: 0 };
                Arc::new(App::new(name.clone(), terms, Arc::clone(&bell)))
            });
            roster.change(id, apps.collect(), &[]);
            let identity = Identity {
                node: setup.id.clone(),
                cluster: id.clone(),
                incarnation,
                seed: fastrand::u64(..),
            };
            let (roster, manners) = (Arc::clone(&roster), setup.manners.clone());
            let desk = Desk::new(identity, manners, cluster.capacity, roster, Arc::clone(&bell));
            (id.clone(), Counter { desk: Mutex::new(desk), bell })
        });
        let inner = Arc::new(Inner {
            clock: Clock::start(),
            patience: Duration::from_millis(setup.manners.patience.get()),
            desks: desks.collect(),
            ledger,
            roster,
            strangers: setup.strangers,
            prices: *policy.prices(),
            recorder: Recorder::default(),
            tasks: tokio::sync::Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        for cluster in inner.desks.keys().cloned() {
            tasks.spawn(Arc::clone(&inner).speak(cluster));
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

    /// All applications that the node knows, in no order.
    pub fn apps(&self) -> Vec<Arc<App>> {
        self.inner.roster.all()
    }

    /// Decides about a request without waiting: it passes if its cost is in the purse.
    #[inline]
    pub fn check(&self, request: &Request<'_>) -> Result<Permit, NotYet> {
        let inner = &*self.inner;
        let decided = inner.roster.with(request.app, |app| inner.check(app, request));
        match decided {
            Some(decided) => decided,
            None => inner.check_stranger(request),
        }
    }

    /// Decides about a request, and asks the ledger if it has to. Never takes longer than the ledger's timeout.
    pub async fn admit(&self, request: &Request<'_>) -> Result<Permit, Decision> {
        match self.check(request) {
            Ok(permit) => Ok(permit),
            Err(NotYet::Refused(decision)) => Err(decision),
            Err(NotYet::Miss(miss)) => self.wait(miss).await,
        }
    }

    /// Waits for what the ledger has to say about a request.
    pub async fn wait(&self, miss: Miss) -> Result<Permit, Decision> {
        let Miss { app, price } = miss;
        let answer = self.inner.ask(&app, price).await;
        answer.or_else(|refused| self.inner.refuse(&app, price, refused))
    }

    /// What would be decided about a request now. Nothing is charged.
    pub async fn foresee(&self, request: &Request<'_>) -> Decision {
        match self.admit(request).await {
            Ok(permit) => permit.decision(),
            Err(decision) => decision,
        }
    }

    /// Keeps a decision to be [explained](Node::explain) later, and gives it a name.
    pub fn record(&self, app: &str, decision: &Decision) -> DecisionId {
        self.inner.recorder.record(app, decision, self.inner.clock.now(), clock::wall())
    }

    /// A decision that was recorded, if it still is.
    pub fn explain(&self, id: DecisionId) -> Option<Record> {
        self.inner.recorder.find(id)
    }

    /// How the node stands with the ledger of each cluster.
    pub fn standing(&self) -> BTreeMap<ClusterId, Standing> {
        let now = self.inner.clock.now();
        self.inner.desks.iter().map(|(id, counter)| (id.clone(), lock(&counter.desk).standing(now))).collect()
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
        let mut tasks = self.inner.tasks.lock().await;
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("the ledger was not told everything before the node stopped");
            tasks.abort_all();
        }
    }

    pub(crate) fn inner(&self) -> &Inner<L> {
        &self.inner
    }
}

impl<L: Ledger + 'static> Inner<L> {
    #[inline]
    fn check(&self, app: &Arc<App>, request: &Request<'_>) -> Result<Permit, NotYet> {
        let price = request.price(|| app.price(request.operation, request.bytes));
        if app.pay(&price) {
            return Ok(Permit::paid(Arc::clone(app), price));
        }
        self.miss(app, price)
    }

    #[cold]
    fn miss(&self, app: &Arc<App>, price: Price) -> Result<Permit, NotYet> {
        let Some((reason, retry)) = app.stops(&price, self.clock.now()) else {
            return Err(NotYet::Miss(Miss { app: Arc::clone(app), price }));
        };
        let tier = crate::desk::tier_of(reason);
        self.refuse(app, price, Refused { reason, tier, retry }).map_err(NotYet::Refused)
    }

    #[cold]
    fn check_stranger(&self, request: &Request<'_>) -> Result<Permit, NotYet> {
        let host = self.strangers.as_deref().and_then(|id| self.roster.find(id));
        if let Some(app) = host {
            return self.check(&app, request);
        }
        let price = request.price(|| self.prices.price(request.operation, request.bytes));
        Err(NotYet::Refused(Decision {
            verdict: Verdict::Refused(Reason::UnknownApp),
            tier: Tier::Node,
            price,
            limit: Tokens::ZERO,
            remaining: Tokens::ZERO,
            retry_after: None,
            reset_after: Millis::ZERO,
            policy_version: 0,
        }))
    }

    /// Refuses a request, or lets it pass in shadow mode.
    fn refuse(&self, app: &Arc<App>, price: Price, refused: Refused) -> Result<Permit, Decision> {
        let is_shadow = app.is_shadow();
        app.counters().refused(refused.reason, price.tokens(), is_shadow);
        if is_shadow {
            return Ok(Permit::in_shadow(Arc::clone(app), price, refused.tier, refused.reason));
        }
        Err(app.decision(Verdict::Refused(refused.reason), refused.tier, price, refused.retry))
    }

    async fn ask(&self, app: &Arc<App>, price: Price) -> Result<Permit, Refused> {
        let timeout = Refused {
            reason: Reason::RedisTimeout,
            tier: Tier::Node,
            retry: Retry::after(tollgate_core::units::Nanos::from_secs(1)),
        };
        let Some(counter) = self.desks.get(&app.terms().policy.cluster) else { return Err(timeout) };
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
            _ => Err(timeout),
        }
    }

    /// Carries what a desk has to say to the ledger and back, until the desk is closed.
    async fn speak(self: Arc<Self>, cluster: ClusterId) {
        let Some(counter) = self.desks.get(&cluster) else { return };
        let mut flight: Option<Pin<Box<dyn Future<Output = Result<Reply, LedgerError>> + Send>>> = None;
        loop {
            let (outcomes, job, wake, is_closed) = {
                let now = self.clock.now();
                let mut desk = lock(&counter.desk);
                let outcomes = desk.tick(now);
                (outcomes, desk.next_job(now), desk.wake_at(now), desk.is_closed())
            };
            deliver(outcomes);
            if is_closed {
                return;
            }
            if let Some(job) = job {
                let this = Arc::clone(&self);
                let cluster = cluster.clone();
                flight = Some(Box::pin(async move { this.carry(&cluster, job).await }));
            }
            let landed = async {
                match &mut flight {
                    Some(flight) => flight.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                result = landed => {
                    flight = None;
                    let now = self.clock.now();
                    let outcomes = match result {
                        Ok(reply) => lock(&counter.desk).answered(reply, now),
                        Err(error) => lock(&counter.desk).failed(&error, now),
                    };
                    deliver(outcomes);
                }
                () = counter.bell.rung() => {}
                () = tokio::time::sleep_until(self.clock.instant(wake)) => {}
            }
        }
    }

    async fn carry(&self, cluster: &ClusterId, job: Job) -> Result<Reply, LedgerError> {
        let call = async {
            match &job {
                Job::Sync(sync) => self.ledger.sync(cluster, sync).await.map(Reply::Sync),
                Job::Depart(sync) => self.ledger.depart(cluster, sync).await.map(|_| Reply::Departed),
                Job::Seed(seed) => self.ledger.seed(cluster, seed).await.map(|_| Reply::Seeded),
                Job::Changes(since) => self.ledger.changes(cluster, *since, MAX_PAGE).await.map(Reply::Changes),
            }
        };
        let longest = (self.patience * 10).max(SHORTEST_CALL_TIMEOUT);
        tokio::time::timeout(longest, call).await.unwrap_or(Err(LedgerError::Timeout))
    }
}

/// Tells those who waited. Whoever has left gives back what was paid for them.
fn deliver(outcomes: Vec<Outcome<Ticket>>) {
    for (ticket, outcome) in outcomes {
        drop(ticket.send(outcome));
    }
}

impl<L> Clone for Node<L> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}
