//! The request that a proxy asks about, as proxies tell of it.

use crate::plan::{Ambiguous, Identifier, is_ambiguous};
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

/// A field and what it says.
type Said<'a> = (&'a HeaderName, &'a [u8]);

/// The request that it is about.
pub(super) struct Origin<'a> {
    headers: &'a HeaderMap,
    method: Method,
    uri: Uri,
}

impl<'a> Origin<'a> {
    /// What the header fields tell. Without any the request is about itself.
    pub(super) fn of(headers: &'a HeaderMap, own: &Method) -> Result<Self, String> {
        let named = first(headers, &METHODS)?.map(method).transpose()?;
        let uri = first(headers, &URIS)?.map(uri).transpose()?;
        Ok(Self { headers, method: named.unwrap_or_else(|| own.clone()), uri: uri.unwrap_or_default() })
    }

    /// Whose request it is, if that can be told.
    pub(super) fn app<'b>(&'b self, identifier: &'b Identifier) -> Result<Option<&'b str>, String> {
        let host = text(self.headers, &FORWARDED_HOST).or_else(|| text(self.headers, &HOST));
        let app = identifier.identify(host.unwrap_or_default(), &self.uri, self.headers);
        app.map_err(|Ambiguous| {
            "some servers read ; \\ %2f or %5c in the path so that it is another application's".into()
        })
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

/// What the first of these that is there says; nothing if it is empty. Those behind it are not looked at: where a proxy says
/// one, the client may have said the others.
fn first<'a>(headers: &'a HeaderMap, names: &'a [HeaderName]) -> Result<Option<Said<'a>>, String> {
    let Some(name) = names.iter().find(|name| headers.contains_key(*name)) else { return Ok(None) };
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(Some((name, value.as_bytes())).filter(|(_, value)| !value.is_empty())),
        _ => Err(format!("{name}: more than one")),
    }
}

fn method((name, value): Said<'_>) -> Result<Method, String> {
    Method::from_bytes(value).map_err(|_| format!("{name}: not the name of a method"))
}

fn uri((name, value): Said<'_>) -> Result<Uri, String> {
    let uri = Uri::try_from(value).map_err(|_| format!("{name}: not the target of a request"))?;
    if is_ambiguous(uri.path()) {
        return Err(format!("{name}: a path with segments . or .."));
    }
    Ok(uri)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use tollgate_config::source::{Document, Format};

    /// A field as a proxy or its client writes it.
    type Field = (&'static str, &'static [u8]);

    fn told(fields: &[Field]) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        Origin::of(&headers, &Method::GET).map(|origin| format!("{} {}", origin.method, origin.uri))
    }

    #[test]
    fn the_first_that_is_there_counts() {
        let cases: [(&[Field], &str); 6] = [
            (&[], "GET /"),
            (&[("x-forwarded-uri", b"/a?b"), ("x-forwarded-method", b"PUT")], "PUT /a?b"),
            (&[("x-forwarded-uri", b"/a"), ("x-original-uri", b"/b")], "GET /b"),
            (&[("x-forwarded-method", b"HEAD"), ("x-original-method", b"PUT")], "PUT /"),
            (&[("x-forwarded-uri", b"/a"), ("x-original-uri", b"")], "GET /"),
            (&[("x-original-uri", b"/a%2fb//c.d")], "GET /a%2fb//c.d"),
        ];
        for (fields, expected) in cases {
            assert_eq!(told(fields).as_deref(), Ok(expected), "{fields:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_passed_over() {
        let cheap: Field = ("x-forwarded-uri", b"/cheap");
        for uri in [&b"/dear\xff"[..], b"/de ar", b"/cheap/../dear", b"/cheap/..%2fdear", b"/%2e%2e"] {
            let error = told(&[("x-original-uri", uri), cheap]).unwrap_err();
            assert!(error.starts_with("x-original-uri: "), "{error}");
        }
        let error = told(&[("x-original-method", b"P\xffT"), ("x-forwarded-method", b"HEAD")]).unwrap_err();
        assert_eq!(error, "x-original-method: not the name of a method");
        let error = told(&[cheap, ("x-forwarded-uri", b"/dear")]).unwrap_err();
        assert_eq!(error, "x-forwarded-uri: more than one");
    }

    #[test]
    fn a_path_that_some_server_takes_for_that_of_another_is_nobodys() {
        let config = Document::parse(
            "[identity]\norder = ['path']\npaths = {'/' = 'cheap', '/dear' = 'dear'}",
            Format::Toml,
        );
        let identifier = Identifier::new(&config.unwrap().read().unwrap().settings.gateway.identity);
        let app = |uri: &'static str| {
            let headers = HeaderMap::from_iter([(URIS[0].clone(), HeaderValue::from_static(uri))]);
            let origin = Origin::of(&headers, &Method::GET).unwrap();
            origin.app(&identifier).map(|app| app.map(ToOwned::to_owned))
        };
        for uri in ["/dear;x", "/;/dear", "/dear%2fx", "/\\dear"] {
            assert!(app(uri).unwrap_err().starts_with("some servers read ;"), "{uri}");
        }
        assert_eq!(app("/dear/a%2fb;c").unwrap().as_deref(), Some("dear"));
        assert_eq!(app("/key%2fof;an/object").unwrap().as_deref(), Some("cheap"));
    }
}
