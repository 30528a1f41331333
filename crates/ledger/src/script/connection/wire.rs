//! What goes to these scripts and what comes back.

use crate::connection::{
    ConnectionEvent, Counts, EventKind, Held, Hold, HoldEntry, HoldReply, MAX_EVENTS, NodeStats, Report,
};
use crate::ledger::Answer;
use crate::script::wire::{Args, Reply, unexpected};
use std::net::IpAddr;
use std::str::{FromStr, SplitAsciiWhitespace};
use tollgate_core::connection::Shortage;
use tollgate_core::id::{AppId, NodeId};
use tollgate_core::units::Millis;

/// Stands for nothing.
const NONE: &str = "-";

pub(super) fn nothing() -> Args {
    Args::new()
}

pub(super) fn hold(hold: &Hold) -> Args {
    let head = Args::new()
        .text(&hold.node)
        .text(&counter(hold.incarnation))
        .text(&counter(hold.seq))
        .text(&counter(hold.acked))
        .text(if hold.is_leaving { "1" } else { "0" })
        .text(&hold.cluster_max.to_string());
    hold.entries.iter().fold(head, entry)
}

fn entry(args: Args, entry: &HoldEntry) -> Args {
    let numbers = [entry.holds, entry.need, entry.want, entry.limits.max, entry.limits.burst];
    numbers.iter().fold(args.text(&entry.app), |args, number| args.text(&number.to_string()))
}

/// A number of any size, which a script only compares.
fn counter(number: u64) -> String {
    format!("{number:020}")
}

pub(super) fn hold_reply(reply: &mut Reply) -> Answer<HoldReply> {
    let text = reply.text()?;
    let mut words = Words(text.split_ascii_whitespace());
    let (ttl, cluster_total, is_partial) = (words.millis()?, words.read()?, words.read::<u8>()? == 1);
    let mut entries = Vec::new();
    while let Some(slots) = words.next() {
        entries.push(Held { slots: read(slots)?, app_total: words.read()?, shortage: words.shortage()? });
    }
    Ok(HoldReply { ttl, cluster_total, is_partial, entries })
}

pub(super) fn report(report: &Report) -> Args {
    let head =
        Args::new().text(&report.node).text(&counts(&report.totals)).text(&report.apps.len().to_string());
    let apps = report.apps.iter().fold(head, |args, (app, of)| args.text(app).text(&counts(of)));
    report.events.iter().fold(apps, |args, event| {
        let client = event.client.map_or_else(|| NONE.to_owned(), |client| client.to_string());
        args.text(&event.app)
            .millis(event.age)
            .text(event.kind.code())
            .text(&event.count.to_string())
            .text(&client)
    })
}

fn counts(of: &Counts) -> String {
    let Counts { open, held, untracked, peak, opened, rejected, leaked } = of;
    format!("{open} {held} {untracked} {peak} {opened} {rejected} {leaked}")
}

pub(super) fn stats(reply: &mut Reply) -> Answer<Vec<NodeStats>> {
    let mut nodes = Vec::new();
    while !reply.is_at_end() {
        nodes.push(node_stats(&reply.text()?, &mut reply.list_within()?)?);
    }
    nodes.sort_unstable_by(|a: &NodeStats, b| a.node.cmp(&b.node));
    Ok(nodes)
}

fn node_stats(node: &str, fields: &mut Reply) -> Answer<NodeStats> {
    let node = NodeId::new(node).map_err(|_| unexpected(&node))?;
    let mut stats = NodeStats { node, at: Millis::ZERO, totals: Counts::default(), apps: Vec::new() };
    while !fields.is_at_end() {
        let (field, value) = (fields.text()?, fields.text()?);
        let mut words = Words(value.split_ascii_whitespace());
        match field.as_str() {
            "at" => stats.at = words.millis()?,
            "totals" => stats.totals = words.counts()?,
            other => {
                let app = other.strip_prefix("a:").and_then(|app| AppId::new(app).ok());
                stats.apps.push((app.ok_or_else(|| unexpected(&other))?, words.counts()?));
            }
        }
    }
    stats.apps.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(stats)
}

pub(super) fn last(app: &AppId, limit: usize) -> Args {
    Args::new().text(app).text(&limit.min(MAX_EVENTS).to_string())
}

pub(super) fn events(reply: &mut Reply) -> Answer<Vec<ConnectionEvent>> {
    let mut events = Vec::new();
    while !reply.is_at_end() {
        let text = reply.text()?;
        events.push(Words(text.split_ascii_whitespace()).event()?);
    }
    Ok(events)
}

struct Words<'a>(SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn word(&mut self) -> Answer<&'a str> {
        self.next().ok_or_else(|| unexpected(&"the end of a text"))
    }

    fn read<T: FromStr>(&mut self) -> Answer<T> {
        read(self.word()?)
    }

    fn millis(&mut self) -> Answer<Millis> {
        self.read().map(Millis::new)
    }

    fn shortage(&mut self) -> Answer<Option<Shortage>> {
        match self.word()? {
            NONE => Ok(None),
            "app" => Ok(Some(Shortage::App)),
            "cluster" => Ok(Some(Shortage::Cluster)),
            "learning" => Ok(Some(Shortage::Learning)),
            other => Err(unexpected(&other)),
        }
    }

    fn counts(&mut self) -> Answer<Counts> {
        Ok(Counts {
            open: self.read()?,
            held: self.read()?,
            untracked: self.read()?,
            peak: self.read()?,
            opened: self.read()?,
            rejected: self.read()?,
            leaked: self.read()?,
        })
    }

    fn event(&mut self) -> Answer<ConnectionEvent> {
        let (at, node, kind) = (self.millis()?, self.word()?, self.word()?);
        Ok(ConnectionEvent {
            at,
            node: NodeId::new(node).map_err(|_| unexpected(&node))?,
            kind: EventKind::parse(kind).ok_or_else(|| unexpected(&kind))?,
            count: self.read()?,
            client: self.client()?,
        })
    }

    fn client(&mut self) -> Answer<Option<IpAddr>> {
        match self.word()? {
            NONE => Ok(None),
            word => read(word).map(Some),
        }
    }
}

fn read<T: FromStr>(word: &str) -> Answer<T> {
    word.parse().map_err(|_| unexpected(&word))
}
