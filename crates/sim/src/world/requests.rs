//! Requests: what becomes of them at a node.

use super::{Event, World};
use crate::check::Rule;
use tollgate_core::cost::{Operation, Price};
use tollgate_core::reason::Reason;
use tollgate_core::units::{Millis, Nanos};
use tollgate_node::desk::{Asked, Outcome, Refused};
use tollgate_node::{Decided, Permit};

/// A request that waits for the ledger.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    node: usize,
    life: u64,
    app: usize,
    price: Price,
    is_cancelled: bool,
}

/// The operations that requests are counted as, by their cost.
const OPERATIONS: [Operation; 4] = [Operation::Get, Operation::Put, Operation::List, Operation::Copy];

impl World<'_> {
    pub(super) fn arrive(&mut self, source: usize) {
        let request = self.sources[source].request(self.now, &self.is_up);
        if let Some(next) = self.sources[source].next(self.now) {
            self.queue.push(next, Event::Arrive(source));
        }
        let Some(request) = request else { return };
        let (node, app) = (request.node, request.app);
        let operation = OPERATIONS[usize::try_from(request.cost).unwrap_or_default() % OPERATIONS.len()];
        let price = Price::named(operation, request.cost);
        self.watch.ask(node, app, request.cost, self.now);
        let station = &self.stations[node];
        let (life, time) = (station.life, station.time(self.now));
        let asking = Asking { node, life, app, price, is_cancelled: request.is_cancelled };
        let Some(handle) = station.roster.find(&self.apps[app]) else {
            self.refused(node, app, Reason::UnknownApp);
            return;
        };
        match handle.decide(price, time) {
            Decided::Passed(permit) => self.passed(asking, permit),
            Decided::Refused(decision) => {
                self.refused(node, app, decision.verdict.reason().unwrap_or(Reason::LocalExhausted));
            }
            Decided::Ask => self.ask(asking),
        }
        let desk = self.cluster_of[app];
        if self.stations[node].counters[desk].bell.is_rung() {
            self.drive(node, desk);
        }
    }

    fn ask(&mut self, asking: Asking) {
        let Asking { node, app, price, .. } = asking;
        let desk = self.cluster_of[app];
        let station = &self.stations[node];
        let time = station.time(self.now);
        let Some(handle) = station.roster.find(&self.apps[app]) else { return };
        self.asked += 1;
        let ticket = self.asked;
        self.watch.want(node, app, price.tokens());
        // Alone, the node mints for whom it is asked, and for nobody else.
        let before = self.is_alone(node, desk).then(|| handle.held());
        let asked = self.stations[node].counters[desk].desk.ask(&handle, price, ticket, time);
        match asked {
            Asked::Waiting => {
                self.asking.insert(ticket, asking);
                let patience = self.scenario.manners.patience;
                self.queue.push(self.now.plus(Nanos::from(patience)), Event::Impatient(ticket));
            }
            Asked::Passed(permit, _) => {
                if let Some(had) = before {
                    self.note_minted(node, app, had, handle.held().plus(price.tokens()));
                }
                self.passed(asking, permit);
            }
            Asked::Refused(refused, _) => {
                if let Some(had) = before {
                    self.note_minted(node, app, had, handle.held());
                }
                self.turn_down(asking, refused);
            }
        }
    }

    /// Tells those who waited. Whoever has left gives back what was paid for them.
    pub(super) fn deliver(&mut self, node: usize, outcomes: Vec<Outcome<u64>>) {
        for (ticket, outcome) in outcomes {
            let asking = self
                .asking
                .remove(&ticket)
                .filter(|asking| asking.node == node && asking.life == self.stations[node].life);
            match (asking, outcome) {
                (Some(asking), Ok(permit)) => self.passed(asking, permit),
                (Some(asking), Err(refused)) => self.turn_down(asking, refused),
                (None, _) => {}
            }
        }
    }

    /// A request that waited for too long looks once more, and leaves.
    pub(super) fn lose_patience(&mut self, ticket: u64) {
        let Some(asking) = self.asking.remove(&ticket) else { return };
        let station = &self.stations[asking.node];
        if station.life != asking.life || !self.is_up[asking.node] {
            return;
        }
        let Some(handle) = station.roster.find(&self.apps[asking.app]) else { return };
        let time = station.time(self.now);
        match handle.decide(asking.price, time) {
            Decided::Passed(permit) => self.passed(asking, permit),
            // It asks nobody any more.
            Decided::Ask => self.turn_down(asking, Refused::timed_out()),
            Decided::Refused(_) => self.refused(asking.node, asking.app, Reason::RedisTimeout),
        }
    }

    fn turn_down(&mut self, asking: Asking, refused: Refused) {
        if let Some(handle) = self.stations[asking.node].roster.find(&self.apps[asking.app]) {
            // Nothing here runs in shadow mode, where this would be a permit.
            drop(handle.refuse(asking.price, refused));
        }
        self.refused(asking.node, asking.app, refused.reason);
    }

    fn passed(&mut self, asking: Asking, permit: Permit) {
        let Asking { node, app, price, .. } = asking;
        self.expire_pockets(node, self.cluster_of[app]);
        if let Some(excess) = self.watch.pay(node, app, price.tokens()) {
            self.violate(
                Rule::Spending,
                format!(
                    "node {node} let {} of {} pass, {excess:?} more than it was given",
                    price.cost(),
                    self.apps[app]
                ),
            );
        }
        if asking.is_cancelled {
            self.asked += 1;
            let wait = Millis::new(1 + self.asked % 20);
            self.held.insert(self.asked, (node, asking.life, app, permit));
            self.queue.push(self.now.plus(Nanos::from(wait)), Event::Cancel(self.asked));
            return;
        }
        permit.keep();
        if let Some(excess) = self.watch.pass(node, app, price.cost(), self.now) {
            self.violate(
                Rule::OverAdmission,
                format!(
                    "{} passed {excess:?} more than all that may be on top of rate and burst",
                    self.apps[app]
                ),
            );
        }
        self.watch_emergency(node, app);
        self.watch_switch(node, app);
    }

    /// A request that passed is given up before it got anywhere.
    pub(super) fn cancel(&mut self, number: u64) {
        let Some((node, life, app, permit)) = self.held.remove(&number) else { return };
        if self.is_there(node, life) {
            self.watch.undo(node, app, permit.price().tokens());
        }
        drop(permit);
    }

    fn refused(&mut self, node: usize, app: usize, reason: Reason) {
        self.watch.refuse(app, reason, self.now);
        self.watch_guarantee(node, app, reason);
    }
}
