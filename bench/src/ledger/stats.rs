//! What a server did, by its own count: calls and time of each command, those inside scripts included.

use std::collections::BTreeMap;

/// Counts since the server was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stats(BTreeMap<String, Effort>);

/// What one command came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effort {
    pub(super) calls: u32,
    pub(super) micros: u32,
}

impl Stats {
    /// Reads lines such as `cmdstat_get:calls=21,usec=175,usec_per_call=8.33,rejected_calls=0,failed_calls=0`.
    pub(super) fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (name, numbers) = line.strip_prefix("cmdstat_")?.split_once(':')?;
            let effort = Effort { calls: number(numbers, "calls")?, micros: number(numbers, "usec")? };
            Some((name.to_owned(), effort))
        };
        Self(text.lines().filter_map(line).collect())
    }

    pub(super) fn of(&self, command: &str) -> Effort {
        self.0.get(command).copied().unwrap_or_default()
    }

    /// What was done between `earlier` and this.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let difference = |(name, now): (&String, &Effort)| {
            let then = earlier.of(name);
            let effort = Effort { calls: now.calls - then.calls, micros: now.micros - then.micros };
            (name.clone(), effort)
        };
        Self(self.0.iter().map(difference).filter(|(_, effort)| effort.calls > 0).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Effort)> {
        self.0.iter().map(|(name, effort)| (name.as_str(), *effort))
    }
}

fn number(numbers: &str, name: &str) -> Option<u32> {
    numbers.split(',').find_map(|each| each.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_subtracted() {
        let before = Stats::parse("# Commandstats\r\ncmdstat_get:calls=2,usec=9,usec_per_call=4.5\r\n");
        let after = Stats::parse(
            "cmdstat_get:calls=2,usec=9,usec_per_call=4.5\r\ncmdstat_config|get:calls=3,usec=30,failed_calls=1\r\n",
        );
        let between = after.since(&before);
        assert_eq!(between.iter().collect::<Vec<_>>(), [("config|get", Effort { calls: 3, micros: 30 })]);
        assert_eq!(before.of("get"), Effort { calls: 2, micros: 9 });
        assert_eq!(before.of("set"), Effort::default());
    }
}
