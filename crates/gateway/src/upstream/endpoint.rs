use crate::plan::tls;
use http::HeaderValue;
use http::uri::{Authority, Scheme as UriScheme};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use tollgate_config::error::{Error, Problem};
use tollgate_config::gateway::{Health, Protocol, Scheme, Server, Upstream};

/// The moment from which ejections are counted.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Servers that all do the same.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) upstream: Upstream,
    pub(crate) endpoints: Vec<Arc<Endpoint>>,
}

/// A server, and what all threads know about it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) server: Server,
    pub(crate) authority: Authority,
    pub(crate) host: HeaderValue,
    pub(crate) protocol: Protocol,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) health: Health,
    /// Whether somebody asks regularly how it is.
    probed: AtomicBool,
    /// It does not answer well when asked.
    ill: AtomicBool,
    good_answers: AtomicU32,
    bad_answers: AtomicU32,
    /// Failed requests in a row.
    failures: AtomicU32,
    /// In milliseconds from the epoch; zero if it is not left alone.
    ejected_until: AtomicU64,
}

/// What it takes to open an encrypted connection.
#[derive(Debug)]
pub(crate) struct Encryption {
    pub(crate) name: ServerName<'static>,
    pub(crate) preferred: Arc<ClientConfig>,
    /// For upgrades, which HTTP/2 does not know.
    pub(crate) http1: Arc<ClientConfig>,
}

/// How a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// As far as is known.
    Well,
    /// Requests failed lately: used only if there is nothing better.
    Ejected,
    /// It says so itself, or nothing: not used.
    Ill,
}

impl Group {
    /// Makes a group. A server that was in the group before stays what it is, unless the terms changed, or its
    /// certificates are to be read again.
    pub(crate) fn new(name: &str, upstream: &Upstream, before: Option<&Self>) -> Result<Self, Box<Error>> {
        let before = before.filter(|before| before.is_alike(upstream) && upstream.ca.is_none());
        let known = |server: &Server| before?.endpoints.iter().find(|known| known.server == *server).cloned();
        let make = |server: &Server| match known(server) {
            Some(endpoint) => Ok(endpoint),
            None => Endpoint::new(name, server, upstream).map(Arc::new),
        };
        let endpoints = upstream.servers.iter().map(make).collect::<Result<_, _>>()?;
        Ok(Self { name: name.into(), upstream: upstream.clone(), endpoints })
    }

    /// Whether nothing differs but the servers.
    fn is_alike(&self, upstream: &Upstream) -> bool {
        Upstream { servers: upstream.servers.clone(), ..self.upstream.clone() } == *upstream
    }
}

impl Endpoint {
    fn new(group: &str, server: &Server, upstream: &Upstream) -> Result<Self, Box<Error>> {
        let at = format!("upstreams.{group}");
        let unfit = || {
            Box::new(Error {
                path: format!("{at}.servers"),
                problem: Problem::Malformed("not the address of a server"),
                value: Some(server.to_string()),
                expected: Some("a host that can be connected to".into()),
                origin: None,
            })
        };
        let text = server.authority();
        let authority: Authority = text.parse().map_err(|_| unfit())?;
        let host = HeaderValue::from_str(&text).map_err(|_| unfit())?;
        let encryption = match server.scheme {
            Scheme::Http => None,
            Scheme::Https => {
                let name = ServerName::try_from(server.host.clone()).map_err(|_| unfit())?;
                let offered = match upstream.protocol {
                    Protocol::Auto => tls::EITHER,
                    Protocol::Http1 => tls::ONLY_HTTP1,
                    Protocol::Http2 => tls::ONLY_HTTP2,
                };
                let preferred = tls::client(upstream.ca.as_deref(), &at, offered)?;
                let http1 = tls::client(upstream.ca.as_deref(), &at, tls::ONLY_HTTP1)?;
                Some(Encryption { name, preferred, http1 })
            }
        };
        Ok(Self {
            server: server.clone(),
            authority,
            host,
            protocol: upstream.protocol,
            encryption,
            health: upstream.health.clone(),
            probed: AtomicBool::new(false),
            ill: AtomicBool::new(false),
            good_answers: AtomicU32::new(0),
            bad_answers: AtomicU32::new(0),
            failures: AtomicU32::new(0),
            ejected_until: AtomicU64::new(0),
        })
    }

    pub(crate) fn scheme(&self) -> UriScheme {
        if self.encryption.is_some() { UriScheme::HTTPS } else { UriScheme::HTTP }
    }

    pub(crate) fn standing(&self) -> Standing {
        if self.ill.load(Ordering::Relaxed) {
            return Standing::Ill;
        }
        match self.ejected_until.load(Ordering::Relaxed) {
            0 => Standing::Well,
            until if until > now() => Standing::Ejected,
            _ => Standing::Well,
        }
    }

    /// A request got an answer, whichever.
    pub(crate) fn succeeded(&self) {
        // Almost always there is nothing to write, and then nothing is shared.
        if self.failures.load(Ordering::Relaxed) != 0 {
            self.failures.store(0, Ordering::Relaxed);
            self.ejected_until.store(0, Ordering::Relaxed);
        }
    }

    /// A request got none.
    pub(crate) fn failed(&self) {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if self.health.eject_after.is_some_and(|limit| failures >= limit) {
            let pause = u64::try_from(self.health.eject.as_millis()).unwrap_or(u64::MAX);
            self.ejected_until.store(now().saturating_add(pause).max(1), Ordering::Relaxed);
        }
    }

    /// Whether the caller is the one who asks regularly from now on.
    pub(crate) fn start_probing(&self) -> bool {
        self.health.path.is_some() && !self.probed.swap(true, Ordering::Relaxed)
    }

    /// It was asked and answered well, or not.
    pub(crate) fn answered(&self, well: bool) {
        let (up, down) = if well {
            (&self.good_answers, &self.bad_answers)
        } else {
            (&self.bad_answers, &self.good_answers)
        };
        down.store(0, Ordering::Relaxed);
        let in_a_row = up.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let limit = if well { self.health.well_after } else { self.health.ill_after };
        if in_a_row >= limit {
            self.ill.store(!well, Ordering::Relaxed);
        }
    }
}

fn now() -> u64 {
    u64::try_from(EPOCH.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_config::source::{Document, Format};

    fn endpoint(health: &str) -> Arc<Endpoint> {
        let text = format!("[[upstreams]]\nid = 'u'\nservers = ['http://h']\nhealth = {{{health}}}");
        let config = Document::parse(&text, Format::Toml).unwrap().read().unwrap();
        let upstream = &config.settings.gateway.upstreams["u"];
        Arc::clone(&Group::new("u", upstream, None).unwrap().endpoints[0])
    }

    #[test]
    fn failures_in_a_row_eject_and_a_success_forgives() {
        let endpoint = endpoint("eject_after = 3, eject_ms = 60_000");
        endpoint.failed();
        endpoint.failed();
        endpoint.succeeded();
        endpoint.failed();
        endpoint.failed();
        assert_eq!(endpoint.standing(), Standing::Well);
        endpoint.failed();
        assert_eq!(endpoint.standing(), Standing::Ejected);
        endpoint.succeeded();
        assert_eq!(endpoint.standing(), Standing::Well);
    }

    #[test]
    fn answers_in_a_row_make_ill_and_well() {
        let endpoint = endpoint("path = '/', ill_after = 2, well_after = 2");
        for (well, expected) in [
            (false, Standing::Well),
            (true, Standing::Well),
            (false, Standing::Well),
            (false, Standing::Ill),
            (true, Standing::Ill),
            (false, Standing::Ill),
            (true, Standing::Ill),
            (true, Standing::Well),
        ] {
            endpoint.answered(well);
            assert_eq!(endpoint.standing(), expected);
        }
    }
}
