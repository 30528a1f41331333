//! Load by wrk.

use super::contender::{Contender, Kind};
use super::report::Path;
use anyhow::{Context, ensure};
use std::process::Command;
use std::time::Duration;

/// Connections that send all the time, if nothing else is said.
pub(super) const CONNECTIONS: u32 = 32;

/// What came of a lap.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Lap {
    pub(super) requests_per_second: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) cpu_us_per_request: f64,
    /// The share that was not answered by 2xx or 3xx.
    pub(super) refused: f64,
}

impl Lap {
    /// A lap in which the wrong thing was measured is worth nothing.
    pub(super) fn check(&self, path: Path, kind: Kind) -> anyhow::Result<()> {
        let is_right = match path {
            Path::Allowed => self.refused == 0.0,
            Path::Refused => self.refused > 0.9,
        };
        ensure!(is_right, "{}: {:.1} % were refused", kind.name(), self.refused * 100.0);
        Ok(())
    }
}

pub(super) fn run(contender: &Contender, connections: u32, lap: Duration) -> anyhow::Result<Lap> {
    let before = contender.cpu_ns()?;
    let output = Command::new("wrk")
        .args(["-t1", "-c", &connections.to_string(), "--latency", "-H", "X-Tollgate-App: app-a", "-d"])
        .arg(format!("{}s", lap.as_secs().max(1)))
        .arg(format!("http://127.0.0.1:{}/some/file", contender.port))
        .output()
        .context("cannot run wrk: install it")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "wrk failed: {text}");
    let cpu_ns = contender.cpu_ns()?.saturating_sub(before);
    ensure!(!text.contains("Socket errors"), "{}: {text}", contender.kind.name());
    read(&text, cpu_ns).with_context(|| format!("cannot read {text}"))
}

#[allow(clippy::cast_precision_loss, reason = "numbers of a lap of seconds")]
fn read(text: &str, cpu_ns: u64) -> Option<Lap> {
    let after = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    let all = text.lines().find(|line| line.contains(" requests in "))?;
    let all: f64 = all.trim().split(' ').next()?.parse().ok()?;
    let refused: f64 = after("Non-2xx or 3xx responses:").map_or(Some(0.0), |count| count.parse().ok())?;
    Some(Lap {
        requests_per_second: after("Requests/sec:")?.parse().ok()?,
        p50_ms: millis(after("50%")?)?,
        p99_ms: millis(after("99%")?)?,
        cpu_us_per_request: cpu_ns as f64 / all / 1e3,
        refused: refused / all,
    })
}

/// `12.34us`, `1.20ms` or `1.20s`
fn millis(text: &str) -> Option<f64> {
    let number = |unit: &str| text.strip_suffix(unit).and_then(|number| number.parse::<f64>().ok());
    number("us").map(|us| us / 1e3).or_else(|| number("ms")).or_else(|| number("s").map(|s| s * 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wrk_says_is_understood() {
        let text = "  Thread Stats   Avg\n  Latency Distribution\n     50%  512.00us\n     75%    1.00ms\n     99%    1.50s \n  \
                    2000 requests in 1.00s, 1.00MB read\n  Non-2xx or 3xx responses: 500\nRequests/sec:   1999.50\n";
        let lap = read(text, 40_000_000).unwrap();
        assert!((lap.requests_per_second - 1999.5).abs() < 1e-9);
        assert!((lap.p50_ms - 0.512).abs() < 1e-9 && (lap.p99_ms - 1_500.0).abs() < 1e-9);
        assert!((lap.cpu_us_per_request - 20.0).abs() < 1e-9 && (lap.refused - 0.25).abs() < 1e-9);
    }
}
