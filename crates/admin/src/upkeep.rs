//! What a process does beside its requests. None of them fails with it, so somebody has to be told.

use std::sync::atomic::{AtomicBool, Ordering};

/// Something that is done again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Taking up the configuration and the certificates, when they were changed.
    Reload,
    /// Writing the ledger of this process to its file.
    Snapshot,
    /// Writing to the database of the control plane.
    Database,
}

impl Task {
    pub(crate) const ALL: [Self; 3] = [Self::Reload, Self::Snapshot, Self::Database];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reload => "reload",
            Self::Snapshot => "snapshot",
            Self::Database => "database",
        }
    }

    /// What is the matter when it fails.
    pub(crate) const fn trouble(self) -> &'static str {
        match self {
            Self::Reload => "goes on with its old configuration, as the new one is wrong",
            Self::Snapshot => "cannot save its ledger",
            Self::Database => "cannot write to its database",
        }
    }
}

/// Which tasks failed when they were last tried.
#[derive(Debug, Default)]
pub struct Upkeep {
    failing: [AtomicBool; Task::ALL.len()],
}

impl Upkeep {
    /// Notes how it went.
    pub fn note(&self, task: Task, is_done: bool) {
        self.failing[task as usize].store(!is_done, Ordering::Relaxed);
    }

    /// Whether it failed when it was last tried.
    pub fn is_failing(&self, task: Task) -> bool {
        self.failing[task as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn failing(&self) -> Vec<Task> {
        Task::ALL.into_iter().filter(|task| self.is_failing(*task)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_attempt_counts() {
        let upkeep = Upkeep::default();
        assert_eq!(upkeep.failing(), []);
        upkeep.note(Task::Snapshot, false);
        upkeep.note(Task::Database, false);
        upkeep.note(Task::Snapshot, false);
        assert_eq!(upkeep.failing(), [Task::Snapshot, Task::Database]);
        upkeep.note(Task::Snapshot, true);
        upkeep.note(Task::Reload, true);
        assert_eq!(upkeep.failing(), [Task::Database]);
    }
}
