//! A ledger in this process is written to a file now and then.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tollgate_admin::{Task, Upkeep};
use tollgate_ledger::{AnyLedger, Snapshot};
use tollgate_node::Node;

/// How much of what happened a crash may make us forget.
const INTERVAL: Duration = Duration::from_secs(10);

/// Saves the ledger, if there is anything to save and anywhere to save it to.
#[derive(Debug)]
pub(super) struct Snapshots(Option<(PathBuf, JoinHandle<()>)>);

impl Snapshots {
    pub(super) fn start(node: &Node<AnyLedger>, path: Option<PathBuf>, upkeep: &Arc<Upkeep>) -> Self {
        let path = path.filter(|_| matches!(node.ledger(), AnyLedger::Memory(_)));
        Self(path.map(|path| {
            let (node, to, upkeep) = (node.clone(), path.clone(), Arc::clone(upkeep));
            let task = tokio::spawn(async move {
                let mut ticks = tokio::time::interval(INTERVAL);
                ticks.tick().await;
                loop {
                    ticks.tick().await;
                    let is_saved = save(node.ledger(), &to).await;
                    upkeep.note(Task::Snapshot, is_saved);
                }
            });
            (path, task)
        }))
    }

    /// Saves it for the last time.
    pub(super) async fn finish(self, ledger: &AnyLedger) {
        if let Some((path, task)) = self.0 {
            task.abort();
            // One that is being written is not to be found under the last one.
            let _ = task.await;
            save(ledger, &path).await;
        }
    }
}

/// Whether it was saved.
async fn save(ledger: &AnyLedger, path: &Path) -> bool {
    let AnyLedger::Memory(ledger) = ledger else { return true };
    let (snapshot, to) = (ledger.snapshot(), path.to_owned());
    let saved = tokio::task::spawn_blocking(move || Snapshot::save(&snapshot, &to)).await;
    let saved = saved.map_err(anyhow::Error::from).and_then(|saved| Ok(saved?));
    match &saved {
        Ok(()) => tracing::debug!(path = %path.display(), "ledger saved"),
        Err(error) => tracing::error!(%error, "the ledger was not saved"),
    }
    saved.is_ok()
}
