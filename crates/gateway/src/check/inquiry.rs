//! What a check asks.

use super::body::{self, Fields};
use super::origin::Origin;
use super::service::Service;
use http::request::Parts;
use hyper::body::Incoming;
use tollgate_core::cost::Operation;
use tollgate_node::{Request, TraceParent};

/// A request that somebody asks about.
#[derive(Debug)]
pub(super) struct Inquiry {
    /// Nothing if that cannot be told.
    pub(super) app: String,
    operation: Operation,
    bytes: u64,
    cost: Option<u64>,
    pub(super) options: Options,
    pub(super) parent: Option<TraceParent>,
}

/// How it is to be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Whether nothing is to be charged.
    pub(super) dry_run: bool,
    /// The status of a refusal.
    pub(super) status: Option<u16>,
}

impl Inquiry {
    /// Reads it from the body if there is one, and else from the header.
    pub(super) async fn read<L>(service: &Service<L>, parts: &Parts, body: Incoming) -> Result<Self, String> {
        let options = Options::parse(parts.uri.query().unwrap_or_default())?;
        match body::read(body).await? {
            Some(fields) => Self::from_fields(fields, parts, options),
            None => Self::from_headers(service, parts, options),
        }
    }

    fn from_fields(mut fields: Fields, parts: &Parts, options: Options) -> Result<Self, String> {
        let app = fields.app()?;
        let operation = fields.text("operation")?.map_or(Operation::Other, |name| Operation::parse(&name));
        let bytes = fields.number("bytes")?.unwrap_or_default();
        let cost = fields.tokens("cost")?;
        fields.finish("app, operation, bytes and cost")?;
        let parent = TraceParent::of(&parts.headers);
        Ok(Self { app, operation, bytes, cost, options, parent })
    }

    fn from_headers<L>(service: &Service<L>, parts: &Parts, options: Options) -> Result<Self, String> {
        let origin = Origin::of(&parts.headers, &parts.method)?;
        Ok(Self {
            app: origin.app(&service.identifier.load())?.unwrap_or_default().to_owned(),
            operation: origin.operation(service.settings.operations),
            bytes: origin.bytes()?,
            cost: None,
            options,
            parent: TraceParent::of(&parts.headers),
        })
    }

    pub(super) fn request(&self) -> Request<'_> {
        let Self { app, operation, bytes, cost, .. } = self;
        Request { app, operation: *operation, bytes: *bytes, cost: *cost }
    }
}

impl Options {
    fn parse(query: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match key {
                "dry_run" => options.dry_run = flag(value)?,
                "status" => options.status = Some(status(value)?),
                // A proxy may add what it likes.
                _ => {}
            }
        }
        Ok(options)
    }
}

fn flag(value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("dry_run: unknown word (expected true or false)".into()),
    }
}

fn status(value: &str) -> Result<u16, String> {
    let status = value.parse().ok().filter(|status| (400..=499).contains(status));
    status.ok_or_else(|| "status: out of range (expected a whole number from 400 to 499)".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_how_to_answer() {
        let parse = |query| Options::parse(query).unwrap();
        assert_eq!(parse(""), Options::default());
        assert_eq!(parse("dry_run=true&status=403"), Options { dry_run: true, status: Some(403) });
        assert_eq!(parse("x=y&dry_run=0&z"), Options::default());
        for wrong in ["dry_run=yes", "status=200", "status=500", "status=", "status=4O3"] {
            assert!(Options::parse(wrong).is_err(), "{wrong}");
        }
    }
}
