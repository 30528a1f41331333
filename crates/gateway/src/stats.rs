//! What a gateway has done, counted by each thread for itself.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The counters of one thread.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)+
        }

        /// What a gateway has done up to a moment, and what it is doing.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats {
            $($(#[$doc])* pub $name: u64,)+
        }

        impl Counters {
            pub(crate) fn add_to(&self, stats: &mut Stats) {
                $(stats.$name = stats.$name.wrapping_add(self.$name.get());)+
            }
        }
    };
}

stats! {
    /// Connections that were accepted.
    connections_accepted,
    /// Connections that were closed at once, because there were too many.
    connections_refused,
    /// Connections that are open.
    connections_active,
    /// TLS handshakes that failed.
    handshakes_failed,
    /// Requests under way.
    requests_active,
    /// Requests that ended with a status of 100 to 199 (upgrades).
    responses_1xx,
    /// Requests that ended with a status of 200 to 299.
    responses_2xx,
    /// Requests that ended with a status of 300 to 399.
    responses_3xx,
    /// Requests that ended with a status of 400 to 499.
    responses_4xx,
    /// Requests that ended with a status of 500 to 599.
    responses_5xx,
    /// Requests that the client gave up before they had a status.
    requests_cancelled,
    /// Requests that the gate refused.
    requests_refused,
    /// Requests that broke the rules of HTTP, or its limits.
    requests_malformed,
    /// Requests that no route leads anywhere.
    requests_unrouted,
    /// Answers of our own because a server could not be reached, failed or was too slow (502, 503, 504).
    upstream_errors,
    /// Connections opened to servers.
    upstream_connections,
    /// Requests that were sent again, because the connection was dead.
    upstream_retries,
    /// Responses that broke off in the middle because of the server.
    upstream_aborts,
    /// Upgraded connections that are open.
    tunnels_active,
    /// Bytes of bodies from clients.
    bytes_received,
    /// Bytes of bodies to clients.
    bytes_sent,
    /// Lines of the access log that were dropped, because it could not be written fast enough.
    log_lines_dropped,
}

/// A number that one thread changes and others read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, number: u64) {
        // One writer: a plain load and store are enough, and cheaper than an atomic addition.
        self.0.store(self.get().wrapping_add(number), Ordering::Relaxed);
    }

    pub(crate) fn up(&self) {
        self.add(1);
    }

    pub(crate) fn down(&self) {
        self.add(u64::MAX);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// Counts a request by its status.
    pub(crate) fn responded(&self, status: u16) {
        match status / 100 {
            0 => self.requests_cancelled.up(),
            1 => self.responses_1xx.up(),
            2 => self.responses_2xx.up(),
            3 => self.responses_3xx.up(),
            4 => self.responses_4xx.up(),
            _ => self.responses_5xx.up(),
        }
    }
}
