//! What goes wrong, and how it ends.

use super::store::Order;
use super::{Event, World};
use crate::check::Extra;
use crate::scenario::Fault;
use tollgate_core::units::{Millis, Nanos, Rate, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Carry, PutApp};
use tollgate_node::desk::to_ledger;

impl World<'_> {
    pub(super) fn plan_faults(&mut self) {
        for (number, planned) in self.plan.faults.iter().enumerate() {
            self.queue.push(planned.at, Event::Fault(number));
            let end = planned.at.plus(planned.fault.lasts());
            if end > planned.at {
                self.queue.push(end, Event::Heal(number));
            }
            if let Fault::Failover { loses, .. } = planned.fault {
                self.queue.push(planned.at.since(loses), Event::Copy);
            }
        }
    }

    pub(super) fn fault(&mut self, number: usize) {
        let fault = self.plan.faults[number].fault;
        let nodes = &self.plan.nodes[number];
        match fault {
            Fault::Crash(..) => nodes.clone().into_iter().for_each(|node| self.crash(node)),
            Fault::Restart(..) => nodes.clone().into_iter().for_each(|node| self.say_goodbye(node)),
            Fault::Partition(_, direction, _) => {
                self.network.cut(nodes, direction);
                for node in nodes {
                    self.watch.disturb_node(*node, self.now);
                }
            }
            Fault::Wipe => {
                self.store.wipe();
                self.note_wipe();
                self.watch.emergency = None;
                self.watch.shake(self.now);
            }
            Fault::Failover { .. } | Fault::Outage(_) => {
                self.network.stop();
                self.watch.disturb(self.now);
            }
            Fault::Slow(by, _) => {
                self.network.slow(by);
                self.watch.disturb(self.now);
            }
            Fault::Loss(share, _) => {
                self.network.lose(share);
                self.watch.disturb(self.now);
            }
            Fault::Duplicates(share, _) => self.network.double(share),
            Fault::Reorder(share, _) => {
                self.network.reorder(share);
                self.watch.disturb(self.now);
            }
            Fault::Clock(by) => self.set_clock(by),
            Fault::Emergency(time) => self.declare(time),
            Fault::EndEmergency => {
                self.watch.emergency = None;
                self.order_all(&Order::End);
            }
            Fault::Promise(app, rate, burst) => self.promise(app, rate, burst),
            Fault::Switch(app, is_on) => self.switch(app, is_on),
        }
    }

    pub(super) fn heal(&mut self, number: usize) {
        let fault = self.plan.faults[number].fault;
        let nodes = &self.plan.nodes[number];
        match fault {
            Fault::Crash(..) | Fault::Restart(..) => {
                for node in nodes.clone() {
                    if !self.is_up[node] || self.is_leaving(node) {
                        self.start(node);
                    }
                    self.watch.calm_node(node, self.now);
                }
            }
            Fault::Partition(_, direction, _) => {
                self.network.mend(nodes, direction);
                for node in nodes {
                    self.watch.calm_node(*node, self.now);
                }
            }
            Fault::Failover { .. } => {
                self.store.fail_over();
                self.note_takeover();
                self.watch.emergency = None;
                self.network.start();
                self.watch.calm(self.now);
            }
            Fault::Outage(_) => {
                self.network.start();
                self.watch.calm(self.now);
            }
            Fault::Slow(by, _) => {
                self.network.speed_up(by);
                self.watch.calm(self.now);
            }
            Fault::Loss(share, _) => {
                self.network.keep(share);
                self.watch.calm(self.now);
            }
            Fault::Duplicates(share, _) => self.network.single(share),
            Fault::Reorder(share, _) => {
                self.network.order(share);
                self.watch.calm(self.now);
            }
            Fault::Emergency(_) => {
                self.watch.shake(self.now);
                self.watch.emergency = None;
            }
            _ => {}
        }
    }

    /// What another store would know: what is granted from now on is lost if that takes over.
    pub(super) fn copy_store(&mut self) {
        self.store.copy();
        self.watch.at_risk.fill(Tokens::ZERO);
        self.watch.is_at_risk = true;
    }

    /// A node stops without a word. What it had is gone, and so are those who waited there.
    fn crash(&mut self, node: usize) {
        self.watch.disturb_node(node, self.now);
        self.is_up[node] = false;
        self.stations[node].counters.clear();
    }

    /// A node says goodbye: requests go elsewhere, what it has goes back.
    fn say_goodbye(&mut self, node: usize) {
        self.watch.disturb_node(node, self.now);
        if self.is_up[node] {
            self.is_up[node] = false;
            self.leave(node);
        }
    }

    fn is_leaving(&self, node: usize) -> bool {
        !self.is_up[node]
    }

    fn set_clock(&mut self, by: i64) {
        self.store.set_clock(by);
        self.watch.emergency = None;
        self.watch.shake(self.now);
        self.note_clock(by);
    }

    fn declare(&mut self, time: Nanos) {
        self.watch.is_heard = self.watch.disturbed.is_calm(self.now);
        self.watch.shake(self.now);
        // The ledger counts whole milliseconds.
        self.watch.emergency = Some((self.now, self.now.plus(time).since(Nanos::new(5_000_000))));
        self.order_all(&Order::Declare(Millis::new(time.get() / 1_000_000)));
    }

    fn promise(&mut self, app: usize, guaranteed: Rate, burst: Tokens) {
        let Some(mut policy) = self.policy(app) else { return };
        policy.quota.guaranteed = guaranteed;
        policy.quota.burst = burst;
        self.put(app, policy);
    }

    fn switch(&mut self, app: usize, is_on: bool) {
        let Some(mut policy) = self.policy(app) else { return };
        policy.enabled = is_on;
        let is_heard = self.watch.disturbed.is_calm(self.now);
        self.put(app, policy);
        let found = self.store.app(self.cluster_of[app], &self.apps[app]);
        let is_off = found.is_some_and(|app| !app.policy.enabled);
        self.watch.off[app] = (is_off && is_heard).then_some(self.now);
    }

    /// The policy of an application as the store knows it, or as the story does.
    fn policy(&self, app: usize) -> Option<AppPolicy> {
        let id = &self.apps[app];
        let known = self.store.app(self.cluster_of[app], id).map(|app| app.policy.clone());
        known.or_else(|| self.scenario.policy.apps().get(id).map(|app| to_ledger(id, app)))
    }

    fn put(&mut self, app: usize, policy: AppPolicy) {
        let shard = self.cluster_of[app];
        let opened = |world: &Self| {
            world.store.app(shard, &world.apps[app]).map(|app| (app.policy.quota, app.flows.opened))
        };
        let before = opened(self);
        let put = PutApp { policy, replaces: None, carry: Carry::Scale, effective_at: Millis::ZERO };
        self.store.order(shard, &Order::Put(put), self.now);
        self.tell(shard);
        if let (Some((_, was)), Some((quota, is))) = (before, opened(self)) {
            self.watch.promise(app, quota, self.now);
            self.watch.bounds[app].extend(Extra::Policy, is.minus(was), self.now);
        }
        self.watch.shake(self.now);
    }

    fn order_all(&mut self, order: &Order) {
        for shard in 0..self.clusters.len() {
            self.store.order(shard, order, self.now);
            self.tell(shard);
        }
        self.watch.shake(self.now);
    }
}
