//! Everything at once, in one terminal: the doors, a server behind them, and tenants that use it.

mod redis;
mod server;
mod tenant;

use super::{Outcome, serve};
use crate::output;
use crate::system::{self, Doors, Ports, Source, System};
use anyhow::Context;
use clap::Args;
use redis::Redis;
use std::fmt::Write;
use std::io::{IsTerminal, stdout};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tenant::Tenant;
use tokio::task::JoinSet;
use tollgate_config::settings::{Log, LogFormat, LogLevel};

/// Start everything, with some traffic
///
/// Three applications send requests through the gateway to a small server of the demo's own; one of them wants more than it
/// was promised. Ctrl-C stops it.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// A value of the configuration, like listen.gateway=127.0.0.1:9000
    #[arg(long, value_name = "KEY=VALUE", value_parser = serve::assignment)]
    set: Vec<(String, String)>,

    /// Start a Redis and three gateways that share it, instead of one on a ledger in memory
    #[arg(long)]
    redis: bool,

    /// Stop after so many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
}

/// With --redis.
const GATEWAYS: usize = 3;

/// What only the first gateway has where the configuration says.
const DOORS: [&str; 4] = ["listen.gateway", "listen.check", "listen.rls", "listen.admin"];

/// How often the traffic is shown.
const LOOK: Duration = Duration::from_secs(1);

/// How often it is where lines cannot be drawn over.
const SELDOM: u32 = 10;

impl Demo {
    pub(super) fn run(self) -> anyhow::Result<Outcome> {
        system::start_logging(Log { level: LogLevel::Warn, format: LogFormat::Text });
        serve::runtime()?.block_on(async {
            let home = tempfile::tempdir().context("cannot make a directory for the demo")?;
            let redis = if self.redis { Some(Redis::start(home.path()).await?) } else { None };
            let Some(systems) = self.systems(redis.as_ref(), home.path()).await? else {
                return Ok(Outcome::Wrong);
            };
            let gateways: Vec<SocketAddr> = systems.iter().map(|system| system.doors().gateway).collect();
            output::print(&introduction(&systems, redis.as_ref()))?;
            let shown = tokio::spawn(show(tenant::start_all(&gateways)));
            // Each of them hears a signal.
            let running: JoinSet<()> =
                systems.into_iter().map(|system| system.run_until(limit(self.seconds))).collect();
            running.join_all().await;
            shown.abort();
            output::print("\nstopped")?;
            Ok(Outcome::Yes)
        })
    }

    /// Starts one system, or several that share a Redis. Nothing once everything that is wrong was told.
    async fn systems(&self, redis: Option<&Redis>, home: &Path) -> anyhow::Result<Option<Vec<System>>> {
        let server = server::start().await?;
        let mut systems = Vec::new();
        for number in 0..if redis.is_some() { GATEWAYS } else { 1 } {
            let base = config(server, &home.join(format!("tollgate-{number}.db")), redis);
            let mut flags = self.set.clone();
            if number > 0 {
                flags.extend(DOORS.map(|door| (door.to_owned(), "127.0.0.1:0".to_owned())));
            }
            let source = Source { base: Some(base), flags, ..Source::default() };
            match source.read() {
                Ok(config) => systems.push(System::start(&config, source, Ports::Free).await?),
                Err(errors) => {
                    output::complain(&errors.to_string());
                    return Ok(None);
                }
            }
        }
        Ok(Some(systems))
    }
}

/// When to stop without being told to.
async fn limit(seconds: Option<u64>) {
    match seconds {
        Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
        None => std::future::pending().await,
    }
}

/// The configuration, in front of that server, with that database and on that Redis, if there is one.
fn config(server: SocketAddr, database: &Path, redis: Option<&Redis>) -> String {
    let text = include_str!("demo/demo.toml")
        .replace("127.0.0.1:9000", &server.to_string())
        .replace("tollgate.db", &database.to_string_lossy());
    let ledger = redis.map(|redis| format!("\n[ledger]\nurl = \"{}\"\n", redis.url()));
    text + &ledger.unwrap_or_default()
}

fn introduction(systems: &[System], redis: Option<&Redis>) -> String {
    let Some((first, others)) = systems.split_first() else { return String::new() };
    let Doors { gateway, check, rls, admin } = first.doors();
    let password = first.first_password().unwrap_or_default();
    let where_kept = if redis.is_some() { "on Redis" } else { "in memory" };
    let mut more = String::new();
    for other in others {
        // Writing to a string cannot fail.
        let _ = writeln!(more, "\x20          http://{}  (another)", other.doors().gateway);
    }
    let redis = redis.map_or(String::new(), |redis| {
        let (address, process) = (redis.address(), redis.process());
        format!(
            "\x20 redis    {address}  (process {process}; kill it, and the gateways go on by themselves)\n"
        )
    });
    format!(
        "Tollgate is running, with its ledger {where_kept} and three applications on cluster-01:\n\
         \x20 video-service  20000 tokens/s, up to 80000 saved, priority 0\n\
         \x20 app-a          10000 tokens/s, up to 50000 saved, priority 1\n\
         \x20 app-c           5000 tokens/s, up to 20000 saved, priority 2; it lists a lot, at 500 tokens each\n\
         \n\
         \x20 gateway  http://{gateway}  (in front of a small server of the demo's own)\n{more}\
         \x20 check    http://{check}/v1/check\n\
         \x20 rls      grpc://{rls}  (Envoy's rate limit service)\n\
         \x20 console  http://{admin}  (user admin, password {password}; it asks for another)\n\
         \x20 metrics  http://{admin}/metrics\n{redis}\
         \n\
         Try:\n\
         \x20 curl -i -H 'X-Tollgate-App: video-service' http://{gateway}/photos/cat.jpg\n\
         \x20   # 200: it passes for 1 token, see X-RateLimit-Cost and X-RateLimit-Remaining\n\
         \x20 curl -i http://{gateway}/photos/cat.jpg\n\
         \x20   # 403: unknown_app, nobody knows whose request it is\n\
         \x20 curl -i -d '{{\"app\": \"app-a\", \"cost\": 1000000}}' http://{check}/v1/check\n\
         \x20   # 429: app_exhausted, it costs more than app-a can ever have\n\
         \n\
         Requests of the last second (Ctrl-C stops everything):"
    )
}

/// Says what happens, on one line that changes if there is a terminal.
async fn show(tenants: Vec<Tenant>) {
    let is_terminal = stdout().is_terminal();
    let mut looks = tokio::time::interval(LOOK);
    looks.tick().await;
    for count in 1_u32.. {
        looks.tick().await;
        let line: Vec<String> = tenants.iter().map(Tenant::summary).collect();
        let line = format!("  {}", line.join("   "));
        if is_terminal {
            output::redraw(&line);
        } else if count % SELDOM == 1 {
            let _ = output::print(&line);
        }
    }
}
