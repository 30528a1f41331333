use super::engine::{Engine, EngineError};
use super::question;
use super::text::{self, Script};
use super::wire::{self, Args, Reply};
use crate::book::Audit;
use crate::ledger::{Answer, Ledger};
use crate::notice::Notices;
use crate::protocol::{AppView, Changes, ClusterView, LedgerError, PutApp, Scheduled, Seed, Sync, SyncReply};
use crate::question::{Asked, Question, name};
use tollgate_core::borrow::Repayment;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;
use tollgate_core::reservation::{Reservation, Settlement};
use tollgate_core::units::{Millis, Ratio, Tokens};

/// A ledger whose book is kept by scripts.
#[derive(Clone, Debug, Default)]
pub struct ScriptLedger<E> {
    engine: E,
}

impl<E: Engine> ScriptLedger<E> {
    /// The ledger in the store of that engine.
    pub const fn new(engine: E) -> Self {
        Self { engine }
    }

    /// What runs the scripts.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    pub(super) async fn run(
        &self,
        script: &'static Script,
        cluster: &ClusterId,
        args: Args,
    ) -> Answer<Reply> {
        let value = self.engine.eval(script, &wire::key(cluster), args.into_inner()).await?;
        Reply::open(value)
    }
}

impl<E: Engine> Ledger for ScriptLedger<E> {
    async fn seed(&self, cluster: &ClusterId, seed: &Seed) -> Answer<u64> {
        self.run(&text::SEED, cluster, Args::seed(seed)).await?.number()
    }

    async fn sync(&self, cluster: &ClusterId, sync: &Sync) -> Answer<SyncReply> {
        self.run(&text::SYNC, cluster, Args::sync(sync)).await?.sync_reply()
    }

    async fn depart(&self, cluster: &ClusterId, sync: &Sync) -> Answer<SyncReply> {
        self.run(&text::DEPART, cluster, Args::sync(sync)).await?.sync_reply()
    }

    async fn acquire(&self, cluster: &ClusterId, app: &AppId, cost: Tokens) -> Answer<Tokens> {
        self.run(&text::ACQUIRE, cluster, Args::new().text(app).amount(cost)).await?.tokens()
    }

    async fn reserve(
        &self,
        cluster: &ClusterId,
        app: &AppId,
        id: &str,
        estimate: Tokens,
        timeout: Millis,
    ) -> Answer<Reservation> {
        let args = Args::new().text(id).text(app).amount(estimate).millis(timeout);
        self.run(&text::RESERVE, cluster, args).await?.reservation()
    }

    async fn complete(&self, cluster: &ClusterId, id: &str, actual: Tokens) -> Answer<Settlement> {
        self.run(&text::COMPLETE, cluster, Args::new().text(id).amount(actual)).await?.settlement()
    }

    async fn cancel(&self, cluster: &ClusterId, id: &str) -> Answer<Settlement> {
        self.run(&text::CANCEL, cluster, Args::new().text(id)).await?.settlement()
    }

    async fn borrow(&self, cluster: &ClusterId, app: &AppId, amount: Tokens) -> Answer<Tokens> {
        self.run(&text::BORROW, cluster, Args::new().text(app).tokens(amount)).await?.tokens()
    }

    async fn repay(&self, cluster: &ClusterId, app: &AppId, amount: Tokens) -> Answer<Repayment> {
        let mut reply = self.run(&text::REPAY, cluster, Args::new().text(app).tokens(amount)).await?;
        Ok(Repayment { paid: reply.tokens()?, principal: reply.tokens()? })
    }

    async fn put_app(&self, cluster: &ClusterId, put: &PutApp) -> Answer<u64> {
        self.run(&text::PUT_APP, cluster, Args::put_app(put)).await?.number()
    }

    async fn delete_app(&self, cluster: &ClusterId, app: &AppId) -> Answer<u64> {
        self.run(&text::DELETE_APP, cluster, Args::new().text(app)).await?.number()
    }

    async fn put_cluster(&self, cluster: &ClusterId, capacity: &Capacity) -> Answer<u64> {
        self.run(&text::PUT_CLUSTER, cluster, Args::new().capacity(capacity)).await?.number()
    }

    async fn declare_emergency(&self, cluster: &ClusterId, reason: &str, duration: Millis) -> Answer<u64> {
        let args = Args::new().text(reason).millis(duration);
        self.run(&text::DECLARE_EMERGENCY, cluster, args).await?.number()
    }

    async fn end_emergency(&self, cluster: &ClusterId) -> Answer<u64> {
        self.run(&text::END_EMERGENCY, cluster, Args::new()).await?.number()
    }

    async fn reset(&self, cluster: &ClusterId, app: &AppId) -> Answer<()> {
        self.run(&text::RESET, cluster, Args::new().text(app)).await.map(drop)
    }

    async fn reconcile(&self, cluster: &ClusterId) -> Answer<Vec<(AppId, Ratio)>> {
        self.run(&text::RECONCILE, cluster, Args::new()).await?.drifts()
    }

    async fn changes(&self, cluster: &ClusterId, since: u64, limit: u32) -> Answer<Changes> {
        let args = Args::new().number(since).number(limit.into());
        self.run(&text::CHANGES, cluster, args).await?.changes()
    }

    async fn apps(&self, cluster: &ClusterId, after: Option<&AppId>, limit: u32) -> Answer<Vec<AppView>> {
        let args = Args::new().text(after.map_or("", |app| app)).number(limit.into());
        self.run(&text::APPS, cluster, args).await?.app_views()
    }

    async fn scheduled(&self, cluster: &ClusterId, skip: u32, limit: u32) -> Answer<Vec<Scheduled>> {
        let args = Args::new().number(skip.into()).number(limit.into());
        self.run(&text::SCHEDULED, cluster, args).await?.all_scheduled()
    }

    async fn cluster(&self, cluster: &ClusterId) -> Answer<ClusterView> {
        self.run(&text::CLUSTER, cluster, Args::new()).await?.cluster_view()
    }

    async fn audit(&self, cluster: &ClusterId) -> Answer<Audit> {
        self.run(&text::AUDIT, cluster, Args::new()).await?.audit()
    }

    async fn ask(&self, cluster: &ClusterId, question: &Question) -> Answer<Asked> {
        let args = Args::new().text(&name(question.name)).text(&question.text);
        let mut reply = self.run(&question::ASK, cluster, args).await?;
        if reply.is_at_end() {
            return Ok(Asked::Refused);
        }
        let heard = reply.number()?;
        Ok(Asked::Told(self.engine.counts_all().then_some(heard)))
    }

    async fn answer(&self, cluster: &ClusterId, question: u128, text: &str) -> Answer<bool> {
        let args = Args::new().text(&name(question)).text(text);
        Ok(self.run(&question::ANSWER, cluster, args).await?.number()? == 1)
    }

    async fn answer_to(&self, cluster: &ClusterId, question: u128) -> Answer<Option<String>> {
        let mut reply = self.run(&question::ANSWER_TO, cluster, Args::new().text(&name(question))).await?;
        if reply.is_at_end() { Ok(None) } else { reply.text().map(Some) }
    }

    fn notices(&self, cluster: &ClusterId) -> Notices {
        self.engine.notices(&wire::channels(cluster))
    }
}

impl From<EngineError> for LedgerError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Timeout => Self::Timeout,
            EngineError::Connection(why) => Self::Connection(why),
            EngineError::Protocol(what) => Self::Protocol(what),
        }
    }
}
