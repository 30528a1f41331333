//! A configuration made ready to be used by all threads, and swapped as a whole.

mod identity;
mod reading;
mod router;
pub(crate) mod tls;
mod trust;

pub(crate) use identity::Identifier;
pub(crate) use reading::Ambiguous;
pub(crate) use router::{Router, is_ambiguous};
pub(crate) use trust::{Trust, X_FORWARDED_FOR};

use crate::upstream::{Endpoint, Group};
use rustls::ServerConfig;
use std::sync::Arc;
use tollgate_config::Errors;
use tollgate_config::error::Error;
use tollgate_config::gateway::Gateway as Config;

/// What the threads work by.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) config: Config,
    pub(crate) router: Router,
    /// For each route, its group.
    pub(crate) destinations: Vec<usize>,
    pub(crate) groups: Vec<Group>,
    pub(crate) identifier: Identifier,
    pub(crate) trust: Trust,
    pub(crate) tls: Option<Arc<ServerConfig>>,
}

impl Plan {
    /// Makes a plan, or says everything that is in the way. Servers that were in the plan before keep what is known
    /// about their health.
    pub(crate) fn new(config: Config, before: Option<&Self>) -> Result<Self, Errors> {
        let mut errors = Vec::new();
        let tls = config.tls.as_ref().map(tls::server).transpose().unwrap_or_else(|wrong| {
            errors.extend(wrong);
            None
        });
        let groups = Self::groups(&config, before, &mut errors);
        if !errors.is_empty() {
            return Err(errors.into_iter().collect());
        }
        let number =
            |name: &str| config.upstreams.keys().position(|known| known == name).unwrap_or(usize::MAX);
        Ok(Self {
            router: Router::new(&config.routes),
            destinations: config.routes.iter().map(|route| number(&route.upstream)).collect(),
            groups,
            identifier: Identifier::new(&config.identity),
            trust: Trust::new(&config.trusted_proxies),
            tls,
            config,
        })
    }

    fn groups(config: &Config, before: Option<&Self>, errors: &mut Vec<Error>) -> Vec<Group> {
        let known = |name: &str| before?.groups.iter().find(|group| group.name == name);
        let made = config.upstreams.iter().map(|(name, upstream)| Group::new(name, upstream, known(name)));
        made.filter_map(|group| group.map_err(|error| errors.push(*error)).ok()).collect()
    }

    /// Every server there is.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.groups.iter().flat_map(|group| &group.endpoints)
    }
}
