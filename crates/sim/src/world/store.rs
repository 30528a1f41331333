//! The store: the book of each cluster, and the same books kept by the shipped scripts if asked for.

use super::lua::Lua;
use crate::scenario::Service;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::{Millis, Nanos};
use tollgate_ledger::protocol::{MAX_PAGE, PutApp};
use tollgate_ledger::{Book, LedgerError};
use tollgate_node::desk::{Job, Reply};

/// When virtual time begins, by the store's clock: any time that is not close to zero.
const EPOCH: u64 = 1_700_000_000_000;

/// What an operator says to a store.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Another policy for an application.
    Put(PutApp),
    /// An emergency for so long.
    Declare(Millis),
    /// Its end.
    End,
}

/// The scripts answered something else than the book.
#[derive(Clone, Debug)]
pub(crate) struct Disagreement(pub(crate) String);

/// The store of all clusters.
pub(crate) struct Store {
    shards: Vec<Shard>,
    lua: Option<Lua>,
    /// How far its clock is ahead of the world's, in milliseconds.
    offset: i64,
    service: Service,
    /// By how many milliseconds in a second its clock is wrong.
    haste: u64,
}

/// One cluster's part of it.
struct Shard {
    cluster: ClusterId,
    book: Option<Book>,
    /// What another store would know.
    copy: Option<Book>,
    busy_until: Nanos,
    /// How long it worked, since that was last counted anew.
    worked: Nanos,
}

impl Store {
    pub(crate) fn new(clusters: Vec<ClusterId>, service: Service, lua: Option<Lua>, haste: u64) -> Self {
        let shard =
            |cluster| Shard { cluster, book: None, copy: None, busy_until: Nanos::ZERO, worked: Nanos::ZERO };
        Self { shards: clusters.into_iter().map(shard).collect(), lua, offset: 0, service, haste }
    }

    /// Its own time.
    pub(crate) fn time(&self, now: Nanos) -> Millis {
        let elapsed = now.get() / 1_000_000;
        let time = EPOCH + elapsed + elapsed * self.haste / 1_000;
        Millis::new(time.saturating_add_signed(self.offset))
    }

    /// Sets its clock.
    pub(crate) const fn set_clock(&mut self, by: i64) {
        self.offset += by;
    }

    /// When a call that arrives now is answered: a shard does one thing at a time.
    pub(crate) fn serve(&mut self, shard: usize, entries: usize, now: Nanos) -> Nanos {
        let Service { call, entry } = self.service;
        let work = Nanos::new(call.get() + entry.get() * entries as u64);
        let shard = &mut self.shards[shard];
        shard.busy_until = shard.busy_until.max(now).plus(work);
        shard.worked = shard.worked.plus(work);
        shard.busy_until
    }

    /// Counts anew how long the shards work.
    pub(crate) fn count_anew(&mut self) {
        for shard in &mut self.shards {
            shard.worked = Nanos::ZERO;
        }
    }

    /// How long the busiest shard has worked since.
    pub(crate) fn worked(&self) -> Nanos {
        self.shards.iter().map(|shard| shard.worked).max().unwrap_or_default()
    }

    /// Does what a node asks for.
    pub(crate) fn call(
        &mut self,
        shard: usize,
        job: &Job,
        now: Nanos,
    ) -> Result<Result<Reply, LedgerError>, Disagreement> {
        let time = self.time(now);
        let shard = &mut self.shards[shard];
        let answer = answer(&mut shard.book, job, time);
        if let Some(lua) = &self.lua {
            lua.set_time(time);
            let other = lua.call(&shard.cluster, job);
            if other != answer {
                return Err(Disagreement(format!(
                    "{job:?}\nthe book says {answer:?}\nthe scripts say {other:?}"
                )));
            }
        }
        Ok(answer)
    }

    /// Does what an operator asks for, as far as it can be done.
    pub(crate) fn order(&mut self, shard: usize, order: &Order, now: Nanos) {
        let time = self.time(now);
        let shard = &mut self.shards[shard];
        if let Some(book) = &mut shard.book {
            match order {
                Order::Put(put) => drop(book.put_app(put.clone(), time)),
                Order::Declare(duration) => drop(book.declare_emergency("simulated", *duration, time)),
                Order::End => drop(book.end_emergency(time)),
            }
        }
        if let Some(lua) = &self.lua {
            lua.set_time(time);
            lua.order(&shard.cluster, order);
        }
    }

    /// Remembers what another store would know if this one broke now.
    pub(crate) fn copy(&mut self) {
        for shard in &mut self.shards {
            shard.copy.clone_from(&shard.book);
        }
        if let Some(lua) = &mut self.lua {
            lua.copy();
        }
    }

    /// The other store takes over.
    pub(crate) fn fail_over(&mut self) {
        for shard in &mut self.shards {
            shard.book.clone_from(&shard.copy);
        }
        if let Some(lua) = &self.lua {
            lua.fail_over();
        }
    }

    /// Everything is lost.
    pub(crate) fn wipe(&mut self) {
        for shard in &mut self.shards {
            shard.book = None;
        }
        if let Some(lua) = &self.lua {
            lua.wipe();
        }
    }

    pub(crate) fn book(&self, shard: usize) -> Option<&Book> {
        self.shards[shard].book.as_ref()
    }

    /// What an application has, if the store knows it.
    pub(crate) fn app(&self, shard: usize, app: &AppId) -> Option<&tollgate_ledger::book::App> {
        self.shards[shard].book.as_ref()?.apps().get(app)
    }

    /// Whether the scripts' books balance too, if there are any.
    pub(crate) fn scripts_balance(&self, shard: usize, now: Nanos) -> Option<bool> {
        let lua = self.lua.as_ref()?;
        lua.set_time(self.time(now));
        lua.balances(&self.shards[shard].cluster)
    }
}

fn answer(book: &mut Option<Book>, job: &Job, time: Millis) -> Result<Reply, LedgerError> {
    match (job, book) {
        (Job::Seed(_), Some(_)) => Ok(Reply::Seeded),
        (Job::Seed(seed), empty) => {
            *empty = Some(Book::seed(seed.clone(), time)?);
            Ok(Reply::Seeded)
        }
        (_, None) => Err(LedgerError::Unseeded),
        (Job::Sync(sync), Some(book)) => book.sync(sync, time).map(Reply::Sync),
        (Job::Depart(sync), Some(book)) => book.depart(sync, time).map(|_| Reply::Departed),
        (Job::Changes(since), Some(book)) => Ok(Reply::Changes(book.changes(*since, MAX_PAGE, time))),
    }
}
