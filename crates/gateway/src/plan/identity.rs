//! Whose request it is.

use super::reading::{Ambiguous, Reading, is_loose};
use super::router::{plain_host, starts_with};
use crate::proxy::query;
use http::header::{AUTHORIZATION, HeaderName};
use http::{HeaderMap, Uri};
use std::collections::HashMap;
use tollgate_config::gateway::{Identity, Source};
use tollgate_core::id;

/// The longest `Authorization` header that is looked into for an access key.
const MAX_AUTHORIZATION: usize = 4_096;

/// The longest key, from whatever place.
const MAX_KEY: usize = 256;

/// Tells the application of a request. Nothing is allocated unless a host has capitals or a path escapes.
#[derive(Debug)]
pub(crate) struct Identifier {
    order: Vec<Source>,
    header: HeaderName,
    key_header: HeaderName,
    key_query: String,
    api_keys: HashMap<String, String>,
    access_keys: HashMap<String, String>,
    hosts: HashMap<String, String>,
    /// By the domain of a `*.domain`.
    domains: HashMap<String, String>,
    paths: Prefixes,
    /// The same for whoever reads paths in another way.
    loose: [(Reading, Prefixes); 4],
}

/// Applications by prefixes of paths, longest first.
#[derive(Debug)]
struct Prefixes(Vec<(String, String)>);

impl Identifier {
    pub(crate) fn new(identity: &Identity) -> Self {
        let name = |text: &str, default| HeaderName::from_bytes(text.as_bytes()).unwrap_or(default);
        let hosts = |wants_domain: bool| {
            let picked =
                identity.hosts.iter().filter(move |(host, _)| host.starts_with("*.") == wants_domain);
            picked.map(|(host, app)| (host.trim_start_matches("*.").to_owned(), app.to_string())).collect()
        };
        Self {
            order: identity.order.clone(),
            header: name(&identity.header, HeaderName::from_static("x-tollgate-app")),
            key_header: name(&identity.key_header, HeaderName::from_static("x-api-key")),
            key_query: identity.key_query.clone(),
            api_keys: identity.api_keys.iter().map(|key| (key.secret.clone(), key.app.to_string())).collect(),
            access_keys: identity
                .access_keys
                .iter()
                .map(|(key, app)| (key.clone(), app.to_string()))
                .collect(),
            hosts: hosts(false),
            domains: hosts(true),
            paths: Prefixes::new(identity, Reading::Plain),
            loose: Reading::LOOSE.map(|reading| (reading, Prefixes::new(identity, reading))),
        }
    }

    /// The header fields that are made for telling it.
    pub(crate) fn fields(&self) -> [HeaderName; 2] {
        [self.header.clone(), self.key_header.clone()]
    }

    /// The application, if any of the configured places tells. The path does not if some server may take it for one of another
    /// application.
    pub(crate) fn identify<'a>(
        &'a self,
        host: &str,
        uri: &'a Uri,
        headers: &'a HeaderMap,
    ) -> Result<Option<&'a str>, Ambiguous> {
        for source in &self.order {
            let app = match source {
                Source::Header => named(headers, &self.header),
                Source::ApiKey => self.by_api_key(uri, headers),
                Source::S3 => self.by_access_key(uri, headers),
                Source::Host => self.by_host(host),
                Source::Path => self.by_path(uri.path())?,
            };
            if app.is_some() {
                return Ok(app);
            }
        }
        Ok(None)
    }

    fn by_api_key(&self, uri: &Uri, headers: &HeaderMap) -> Option<&str> {
        let from_header = headers.get(&self.key_header).and_then(|value| value.to_str().ok());
        let key = from_header.or_else(|| query::value(uri.query()?, &self.key_query))?;
        self.api_keys.get(key).map(String::as_str).filter(|_| key.len() <= MAX_KEY)
    }

    fn by_access_key(&self, uri: &Uri, headers: &HeaderMap) -> Option<&str> {
        let signed = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(signer);
        let key = signed.or_else(|| presigner(uri.query()?))?;
        self.access_keys.get(key).map(String::as_str)
    }

    fn by_host(&self, host: &str) -> Option<&str> {
        let host = plain_host(host);
        let exact = self.hosts.get(&*host);
        let parents = || host.match_indices('.').map(|(at, _)| &host[at + 1..]);
        exact.or_else(|| parents().find_map(|domain| self.domains.get(domain))).map(String::as_str)
    }

    fn by_path(&self, path: &str) -> Result<Option<&str>, Ambiguous> {
        let app = self.paths.find(&Reading::Plain.of(path));
        let is_another = |(reading, paths): &(Reading, Prefixes)| paths.find(&reading.of(path)) != app;
        if is_loose(path) && self.loose.iter().any(is_another) { Err(Ambiguous) } else { Ok(app) }
    }
}

impl Prefixes {
    fn new(identity: &Identity, reading: Reading) -> Self {
        let apps = identity.paths.iter();
        let mut paths: Vec<(String, String)> =
            apps.map(|(path, app)| (reading.of(path).into_owned(), app.to_string())).collect();
        paths.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Self(paths)
    }

    fn find(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|(prefix, _)| starts_with(path, prefix)).map(|(_, app)| app.as_str())
    }
}

/// An application that names itself.
fn named<'a>(headers: &'a HeaderMap, header: &HeaderName) -> Option<&'a str> {
    let name = headers.get(header)?.to_str().ok()?;
    id::check(name).is_ok().then_some(name)
}

/// The access key of `AWS4-HMAC-SHA256 Credential=KEY/..., ...` or `AWS KEY:signature`.
fn signer(authorization: &str) -> Option<&str> {
    if authorization.len() > MAX_AUTHORIZATION {
        return None;
    }
    if let Some(rest) = authorization.strip_prefix("AWS ") {
        return bounded(rest.trim_start().split_once(':')?.0);
    }
    let rest = authorization.strip_prefix("AWS4-")?;
    let (_, parameters) = rest.split_once(' ')?;
    let credential = parameters.split(',').find_map(|part| part.trim().strip_prefix("Credential="))?;
    bounded(credential.split_once('/')?.0)
}

/// The access key of a presigned address.
fn presigner(text: &str) -> Option<&str> {
    if let Some(credential) = query::value(text, "X-Amz-Credential") {
        let end = credential.find('/').or_else(|| find_encoded_slash(credential))?;
        return bounded(&credential[..end]);
    }
    bounded(query::value(text, "AWSAccessKeyId")?)
}

fn find_encoded_slash(text: &str) -> Option<usize> {
    text.as_bytes().windows(3).position(|code| code.eq_ignore_ascii_case(b"%2f"))
}

fn bounded(key: &str) -> Option<&str> {
    (!key.is_empty() && key.len() <= MAX_KEY).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tollgate_config::source::{Document, Format};

    fn identifier() -> Identifier {
        let text = "[identity]\norder = ['header', 'api_key', 's3', 'host', 'path']\n\
            api_keys = [{secret = 'key-of-app-k', app = 'app-k'}]\n\
            access_keys = {AKIA1 = 'app-s'}\n\
            hosts = {'a.example' = 'app-h', '*.b.example' = 'app-d'}\n\
            paths = {'/p' = 'app-p', '/p/q' = 'app-q'}\n";
        let config = Document::parse(text, Format::Toml).unwrap().read().unwrap();
        Identifier::new(&config.settings.gateway.identity)
    }

    fn app(host: &str, uri: &str, headers: &[(&'static str, &str)]) -> Option<String> {
        told(host, uri, headers).unwrap()
    }

    fn told(host: &str, uri: &str, headers: &[(&'static str, &str)]) -> Result<Option<String>, Ambiguous> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let identifier = identifier();
        identifier.identify(host, &uri.parse().unwrap(), &map).map(|app| app.map(ToOwned::to_owned))
    }

    type Case<'a> = (&'a str, &'a str, &'a [(&'static str, &'a str)], Option<&'a str>);

    #[test]
    fn each_place_tells() {
        let v4 =
            "AWS4-HMAC-SHA256 Credential=AKIA1/20240101/eu/s3/aws4_request, SignedHeaders=host, Signature=f";
        let table: [Case<'_>; 18] = [
            ("h", "/", &[("x-tollgate-app", "app-a")], Some("app-a")),
            ("h", "/", &[("x-tollgate-app", "../a")], None),
            ("h", "/", &[("x-api-key", "key-of-app-k")], Some("app-k")),
            ("h", "/?x=1&api_key=key-of-app-k", &[], Some("app-k")),
            ("h", "/?api_key=key-of-app-x", &[], None),
            ("h", "/", &[("authorization", v4)], Some("app-s")),
            (
                "h",
                "/",
                &[("authorization", "AWS4-HMAC-SHA256 SignedHeaders=a,Credential=AKIA1/x")],
                Some("app-s"),
            ),
            ("h", "/", &[("authorization", "AWS AKIA1:c2ln")], Some("app-s")),
            ("h", "/", &[("authorization", "AWS AKIA2:c2ln")], None),
            ("h", "/b/k?X-Amz-Credential=AKIA1%2F2024%2Feu", &[], Some("app-s")),
            ("h", "/b/k?X-Amz-Credential=AKIA1/2024/eu", &[], Some("app-s")),
            ("h", "/b/k?AWSAccessKeyId=AKIA1&Expires=1", &[], Some("app-s")),
            ("A.example:80", "/", &[], Some("app-h")),
            ("x.y.b.example", "/", &[], Some("app-d")),
            ("h", "/p/q/r", &[], Some("app-q")),
            ("h", "//p//%71/r", &[], Some("app-q")),
            ("h", "/p/q/r%2Fs;t", &[], Some("app-q")),
            ("h", "/px", &[], None),
        ];
        for (host, uri, headers, expected) in table {
            assert_eq!(app(host, uri, headers).as_deref(), expected, "{host} {uri} {headers:?}");
        }
    }

    #[test]
    fn the_first_place_that_tells_wins() {
        assert_eq!(app("a.example", "/p", &[("x-tollgate-app", "app-a")]).as_deref(), Some("app-a"));
        assert_eq!(app("a.example", "/p", &[("x-tollgate-app", "not a name")]).as_deref(), Some("app-h"));
    }

    #[test]
    fn a_path_that_some_server_takes_for_that_of_another_tells_nothing() {
        for path in ["/p%2Fq", "/p;x/q", "/p;x", "/;/p", "/\\p", "/p/q%3b"] {
            assert_eq!(told("h", path, &[]), Err(Ambiguous), "{path}");
        }
        // It is looked at only where nothing else tells.
        assert_eq!(app("a.example", "/p;x", &[]).as_deref(), Some("app-h"));
    }

    proptest! {
        #[test]
        fn no_authorization_breaks_it(text in "(AWS4?(-HMAC-SHA256)? ?)?[ -~]{0,40}") {
            let _ = signer(&text);
            let _ = presigner(&text);
        }
    }
}
