//! Requests at a desk while it speaks to its ledger, under schedules drawn by shuttle: whoever waits is answered once,
//! one call is out at a time, and what passed is what the ledger booked, whatever got lost on the way.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex, mpsc};
use shuttle::thread;
use std::sync::Arc as Shared;
use support::{cluster, policy};
use tollgate_core::cost::{Operation, Price};
use tollgate_core::id::NodeId;
use tollgate_core::units::{Millis, Nanos, Tokens};
use tollgate_ledger::protocol::MAX_PAGE;
use tollgate_ledger::{Book, LedgerError};
use tollgate_node::desk::{Asked, Desk, Identity, Job, Manners, Outcome, Refused, Reply};
use tollgate_node::{Bell, Decided, Permit, Roster};

/// How many schedules are tried.
const SCHEDULES: usize = 300;

const ASKERS: usize = 3;
const REQUESTS: u64 = 4;
const COST: u64 = 40;

type Ticket = mpsc::Sender<Result<Permit, Refused>>;

/// A node and a ledger, without what usually carries calls from one to the other.
struct World {
    roster: Shared<Roster>,
    desk: Mutex<Desk<Ticket>>,
    book: Mutex<Option<Book>>,
    /// In milliseconds: passes while things happen.
    time: AtomicU64,
    out: AtomicUsize,
    left: AtomicUsize,
    passed: AtomicU64,
}

impl World {
    fn new() -> Self {
        let (policy, cluster) = (policy(), cluster());
        let (roster, bell) = (Shared::new(Roster::default()), Shared::new(Bell::default()));
        roster.enrol(&cluster, &policy, &bell);
        let capacity = policy.clusters()[&cluster].capacity;
        let identity = Identity { node: NodeId::new("n").unwrap(), cluster, incarnation: 1, seed: 1 };
        let desk = Desk::new(identity, Manners::default(), capacity, Shared::clone(&roster), bell);
        Self {
            roster,
            desk: Mutex::new(desk),
            book: Mutex::new(None),
            time: AtomicU64::new(1_000),
            out: AtomicUsize::new(0),
            left: AtomicUsize::new(ASKERS),
            passed: AtomicU64::new(0),
        }
    }

    fn now(&self) -> Nanos {
        Nanos::from(Millis::new(self.time.fetch_add(3, Ordering::SeqCst)))
    }

    /// What the ledger makes of a call.
    fn carry(&self, job: &Job) -> Result<Reply, LedgerError> {
        let time = Millis::new(1_700_000_000_000 + self.time.load(Ordering::SeqCst));
        let mut book = self.book.lock().unwrap();
        match (job, &mut *book) {
            (Job::Seed(seed), empty @ None) => {
                *empty = Some(Book::seed(seed.clone(), time)?);
                Ok(Reply::Seeded)
            }
            (Job::Seed(_), Some(_)) => Ok(Reply::Seeded),
            (_, None) => Err(LedgerError::Unseeded),
            (Job::Sync(sync), Some(book)) => book.sync(sync, time).map(Reply::Sync),
            (Job::Depart(sync), Some(book)) => book.depart(sync, time).map(|_| Reply::Departed),
            (Job::Changes(since), Some(book)) => Ok(Reply::Changes(book.changes(*since, MAX_PAGE, time))),
        }
    }

    /// One turn of whoever speaks to the ledger. Calls get lost on their way there or back, if they may.
    fn speak(&self, may_lose: bool) {
        let now = self.now();
        let (outcomes, job) = {
            let mut desk = self.desk.lock().unwrap();
            (desk.tick(now), desk.next_job(now))
        };
        deliver(outcomes);
        let Some(job) = job else { return thread::yield_now() };
        assert_eq!(self.out.fetch_add(1, Ordering::SeqCst), 0, "one call at a time");
        let fate = if may_lose { thread_rng().gen_range(0..4) } else { 3 };
        let answer = match fate {
            0 => Err(LedgerError::Timeout),
            1 => self.carry(&job).and(Err(LedgerError::Timeout)),
            _ => self.carry(&job),
        };
        self.out.fetch_sub(1, Ordering::SeqCst);
        let now = self.now();
        let mut desk = self.desk.lock().unwrap();
        let outcomes = match answer {
            Ok(reply) => desk.answered(reply, now),
            Err(error) => desk.failed(&error, now),
        };
        drop(desk);
        deliver(outcomes);
    }

    /// Asks as a request does; whoever has no patience leaves before the answer comes.
    fn request(&self, is_patient: bool) {
        let (app, price) = (self.roster.find("a").unwrap(), Price::named(Operation::Put, COST));
        match app.decide(price, self.now()) {
            Decided::Passed(permit) => return self.keep(permit),
            Decided::Refused(_) => return,
            Decided::Ask => {}
        }
        let (ticket, answer) = mpsc::channel();
        let asked = self.desk.lock().unwrap().ask(&app, price, ticket, self.now());
        match asked {
            Asked::Passed(permit, _) => self.keep(permit),
            Asked::Refused(..) => {}
            Asked::Waiting if is_patient => {
                if let Ok(permit) = answer.recv().unwrap() {
                    self.keep(permit);
                }
                assert!(answer.recv().is_err(), "nobody is answered twice");
            }
            Asked::Waiting => drop(answer),
        }
    }

    fn keep(&self, permit: Permit) {
        permit.keep();
        self.passed.fetch_add(COST, Ordering::SeqCst);
    }

    /// Everything has gone back, and what passed is what was booked.
    fn check(&self) {
        let book = self.book.lock().unwrap();
        // A node that leaves before it got through to an empty ledger has nobody to tell.
        let Some(book) = book.as_ref() else { return };
        let app = &book.apps()["a"];
        assert_eq!(app.account.outstanding, Tokens::ZERO);
        assert_eq!(app.flows.spent, Tokens::whole(self.passed.load(Ordering::SeqCst)));
        assert!(app.flows.balances(&app.account));
    }
}

/// As the node does: whoever has left gives back what was paid for them.
fn deliver(outcomes: Vec<Outcome<Ticket>>) {
    for (ticket, outcome) in outcomes {
        drop(ticket.send(outcome));
    }
}

fn play(may_lose: bool) {
    let world = Arc::new(World::new());
    let askers: Vec<_> = (0..ASKERS)
        .map(|asker| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                for _ in 0..REQUESTS {
                    world.request(asker > 0);
                }
                world.left.fetch_sub(1, Ordering::SeqCst);
            })
        })
        .collect();
    while world.left.load(Ordering::SeqCst) > 0 {
        world.speak(may_lose);
    }
    for asker in askers {
        asker.join().unwrap();
    }
    let mut outcomes = Vec::new();
    world.desk.lock().unwrap().close(&mut outcomes);
    deliver(outcomes);
    while !world.desk.lock().unwrap().is_closed() {
        world.speak(false);
    }
    world.check();
}

#[test]
fn whoever_waits_is_answered_once_and_what_passed_is_booked() {
    shuttle::check_random(|| play(false), SCHEDULES);
}

#[test]
fn the_same_when_calls_and_answers_get_lost() {
    shuttle::check_random(|| play(true), SCHEDULES);
}
