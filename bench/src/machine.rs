//! The machine the numbers come from, and the day.

use serde::Serialize;
use std::fmt;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a reader has to know to judge a number.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    cpu: String,
    cores: usize,
    last_level_cache: String,
    memory: String,
    kernel: String,
    rustc: &'static str,
    date: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpus = read("/proc/cpuinfo");
        Self {
            cpu: field(&cpus, "model name").unwrap_or("unknown").into(),
            cores: cpus.lines().filter(|line| line.starts_with("processor")).count(),
            last_level_cache: or_unknown(read("/sys/devices/system/cpu/cpu0/cache/index3/size").trim()),
            memory: field(&read("/proc/meminfo"), "MemTotal").map_or_else(|| "unknown".into(), gibibytes),
            kernel: or_unknown(version(&read("/proc/sys/kernel/osrelease"))),
            rustc: env!("BENCH_RUSTC"),
            date: date(SystemTime::now()),
        }
    }

    pub(crate) fn date(&self) -> &str {
        &self.date
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, last_level_cache, memory, kernel, rustc, .. } = self;
        write!(
            f,
            "{cpu}, {cores} cores, last-level cache {last_level_cache}, memory {memory}, \
             Linux {kernel}, {rustc}"
        )
    }
}

/// The version of a dependency, as locked when this was built.
pub(crate) fn locked_version(name: &str) -> &'static str {
    version_in(include_str!("../../Cargo.lock"), name).unwrap_or("of unknown version")
}

fn version_in<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let package = lock.split("[[package]]").find(|package| quoted(package, "name") == Some(name))?;
    quoted(package, "version")
}

fn quoted<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
    Some(line.trim_matches('"'))
}

/// The first `name : value` of a file of the kernel.
fn field<'a>(file: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = file.lines().find(|line| line.starts_with(name))?.split_once(':')?;
    Some(value.trim())
}

fn or_unknown(text: &str) -> String {
    if text.is_empty() { "unknown".into() } else { text.into() }
}

/// The version proper: what a distributor appended says nothing about speed.
fn version(release: &str) -> &str {
    release.trim().split('-').next().unwrap_or_default()
}

/// `24681012 kB`, in GiB.
fn gibibytes(kilobytes: &str) -> String {
    let number = kilobytes.split(' ').next().and_then(|number| number.parse::<u64>().ok());
    number.map_or_else(|| "unknown".into(), |number| format!("{} GiB", (number + (1 << 19)) >> 20))
}

/// The day in UTC, as `2026-01-31`.
fn date(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (mut year, mut day) = (1970, seconds / 86_400);
    while day >= days(year) {
        day -= days(year);
        year += 1;
    }
    let february = days(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

const fn days(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (1_772_323_200, "2026-03-01"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn fields_of_the_kernel_are_found() {
        let file = "processor\t: 0\nmodel name\t: Some CPU\nmodel name\t: Another\n";
        assert_eq!(field(file, "model name"), Some("Some CPU"));
        assert_eq!(field(file, "cache"), None);
        assert_eq!(gibibytes("24681012 kB"), "24 GiB");
        assert_eq!(version("6.1.2-generic\n"), "6.1.2");
    }

    #[test]
    fn versions_are_the_locked_ones() {
        let lock =
            "[[package]]\nname = \"a\"\nversion = \"1.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0\"\n";
        assert_eq!(version_in(lock, "b"), Some("2.0"));
        assert_eq!(version_in(lock, "c"), None);
    }
}
