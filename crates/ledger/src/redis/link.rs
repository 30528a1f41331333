//! The connection to one server, opened when it is first needed and again whenever it broke.
//!
//! Opening it goes on in the background however soon a caller gives up, one attempt at a time. After one that failed there
//! is a pause, in which callers learn at once why it did.
//!
//! A connection on which nothing is heard for a while, although it was asked, is given up for another. The system notices a server that
//! vanished, but not a proxy between here and there that has forgotten the connection and goes on acknowledging what is sent.

use super::jitter::up_to;
use super::{CONNECT_TIMEOUT, LONGEST_PAUSE};
use crate::script::EngineError;
use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, ConnectionInfo, RedisError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// After how long without any answer a connection is given up. It doubles as long as that does not help: a server that is merely slow
/// shall not be busied with greetings.
const SHORTEST_SILENCE: Duration = Duration::from_secs(1);

const LONGEST_SILENCE: Duration = Duration::from_secs(16);

#[derive(Clone)]
pub(super) struct Link(Arc<Ends>);

struct Ends {
    client: Client,
    config: AsyncConnectionConfig,
    /// After how long without any answer a connection is given up at the earliest.
    silence: Duration,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    /// The number of the latest attempt.
    attempt: u64,
    /// How long the last pause was, if the last attempt failed.
    pause: Duration,
    phase: Phase,
    /// When it was first asked something since it last answered.
    asked: Option<Instant>,
    /// How long the last connection that was given up had been silent, if there was no answer since.
    silence: Duration,
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
        // A call that may take longer than this says nothing of its connection while it does.
        let silence = SHORTEST_SILENCE.max(timeout * 2);
        Ok(Self(Arc::new(Ends { client, config, silence, state: watch::Sender::new(State::default()) })))
    }

    /// Does something with the connection. If that breaks it, the next caller finds a new one.
    pub(super) async fn call<T>(
        &self,
        step: impl AsyncFnOnce(&mut MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, EngineError> {
        self.0.state.send_if_modified(|state| state.give_up(self.0.silence));
        let (mut connection, number) = self.open().await.map_err(EngineError::Connection)?;
        // Whoever asks may not wait for the end of this.
        self.0.note(|state| state.ask(number));
        let answer = step(&mut connection).await;
        if answer.as_ref().is_err_and(RedisError::is_unrecoverable_error) {
            self.0.close(number);
        } else if !answer.as_ref().is_err_and(RedisError::is_timeout) {
            self.0.note(|state| state.hear(number));
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
    /// Notes something that nobody waits for.
    fn note(&self, change: impl FnOnce(&mut State)) {
        self.state.send_if_modified(|state| {
            change(state);
            false
        });
    }

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
        self.asked = None;
        *number = self.attempt;
        true
    }

    /// A connection was asked something.
    fn ask(&mut self, number: u64) {
        if self.attempt == number {
            self.asked.get_or_insert_with(Instant::now);
        }
    }

    /// There was an answer on a connection.
    fn hear(&mut self, number: u64) {
        if self.attempt == number {
            (self.asked, self.silence) = (None, Duration::ZERO);
        }
    }

    /// Makes room for another attempt if the connection has been silent for too long.
    fn give_up(&mut self, shortest: Duration) -> bool {
        let silence = (self.silence * 2).min(LONGEST_SILENCE).max(shortest);
        let is_silent = self.asked.is_some_and(|asked| asked.elapsed() >= silence);
        if !is_silent || !matches!(self.phase, Phase::Open(_)) {
            return false;
        }
        (self.asked, self.silence, self.phase) = (None, silence, Phase::Closed);
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
