//! The way to the server, or to the cluster.

use super::breaker::Breaker;
use super::error::Error;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::{Client, Pipeline, RedisError, RedisResult, ScriptInvocation, Value};
use std::time::Duration;

/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

pub(super) struct Link {
    connection: Connection,
    timeout: Duration,
    breaker: Breaker,
}

#[derive(Clone)]
enum Connection {
    Single(ConnectionManager),
    Cluster(ClusterConnection),
}

impl Link {
    /// A link to the server, or with `redis+cluster` to the cluster, that connects when it is first needed.
    pub(super) fn open(url: &str, timeout: Duration) -> Result<Self, Error> {
        let connection = match url.split_once("+cluster://") {
            Some((scheme, hosts)) => Connection::cluster(scheme, hosts, timeout),
            None => Connection::single(url, timeout),
        };
        let connection = connection.map_err(|error| Error::Address(error.to_string()))?;
        Ok(Self { connection, timeout, breaker: Breaker::default() })
    }

    pub(super) const fn is_cluster(&self) -> bool {
        matches!(self.connection, Connection::Cluster(_))
    }

    /// Runs a script; loads it if the server does not know it.
    pub(super) async fn run(&self, call: &ScriptInvocation<'_>) -> Result<Value, Error> {
        self.guarded(async {
            match self.connection.clone() {
                Connection::Single(mut connection) => call.invoke_async(&mut connection).await,
                Connection::Cluster(mut connection) => call.invoke_async(&mut connection).await,
            }
        })
        .await
    }

    /// Runs several commands in one go, on one server. Each succeeds or fails by itself.
    pub(super) async fn run_all(&self, calls: &Pipeline) -> Result<Vec<RedisResult<Value>>, Error> {
        self.guarded(async {
            match self.connection.clone() {
                Connection::Single(mut connection) => calls.query_async(&mut connection).await,
                Connection::Cluster(mut connection) => calls.query_async(&mut connection).await,
            }
        })
        .await
    }

    /// Loads a script, on one server.
    pub(super) async fn load(&self, script: &redis::Script) -> Result<(), Error> {
        let loaded = self.guarded(async {
            match self.connection.clone() {
                Connection::Single(mut connection) => script.load_async(&mut connection).await,
                Connection::Cluster(mut connection) => script.load_async(&mut connection).await,
            }
        });
        loaded.await.map(drop)
    }

    /// Nothing waits longer than the timeout, nor at all for a server that was away a moment ago.
    async fn guarded<T>(&self, call: impl Future<Output = RedisResult<T>>) -> Result<T, Error> {
        if !self.breaker.admits() {
            return Err(Error::Unavailable("it was a moment ago".into()));
        }
        let answer = match tokio::time::timeout(self.timeout, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if is_away(&error) => Err(Error::Unavailable(error.to_string())),
            Ok(Err(error)) => Err(Error::Server(error.to_string())),
            Err(_) => Err(Error::Unavailable(format!("no answer within {:?}", self.timeout))),
        };
        self.breaker.heard(!matches!(answer, Err(Error::Unavailable(_))));
        answer
    }
}

impl Connection {
    fn single(url: &str, timeout: Duration) -> RedisResult<Self> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(timeout.max(LONGEST_PAUSE)))
            .set_response_timeout(Some(timeout))
            .set_number_of_retries(1)
            .set_max_delay(LONGEST_PAUSE);
        Ok(Self::Single(ConnectionManager::new_lazy_with_config(Client::open(url)?, config)?))
    }

    fn cluster(scheme: &str, hosts: &str, timeout: Duration) -> RedisResult<Self> {
        let nodes: Vec<String> = hosts.split(',').map(|host| format!("{scheme}://{host}")).collect();
        let client = ClusterClientBuilder::new(nodes)
            .connection_timeout(timeout.max(LONGEST_PAUSE))
            .response_timeout(timeout)
            .overall_response_timeout(Some(timeout))
            .build()?;
        Ok(Self::Cluster(
            client.get_pending_async_connection_with_config(redis::cluster::ClusterConfig::new()),
        ))
    }
}

/// Whether there is no server to be had just now, as opposed to one that was asked something wrong.
fn is_away(error: &RedisError) -> bool {
    use redis::ErrorKind::{AuthenticationFailed, ClusterConnectionNotFound, Server};
    use redis::ServerErrorKind::{BusyLoading, ClusterDown, MasterDown, ReadOnly, TryAgain};
    let is_refused = match error.kind() {
        AuthenticationFailed | ClusterConnectionNotFound => true,
        Server(kind) => matches!(kind, BusyLoading | ClusterDown | MasterDown | ReadOnly | TryAgain),
        _ => false,
    };
    is_refused || error.is_io_error() || error.is_timeout() || error.is_connection_dropped()
}
