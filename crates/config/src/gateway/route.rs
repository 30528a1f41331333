use super::timeouts::MAX_MS;
use super::upstream::{Upstream, spelled};
use crate::error::Problem;
use crate::reader::Table;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// The most routes.
const MAX_ROUTES: usize = 10_000;

/// Which requests go to which upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Requests for this host; none for any.
    pub host: Option<HostPattern>,
    /// Requests whose path starts with this, in whole segments. The longest wins.
    pub path: String,
    /// The name of the upstream.
    pub upstream: String,
    /// How the operation of a request is told.
    pub operations: Operations,
    /// Whether the server gets to see the host that the client asked for, or else its own.
    pub preserve_host: bool,
    /// Instead of the timeout that holds for all.
    pub response_timeout: Option<Duration>,
    /// Instead of the timeout that holds for all.
    pub read_timeout: Option<Duration>,
}

/// A host, or all hosts of a domain: `example.com`, `*.example.com`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern(String);

/// How the operation of a request is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operations {
    /// By its method.
    Http,
    /// As S3 does, with the bucket in the path.
    S3,
    /// As S3 does, with the bucket in the host.
    S3VirtualHost,
}

impl HostPattern {
    pub(super) const EXPECTED: &'static str = "a host like example.com or *.example.com, in lower case";

    /// The pattern, if `text` is one.
    pub fn new(text: &str) -> Option<Self> {
        let name = text.strip_prefix("*.").unwrap_or(text);
        let is_label = |label: &str| {
            let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
            !label.is_empty() && label.len() <= 63 && label.chars().all(is_letter)
        };
        (name.len() <= 253 && name.split('.').all(is_label)).then(|| Self(text.to_owned()))
    }

    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        Self::new(text).ok_or(Problem::Malformed("not a host"))
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The domain whose hosts are all meant; none if one host is.
    pub fn domain(&self) -> Option<&str> {
        self.0.strip_prefix("*.")
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Operations {
    pub(crate) const WORDS: [(&'static str, Self); 3] =
        [("http", Self::Http), ("s3", Self::S3), ("s3_virtual_host", Self::S3VirtualHost)];

    /// The word for it.
    pub fn name(self) -> &'static str {
        spelled(&Self::WORDS, &self)
    }
}

/// A path as prefixes are compared with it: escapes of letters that need none are undone, and empty segments left out, as
/// servers do before they look at it.
pub fn plain_path(path: &str) -> Cow<'_, str> {
    if !path.contains('%') && !path.contains("//") {
        return Cow::Borrowed(path);
    }
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(next) = rest.chars().next() {
        let (next, length) = unescaped(rest).map_or((next, next.len_utf8()), |next| (next, 3));
        if next != '/' || !plain.ends_with('/') {
            plain.push(next);
        }
        rest = &rest[length..];
    }
    Cow::Owned(plain)
}

/// The letter that an escape stands for, if it needs none.
fn unescaped(text: &str) -> Option<char> {
    let code = text.strip_prefix('%')?.get(..2)?;
    let code = code.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(code)?;
    let letter = char::from(u8::from_str_radix(code, 16).ok()?);
    (letter.is_ascii_alphanumeric() || "-._~".contains(letter)).then_some(letter)
}

/// The routes; none if any is wrong. Without the upstreams their names cannot be checked.
pub(super) fn read_all(
    root: &mut Table<'_>,
    upstreams: Option<&BTreeMap<String, Upstream>>,
) -> Option<Vec<Route>> {
    let tables = root.field("routes").tables(MAX_ROUTES).or(Vec::new())?;
    let mut seen = BTreeSet::new();
    let read: Vec<Option<Route>> = tables
        .into_iter()
        .map(|mut table| {
            let route = Route::read(&mut table, upstreams);
            let place = |route: &Route| (route.host.clone(), plain_path(&route.path).into_owned());
            let is_new = route.as_ref().is_none_or(|route| seen.insert(place(route)));
            if !is_new {
                let problem = Problem::Conflict("another route has the same host and path".into());
                table.fault("path", problem, "a path of its own");
            }
            table.finish();
            route.filter(|_| is_new)
        })
        .collect();
    read.into_iter().collect()
}

impl Route {
    fn read(table: &mut Table<'_>, upstreams: Option<&BTreeMap<String, Upstream>>) -> Option<Self> {
        let host = table.field("host").text(HostPattern::EXPECTED, HostPattern::parse).map(Some).or(None);
        let path = table.field("path").text("a path that starts with /", path_prefix).or("/".into());
        let upstream = read_upstream(table, upstreams);
        let operations = table.field("operations").word(&Operations::WORDS).or(Operations::Http);
        let preserve_host = table.field("preserve_host").flag().or(true);
        let response = table.field("response_timeout_ms").whole(1..=MAX_MS).map(Duration::from_millis);
        let read = table.field("read_timeout_ms").whole(1..=MAX_MS).map(Duration::from_millis);
        Some(Self {
            host: host?,
            path: path?,
            upstream: upstream?,
            operations: operations?,
            preserve_host: preserve_host?,
            response_timeout: response.map(Some).or(None)?,
            read_timeout: read.map(Some).or(None)?,
        })
    }

    /// What tells it from the others: host and path.
    pub fn name(&self) -> String {
        format!("{}{}", self.host.as_ref().map_or("*", HostPattern::as_str), self.path)
    }

    pub(crate) fn to_value(&self) -> Value {
        let millis = |timeout: Duration| timeout.as_secs_f64() * 1e3;
        json!({
            "upstream": self.upstream,
            "operations": self.operations.name(),
            "preserve_host": self.preserve_host,
            "response_timeout_ms": self.response_timeout.map(millis),
            "read_timeout_ms": self.read_timeout.map(millis),
        })
    }
}

fn read_upstream(table: &mut Table<'_>, upstreams: Option<&BTreeMap<String, Upstream>>) -> Option<String> {
    let name =
        table.required("upstream").text("the id of an upstream", |text| Ok(text.to_owned())).right()?;
    if let Some(upstreams) = upstreams
        && !upstreams.contains_key(&name)
    {
        let known: Vec<&str> = upstreams.keys().map(String::as_str).take(10).collect();
        let expected =
            if known.is_empty() { "an upstream".into() } else { format!("one of {}", known.join(", ")) };
        table.fault("upstream", Problem::Conflict("no such upstream".into()), expected);
        return None;
    }
    Some(name)
}

fn path_prefix(text: &str) -> Result<String, Problem> {
    let is_plain = text.bytes().all(|c| c.is_ascii_graphic() && c != b'?' && c != b'#');
    if text.starts_with('/') && text.len() <= 1_024 && is_plain {
        Ok(text.to_owned())
    } else {
        Err(Problem::Malformed("not a path"))
    }
}
