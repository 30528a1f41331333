//! The connection to one server, opened when it is first needed and again whenever it broke.
//!
//! Opening it goes on in the background however soon a caller gives up, one attempt at a time. After one that failed there
//! is a pause, in which callers learn at once why it did.

use super::jitter::up_to;
use super::{CONNECT_TIMEOUT, LONGEST_PAUSE};
use crate::script::EngineError;
use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, ConnectionInfo, RedisError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

#[derive(Clone)]
pub(super) struct Link(Arc<Ends>);

struct Ends {
    client: Client,
    config: AsyncConnectionConfig,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    /// The number of the latest attempt.
    attempt: u64,
    /// How long the last pause was, if the last attempt failed.
    pause: Duration,
    phase: Phase,
}

#[derive(Default)]
enum Phase {
    #[default]
    Closed,
    Opening,
    Open(MultiplexedConnection),
    /// Not to be tried again yet.
    Failed(String),
}

/// An attempt to open it, and the pause if it fails. When it ends, even early with the runtime it was made in, there
/// is either a connection or room for the next attempt.
struct Attempt {
    ends: Arc<Ends>,
    number: u64,
}

impl Link {
    /// A link to that server, where no answer is waited for longer than `timeout`.
    pub(super) fn new(node: &ConnectionInfo, timeout: Duration) -> Result<Self, RedisError> {
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(Some(timeout));
        let client = Client::open(node.clone())?;
        Ok(Self(Arc::new(Ends { client, config, state: watch::Sender::new(State::default()) })))
    }

    /// Does something with the connection. If that breaks it, the next caller finds a new one.
    pub(super) async fn call<T>(
        &self,
        step: impl AsyncFnOnce(&mut MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, EngineError> {
        let (mut connection, number) = self.open().await.map_err(EngineError::Connection)?;
        let answer = step(&mut connection).await;
        if answer.as_ref().is_err_and(RedisError::is_unrecoverable_error) {
            self.0.close(number);
        }
        Ok(answer?)
    }

    /// Why no connection can be opened; `None` if one can.
    pub(super) async fn trouble(&self) -> Option<String> {
        match self.open().await {
            Ok((_, number)) => {
                self.0.close(number);
                None
            }
            Err(why) => Some(why),
        }
    }

    async fn open(&self) -> Result<(MultiplexedConnection, u64), String> {
        let mut states = self.0.state.subscribe();
        let mut number = 0;
        if self.0.state.send_if_modified(|state| state.start(&mut number)) {
            tokio::spawn(Attempt { ends: Arc::clone(&self.0), number }.run());
        }
        let settled = states.wait_for(|state| !matches!(state.phase, Phase::Opening)).await;
        match settled.as_deref() {
            Ok(State { phase: Phase::Open(connection), attempt, .. }) => Ok((connection.clone(), *attempt)),
            Ok(State { phase: Phase::Failed(why), .. }) => Err(why.clone()),
            // It broke, or the pause was over, between being settled and being looked at.
            _ => Err("there is no connection just now".to_owned()),
        }
    }
}

impl Ends {
    /// Makes room for another attempt, unless there has been one since.
    fn close(&self, attempt: u64) {
        self.state.send_if_modified(|state| {
            let is_latest = state.attempt == attempt;
            if is_latest {
                state.phase = Phase::Closed;
            }
            is_latest
        });
    }

    async fn connect(&self) -> Result<MultiplexedConnection, String> {
        let attempt = self.client.get_multiplexed_async_connection_with_config(&self.config);
        let outcome = match timeout(CONNECT_TIMEOUT, attempt).await {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            // Such as one that waits for plain text while we wait for it to speak TLS.
            Err(_) => Err(format!("took no connection within {CONNECT_TIMEOUT:?}")),
        };
        outcome.map_err(|why| format!("{}: {why}", self.client.get_connection_info().addr()))
    }
}

impl State {
    /// Whether the caller has to open it, under which number. At most one caller is told so.
    fn start(&mut self, number: &mut u64) -> bool {
        if !matches!(self.phase, Phase::Closed) {
            return false;
        }
        self.attempt += 1;
        self.phase = Phase::Opening;
        *number = self.attempt;
        true
    }

    fn settle(&mut self, outcome: Result<MultiplexedConnection, String>) {
        (self.pause, self.phase) = match outcome {
            Ok(connection) => (Duration::ZERO, Phase::Open(connection)),
            Err(why) => ((self.pause * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE), Phase::Failed(why)),
        };
    }
}

impl Attempt {
    async fn run(self) {
        let outcome = self.ends.connect().await;
        let mut pause = Duration::ZERO;
        self.ends.state.send_modify(|state| {
            state.settle(outcome);
            pause = state.pause;
        });
        sleep(up_to(pause)).await;
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !matches!(self.ends.state.borrow().phase, Phase::Open(_)) {
            self.ends.close(self.number);
        }
    }
}
