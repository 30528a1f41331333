use super::Outcome;
use crate::output;
use crate::system::{self, Ports, Source, System};
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use tollgate_config::settings::LogLevel;

/// Start the servers
///
/// Everything can be set in the file, by the environment (`TOLLGATE_LEDGER__URL` is `url` in `[ledger]`) and by --set,
/// each overriding what comes before it. SIGTERM and Ctrl-C let requests finish and give everything back to the ledger;
/// SIGHUP, or a change of the file or of a certificate, reads the configuration again.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) place: Place,

    /// What to log on standard error: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    log: Option<LogLevel>,

    /// Take over the ports of a tollgate that is about to be stopped, and whoever is knocking at them
    #[arg(long)]
    take_over: bool,
}

/// Where the configuration is.
#[derive(Clone, Debug, Args)]
pub(crate) struct Place {
    /// A .toml, .yaml, .yml or .json file; without one every default holds
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// A value of the configuration, like listen.gateway=127.0.0.1:9000
    #[arg(long, value_name = "KEY=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
}

impl Place {
    pub(crate) fn source(self) -> Source {
        Source { file: self.config, flags: self.set, ..Source::default() }
    }

    /// What it says, or nothing once everything that is wrong was told.
    pub(crate) fn read(&self) -> Option<tollgate_config::Config> {
        let read = self.clone().source().read();
        read.map_err(|errors| {
            let place =
                self.config.as_ref().map_or("the configuration".into(), |file| file.display().to_string());
            let noun = if errors.len() == 1 { "error" } else { "errors" };
            output::complain(&format!("{errors}\n{place}: {} {noun}", errors.len()));
        })
        .ok()
    }
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<Outcome> {
        let Some(config) = self.place.read() else { return Ok(Outcome::Wrong) };
        let mut log = config.settings.log;
        log.level = self.log.unwrap_or(log.level);
        system::start_logging(log);
        let ports = if self.take_over { Ports::TakenOver } else { Ports::Free };
        let source = self.place.source();
        runtime()?.block_on(async {
            let system = System::start(&config, source, ports).await?;
            if let Some(password) = system.first_password() {
                output::print(&format!(
                    "the first account of the console: admin, password {password} (shown this once)"
                ))?;
            }
            system.run_until(std::future::pending()).await;
            Ok(Outcome::Yes)
        })
    }
}

/// Where everything runs but the gateway, which has threads of its own.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_name("tollgate").build().context("cannot start")
}

fn level(text: &str) -> Result<LogLevel, String> {
    LogLevel::named(text).ok_or_else(|| format!("expected {}", LogLevel::EXPECTED))
}

pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) =
        text.split_once('=').ok_or("expected KEY=VALUE, like listen.gateway=127.0.0.1:9000")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}
