use crate::chance::{Chance, seconds};
use std::fmt;
use tollgate_core::units::{Nanos, Rate, Tokens};

/// Something that goes wrong, or that somebody does, at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// When.
    pub at: Nanos,
    /// What.
    pub fault: Fault,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Nodes stop without a word and come back as new ones.
    Crash(Many, Nanos),
    /// Nodes say goodbye and come back as new ones.
    Restart(Many, Nanos),
    /// Nodes and store do not hear of each other.
    Partition(Many, Direction, Nanos),
    /// The store loses everything.
    Wipe,
    /// Another store takes over after a while, without the last writes of the old one.
    Failover {
        /// How long before the end it has seen the last write.
        loses: Nanos,
        /// How long until it takes over.
        down: Nanos,
    },
    /// The store is not there.
    Outage(Nanos),
    /// Answers take longer by so much.
    Slow(Nanos, Nanos),
    /// A share of all messages gets lost.
    Loss(f64, Nanos),
    /// A share of all calls reaches the store twice.
    Duplicates(f64, Nanos),
    /// A share of all messages takes much longer: others overtake them.
    Reorder(f64, Nanos),
    /// The store's clock is set, by milliseconds.
    Clock(i64),
    /// An operator declares an emergency.
    Emergency(Nanos),
    /// An operator ends it.
    EndEmergency,
    /// An operator promises an application something else.
    Promise(usize, Rate, Tokens),
    /// An operator switches an application off, or on.
    Switch(usize, bool),
}

/// Which messages get lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// All.
    Both,
    /// Those to the store.
    Out,
    /// Those from the store: what was asked for is done, and nobody hears of it.
    In,
}

/// How many nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Many {
    /// So many, drawn at random.
    Some(usize),
    /// A share of all, drawn at random.
    Share(f64),
}

impl Many {
    /// The nodes that are meant, of `nodes`.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "small"
    )]
    pub(crate) fn draw(self, chance: &mut Chance, nodes: usize) -> Vec<usize> {
        let count = match self {
            Self::Some(count) => count,
            Self::Share(share) => (nodes as f64 * share).round() as usize,
        };
        chance.some(count.min(nodes), nodes)
    }
}

impl Fault {
    /// How long it lasts; zero if it is over at once.
    pub(crate) const fn lasts(&self) -> Nanos {
        match *self {
            Self::Crash(_, time)
            | Self::Restart(_, time)
            | Self::Partition(_, _, time)
            | Self::Outage(time)
            | Self::Slow(_, time)
            | Self::Loss(_, time)
            | Self::Duplicates(_, time)
            | Self::Reorder(_, time)
            | Self::Emergency(time) => time,
            Self::Failover { down, .. } => down,
            Self::Wipe | Self::Clock(_) | Self::EndEmergency | Self::Promise(..) | Self::Switch(..) => {
                Nanos::ZERO
            }
        }
    }
}

impl fmt::Display for Many {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Some(1) => write!(f, "1 node"),
            Self::Some(count) => write!(f, "{count} nodes"),
            Self::Share(share) => write!(f, "{}% of the nodes", share * 100.0),
        }
    }
}

impl fmt::Display for Planned {
    /// As it is written in a story.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}s ", seconds(self.at))?;
        match self.fault {
            Fault::Crash(many, time) => write!(f, "crash {many} for {}s", seconds(time)),
            Fault::Restart(many, time) => write!(f, "restart {many} for {}s", seconds(time)),
            Fault::Partition(many, direction, time) => {
                let way = match direction {
                    Direction::Both => "",
                    Direction::Out => " one way out",
                    Direction::In => " one way in",
                };
                write!(f, "partition {many}{way} for {}s", seconds(time))
            }
            Fault::Wipe => write!(f, "wipe the store"),
            Fault::Failover { loses, down } => {
                write!(f, "fail over the store losing {}s down for {}s", seconds(loses), seconds(down))
            }
            Fault::Outage(time) => write!(f, "stop the store for {}s", seconds(time)),
            Fault::Slow(by, time) => write!(f, "slow the store by {}s for {}s", seconds(by), seconds(time)),
            Fault::Loss(share, time) => {
                write!(f, "lose {}% of messages for {}s", share * 100.0, seconds(time))
            }
            Fault::Duplicates(share, time) => {
                write!(f, "duplicate {}% of messages for {}s", share * 100.0, seconds(time))
            }
            Fault::Reorder(share, time) => {
                write!(f, "reorder {}% of messages for {}s", share * 100.0, seconds(time))
            }
            Fault::Clock(by) if by < 0 => write!(f, "set the clock back {}ms", by.unsigned_abs()),
            Fault::Clock(by) => write!(f, "set the clock ahead {by}ms"),
            Fault::Emergency(time) => write!(f, "declare an emergency for {}s", seconds(time)),
            Fault::EndEmergency => write!(f, "end the emergency"),
            Fault::Promise(app, rate, burst) => {
                write!(f, "promise application {app} {} with a burst of {}", rate.floor(), burst.floor())
            }
            Fault::Switch(app, on) => write!(f, "switch application {app} {}", if on { "on" } else { "off" }),
        }
    }
}
