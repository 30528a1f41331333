//! One change of policy, whoever makes it: checked, said to the ledger, numbered, written down, told to those who watch.

use super::Found;
use super::document::{self, to_ledger};
use crate::auth::Caller;
use crate::clock;
use crate::event::EventKind;
use crate::problem::{FieldError, Problem, overpromised};
use crate::state::Admin;
use crate::store::{NewVersion, VersionRow};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tollgate_config::policy;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::{Millis, Rate};
use tollgate_ledger::protocol::{Carry, PutApp};
use utoipa::ToSchema;

/// What changed about one application or cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Change {
    /// `app` or `cluster`.
    pub(crate) kind: String,
    /// Which one.
    pub(crate) id: String,
    /// The cluster that it is on, or is.
    pub(crate) cluster: String,
    /// The version of the ledger that has it.
    pub(crate) ledger_version: u64,
    /// What it was; null if it was not there.
    #[schema(value_type = Option<Object>)]
    pub(crate) before: Option<Value>,
    /// What it is; null if it is there no longer.
    #[schema(value_type = Option<Object>)]
    pub(crate) after: Option<Value>,
}

impl Change {
    /// What it is remembered by once it was told.
    fn key(&self) -> String {
        key(&self.cluster, &self.kind, &self.id)
    }
}

/// What a change of an application or cluster is remembered by once it was told.
pub(crate) fn key(cluster: &str, kind: &str, id: &str) -> String {
    format!("{cluster}/{kind}/{id}")
}

/// How a change is made.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// `create`, `update` and so on.
    pub(crate) kind: &'static str,
    pub(crate) reason: String,
    /// The version that it replaces, if that matters.
    pub(crate) replaces: Option<u64>,
    /// When it shall take effect, in milliseconds since 1970, if not now.
    pub(crate) effective_at: Option<i64>,
    pub(crate) carry: Carry,
}

impl Terms {
    pub(crate) fn now(kind: &'static str, reason: &str) -> Self {
        Self { kind, reason: reason.into(), replaces: None, effective_at: None, carry: Carry::default() }
    }
}

/// A change of policy with its number.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names that callers see")]
pub(crate) struct Version {
    /// Its number.
    pub(crate) version: i64,
    /// When it was made, in milliseconds since 1970.
    pub(crate) timestamp: i64,
    /// Who made it.
    pub(crate) author: String,
    /// Why.
    pub(crate) reason: String,
    /// `found`, `create`, `update`, `delete`, `import`, `rollback` or `cluster`.
    pub(crate) kind: String,
    /// When it takes effect, if that was in the future.
    pub(crate) effective_time: Option<i64>,
    /// What changed.
    pub(crate) changes: Vec<Change>,
}

impl From<VersionRow> for Version {
    fn from(row: VersionRow) -> Self {
        let NewVersion { author, reason, kind, effective_at, changes } = row.change;
        let changes = serde_json::from_str(&changes).unwrap_or_default();
        Self {
            version: row.number,
            timestamp: row.at,
            author,
            reason,
            kind,
            effective_time: effective_at,
            changes,
        }
    }
}

impl Admin {
    /// Sets an application; the caller holds `changing`.
    pub(crate) async fn put_app(
        &self,
        id: &AppId,
        app: &policy::App,
        before: Option<&Found>,
        terms: &Terms,
    ) -> Result<Change, Problem> {
        self.check_room(&app.cluster, app.quota.guaranteed, before).await?;
        let put = PutApp {
            policy: to_ledger(id, app),
            replaces: terms.replaces,
            carry: terms.carry,
            effective_at: Millis::new(terms.effective_at.and_then(|at| u64::try_from(at).ok()).unwrap_or(0)),
        };
        let version = self.plane.put_app(&app.cluster, &put).await?;
        Ok(Change {
            kind: "app".into(),
            id: id.to_string(),
            cluster: app.cluster.to_string(),
            ledger_version: version,
            before: before.filter(|found| found.is_there()).map(|found| self.document(found)),
            after: Some(document::to_value(id, app, &self.settings.prices)),
        })
    }

    /// Removes an application and what is scheduled for it; the caller holds `changing`.
    pub(crate) async fn remove_app(&self, found: &Found) -> Result<Change, Problem> {
        let version = self.plane.delete_app(&found.app.cluster, &found.id).await?;
        Ok(Change {
            kind: "app".into(),
            id: found.id.to_string(),
            cluster: found.app.cluster.to_string(),
            ledger_version: version,
            // What was not there yet was nothing.
            before: found.is_there().then(|| self.document(found)),
            after: None,
        })
    }

    /// Numbers changes that were made, writes them down and tells those who watch.
    pub(crate) async fn publish(
        &self,
        caller: &Caller,
        changes: &[Change],
        terms: &Terms,
    ) -> Result<i64, Problem> {
        let now = clock::wall();
        let version = NewVersion {
            author: caller.name.clone(),
            reason: terms.reason.clone(),
            kind: terms.kind.into(),
            effective_at: terms.effective_at.filter(|at| *at > now),
            changes: json!(changes).to_string(),
        };
        let number = self.store.add_version(&version, now).await?;
        for change in changes {
            let action = format!("{}.{}", change.kind, terms.kind);
            self.audit(caller, &action, &change.id, change.before.as_ref(), change.after.as_ref()).await?;
        }
        for change in changes {
            self.hub.remember(change.key(), now);
        }
        let told: Vec<Value> = changes
            .iter()
            .map(|change| json!({"kind": change.kind, "id": change.id, "cluster": change.cluster}))
            .collect();
        let data = json!({"version": number, "kind": terms.kind, "author": caller.name, "reason": terms.reason, "changes": told});
        self.hub.tell(EventKind::ConfigChange, data, now);
        Ok(number)
    }

    /// Makes a first version of what was found, if there is none: something to go back to.
    pub(crate) async fn keep_first_version(&self) -> Result<(), Problem> {
        let _turn = self.changing.lock().await;
        if self.store.has_versions().await? {
            return Ok(());
        }
        let changes: Vec<Change> = super::all(&*self.plane)
            .await?
            .iter()
            .map(|found| Change {
                kind: "app".into(),
                id: found.id.to_string(),
                cluster: found.app.cluster.to_string(),
                ledger_version: found.version(),
                before: None,
                after: Some(self.document(found)),
            })
            .collect();
        let version = NewVersion {
            author: "system".into(),
            reason: "as it was found".into(),
            kind: "found".into(),
            effective_at: None,
            changes: json!(changes).to_string(),
        };
        self.store.add_version(&version, clock::wall()).await?;
        Ok(())
    }

    /// An application from its document.
    pub(crate) fn read_document(&self, id: &AppId, document: &Value) -> Result<policy::App, Problem> {
        let mut fields = document.as_object().cloned().unwrap_or_default();
        fields.remove("app_id");
        document::read(id, fields, &self.clusters(), &self.settings.prices).map_err(Problem::invalid)
    }

    /// An application as its document.
    pub(crate) fn document(&self, found: &Found) -> Value {
        document::to_value(&found.id, &found.app, &self.settings.prices)
    }

    /// Says early what the ledger would say: whether the guarantee fits.
    pub(crate) async fn check_room(
        &self,
        cluster: &ClusterId,
        guaranteed: Rate,
        before: Option<&Found>,
    ) -> Result<(), Problem> {
        match self.room_error(cluster, guaranteed, before).await? {
            Some(error) => Err(Problem::invalid(vec![error])),
            None => Ok(()),
        }
    }

    pub(crate) async fn room_error(
        &self,
        cluster: &ClusterId,
        guaranteed: Rate,
        before: Option<&Found>,
    ) -> Result<Option<FieldError>, Problem> {
        let view = self.plane.cluster(cluster).await?;
        let own = before.map_or(0, |found| found.promised().floor());
        let left = (view.capacity.promisable().floor() + own).saturating_sub(view.promised.floor());
        let error = || overpromised(left).with_value(guaranteed.floor());
        // A guarantee that is lowered, or stays, always fits.
        Ok((guaranteed.floor() > left && guaranteed.floor() > own).then(error))
    }
}
