//! Many changes at once: all of them fit, or none is made.

use super::{Change, Found, Terms, all, cluster, to_come};
use crate::problem::{FieldError, Problem};
use crate::state::Admin;
use serde_json::Value;
use std::collections::BTreeMap;
use tollgate_config::policy;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::quota::Capacity;
use tollgate_core::units::Rate;

/// What shall be: applications, there or not there, and what clusters can stand. The rest stays as it is.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) apps: BTreeMap<AppId, Option<policy::App>>,
    pub(crate) clusters: BTreeMap<ClusterId, Capacity>,
}

/// What is, those applications included that are only scheduled to be added.
#[derive(Debug)]
pub(crate) struct Present {
    pub(crate) apps: BTreeMap<AppId, Found>,
    pub(crate) clusters: BTreeMap<ClusterId, Capacity>,
}

/// One change of a plan.
#[derive(Debug)]
enum Step<'a> {
    Cluster(&'a ClusterId, &'a Capacity, &'a Capacity),
    Put(&'a AppId, &'a policy::App, Option<&'a Found>),
    Remove(&'a Found),
}

impl Present {
    /// Reads everything; the caller holds `changing`.
    pub(crate) async fn read(admin: &Admin) -> Result<Self, Problem> {
        let mut apps = all(&*admin.plane).await?;
        apps.extend(to_come(&*admin.plane, &apps).await?);
        let mut clusters = BTreeMap::new();
        for id in admin.clusters() {
            let view = admin.plane.cluster(&id).await?;
            clusters.insert(id, view.capacity);
        }
        Ok(Self { apps: apps.into_iter().map(|found| (found.id.clone(), found)).collect(), clusters })
    }
}

impl Plan {
    /// Plans a state that an application was in.
    pub(crate) fn app(&mut self, admin: &Admin, id: &str, state: Option<&Value>) -> Result<(), Problem> {
        let id = AppId::new(id).map_err(|_| Problem::not_found("application", id))?;
        let app = state.map(|state| admin.read_document(&id, state)).transpose()?;
        self.apps.insert(id, app);
        Ok(())
    }

    /// Plans a state that a cluster was in.
    pub(crate) fn cluster(&mut self, present: &Present, id: &str, state: &Value) -> Result<(), Problem> {
        let known = present.clusters.get_key_value(id);
        let (id, before) = known.ok_or_else(|| Problem::not_found("cluster", id))?;
        let said = state.as_object().cloned().unwrap_or_default();
        let capacity = cluster::read(id, before, said).map_err(Problem::invalid)?;
        self.clusters.insert(id.clone(), capacity);
        Ok(())
    }

    /// Whether any cluster would be another than it is.
    pub(crate) fn changes_clusters(&self, present: &Present) -> bool {
        self.clusters.iter().any(|(id, after)| present.clusters.get(id) != Some(after))
    }

    /// Whether the guarantees of each cluster fit once all is done, and nothing moves.
    pub(crate) fn check(&self, present: &Present) -> Result<(), Problem> {
        let moved = self.apps.iter().filter_map(|(id, app)| {
            let (found, app) = (present.apps.get(id)?, app.as_ref()?);
            (found.app.cluster != app.cluster).then(|| {
                let message = format!("{id} cannot move, it is on {}", found.app.cluster);
                FieldError::new(
                    "apps",
                    "conflict",
                    message,
                    "the cluster it is on, or that it is removed first",
                )
            })
        });
        let too_much = present.clusters.iter().filter_map(|(id, capacity)| {
            let promisable = self.clusters.get(id).unwrap_or(capacity).promisable();
            let promised = self.promised(present, id);
            (promised > promisable).then(|| {
                let message = format!("the guarantees on {id} add up to more than 90 % of its capacity");
                let most = format!("at most {}", promisable.floor());
                FieldError::new("apps", "conflict", message, most).with_value(promised.floor())
            })
        });
        let errors: Vec<FieldError> = moved.chain(too_much).collect();
        if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
    }

    /// What the guarantees on a cluster add up to once all is done.
    fn promised(&self, present: &Present, cluster: &ClusterId) -> Rate {
        let stay = present.apps.values().filter(|found| !self.apps.contains_key(&found.id));
        let stay = stay.filter(|found| found.app.cluster == *cluster).map(Found::promised);
        let set = self.apps.values().flatten().filter(|app| app.cluster == *cluster);
        stay.chain(set.map(|app| app.quota.guaranteed)).fold(Rate::ZERO, Rate::plus)
    }

    /// Makes the changes, in an order in which the guarantees fit at any time: what clusters can stand grows before
    /// applications do, and shrinks after them; applications that get less come before those that get more. Returns what
    /// was changed, and what went wrong, if something did: a ledger may be gone half-way.
    pub(crate) async fn carry_out(
        &self,
        admin: &Admin,
        present: &Present,
        terms: &Terms,
    ) -> (Vec<Change>, Option<Problem>) {
        let mut changes = Vec::new();
        for step in self.steps(present) {
            let done = match step {
                Step::Cluster(id, before, after) => admin.put_cluster(id, before, after).await,
                Step::Put(id, app, before) => admin.put_app(id, app, before, terms).await,
                Step::Remove(found) => admin.remove_app(found).await,
            };
            match done {
                Ok(change) => changes.push(change),
                Err(problem) => return (changes, Some(problem)),
            }
        }
        (changes, None)
    }

    fn steps<'a>(&'a self, present: &'a Present) -> Vec<Step<'a>> {
        let (growing, shrinking): (Vec<_>, Vec<_>) = self
            .clusters
            .iter()
            .filter_map(|(id, after)| Some((id, present.clusters.get(id)?, after)))
            .filter(|(_, before, after)| before != after)
            .partition(|(_, before, after)| before.rate <= after.rate);
        let step = |(id, before, after)| Step::Cluster(id, before, after);
        let apps = self.app_steps(present);
        growing.into_iter().map(step).chain(apps).chain(shrinking.into_iter().map(step)).collect()
    }

    /// What differs from what is. A change that is scheduled is not what was asked for: setting an application takes it back.
    fn app_steps<'a>(&'a self, present: &'a Present) -> Vec<Step<'a>> {
        let mut steps: Vec<(i128, Step<'a>)> = Vec::new();
        for (id, app) in &self.apps {
            let found = present.apps.get(id);
            let has = found.map_or(Rate::ZERO, Found::promised);
            let is_so = |app: &policy::App| {
                found.is_some_and(|found| found.app == *app && found.view.pending.is_none())
            };
            match (app, found) {
                (Some(app), _) if is_so(app) => {}
                (Some(app), _) => {
                    let more = i128::from(app.quota.guaranteed.millis()) - i128::from(has.millis());
                    steps.push((more, Step::Put(id, app, found)));
                }
                (None, Some(found)) => steps.push((-i128::from(has.millis()), Step::Remove(found))),
                (None, None) => {}
            }
        }
        steps.sort_by_key(|(more, _)| *more);
        steps.into_iter().map(|(_, step)| step).collect()
    }
}
