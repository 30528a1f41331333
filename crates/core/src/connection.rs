//! Connections: how many an application may have, and how many slots a node should hold for them.
//!
//! A slot is the right to one open connection. Slots are leased to nodes as tokens are, so that a limit holds across
//! nodes and opening a connection on a slot that is held asks nobody.

use crate::reason::Reason;
use crate::units::Ratio;

/// Applications may go above their `max` while less than this share of the cluster's slots is out.
pub const RESERVE_LINE: Ratio = Ratio::percent(80);

/// Of the slots that are free, a node holds no more than one in so many ahead of need.
const AHEAD: u32 = 4;

/// The fewest slots a node holds ahead where there is plenty.
pub const MIN_SPARE: u32 = 8;

/// How many connections an application may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Limits {
    /// At any time.
    pub max: u32,
    /// While the cluster has room; never less.
    pub burst: u32,
}

/// How many slots are out, over all nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Out {
    /// Of the application.
    pub app: u64,
    /// Of the cluster.
    pub cluster: u64,
}

/// Which limit was in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shortage {
    /// The application's.
    App,
    /// The cluster's.
    Cluster,
    /// None is known to be: the ledger lost its memory and waits for nodes to tell what they hold.
    Learning,
}

/// What an application gets of the slots that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allotment {
    /// How many.
    pub granted: u32,
    /// What was in the way of the rest.
    pub shortage: Option<Shortage>,
}

impl Limits {
    /// No connections at all.
    pub const NONE: Self = Self { max: 0, burst: 0 };

    /// At most `max`, and `burst` while there is room. A burst below `max` counts as `max`.
    pub const fn new(max: u32, burst: u32) -> Self {
        Self { max, burst: if burst < max { max } else { burst } }
    }

    /// What there is of `needed` slots on top of those that are out: up to `max` from all of the cluster, up to `burst`
    /// only below the reserve line.
    pub fn allot(self, cluster_max: u32, out: Out, needed: u32) -> Allotment {
        let needed = u64::from(needed);
        let cluster_room = u64::from(cluster_max).saturating_sub(out.cluster);
        let promised = needed.min(u64::from(self.max).saturating_sub(out.app)).min(cluster_room);

        let out = Out { app: out.app + promised, cluster: out.cluster + promised };
        let line = RESERVE_LINE.apply(cluster_max.into());
        let burst_room = u64::from(self.burst).saturating_sub(out.app).min(line.saturating_sub(out.cluster));
        let granted = promised + (needed - promised).min(burst_room);

        let short = if granted < cluster_room { Shortage::App } else { Shortage::Cluster };
        Allotment { granted: narrow(granted), shortage: (granted < needed).then_some(short) }
    }

    /// What there is of `welcome` slots ahead of any need: no more than a quarter of those that are free.
    pub fn allot_ahead(self, cluster_max: u32, out: Out, welcome: u32) -> u32 {
        welcome.min(self.room(cluster_max, out).unwrap_or(0) / AHEAD)
    }

    /// How many slots are free and may be taken ahead of need: within `max` and the cluster, none of the burst. `None` if
    /// more are out than that already.
    pub fn room(self, cluster_max: u32, out: Out) -> Option<u32> {
        let app = u64::from(self.max).checked_sub(out.app)?;
        Some(narrow(app.min(u64::from(cluster_max).checked_sub(out.cluster)?)))
    }
}

impl Shortage {
    /// What a client is told.
    pub const fn reason(self) -> Reason {
        match self {
            Self::App => Reason::AppLimitExceeded,
            Self::Cluster => Reason::ClusterLimitExceeded,
            Self::Learning => Reason::LocalExhausted,
        }
    }
}

/// How many connections a node lately had at once: follows peaks at once and forgets them slowly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand(u32);

impl Demand {
    /// A demand that was kept as a number.
    pub const fn new(connections: u32) -> Self {
        Self(connections)
    }

    /// In connections.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The demand after a span in which there were at most `peak` at once: an eighth of what is above is forgotten.
    #[must_use]
    pub fn after(self, peak: u32) -> Self {
        let above = self.0.saturating_sub(peak);
        Self(peak + (above - above.div_ceil(8)))
    }
}

/// What a node has for an application, and what it knows about the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Slots that it holds.
    pub held: u32,
    /// Those with a connection on them.
    pub in_use: u32,
    /// Connections that wait for a slot.
    pub waiting: u32,
    /// How many connections there lately were at once.
    pub demand: Demand,
    /// Slots that nobody holds and that may be taken ahead of need; `None` if there are too many out already.
    pub room: Option<u32>,
}

/// What to do about a holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// It is as it should be.
    Stay,
    /// Ask for more, to hold that many in all.
    Ask(u32),
    /// Give some back and keep that many.
    GiveBack(u32),
}

impl Holding {
    /// Slots without a connection on them.
    pub const fn idle(&self) -> u32 {
        self.held.saturating_sub(self.in_use)
    }

    /// Connections that there are or are about to be.
    const fn need(&self) -> u32 {
        self.in_use.saturating_add(self.waiting)
    }

    /// How many slots beyond the need are right: enough for the last peak to come again with a quarter on top, but never
    /// more than a quarter of those that are free. So where slots get short, nodes stop holding what others could use; and
    /// where there are too many out, or no connections, they hold nothing ahead.
    pub fn spare(&self) -> u32 {
        let demand = self.demand.get().max(self.need());
        let Some(room) = self.room.filter(|_| demand > 0) else { return 0 };
        let cover = (demand - self.need()).saturating_add(MIN_SPARE.max(demand / 4));
        let free = room.saturating_add(self.idle()).saturating_sub(self.waiting);
        cover.min(free / AHEAD)
    }

    /// What to do. Between half and twice the right number of spare slots nothing is done, so that a node does not give
    /// back what it will ask for a moment later.
    pub fn next(&self) -> Move {
        let right = self.spare();
        let total = self.need().saturating_add(right);
        match self.held.checked_sub(self.need()) {
            Some(spare) if spare > right.saturating_mul(2) => Move::GiveBack(total),
            Some(spare) if spare >= right / 2 => Move::Stay,
            _ => Move::Ask(total),
        }
    }
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { max: 10, burst: 15 };

    fn allot(cluster_max: u32, app: u64, cluster: u64, needed: u32) -> (u32, Option<Shortage>) {
        let Allotment { granted, shortage } = LIMITS.allot(cluster_max, Out { app, cluster }, needed);
        (granted, shortage)
    }

    #[test]
    fn an_application_bursts_only_below_the_reserve_line() {
        assert_eq!(allot(100, 0, 0, 10), (10, None));
        assert_eq!(allot(100, 0, 0, 20), (15, Some(Shortage::App)));
        assert_eq!(allot(100, 0, 75, 20), (10, Some(Shortage::App)), "up to its max it may pass the line");
        assert_eq!(allot(100, 10, 78, 20), (2, Some(Shortage::App)), "above it may not");
        assert_eq!(allot(100, 10, 90, 1), (0, Some(Shortage::App)));
    }

    #[test]
    fn the_cluster_has_the_last_word() {
        assert_eq!(allot(100, 0, 97, 5), (3, Some(Shortage::Cluster)));
        assert_eq!(allot(100, 0, 100, 1), (0, Some(Shortage::Cluster)));
        assert_eq!(allot(100, 0, 140, 1), (0, Some(Shortage::Cluster)), "what was adopted may be above");
        assert_eq!(allot(100, 30, 40, 1), (0, Some(Shortage::App)), "likewise");
        assert_eq!(allot(100, 30, 140, 0), (0, None), "who wants nothing is refused nothing");
    }

    #[test]
    fn demand_follows_peaks_at_once_and_forgets_slowly() {
        let demand = Demand::default().after(100);
        assert_eq!(demand.get(), 100);
        assert_eq!(demand.after(20).get(), 90);
        let idle = (0..60).fold(demand, |demand, _| demand.after(0));
        assert_eq!(idle.get(), 0, "in the end entirely");
    }

    #[test]
    fn scarcity_frees_what_is_idle() {
        let plenty = Holding { held: 50, in_use: 40, waiting: 0, demand: Demand::new(40), room: Some(1_000) };
        assert_eq!(plenty.spare(), 10);
        assert_eq!(plenty.next(), Move::Stay);
        let scarce = Holding { room: Some(0), ..plenty };
        assert_eq!(scarce.next(), Move::GiveBack(42));
        let too_many = Holding { room: None, ..plenty };
        assert_eq!(too_many.next(), Move::GiveBack(40));
        let unused = Holding { held: 0, in_use: 0, demand: Demand::default(), ..plenty };
        assert_eq!(unused.next(), Move::Stay, "nothing for those who never came");
        let last = Holding { held: 41, room: Some(0), ..plenty };
        assert_eq!(last.next(), Move::GiveBack(40));
    }

    fn any_holding() -> impl Strategy<Value = Holding> {
        (0..2_000u32, 0..2_000u32, 0..50u32, 0..3_000u32, prop::option::weighted(0.9, 0..5_000u32)).prop_map(
            |(held, in_use, waiting, demand, room)| Holding {
                held: held.max(in_use),
                in_use,
                waiting,
                demand: Demand::new(demand),
                room,
            },
        )
    }

    proptest! {
        #[test]
        fn p16_no_more_slots_than_the_limits_allow(
            max in 0..200u32, more in 0..100u32, cluster_max in 0..500u32,
            app in 0..400u64, others in 0..500u64, needed in any::<u32>(),
        ) {
            let limits = Limits::new(max, max + more);
            let out = Out { app, cluster: app + others };
            let Allotment { granted, shortage } = limits.allot(cluster_max, out, needed);
            prop_assert!(granted <= needed);
            prop_assert_eq!(shortage.is_some(), granted < needed);
            if granted > 0 {
                let (app, cluster) = (app + u64::from(granted), out.cluster + u64::from(granted));
                prop_assert!(app <= u64::from(limits.burst));
                prop_assert!(cluster <= u64::from(cluster_max));
                prop_assert!(app <= u64::from(max) || cluster <= RESERVE_LINE.apply(cluster_max.into()));
            }
            let ahead = u64::from(limits.allot_ahead(cluster_max, out, needed));
            prop_assert!(ahead == 0 || app + ahead <= u64::from(max) && out.cluster + ahead <= u64::from(cluster_max));
        }

        #[test]
        fn p16_whoever_is_within_its_max_is_stopped_by_nobody_but_the_cluster(
            max in 1..200u32, cluster_max in 0..500u32, app in 0..200u64, others in 0..500u64,
        ) {
            prop_assume!(app < u64::from(max));
            let out = Out { app, cluster: app + others };
            let one = Limits::new(max, max).allot(cluster_max, out, 1);
            prop_assert_eq!(one.granted == 1, out.cluster < u64::from(cluster_max));
            prop_assert!(one.shortage != Some(Shortage::App));
        }

        #[test]
        fn a_move_settles_and_never_touches_what_is_in_use(holding in any_holding()) {
            match holding.next() {
                Move::Stay => {}
                Move::Ask(total) => {
                    prop_assert!(total >= holding.need() && total > holding.held);
                    let granted = total - holding.held;
                    prop_assume!(holding.room.is_none_or(|room| granted <= room));
                    let after = Holding {
                        held: total,
                        in_use: holding.need(),
                        waiting: 0,
                        room: holding.room.map(|room| room - granted),
                        ..holding
                    };
                    prop_assert_eq!(after.next(), Move::Stay);
                }
                Move::GiveBack(total) => {
                    prop_assert!(holding.need() <= total && total < holding.held);
                    let given = holding.held - total;
                    let after = Holding { held: total, room: holding.room.map(|room| room + given), ..holding };
                    prop_assert_eq!(after.next(), Move::Stay);
                }
            }
        }
    }
}
