use crate::reader::Table;
use serde_json::Value;
use std::time::Duration;

/// The longest timeout, in milliseconds: a day.
pub(super) const MAX_MS: u64 = 86_400_000;

/// How long anything may take before it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From a new connection, or the first byte of a request, to the end of the request's header.
    pub header: Duration,
    /// Between two requests of a connection.
    pub idle: Duration,
    /// Without a byte of the body from the client.
    pub body: Duration,
    /// While the client takes nothing of what is sent to it.
    pub write: Duration,
    /// To open a connection to a server.
    pub connect: Duration,
    /// From the request (or the last byte of its body) to the header of the response.
    pub response: Duration,
    /// Without a byte of the response's body from the server.
    pub read: Duration,
    /// How long a connection to a server is kept without a request.
    pub upstream_idle: Duration,
    /// Without a byte either way on an upgraded connection.
    pub tunnel: Duration,
    /// How long requests may take to finish when everything stops.
    pub drain: Duration,
}

macro_rules! timeouts {
    ($($field:ident $key:literal $default:literal,)+) => {
        impl Default for Timeouts {
            fn default() -> Self {
                Self { $($field: Duration::from_millis($default)),+ }
            }
        }

        impl Timeouts {
            pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
                let default = Self::default();
                $(let $field = table.field($key).whole(1..=MAX_MS).map(Duration::from_millis);)+
                table.finish();
                Some(Self { $($field: $field.or(default.$field)?),+ })
            }

            pub(super) fn to_value(self) -> Value {
                let millis = |duration: Duration| Value::from(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
                [$(($key.to_owned(), millis(self.$field))),+].into_iter().collect()
            }
        }
    };
}

timeouts! {
    header "header_ms" 10_000,
    idle "idle_ms" 75_000,
    body "body_ms" 30_000,
    write "write_ms" 30_000,
    connect "connect_ms" 3_000,
    response "response_ms" 60_000,
    read "read_ms" 60_000,
    upstream_idle "upstream_idle_ms" 30_000,
    tunnel "tunnel_ms" 3_600_000,
    drain "drain_ms" 30_000,
}
