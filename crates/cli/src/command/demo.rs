//! Everything at once, in one terminal: the doors, a server behind them, and tenants that use it.

mod server;
mod tenant;

use super::{Outcome, serve};
use crate::output;
use crate::system::{self, Doors, Ports, Source, System};
use anyhow::Context;
use clap::Args;
use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::time::Duration;
use tenant::Tenant;
use tollgate_config::settings::{Log, LogFormat, LogLevel};

/// Start everything on a ledger of its own, with some traffic
///
/// Three applications send requests through the gateway to a small server of the demo's own; one of them wants more than it
/// was promised. Ctrl-C stops it.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// A value of the configuration, like listen.gateway=127.0.0.1:9000
    #[arg(long, value_name = "KEY=VALUE", value_parser = serve::assignment)]
    set: Vec<(String, String)>,

    /// Stop after so many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
}

/// How often the traffic is shown.
const LOOK: Duration = Duration::from_secs(1);

/// How often it is where lines cannot be drawn over.
const SELDOM: u32 = 10;

impl Demo {
    pub(super) fn run(self) -> anyhow::Result<Outcome> {
        system::start_logging(Log { level: LogLevel::Warn, format: LogFormat::Text });
        serve::runtime()?.block_on(async {
            let server = server::start().await?;
            let home = tempfile::tempdir().context("cannot make a directory for the demo's database")?;
            let source =
                Source { base: Some(config(server, home.path())), flags: self.set, ..Source::default() };
            let config = match source.read() {
                Ok(config) => config,
                Err(errors) => {
                    output::complain(&errors.to_string());
                    return Ok(Outcome::Wrong);
                }
            };
            let system = System::start(&config, source, Ports::Free).await?;
            output::print(&introduction(system.doors(), system.first_password().unwrap_or_default()))?;
            let tenants = tenant::start_all(system.doors().gateway);
            let shown = tokio::spawn(show(tenants));
            let limit = async {
                match self.seconds {
                    Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
                    None => std::future::pending().await,
                }
            };
            system.run_until(limit).await;
            shown.abort();
            output::print("\nstopped")?;
            Ok(Outcome::Yes)
        })
    }
}

/// The configuration, in front of that server, with a database in that directory.
fn config(server: std::net::SocketAddr, home: &Path) -> String {
    let database = home.join("tollgate.db");
    include_str!("demo/demo.toml")
        .replace("127.0.0.1:9000", &server.to_string())
        .replace("tollgate.db", &database.to_string_lossy())
}

fn introduction(doors: Doors, password: &str) -> String {
    let Doors { gateway, check, rls, admin } = doors;
    format!(
        "Tollgate is running, with its ledger in memory and three applications on cluster-01:\n\
         \x20 video-service  20000 tokens/s, up to 80000 saved, priority 0\n\
         \x20 app-a          10000 tokens/s, up to 50000 saved, priority 1\n\
         \x20 app-c           5000 tokens/s, up to 20000 saved, priority 2; it lists a lot, at 500 tokens each\n\
         \n\
         \x20 gateway  http://{gateway}  (in front of a small server of the demo's own)\n\
         \x20 check    http://{check}/v1/check\n\
         \x20 rls      grpc://{rls}  (Envoy's rate limit service)\n\
         \x20 console  http://{admin}  (user admin, password {password}; it asks for another)\n\
         \x20 metrics  http://{admin}/metrics\n\
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
