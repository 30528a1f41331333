//! The numbers that gateways are started with, and what is promised by them.

use crate::drill::{Drill, Loss};
use crate::level::Level;
use anyhow::Context;
use serde_json::Value;
use std::time::Duration;

/// What the application was promised, in tokens per second. Every request costs one.
pub const RATE: u32 = 200;

/// What it may save: one second. With no more than that there is no burst allowance, and the promise is one number.
pub(crate) const BURST: u32 = RATE;

/// What each gateway lets through by itself in a second without the ledger.
pub(crate) const ALONE: u32 = 50;

/// How long a request may wait for the ledger.
pub(crate) const LEDGER_TIMEOUT: Duration = Duration::from_millis(50);

/// The same where nothing is done to the ledger: a gateway must not be alone because this machine was late, since what is let through
/// then is beyond what the drill allows.
const UNDISTURBED: Duration = Duration::from_millis(500);

/// How long requests of that drill may wait for the ledger.
pub(crate) fn patience(drill: &Drill) -> Duration {
    if drill.spares_the_ledger() { UNDISTURBED } else { LEDGER_TIMEOUT }
}

/// After how much silence the ledger sets aside what a node that is cut off may be using, while tokens are short: two intervals, which are
/// longer where the ledger is slow, and four times what requests wait for it.
fn silence(drill: &Drill) -> Duration {
    let interval = match drill.felt {
        Level::Mild => Duration::from_millis(500),
        Level::Significant => Duration::from_secs(1),
        // What is cut off at once has no time to slow down.
        Level::Normal | Level::FailOpen | Level::NoAnswer => Duration::from_millis(100),
    };
    interval * 2 + LEDGER_TIMEOUT * 4
}

/// What a failover may lose: what was written in the time that a replica lags behind, generously.
const LOST_WRITES: Duration = Duration::from_secs(1);

/// No request takes longer on a machine that runs at once what is due: what it may wait for the ledger, and what clients, gateways and
/// six servers of Redis on two cores take to get round to each other. In none of the saved drills did one take 80 ms: this is room enough, and too
/// little for a request that waits for calls one after the other, for a server to be found to be dead or for a client of Redis to try again.
const CEILING: Duration = LEDGER_TIMEOUT.saturating_add(Duration::from_millis(250));

/// How often a request is handed on: from the client to the gateway, to the ledger, back, to the server, back, and to the client. Each
/// may have to wait for its turn on a machine that does something else besides.
const HANDS: u32 = 6;

/// The most that is forgiven a machine, however late it is.
const MOST_LATE: Duration = Duration::from_secs(3);

/// No request takes longer where whatever was due was run that late at worst.
pub(crate) fn ceiling(late: Duration) -> Duration {
    CEILING + late.saturating_mul(HANDS).min(MOST_LATE)
}

/// How long a login may take: hashing a password is meant to be slow, and more so on a busy machine.
pub(crate) const LOGIN: Duration = Duration::from_secs(5);

/// How long it may take until everything is well after the last step.
pub(crate) const RECOVERY: Duration = Duration::from_secs(40);

/// What memory may grow by, for each gateway, from before the first step to after the last, in KiB: threads and tables that grew
/// at the worst moment stay as large, and histories fill up. A crowd of five hundred takes 25 to 35 MiB while it is there and left
/// less than 1 MiB; a leak of 16 KiB for each of them is found.
pub(crate) const GROWTH_KIB: u64 = 8 * 1024;

/// How long it may take until memory is back: connections that were dropped are closed one by one, and a thread gives back what it
/// has when it does something.
pub(crate) const SETTLING: Duration = Duration::from_secs(10);

/// What a gateway may have let through since its last report, generously, as a time at the rate that was promised to all of them: it
/// reports ten times a second while tokens are short, and once a second where a busy machine makes the ledger slow.
const UNREPORTED: Duration = Duration::from_millis(500);

/// Tokens are told with decimals.
pub(crate) const ROUNDING: f64 = 0.001;

/// What the books say was spent, in tokens.
pub(crate) fn spent(audit: &Value) -> anyhow::Result<f64> {
    let spent = audit["clusters"]["cluster-01"]["apps"]["app"]["spent"].as_f64();
    spent.with_context(|| format!("the books do not say what was spent: {audit}"))
}

/// What so many requests cost, in tokens.
pub(crate) fn tokens(requests: u64) -> f64 {
    u32::try_from(requests).map_or(f64::INFINITY, f64::from)
}

/// What is served without the ledger knowing of it in the end: at least, and at most. Where much has to be lost it is what was served in the
/// second before, which is less than what was served until then.
pub(crate) fn forgotten(drill: &Drill) -> (f64, f64) {
    let rate = f64::from(RATE);
    let last = rate * LOST_WRITES.as_secs_f64();
    match drill.loss {
        Loss::Nothing => (0.0, f64::from(drill.kills()) * rate * UNREPORTED.as_secs_f64()),
        Loss::Perhaps => (0.0, last),
        Loss::Last => (1.0, last),
        Loss::SinceSaved | Loss::Everything => (rate, f64::INFINITY),
    }
}

/// What has to pass in a second while something is broken, from the first step until there is nothing more to be done. Where the ledger is left
/// alone that is what was promised, but for a moment; else half of what the gateways that are left let through by themselves.
pub(crate) fn meanwhile(drill: &Drill) -> f64 {
    let standing = u32::try_from(drill.standing()).map_or(0.0, f64::from);
    if drill.spares_the_ledger() && drill.standing() == drill.stage.gateways {
        0.7 * f64::from(RATE)
    } else {
        0.5 * standing * f64::from(ALONE)
    }
}

/// What should pass in a second once everything is well: of what was promised, four fifths in any second. What vanished nodes may
/// be letting through is set aside for a minute.
pub(crate) fn least(drill: &Drill) -> f64 {
    0.8 * f64::from(RATE.saturating_sub(drill.vanished * ALONE))
}

/// What may be answered at one time with what was let through before, if answers take as long as that.
pub(crate) fn late_answers(slowest_ms: u64) -> f64 {
    f64::from(RATE) * Duration::from_millis(slowest_ms).as_secs_f64()
}

/// The most that may pass in so many seconds: what was promised, and what may pass beyond it.
pub(crate) fn most(drill: &Drill, seconds: f64) -> f64 {
    f64::from(RATE) * seconds + most_beyond(drill)
}

/// The most that may pass beyond what was promised, in however much time: what was saved, and what the faults of the drill allow on top of
/// it.
pub(crate) fn most_beyond(drill: &Drill) -> f64 {
    let nodes = u32::try_from(drill.stage.gateways).map_or(f64::INFINITY, f64::from);
    f64::from(BURST)
        + f64::from(drill.outages) * nodes * f64::from(ALONE) * silence(drill).as_secs_f64()
        + f64::from(u32::from(drill.loss != Loss::Nothing)) * f64::from(RATE) * LOST_WRITES.as_secs_f64()
}
