use super::HostPattern;
use crate::error::Problem;
use crate::reader::{Reading, Table};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use tollgate_core::id::AppId;

/// The most entries of each kind.
const MAX_ENTRIES: usize = 100_000;

/// The longest header name, query parameter, secret, host or path, in bytes.
const MAX_TEXT: usize = 256;

/// Where the name of an application may stand in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In a header of its own.
    Header,
    /// Behind an API key.
    ApiKey,
    /// Behind the access key of an S3 signature.
    S3,
    /// In the host.
    Host,
    /// In the path.
    Path,
}

/// An API key and whose it is.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// What a client sends.
    pub secret: String,
    /// Whose requests they are.
    pub app: AppId,
}

/// How the application of a request is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Where to look, the first that tells wins.
    pub order: Vec<Source>,
    /// The header that names the application.
    pub header: String,
    /// The header that carries an API key.
    pub key_header: String,
    /// The query parameter that carries an API key.
    pub key_query: String,
    /// The API keys.
    pub api_keys: Vec<ApiKey>,
    /// Applications by S3 access key.
    pub access_keys: BTreeMap<String, AppId>,
    /// Applications by host.
    pub hosts: BTreeMap<String, AppId>,
    /// Applications by path prefix.
    pub paths: BTreeMap<String, AppId>,
    /// The application that requests of nobody who is known are counted as; without one they are refused.
    pub strangers: Option<AppId>,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            order: vec![Source::Header],
            header: "X-Tollgate-App".into(),
            key_header: "X-Api-Key".into(),
            key_query: "api_key".into(),
            api_keys: Vec::new(),
            access_keys: BTreeMap::new(),
            hosts: BTreeMap::new(),
            paths: BTreeMap::new(),
            strangers: None,
        }
    }
}

impl Identity {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let order = table.field("order").texts(Source::ALL.len(), Source::EXPECTED, Source::parse);
        let header = table.field("header").text("the name of a header", header_name);
        let key_header = table.field("key_header").text("the name of a header", header_name);
        let key_query = table.field("key_query").text("the name of a query parameter", parameter_name);
        let api_keys = read_api_keys(table.field("api_keys").tables(MAX_ENTRIES));
        let access_keys = read_map(&table.table("access_keys"), "an access key", is_plain);
        let hosts =
            read_map(&table.table("hosts"), HostPattern::EXPECTED, |key| HostPattern::new(key).is_some());
        let paths = read_map(&table.table("paths"), "a path that starts with /", is_path);
        let strangers = table.field("strangers").id(AppId::new).map(Some).or(None);
        table.finish();
        Some(Self {
            order: order.or(default.order)?,
            header: header.or(default.header)?,
            key_header: key_header.or(default.key_header)?,
            key_query: key_query.or(default.key_query)?,
            api_keys: api_keys?,
            access_keys: access_keys?,
            hosts: hosts?,
            paths: paths?,
            strangers: strangers?,
        })
    }

    pub(super) fn to_value(&self) -> Value {
        let names = |map: &BTreeMap<String, AppId>| -> Map<String, Value> {
            map.iter().map(|(key, app)| (key.clone(), json!(&**app))).collect()
        };
        let keys: Vec<String> =
            self.api_keys.iter().map(|key| format!("a hidden value for {}", key.app)).collect();
        json!({
            "order": self.order.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "header": self.header,
            "key_header": self.key_header,
            "key_query": self.key_query,
            "api_keys": keys,
            "access_keys": names(&self.access_keys),
            "hosts": names(&self.hosts),
            "paths": names(&self.paths),
            "strangers": self.strangers.as_deref(),
        })
    }
}

impl Source {
    const ALL: [(&'static str, Self); 5] = [
        ("header", Self::Header),
        ("api_key", Self::ApiKey),
        ("s3", Self::S3),
        ("host", Self::Host),
        ("path", Self::Path),
    ];
    const EXPECTED: &'static str = "one of \"header\", \"api_key\", \"s3\", \"host\", \"path\"";

    fn parse(text: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, source)| source).ok_or(Problem::Malformed("unknown word"))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.into_iter().find(|(_, source)| source == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey(*** for {})", self.app)
    }
}

fn read_api_keys(tables: Reading<Vec<Table<'_>>>) -> Option<Vec<ApiKey>> {
    let read = |mut table: Table<'_>| {
        let secret = table.required("secret").text("8 to 256 visible characters", secret).right();
        let app = table.required("app").id(AppId::new).right();
        table.finish();
        Some(ApiKey { secret: secret?, app: app? })
    };
    // All are read, so that all errors are found.
    let keys: Vec<Option<ApiKey>> = tables.or(Vec::new())?.into_iter().map(read).collect();
    keys.into_iter().collect()
}

/// A table whose keys are data and whose values are applications.
fn read_map(
    table: &Table<'_>,
    expected: &str,
    is_right: impl Fn(&str) -> bool,
) -> Option<BTreeMap<String, AppId>> {
    let mut map = BTreeMap::new();
    let mut wrong = false;
    for (key, field) in table.entries() {
        let app = field.id(AppId::new).right();
        if !is_right(key) {
            table.fault(key, Problem::Malformed("a key that can match nothing"), expected);
            wrong = true;
        }
        wrong |= app.is_none();
        map.extend(app.map(|app| (key.to_owned(), app)));
    }
    if map.len() > MAX_ENTRIES {
        table.fault("", Problem::TooLarge("too many"), format!("at most {MAX_ENTRIES} entries"));
        return None;
    }
    (!wrong).then_some(map)
}

fn header_name(text: &str) -> Result<String, Problem> {
    let is_token = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    if text.is_empty() || text.len() > MAX_TEXT || !text.bytes().all(is_token) {
        return Err(Problem::Malformed("not the name of a header"));
    }
    Ok(text.to_owned())
}

fn parameter_name(text: &str) -> Result<String, Problem> {
    let is_name = |c: u8| c.is_ascii_alphanumeric() || b"-._~".contains(&c);
    if text.is_empty() || text.len() > MAX_TEXT || !text.bytes().all(is_name) {
        return Err(Problem::Malformed("not the name of a parameter"));
    }
    Ok(text.to_owned())
}

fn secret(text: &str) -> Result<String, Problem> {
    if (8..=MAX_TEXT).contains(&text.len()) && is_plain(text) {
        Ok(text.to_owned())
    } else {
        Err(Problem::Malformed("not a key"))
    }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TEXT && text.bytes().all(|c| c.is_ascii_graphic())
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.len() <= MAX_TEXT && is_plain(text)
}
