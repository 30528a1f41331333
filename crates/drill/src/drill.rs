//! What a drill is.

use crate::level::Level;
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// A drill: what is started, what is done to it, and what is forgiven.
#[derive(Clone, Copy, Debug)]
pub struct Drill {
    /// Its name, as it is called by.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    /// What is started.
    pub stage: Stage,
    /// What is done, one after the other.
    pub steps: &'static [Step],
    /// What the ledger loses of what it was told.
    pub loss: Loss,
    /// How many times all nodes may be cut off from the ledger.
    pub outages: u32,
    /// How many nodes vanish without a word, so that the ledger sets aside for a minute what they may be letting through.
    pub vanished: u32,
    /// How bad it must look to some gateway: a fault that nobody feels is none.
    pub felt: Level,
}

/// What is started.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Where the ledger is.
    pub ledger: Ledger,
    /// How many gateways there are.
    pub gateways: usize,
    /// Requests per second at each of them.
    pub load: u32,
    /// Whether clients speak TLS.
    pub is_encrypted: bool,
    /// Whether gateways have names of their own (`node.id`), which they keep when they are started again. Those that are
    /// replaced while they run must not have any.
    pub is_named: bool,
}

/// Where the ledger is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ledger {
    /// On a Redis Cluster of three primaries with a replica each.
    Cluster,
    /// On one Redis, behind a line that can be made slow or silent.
    Line,
    /// On one Redis in a network of its own, which can be cut off.
    Apart,
    /// In the gateway, which saves it to a file on a small disk.
    Inside,
}

/// What the ledger loses of what it was told. What has to be lost and is not was never at risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Nothing.
    Nothing,
    /// Perhaps what a copy that takes its place had not heard of yet.
    Perhaps,
    /// What a copy that takes its place cannot have heard of.
    Last,
    /// What it was told since it was saved.
    SinceSaved,
    /// Everything.
    Everything,
}

/// Something that is done in a drill.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Nothing, for so many milliseconds; longer in the long form.
    Rest(u64),
    /// Something to the gateway of that number.
    Gateway(usize, ByGateway),
    /// Something to a Redis.
    Redis(Server, ByRedis),
    /// Nothing, until another Redis has the books than the one that had them when the drill began.
    Moved,
    /// Nothing, if the Redis has the books that had them when the drill began.
    Stayed,
    /// Something to the line in front of Redis.
    Line(ByLine),
    /// Something to the network that Redis is in.
    Network(ByNetwork),
    /// Something to the room on the small disk.
    Disk(Room),
    /// Configurations written and signalled to all gateways, so many times.
    Reload(File, u32),
    /// A new certificate in place of the old one, on all gateways.
    NewCertificate,
    /// A crowd of clients that mean no good.
    Crowd(Crowd),
    /// Something to the server behind the gateways.
    Upstream(ByUpstream),
    /// Somebody logs in to the console of every gateway.
    LogIn(Login),
    /// Every gateway says how that task goes, which it does beside requests, or will soon.
    Upkeep(&'static str, Upkeep),
}

/// What can be done to a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByGateway {
    /// It is gone at once (`SIGKILL`).
    Kill,
    /// It is started again after it was killed.
    Start,
    /// It stands still (`SIGSTOP`).
    Stop,
    /// It goes on (`SIGCONT`).
    Continue,
    /// Another process takes over its ports, then it is told to end: nobody notices.
    Replace,
}

/// Which Redis it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// The one that has the books now.
    Primary,
    /// The one that had them when the drill began.
    FirstPrimary,
    /// The replica of the one that has the books now.
    Replica,
    /// The one that was the replica when the drill began.
    FirstReplica,
}

/// What can be done to a Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByRedis {
    /// It is gone at once.
    Kill,
    /// It is started again, empty.
    Restart,
    /// It stands still, with its connections open.
    Stop,
    /// It goes on.
    Continue,
    /// It is told something, by `redis-cli`.
    Tell(&'static [&'static str]),
}

/// What can be done to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByLine {
    /// Everything takes so many milliseconds longer.
    Delay(u64),
    /// Everything is swallowed, with connections left open on both sides.
    Silence,
    /// What is said on connections that are open now is swallowed for good, and nobody is told; new ones carry.
    Forget,
    /// It carries again.
    Carry,
    /// Connections are cut; new ones can be made.
    Cut,
}

/// What can be done to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByNetwork {
    /// Its cable is pulled.
    Cut,
    /// Its cable is put back.
    Mend,
}

/// What can be done to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// There is none left.
    Fill,
    /// There is some again.
    Free,
}

/// What is written where the configuration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// One that is right.
    Good,
    /// One that is wrong.
    Bad,
    /// One after the other.
    Both,
}

/// What can happen to the server behind the gateways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByUpstream {
    /// It closes its port and all connections.
    Die,
    /// It is there again.
    Return,
}

/// What is expected of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// It works.
    Good,
    /// It fails with the word that the database cannot be written, if not at once, as there may be room in what it has already.
    Refused,
}

/// What a gateway says of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// It was done when it was last tried.
    Works,
    /// It was not.
    Fails,
}

/// Clients that mean no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// So many that send a byte of a header now and then.
    SlowHeads(usize),
    /// So many that send half of a body and no more.
    HalfBodies(usize),
    /// So many connections, opened and dropped.
    OpenAndDrop(usize),
}

impl Drill {
    /// How often a gateway is killed, with what it had not reported yet.
    pub(crate) fn kills(&self) -> u32 {
        let is_kill = |step: &&Step| matches!(step, Step::Gateway(_, ByGateway::Kill));
        u32::try_from(self.steps.iter().filter(is_kill).count()).unwrap_or(u32::MAX)
    }

    /// How many gateways are left at worst, with a server behind them, for requests to pass.
    pub(crate) fn standing(&self) -> usize {
        let falls = |step: &Step| match *step {
            Step::Gateway(number, ByGateway::Kill | ByGateway::Stop) => Some(number),
            _ => None,
        };
        let fallen: BTreeSet<usize> = self.steps.iter().filter_map(falls).collect();
        let is_dead = self.steps.iter().any(|step| matches!(step, Step::Upstream(ByUpstream::Die)));
        if is_dead { 0 } else { self.stage.gateways.saturating_sub(fallen.len()) }
    }

    /// Whether nothing is done to the ledger, or to the way to it.
    pub(crate) fn spares_the_ledger(&self) -> bool {
        self.outages == 0 && self.loss == Loss::Nothing
    }

    /// Whether requests have to fail: where none does, what was broken was not in use.
    pub(crate) fn must_hurt(&self) -> bool {
        self.kills() > 0 || self.steps.iter().any(|step| matches!(step, Step::Upstream(ByUpstream::Die)))
    }
}

/// How long a drill takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Seconds.
    Short,
    /// Three times as long in all its rests.
    Long,
}

impl Step {
    /// Whether it only waits until something is so.
    pub(crate) const fn is_a_look(&self) -> bool {
        matches!(self, Self::Rest(_) | Self::Moved | Self::Stayed | Self::Upkeep(..))
    }
}

impl Form {
    /// How long a rest of so many milliseconds takes.
    pub const fn rest(self, millis: u64) -> Duration {
        match self {
            Self::Short => Duration::from_millis(millis),
            Self::Long => Duration::from_millis(millis * 3),
        }
    }
}
