//! What is written to the database beside the calls, and whether it can be.

use crate::api::nodes;
use crate::clock;
use crate::history::Saved;
use crate::state::Admin;
use crate::upkeep::Task;
use serde_json::json;

/// How writing went, each kind when it was last tried. That one works says nothing of the other: there may be room for a row that
/// takes the place of another, and none for a history.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    report_fails: bool,
    /// A history that could not be written: it is tried again with every look, so that it is known soon when that works.
    missed: Option<Saved>,
}

impl Writes {
    /// Tells those who share the database how this node is doing.
    pub(crate) async fn report(&mut self, admin: &Admin, now: i64) {
        let report = json!(nodes::own(admin)).to_string();
        let told = admin.store.report_node(&admin.settings.node, &report, now).await;
        if let Err(error) = &told
            && !self.report_fails
        {
            tracing::warn!(%error, "the database cannot be written to");
        }
        self.report_fails = told.is_err();
        self.note(admin);
    }

    /// Writes these histories, and the one that could not be written.
    pub(crate) async fn save(&mut self, admin: &Admin, due: Vec<Saved>) {
        let prefix = prefix(admin);
        let known = self.missed.as_ref().map(|missed| missed.name.clone());
        for saved in again(due, self.missed.take()) {
            let name = format!("{prefix}{}", saved.name);
            if let Err(error) = admin.store.save_series(&name, &saved.data, clock::wall()).await {
                if known.as_ref() != Some(&saved.name) {
                    tracing::warn!(%error, "the history could not be written");
                }
                self.missed = Some(saved);
                break;
            }
        }
        self.note(admin);
    }

    fn note(&self, admin: &Admin) {
        admin.upkeep.note(Task::Database, self.works());
    }

    const fn works(&self) -> bool {
        !self.report_fails && self.missed.is_none()
    }
}

/// What is due comes first: what was missed must neither keep it waiting nor be written over what is newer.
fn again(due: Vec<Saved>, missed: Option<Saved>) -> impl Iterator<Item = Saved> {
    let missed = missed.filter(|missed| due.iter().all(|saved| saved.name != missed.name));
    due.into_iter().chain(missed)
}

/// Nodes that share a database have a history each.
pub(crate) fn prefix(admin: &Admin) -> String {
    format!("{}/", admin.settings.node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(name: &str, data: u8) -> Saved {
        Saved { name: name.to_owned(), data: vec![data] }
    }

    #[test]
    fn a_write_that_works_does_not_hide_one_that_fails() {
        let writes = |report_fails, missed| Writes { report_fails, missed }.works();
        assert!(writes(false, None));
        assert!(!writes(true, None));
        assert!(!writes(false, Some(saved("a", 0))));
    }

    #[test]
    fn what_was_missed_is_tried_again_unless_there_is_newer() {
        let order = |due: Vec<Saved>| {
            again(due, Some(saved("a", 0))).map(|saved| (saved.name, saved.data[0])).collect::<Vec<_>>()
        };
        assert_eq!(order(vec![]), [("a".into(), 0)]);
        assert_eq!(order(vec![saved("b", 1)]), [("b".into(), 1), ("a".into(), 0)]);
        assert_eq!(order(vec![saved("a", 2), saved("b", 1)]), [("a".into(), 2), ("b".into(), 1)]);
    }
}
