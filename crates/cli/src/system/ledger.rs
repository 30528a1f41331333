//! The ledger that the configuration names.

use anyhow::Context;
use std::time::Duration;
use tollgate_config::settings::{Ledger, Tls};
use tollgate_ledger::{AnyLedger, Certificates, MemoryLedger, RedisEngine, RedisLedger, Snapshot, WallClock};

/// A call may take this many times as long as a request waits for it: it is not lost when a request gives up.
const PATIENCE: u32 = 10;

/// The shortest time that a call may take.
const SHORTEST: Duration = Duration::from_millis(500);

/// Opens it. A Redis need not be there yet. Must be called within a tokio runtime.
pub(crate) fn open(settings: &Ledger) -> anyhow::Result<AnyLedger> {
    let Some(url) = &settings.url else { return in_memory(settings).map(AnyLedger::Memory) };
    let timeout = (Duration::from(settings.timeout) * PATIENCE).max(SHORTEST);
    let certificates = certificates(&settings.tls)?;
    let engine = RedisEngine::with_certificates(url.expose(), timeout, &certificates)
        .with_context(|| format!("ledger.url: {url}"))?;
    tracing::info!(%url, "the ledger is on Redis");
    Ok(AnyLedger::Redis(RedisLedger::new(engine)))
}

fn in_memory(settings: &Ledger) -> anyhow::Result<MemoryLedger> {
    let saved = settings.snapshot.as_deref().map(Snapshot::load).transpose().context("ledger.snapshot")?;
    let Some(snapshot) = saved.flatten() else {
        tracing::info!("the ledger is in this process");
        return Ok(MemoryLedger::new());
    };
    tracing::info!("the ledger is in this process and goes on where it was saved");
    Ok(MemoryLedger::restore(snapshot, WallClock))
}

fn certificates(tls: &Tls) -> anyhow::Result<Certificates> {
    let client = tls.client.as_ref().map(|client| (client.certificate.as_path(), client.key.as_path()));
    Certificates::read(tls.ca.as_deref(), client).context("the certificates of the ledger")
}
