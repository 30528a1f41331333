//! Calls: from a node to the store and back, as far as the network carries them.

use super::network::Fate;
use super::store::Disagreement;
use super::watch::{Before, Booked};
use super::{Event, World};
use crate::check::Rule;
use crate::measure::Way;
use tollgate_core::units::Nanos;
use tollgate_ledger::LedgerError;
use tollgate_ledger::book::LEASE_TTL;
use tollgate_ledger::protocol::{Entry, Sync, SyncReply};
use tollgate_node::desk::{Job, Reply};

/// A call on its way.
#[derive(Debug)]
pub(super) struct Call {
    node: usize,
    life: u64,
    desk: usize,
    job: Job,
    sent: Nanos,
    /// When its report was first said, this time or before.
    first_sent: Nanos,
    /// How often it has yet to reach the store, and whether its node may still wait for it. Until neither is so, it is
    /// kept: a store that was stopped hears calls that everybody has given up.
    on_way: u32,
    is_awaited: bool,
    /// Whether it has reached the store, when, and what a report was answered the first time. Pages of policies are not
    /// kept: all nodes read them at once.
    has_reached: bool,
    answer: Option<Result<Reply, LedgerError>>,
    reached_at: Nanos,
}

impl Call {
    pub(super) const fn job(&self) -> &Job {
        &self.job
    }

    pub(super) const fn answer(&self) -> Option<&Result<Reply, LedgerError>> {
        self.answer.as_ref()
    }

    pub(super) const fn reached_at(&self) -> Nanos {
        self.reached_at
    }
}

/// An answer on its way.
#[derive(Debug)]
pub(crate) struct Landing {
    call: u64,
    answer: Result<Reply, LedgerError>,
}

impl World<'_> {
    pub(super) fn send(&mut self, node: usize, desk: usize, job: Job) {
        self.called += 1;
        let call = self.called;
        if let Job::Sync(sync) | Job::Depart(sync) = &job {
            self.note_report(node, desk, sync);
        }
        self.weigh(weight(&job));
        self.watch.count_call(self.now);
        let life = self.stations[node].life;
        let counter = &mut self.stations[node].counters[desk];
        counter.flight = Some(call);
        let mut on_its_way = Call {
            node,
            life,
            desk,
            job,
            sent: self.now,
            first_sent: counter.first_sent,
            on_way: 0,
            is_awaited: true,
            has_reached: false,
            answer: None,
            reached_at: self.now,
        };
        match self.network.ask(node) {
            Fate::Arrives(latency) => {
                let arrival = self.now.plus(latency);
                self.note_late(node, latency);
                self.queue.push(arrival, Event::Reach(call));
                on_its_way.on_way = 1;
                if let Some(later) = self.network.echo() {
                    self.queue.push(arrival.plus(later), Event::Reach(call));
                    on_its_way.on_way = 2;
                }
            }
            Fate::Refused(latency) => {
                let answer = Err(LedgerError::Connection("nobody is there".into()));
                self.queue.push(self.now.plus(latency), Event::Land(Box::new(Landing { call, answer })));
            }
            Fate::Lost => self.watch.shake_node(node, self.now),
        }
        self.calls.insert(call, on_its_way);
        let timeout = Nanos::from(self.scenario.manners.call_timeout());
        self.queue.push(self.now.plus(timeout), Event::GiveUp(call));
    }

    /// A message that takes more than half of the time that anybody waits for its answer may be as good as lost.
    fn note_late(&mut self, node: usize, latency: Nanos) {
        if latency > Nanos::new(Nanos::from(self.scenario.manners.patience).get() / 2) {
            self.watch.shake_node(node, self.now);
        }
    }

    /// A call reaches the store, perhaps not for the first time.
    pub(super) fn reach(&mut self, number: u64) {
        let Some(call) = self.calls.get_mut(&number) else { return };
        call.on_way -= 1;
        let (node, desk, job, late) = (call.node, call.desk, call.job.clone(), self.now.since(call.sent));
        let (is_repeated, first_sent) = (call.has_reached, call.first_sent);
        if !is_repeated {
            // What comes again, however late, is to change nothing.
            self.note_late(node, late);
        }
        let known = self.before(node, desk, &job, first_sent);
        let before = (is_repeated || known.is_old).then(|| self.store.book(desk).cloned());
        let mut heard = job.clone();
        if let Some(sabotage) = self.terms.sabotage {
            sabotage.hear(&mut heard, is_repeated, self.stations[node].newest[desk]);
        }
        let answer = match self.store.call(desk, &heard, self.now) {
            Ok(answer) => answer,
            Err(Disagreement(what)) => return self.violate(Rule::Scripts, what),
        };
        if let (Job::Sync(sync) | Job::Depart(sync), Ok(_)) = (&heard, &answer) {
            let newest = &mut self.stations[node].newest[desk];
            *newest = (*newest).max((sync.incarnation, sync.seq));
        }
        self.watch_call(node, desk, &job, &answer, &known);
        if let Some(before) = before {
            self.watch_repetition(number, desk, before.as_ref(), known.is_old, &answer);
        }
        if let Some(call) = self.calls.get_mut(&number)
            && !call.has_reached
        {
            call.has_reached = true;
            call.answer = matches!(call.job, Job::Sync(_) | Job::Depart(_)).then(|| answer.clone());
            call.reached_at = self.now;
        }
        self.let_go(number);
        let entries = if let Job::Sync(sync) | Job::Depart(sync) = &job { sync.entries.len() } else { 0 };
        let done = self.store.serve(desk, entries, self.now);
        if done.since(self.now) >= Nanos::from(self.scenario.manners.call_timeout()) {
            // Whoever asks a store that has too much to do does not reach it.
            self.watch.shake(self.now);
        }
        if let Fate::Arrives(latency) = self.network.answer(node) {
            self.note_late(node, latency);
            self.weigh(answer_weight(&answer));
            self.queue.push(done.plus(latency), Event::Land(Box::new(Landing { call: number, answer })));
        } else {
            self.watch.shake_node(node, self.now);
        }
    }

    /// An answer reaches the node. If it does not wait for it any more, it is as if it had got lost.
    pub(super) fn land(&mut self, landing: Landing) {
        let Some((node, desk)) = self.waits_for(landing.call) else { return };
        self.expire_pockets(node, desk);
        let time = self.stations[node].time(self.now);
        if let Ok(Reply::Sync(reply)) = &landing.answer {
            self.note_grants(landing.call, reply);
        }
        if let Err(LedgerError::Fenced | LedgerError::Stale) = &landing.answer {
            self.note_fresh_start(landing.call);
        }
        let mut answer = landing.answer;
        if let Some(sabotage) = self.terms.sabotage {
            sabotage.answer(landing.call, &mut answer);
        }
        let outcomes = match answer {
            Ok(reply) => self.stations[node].counters[desk].desk.answered(reply, time),
            Err(error) => return self.fail(node, desk, &error),
        };
        self.deliver(node, outcomes);
        self.drive(node, desk);
    }

    /// The node has waited long enough.
    pub(super) fn give_up(&mut self, call: u64) {
        let waits = self.waits_for(call);
        if let Some((node, desk)) = waits {
            self.fail(node, desk, &LedgerError::Timeout);
        }
        if let Some(call) = self.calls.get_mut(&call) {
            call.is_awaited = false;
        }
        self.let_go(call);
    }

    /// Forgets a call that nobody waits for and that does not reach the store any more.
    fn let_go(&mut self, number: u64) {
        if self.calls.get(&number).is_some_and(|call| call.on_way == 0 && !call.is_awaited) {
            self.calls.remove(&number);
        }
    }

    fn fail(&mut self, node: usize, desk: usize, error: &LedgerError) {
        let time = self.stations[node].time(self.now);
        let before = self.holdings(node, desk);
        let outcomes = self.stations[node].counters[desk].desk.failed(error, time);
        self.note_minting(node, desk, Some(&before), false, &outcomes);
        self.deliver(node, outcomes);
        self.drive(node, desk);
    }

    /// The node and desk that wait for a call, which then do not any more.
    fn waits_for(&mut self, number: u64) -> Option<(usize, usize)> {
        let call = self.calls.get(&number)?;
        let (node, desk) = (call.node, call.desk);
        if !self.is_there(node, call.life) {
            return None;
        }
        let counter = self.stations[node].counters.get_mut(desk)?;
        if counter.flight != Some(number) {
            return None;
        }
        counter.flight = None;
        Some((node, desk))
    }

    fn weigh(&mut self, bytes: u64) {
        self.bytes += if self.watch.is_measured(self.now) { bytes } else { 0 };
    }

    /// What a node says must fit what it was seen to do.
    fn note_report(&mut self, node: usize, desk: usize, sync: &Sync) {
        let counter = &mut self.stations[node].counters[desk];
        if counter.reported == (sync.incarnation, sync.seq) {
            return;
        }
        counter.reported = (sync.incarnation, sync.seq);
        counter.first_sent = self.now;
        self.expire_pockets(node, desk);
        for entry in &sync.entries {
            self.watch.flow.add(Way::Returned, entry.returned, self.now);
            let Some(&app) = self.numbers.get(&entry.app) else { continue };
            let held = self.stations[node].roster.find(&entry.app).map(|app| app.held()).unwrap_or_default();
            let pocket = self.watch.pocket(node, app);
            if let Some(excess) = pocket.left(held, entry.returned) {
                let what = format!("node {node} has {excess:?} of {} that nobody gave it", entry.app);
                return self.violate(Rule::Spending, what);
            }
            if !pocket.report(entry.spent) {
                let what = format!("node {node} reports {:?} of {}: {:?}", entry.spent, entry.app, *pocket);
                return self.violate(Rule::Reporting, what);
            }
        }
    }

    /// Grants reach a node: they count if they are in time.
    fn note_grants(&mut self, number: u64, reply: &SyncReply) {
        let Some(call) = self.calls.get(&number) else { return };
        let Job::Sync(sync) = &call.job else { return };
        let counter = &mut self.stations[call.node].counters[call.desk];
        let end = counter.first_sent.plus(Nanos::from(LEASE_TTL));
        counter.lease_end = Some(counter.lease_end.unwrap_or_default().max(end));
        if self.now >= end {
            return;
        }
        for (entry, granted) in sync.entries.iter().zip(&reply.entries) {
            if let Some(&app) = self.numbers.get(&entry.app) {
                self.watch.pocket(call.node, app).grant(granted.granted);
                self.watch.flow.add(Way::Granted, granted.granted, self.now);
            }
        }
    }

    /// A node that starts over says again what it had said, and has nothing left.
    fn note_fresh_start(&mut self, number: u64) {
        let Some(call) = self.calls.get(&number) else { return };
        let Job::Sync(sync) = &call.job else { return };
        for entry in &sync.entries {
            if let Some(&app) = self.numbers.get(&entry.app) {
                self.watch.pocket(call.node, app).forget(entry.spent);
            }
        }
        let (node, desk) = (call.node, call.desk);
        self.end_lease(node, desk);
    }

    /// What is known before a call reaches the store.
    fn before(&self, node: usize, desk: usize, job: &Job, first_sent: Nanos) -> Before {
        let was_empty = self.store.book(desk).is_none();
        let (Job::Sync(sync) | Job::Depart(sync)) = job else {
            return Before { was_empty, is_new: false, is_old: false, booked: Vec::new() };
        };
        let booked = |entry: &Entry| self.store.app(desk, &entry.app).map(Booked::of).unwrap_or_default();
        let is_old = (sync.incarnation, sync.seq) <= self.stations[node].newest[desk];
        let has_forgotten = self.watch.forgot_at.is_some_and(|at| at >= first_sent);
        let is_new = !is_old && !has_forgotten;
        Before { was_empty, is_new, is_old, booked: sync.entries.iter().map(booked).collect() }
    }
}

/// What a call weighs on the wire, in bytes, as the scripts are called.
fn weight(job: &Job) -> u64 {
    const HEAD: u64 = 160;
    // Seven numbers of up to twelve digits and a name, each with its length.
    const ENTRY: u64 = 110;
    match job {
        Job::Sync(sync) | Job::Depart(sync) => HEAD + ENTRY * sync.entries.len() as u64,
        Job::Seed(seed) => HEAD + 2 * ENTRY * seed.apps.len() as u64,
        Job::Changes(_) => HEAD,
    }
}

/// What an answer weighs.
fn answer_weight(answer: &Result<Reply, LedgerError>) -> u64 {
    const HEAD: u64 = 90;
    const ENTRY: u64 = 45;
    match answer {
        Ok(Reply::Sync(reply)) => HEAD + ENTRY * reply.entries.len() as u64,
        Ok(Reply::Changes(changes)) => HEAD + 4 * ENTRY * changes.apps.len() as u64,
        _ => HEAD,
    }
}
