//! Where it is measured: a server of our own, and the clusters on it.

use super::stats::Stats;
use anyhow::Context;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::io::tcp::TcpSettings;
use redis::{Client, Cmd, FromRedisValue, IntoConnectionInfo};
use std::time::Duration;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::priority::Priority;
use tollgate_core::quota::{Capacity, LoanTerms, Quota};
use tollgate_core::units::{Rate, Tokens};
use tollgate_ledger::protocol::{AppPolicy, Seed};
use tollgate_ledger::{Ledger, RedisEngine, RedisLedger};
use tollgate_testkit::RedisServer;

/// How long any call may take: a measurement that gives up has measured nothing.
const TIMEOUT: Duration = Duration::from_secs(20);

/// As large as a cluster can be, so that ten thousand guarantees fit.
const CAPACITY: Rate = Rate::per_second(1_000_000_000);

/// More than all clients together ask for.
pub(super) const GUARANTEED: u64 = 50_000;

/// Stands for what else is kept with an application, which the ledger does not read.
const BODY: &str =
    r#"{"description":"stands for what an operator writes","costs":{"GET":1,"PUT":10,"LIST":5}}"#;

/// A server of our own and a connection to look at it.
pub(super) struct Ground {
    server: RedisServer,
    watch: MultiplexedConnection,
}

impl Ground {
    pub(super) async fn open() -> anyhow::Result<Self> {
        let server = RedisServer::start()?;
        let watch = Client::open(server.url())?.get_multiplexed_async_connection().await?;
        Ok(Self { server, watch })
    }

    /// A connection of its own for a client that speaks Redis itself. As the ledger's, it holds nothing back to be sent
    /// with more.
    pub(super) async fn connection(&self) -> anyhow::Result<ConnectionManager> {
        let config = ConnectionManagerConfig::new().set_response_timeout(Some(TIMEOUT));
        let tcp = TcpSettings::default().set_nodelay(true);
        let client = Client::open(self.server.url().into_connection_info()?.set_tcp_settings(tcp))?;
        Ok(ConnectionManager::new_with_config(client, config).await?)
    }

    /// A ledger with a connection of its own.
    pub(super) fn ledger(&self) -> anyhow::Result<RedisLedger> {
        Ok(RedisLedger::new(RedisEngine::new(&self.server.url(), TIMEOUT)?))
    }

    /// A new cluster with so many applications.
    pub(super) async fn cluster(&self, name: &str, known: u32) -> anyhow::Result<ClusterId> {
        let cluster = ClusterId::new(name)?;
        self.ledger()?.seed(&cluster, &seed(known)?).await?;
        Ok(cluster)
    }

    /// What the server has done so far.
    pub(super) async fn stats(&mut self) -> anyhow::Result<Stats> {
        let text: String = self.ask(redis::cmd("INFO").arg("commandstats")).await?;
        Ok(Stats::parse(&text))
    }

    /// The bytes that the server keeps for a key, all of its parts counted.
    pub(super) async fn bytes(&mut self, key: &str) -> anyhow::Result<u32> {
        let bytes: Option<u32> =
            self.ask(redis::cmd("MEMORY").arg("USAGE").arg(key).arg("SAMPLES").arg(0)).await?;
        bytes.with_context(|| format!("no key {key}"))
    }

    pub(super) async fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> anyhow::Result<T> {
        Ok(command.query_async(&mut self.watch).await?)
    }

    /// What kind of server it is.
    pub(super) async fn version(&mut self) -> anyhow::Result<String> {
        let text: String = self.ask(redis::cmd("INFO").arg("server")).await?;
        let version = text.lines().find_map(|line| line.strip_prefix("redis_version:"));
        Ok(version.unwrap_or("unknown").trim().into())
    }
}

/// The key of a cluster.
pub(super) fn root(cluster: &ClusterId) -> String {
    format!("ratelimit:{{{cluster}}}")
}

/// The key of a part of a cluster.
pub(super) fn key(cluster: &ClusterId, part: &str) -> String {
    format!("{}:{part}", root(cluster))
}

/// The first so many applications.
pub(super) fn apps(count: u32) -> anyhow::Result<Vec<AppId>> {
    (0..count).map(app).collect()
}

/// So many applications, spread evenly over those known.
pub(super) fn apps_among(count: u32, known: u32) -> anyhow::Result<Vec<AppId>> {
    (0..count).map(|number| app(number * (known / count))).collect()
}

fn app(number: u32) -> anyhow::Result<AppId> {
    Ok(AppId::new(&format!("app-{number:05}"))?)
}

/// A cluster with so many applications, all on the same terms.
pub(super) fn seed(known: u32) -> anyhow::Result<Seed> {
    let quota = Quota {
        guaranteed: Rate::per_second(GUARANTEED),
        burst: Tokens::whole(2 * GUARANTEED),
        burst_window: Quota::DEFAULT_BURST_WINDOW,
        priority: Priority::P1,
        loan: LoanTerms::default(),
    };
    let policy = |app| AppPolicy { app, quota, enabled: true, body: BODY.into() };
    let capacity = Capacity { rate: CAPACITY, ..Capacity::default() };
    Ok(Seed { capacity, apps: apps(known)?.into_iter().map(policy).collect(), remembered: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_applications_can_be_promised() {
        let seed = seed(10_000).unwrap();
        let promised = seed.apps.iter().fold(Rate::ZERO, |sum, app| sum.plus(app.quota.guaranteed));
        assert!(promised <= seed.capacity.promisable());
    }

    #[test]
    fn applications_are_spread_over_those_known() {
        let names: Vec<String> = apps_among(4, 1_000).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["app-00000", "app-00250", "app-00500", "app-00750"]);
        assert_eq!(apps_among(4, 4).unwrap(), apps(4).unwrap());
    }
}
