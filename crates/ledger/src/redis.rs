//! Scripts on a Redis server or a Redis Cluster.

mod address;
mod certificates;
mod jitter;
mod link;
mod listener;

pub use certificates::{CertificateError, Certificates};

use crate::notice::Notices;
use crate::script::{ALL, Channels, Engine, EngineError, Script, ScriptLedger, Value};
use ::redis::cluster::{ClusterClientBuilder, ClusterConfig};
use ::redis::cluster_async::ClusterConnection;
use ::redis::{ErrorKind, RedisError, ServerErrorKind};
use address::Address;
use link::Link;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A ledger on Redis: all nodes that name the same server share it.
pub type RedisLedger = ScriptLedger<RedisEngine>;

/// The longest that opening a connection may take. It is apart from any request: those give up much earlier.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest pause between two attempts to reconnect.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Runs scripts on a server. Connects when it is first asked to, and again, with jitter, whenever it has to.
#[derive(Clone)]
pub struct RedisEngine {
    address: Arc<Address>,
    connection: Connection,
    /// By name: each knows the hash it is called by.
    scripts: HashMap<&'static str, ::redis::Script>,
    timeout: Duration,
}

#[derive(Clone)]
enum Connection {
    Single(Link),
    Cluster {
        connection: ClusterConnection,
        /// To one of the servers, to find out why none can be reached.
        probe: Link,
    },
}

/// Why an address is no server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError(String);

impl RedisEngine {
    /// Scripts on the server at `url`: `redis://`, `rediss://` (TLS), `redis+cluster://` or `rediss+cluster://`, with
    /// user and password as usual. Several addresses of one cluster are separated by commas. No call waits longer
    /// than `timeout`. Must be called within a tokio runtime.
    pub fn new(url: &str, timeout: Duration) -> Result<Self, AddressError> {
        Self::with_certificates(url, timeout, &Certificates::default())
    }

    /// The same over TLS with certificates of one's own: the address starts with `rediss`.
    pub fn with_certificates(
        url: &str,
        timeout: Duration,
        certificates: &Certificates,
    ) -> Result<Self, AddressError> {
        Self::with_texts(url, timeout, certificates, |script| script.text.to_owned())
    }

    /// The same with the clock in the hands of a test: the time of a cluster is the number at its key `:now`.
    #[doc(hidden)]
    pub fn on_test_clock(url: &str, timeout: Duration) -> Result<Self, AddressError> {
        Self::with_texts(url, timeout, &Certificates::default(), Script::on_test_clock)
    }

    fn with_texts(
        url: &str,
        timeout: Duration,
        certificates: &Certificates,
        text: impl Fn(&Script) -> String,
    ) -> Result<Self, AddressError> {
        let scripts = ALL.iter().map(|script| (script.name, ::redis::Script::new(&text(script)))).collect();
        let wrong = |error: RedisError| AddressError(error.to_string());
        let address = Address::parse(url, certificates).map_err(wrong)?;
        let connection = Connection::open(&address, timeout).map_err(wrong)?;
        Ok(Self { address: Arc::new(address), connection, scripts, timeout })
    }

    async fn run(&self, script: &Script, key: &str, args: Vec<Vec<u8>>) -> Result<Value, EngineError> {
        let Some(script) = self.scripts.get(script.name) else {
            return Err(EngineError::Protocol(format!("no script is called {}", script.name)));
        };
        let mut call = script.key(key);
        for arg in args {
            call.arg(arg);
        }
        let answer: ::redis::Value = match self.connection.clone() {
            Connection::Single(link) => {
                link.call(async |connection| call.invoke_async(connection).await).await?
            }
            Connection::Cluster { mut connection, probe } => match call.invoke_async(&mut connection).await {
                Err(error) if error.kind() == ErrorKind::ClusterConnectionNotFound => {
                    let why = probe.trouble().await.unwrap_or_else(|| error.to_string());
                    return Err(EngineError::Connection(why));
                }
                answer => answer?,
            },
        };
        value(answer)
    }
}

impl Connection {
    fn open(address: &Address, timeout: Duration) -> Result<Self, RedisError> {
        let link = Link::new(address.first(), timeout)?;
        if address.is_cluster { Self::open_cluster(address, link, timeout) } else { Ok(Self::Single(link)) }
    }

    fn open_cluster(address: &Address, probe: Link, timeout: Duration) -> Result<Self, RedisError> {
        let mut builder = ClusterClientBuilder::new(address.nodes.clone())
            .tcp_settings(address::tcp())
            .connection_timeout(CONNECT_TIMEOUT)
            .response_timeout(timeout)
            .overall_response_timeout(Some(timeout))
            .max_retry_wait(u64::try_from(LONGEST_PAUSE.as_millis()).unwrap_or(u64::MAX));
        if let Some(certificates) = &address.certificates {
            builder = builder.certs(certificates.clone());
        }
        let client = builder.build()?;
        let connection = client.get_pending_async_connection_with_config(ClusterConfig::new());
        Ok(Self::Cluster { connection, probe })
    }
}

impl Engine for RedisEngine {
    async fn eval(&self, script: &Script, key: &str, args: Vec<Vec<u8>>) -> Result<Value, EngineError> {
        // The client's own timeouts do not cover every way in which it can wait.
        let call = self.run(script, key, args);
        tokio::time::timeout(self.timeout, call).await.unwrap_or(Err(EngineError::Timeout))
    }

    fn notices(&self, channels: &Channels) -> Notices {
        listener::listen(&self.address, channels)
    }

    fn counts_all(&self) -> bool {
        !self.address.is_cluster
    }
}

impl From<RedisError> for EngineError {
    fn from(error: RedisError) -> Self {
        if error.is_timeout() {
            Self::Timeout
        } else if is_out_of_reach(&error) {
            Self::Connection(error.to_string())
        } else {
            Self::Protocol(error.to_string())
        }
    }
}

/// Whether there is no server to be had just now, as opposed to one that was asked something wrong. One that is starting or
/// is about to change its role is not to be had, either.
fn is_out_of_reach(error: &RedisError) -> bool {
    use ServerErrorKind::{BusyLoading, MasterDown, ReadOnly, ResponseError};
    let is_refused = match error.kind() {
        ErrorKind::AuthenticationFailed | ErrorKind::ClusterConnectionNotFound => true,
        // Before 7.0 what a command says within a script is wrapped into what is said of the script.
        ErrorKind::Server(ResponseError) => error.detail().is_some_and(|text| text.contains(" -READONLY ")),
        ErrorKind::Server(kind) => matches!(kind, BusyLoading | MasterDown | ReadOnly),
        _ => false,
    };
    is_refused || error.is_io_error() || error.is_cluster_error()
}

fn value(answer: ::redis::Value) -> Result<Value, EngineError> {
    use ::redis::Value as Redis;
    match answer {
        Redis::Nil => Ok(Value::Nil),
        Redis::Int(number) => Ok(Value::Int(number)),
        Redis::BulkString(text) => Ok(Value::Bulk(text)),
        Redis::SimpleString(text) => Ok(Value::Bulk(text.into_bytes())),
        Redis::Okay => Ok(Value::Bulk(b"OK".to_vec())),
        Redis::Array(items) => items.into_iter().map(value).collect::<Result<_, _>>().map(Value::Array),
        other => Err(EngineError::Protocol(format!("unexpected answer {other:?}"))),
    }
}

impl fmt::Debug for RedisEngine {
    /// Says nothing of the address: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.connection {
            Connection::Single(_) => "single",
            Connection::Cluster { .. } => "cluster",
        };
        f.debug_struct("RedisEngine")
            .field("kind", &kind)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not the address of a redis server: {}", self.0)
    }
}

impl std::error::Error for AddressError {}
