//! A bounded load on every gateway, by clients that keep their own count.

mod series;
mod tally;

pub use series::Series;
pub(crate) use tally::Tally;

use crate::http::Client;
use rustls::ClientConfig;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Clients of each gateway.
const CLIENTS: u32 = 2;

/// A client that got behind by more than this does not catch up: the load has a bound.
const BEHIND: Duration = Duration::from_millis(500);

/// A client opens a new connection after so many requests, as clients come and go.
const REQUESTS_A_CONNECTION: u32 = 100;

const REQUEST: &[u8] = b"GET /drill HTTP/1.1\r\nhost: drill\r\nx-tollgate-app: app\r\n\r\n";

/// Whether something is broken on purpose, so that what fails meanwhile is no wonder. Odd while it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Excuse(Arc<AtomicU64>);

/// The load while it goes on.
#[derive(Debug)]
pub(crate) struct Load {
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    started: Instant,
    is_over: AtomicBool,
    tally: Mutex<Tally>,
}

/// Where a client sends its requests, and what excuses their failing.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<Arc<ClientConfig>>,
    /// The gateway itself is broken.
    pub(crate) gateway: Excuse,
    /// The server behind it is.
    pub(crate) upstream: Excuse,
}

impl Excuse {
    pub(crate) fn begin(&self) {
        self.0.fetch_or(1, Ordering::SeqCst);
    }

    pub(crate) fn end(&self) {
        self.0.fetch_add(self.0.load(Ordering::SeqCst) & 1, Ordering::SeqCst);
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Whether it held at any time since then.
    fn since(&self, before: u64) -> bool {
        before % 2 == 1 || self.now() != before
    }
}

impl Load {
    /// Starts sending `rate` requests per second to each target.
    pub(crate) fn start(targets: &[Target], rate: u32) -> Self {
        let shared = Shared {
            started: Instant::now(),
            is_over: AtomicBool::new(false),
            tally: Mutex::new(Tally::default()),
        };
        let shared = Arc::new(shared);
        let pause = Duration::from_secs(1) * CLIENTS / rate.max(1);
        let clients = targets.iter().flat_map(|target| (0..CLIENTS).map(move |_| target.clone()));
        let clients = clients.map(|target| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.send(&target, pause))
        });
        Self { clients: clients.collect(), shared }
    }

    /// How long it has gone on.
    pub(crate) fn elapsed(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// What has been counted so far.
    pub(crate) fn tally(&self) -> Tally {
        self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it, and waits for the answers that are due.
    pub(crate) fn finish(mut self) -> Tally {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for client in self.clients.drain(..) {
            let _ = client.join();
        }
        self.tally()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    fn send(&self, target: &Target, pause: Duration) {
        let mut client = Client::new(target.address, target.tls.clone());
        let (mut due, mut sent) = (Instant::now(), 0_u32);
        while !self.is_over.load(Ordering::SeqCst) {
            let (gateway, upstream, asked) = (target.gateway.now(), target.upstream.now(), Instant::now());
            let answer = client.ask(REQUEST);
            let took = asked.elapsed();
            let (gateway, upstream) = (target.gateway.since(gateway), target.upstream.since(upstream));
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            match answer {
                Ok(answer) => tally.answered(self.started.elapsed(), took, answer.status, gateway, upstream),
                Err(error) => tally.failed(took, &error, gateway),
            }
            drop(tally);
            sent += 1;
            if sent.is_multiple_of(REQUESTS_A_CONNECTION) {
                client.hang_up();
            }
            let now = Instant::now();
            due = (due + pause).max(now.checked_sub(BEHIND).unwrap_or(now));
            thread::sleep(due.saturating_duration_since(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_holds_for_whatever_overlaps_it() {
        let excuse = Excuse::default();
        let before = excuse.now();
        assert!(!excuse.since(before));
        excuse.begin();
        excuse.begin();
        let during = excuse.now();
        assert!(excuse.since(before) && excuse.since(during));
        excuse.end();
        excuse.end();
        assert!(excuse.since(before) && excuse.since(during));
        assert!(!excuse.since(excuse.now()));
    }
}
