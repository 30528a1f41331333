use crate::reader::Table;
use serde_json::{Value, json};

/// How large a request may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most header fields.
    pub headers: usize,
    /// The most bytes of all header fields and the request line together.
    pub header_bytes: usize,
    /// The most bytes of a body; none for any size.
    pub body_bytes: Option<u64>,
    /// What a body of unknown size is taken for until it has passed.
    pub unknown_body_bytes: u64,
    /// The least bytes per second that a client must send of a body while it is waited for.
    pub body_rate: u64,
    /// The most requests at a time on one HTTP/2 connection.
    pub streams: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            headers: 100,
            header_bytes: 32_768,
            body_bytes: None,
            unknown_body_bytes: 1_048_576,
            body_rate: 100,
            streams: 128,
        }
    }
}

impl Limits {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let headers = table.field("headers").size(1..=10_000);
        let header_bytes = table.field("header_bytes").size(1_024..=1_048_576);
        let body_bytes = table.field("body_bytes").whole(0..=u64::MAX >> 1);
        let unknown_body_bytes = table.field("unknown_body_bytes").whole(0..=u64::MAX >> 1);
        let body_rate = table.field("body_rate").whole(0..=1_000_000_000);
        let streams = table.field("streams").count(1..=100_000);
        table.finish();
        Some(Self {
            headers: headers.or(default.headers)?,
            header_bytes: header_bytes.or(default.header_bytes)?,
            body_bytes: body_bytes.map(|bytes| (bytes > 0).then_some(bytes)).or(default.body_bytes)?,
            unknown_body_bytes: unknown_body_bytes.or(default.unknown_body_bytes)?,
            body_rate: body_rate.or(default.body_rate)?,
            streams: streams.or(default.streams)?,
        })
    }

    pub(super) fn to_value(self) -> Value {
        json!({
            "headers": self.headers,
            "header_bytes": self.header_bytes,
            "body_bytes": self.body_bytes.unwrap_or(0),
            "unknown_body_bytes": self.unknown_body_bytes,
            "body_rate": self.body_rate,
            "streams": self.streams,
        })
    }
}
