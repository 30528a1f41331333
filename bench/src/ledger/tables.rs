//! The tables of the report.

use super::finding::{Bound, Performance};
use super::report::Answers;
use crate::table::Table;

impl Answers {
    pub(super) fn goal_table(&self) -> Table<4> {
        let mut table = Table::new(["goal", "wanted", "measured", "met"]);
        for goal in self.goals() {
            let wanted = match goal.bound {
                Bound::AtLeast(least) => format!("at least {least}"),
                Bound::AtMost(most) => format!("at most {most}"),
            };
            let met = if goal.is_met { "yes" } else { "no" };
            table.push([goal.what, wanted, format!("{:.2}", goal.measured), met.into()]);
        }
        table
    }

    pub(super) fn throughput(&self) -> Table<7> {
        let mut table =
            Table::new(["contender", "calls/s", "leases/s", "server µs/call", "p50 µs", "p99 µs", "max µs"]);
        for contender in self.tracks.iter().map(Performance::of) {
            let Performance { calls_per_second, leases_per_second, latency_micros, .. } = contender;
            let leases = format!("{:.0}", leases_per_second.median);
            table.push([
                contender.name,
                format!("{calls_per_second:.0}"),
                if contender.applications == 0 { "-".into() } else { leases },
                format!("{:.1}", contender.server_micros),
                format!("{:.0}", latency_micros.p50),
                format!("{:.0}", latency_micros.p99),
                format!("{:.0}", latency_micros.max),
            ]);
        }
        table
    }

    pub(super) fn growth_table(&self) -> Table<5> {
        let mut table = Table::new([
            "known to the cluster",
            "µs/application",
            "ratio",
            "server µs/application",
            "server ratio",
        ]);
        for growth in &self.growth {
            table.push([
                growth.name(),
                format!("{:.1}", growth.micros),
                format!("{:.2}", growth.ratio),
                format!("{:.1}", growth.server_micros),
                format!("{:.2}", growth.server_ratio),
            ]);
        }
        table
    }

    pub(super) fn memory(&self) -> Table<2> {
        let mut table = Table::new(["in Redis", "bytes"]);
        for weight in &self.weights {
            table.push([weight.what.clone(), format!("{:.0}", weight.bytes)]);
        }
        table
    }

    /// The whole call, and what it is made of.
    pub(super) fn command_table(&self) -> Table<3> {
        let mut table = Table::new(["command", "calls", "server µs"]);
        for share in &self.commands {
            table.push([
                share.command.clone(),
                format!("{:.2}", share.calls),
                format!("{:.1}", share.micros),
            ]);
        }
        let parts = self.commands.iter().skip(1);
        let (calls, micros) =
            parts.fold((0.0, 0.0), |(calls, micros), part| (calls + part.calls, micros + part.micros));
        table.push(["commands inside the script".into(), format!("{calls:.2}"), format!("{micros:.1}")]);
        table
    }
}
