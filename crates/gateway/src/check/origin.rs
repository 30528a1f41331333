//! The request that a proxy asks about, as proxies tell of it.

use crate::plan::Identifier;
use crate::proxy::operation_of;
use http::header::{HOST, HeaderName};
use http::{HeaderMap, Method, Uri};
use tollgate_config::gateway::Operations;
use tollgate_core::cost::Operation;

/// What the caller says outright.
const OPERATION: HeaderName = HeaderName::from_static("x-tollgate-operation");
const BYTES: HeaderName = HeaderName::from_static("x-tollgate-bytes");

/// What nginx is told to say, then what Traefik and Caddy say by themselves.
const METHODS: [HeaderName; 2] =
    [HeaderName::from_static("x-original-method"), HeaderName::from_static("x-forwarded-method")];
const URIS: [HeaderName; 2] =
    [HeaderName::from_static("x-original-uri"), HeaderName::from_static("x-forwarded-uri")];
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// The request that it is about.
pub(super) struct Origin<'a> {
    headers: &'a HeaderMap,
    method: Method,
    uri: Uri,
}

impl<'a> Origin<'a> {
    /// What the header fields tell. Without any the request is about itself.
    pub(super) fn of(headers: &'a HeaderMap, method: &Method) -> Self {
        let named = first(headers, &METHODS).and_then(|name| Method::from_bytes(name.as_bytes()).ok());
        let uri = first(headers, &URIS).and_then(|uri| uri.parse().ok());
        Self { headers, method: named.unwrap_or_else(|| method.clone()), uri: uri.unwrap_or_default() }
    }

    /// Whose request it is, if that can be told.
    pub(super) fn app<'b>(&'b self, identifier: &'b Identifier) -> Option<&'b str> {
        let host = text(self.headers, &FORWARDED_HOST).or_else(|| text(self.headers, &HOST));
        identifier.identify(host.unwrap_or_default(), &self.uri, self.headers)
    }

    /// What it does.
    pub(super) fn operation(&self, operations: Operations) -> Operation {
        match text(self.headers, &OPERATION) {
            Some(name) => Operation::parse(name),
            None => operation_of(&self.method, &self.uri, self.headers, operations),
        }
    }

    /// How many bytes it has; none if nobody tells.
    pub(super) fn bytes(&self) -> Result<u64, String> {
        let value = self.headers.get(&BYTES).filter(|value| !value.is_empty());
        let Some(value) = value else { return Ok(0) };
        let number = value.to_str().ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| "X-Tollgate-Bytes: not a whole number from 0 on".into())
    }
}

fn first<'a>(headers: &'a HeaderMap, names: &[HeaderName]) -> Option<&'a str> {
    names.iter().find_map(|name| text(headers, name))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty())
}
