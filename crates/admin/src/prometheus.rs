//! History from a Prometheus server, where one is named: of all nodes together, and for as long as it keeps it.

use crate::history::Range;
use crate::outbound;
use crate::state::Admin;
use http::{StatusCode, Uri};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use tollgate_core::id::AppId;

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The shortest time that a rate is computed over, in seconds: a few scrapes.
const WINDOW_S: u32 = 60;

/// What a line of a chart is, by the second.
type Line = BTreeMap<i64, f64>;

/// What happened in one step, on all nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Step {
    /// Requests that passed, per second.
    pub(crate) requests: f64,
    /// What they cost, in tokens per second.
    pub(crate) cost: f64,
    /// Requests that were refused, per second.
    pub(crate) refused: f64,
    /// What they would have cost, in tokens per second.
    pub(crate) refused_cost: f64,
}

#[derive(Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    values: Vec<(f64, String)>,
}

/// What happened in a range, by seconds since 1970, for an application or for all; none if no server is named or it does not
/// tell.
pub(crate) async fn steps(admin: &Admin, app: Option<&AppId>, range: Range) -> Option<BTreeMap<i64, Step>> {
    let base = admin.settings.prometheus.as_ref()?;
    let now = admin.live().at / 1_000;
    match tokio::time::timeout(PATIENCE, Box::pin(ask_all(base, app, range, now))).await {
        Ok(Ok(steps)) => Some(steps),
        Ok(Err(why)) => {
            tracing::warn!(server = base, why, "no history from Prometheus, this node's own is shown");
            None
        }
        Err(_) => {
            tracing::warn!(server = base, "no history from Prometheus in time, this node's own is shown");
            None
        }
    }
}

async fn ask_all(
    base: &str,
    app: Option<&AppId>,
    range: Range,
    now: i64,
) -> Result<BTreeMap<i64, Step>, String> {
    let window = range.step().max(WINDOW_S);
    // The name of an application has no letters that mean something here.
    let app = app.map_or(String::new(), |app| format!("app=\"{app}\""));
    let rate = |name: &str, result: &str| {
        let labels: Vec<&str> =
            [result, app.as_str()].into_iter().filter(|label| !label.is_empty()).collect();
        format!("sum(rate(tollgate_{name}_total{{{}}}[{window}s]))", labels.join(","))
    };
    let (allowed, refused) =
        (rate("decisions", "result=\"allowed\""), rate("decisions", "result=\"refused\""));
    let (cost, refused_cost) = (rate("cost_tokens", ""), rate("refused_cost_tokens", ""));
    let (allowed, refused, cost, refused_cost) = tokio::try_join!(
        ask(base, &allowed, range, now),
        ask(base, &refused, range, now),
        ask(base, &cost, range, now),
        ask(base, &refused_cost, range, now),
    )?;
    let mut steps: BTreeMap<i64, Step> = BTreeMap::new();
    let mut lay = |line: Line, set: fn(&mut Step, f64)| {
        for (at, value) in line {
            set(steps.entry(at).or_default(), value);
        }
    };
    lay(allowed, |step, value| step.requests = value);
    lay(refused, |step, value| step.refused = value);
    lay(cost, |step, value| step.cost = value);
    lay(refused_cost, |step, value| step.refused_cost = value);
    Ok(steps)
}

async fn ask(base: &str, query: &str, range: Range, now: i64) -> Result<Line, String> {
    let step = i64::from(range.step());
    let end = now - now.rem_euclid(step);
    let start = end - i64::from(range.seconds());
    let url =
        format!("{base}/api/v1/query_range?query={}&start={start}&end={end}&step={step}", escaped(query));
    let uri: Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
    let address = outbound::look_up(&uri, |_| true).await?;
    let (status, body) = outbound::get(&uri, address, &[]).await?;
    if status != StatusCode::OK {
        return Err(format!("it answered {status}"));
    }
    let answer: Answer = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let values = answer.data.result.into_iter().flat_map(|found| found.values);
    let points = values.filter_map(|(at, value)| Some((rounded(at), value.parse().ok()?)));
    Ok(points.filter(|(_, value): &(i64, f64)| value.is_finite()).collect())
}

#[expect(clippy::cast_possible_truncation, reason = "seconds since 1970 are far from the ends of i64")]
fn rounded(at: f64) -> i64 {
    at.round() as i64
}

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}
