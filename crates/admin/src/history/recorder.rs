use super::demand::Demand;
use super::series::Series;
use super::{APP, WHOLE, WHOLE_WIDTH};
use std::collections::BTreeMap;

/// The most applications whose history is kept.
const MAX_APPS: usize = 2_000;

/// How often each series is written to disk, in seconds.
const SAVE_EVERY: u32 = 300;

/// What happened: to all applications together, and to each.
#[derive(Debug)]
pub(crate) struct Recorder {
    overall: Series,
    apps: BTreeMap<String, Series>,
    demand: Demand,
}

/// A series as it is kept: its name and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// The name of what happened to all applications together; no application can have it.
const OVERALL_NAME: &str = "*";

/// What demand is kept under; no application can have it.
pub(crate) const DEMAND_PREFIX: &str = "demand/";

impl Default for Recorder {
    fn default() -> Self {
        Self { overall: Series::new(WHOLE), apps: BTreeMap::new(), demand: Demand::default() }
    }
}

impl Recorder {
    pub(crate) fn add_overall(&mut self, at: u32, values: &[f32; WHOLE_WIDTH]) {
        self.overall.add(at, values);
    }

    pub(crate) fn add_app(&mut self, at: u32, app: &str, values: &[f32]) {
        if let Some(series) = self.apps.get_mut(app) {
            series.add(at, values);
        } else if self.apps.len() < MAX_APPS {
            let mut series = Series::new(APP);
            series.add(at, values);
            self.apps.insert(app.to_owned(), series);
        }
    }

    /// What an application asked for in a second, whether it got it or not.
    pub(crate) fn add_demand(&mut self, at: u32, app: &str, cost: u64) {
        self.demand.add(at, app, cost);
    }

    pub(crate) const fn overall(&self) -> &Series {
        &self.overall
    }

    pub(crate) fn app(&self, app: &str) -> Option<&Series> {
        self.apps.get(app)
    }

    pub(crate) const fn demand(&self) -> &Demand {
        &self.demand
    }

    /// Forgets an application that is gone.
    pub(crate) fn forget(&mut self, app: &str) {
        self.apps.remove(app);
        self.demand.forget(app);
    }

    /// The applications that there is a history of.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.apps.keys()
    }

    /// What is to be written in this second: each series in its turn, so that no second has much to write.
    pub(crate) fn due(&self, at: u32) -> Vec<Saved> {
        let turn = |index: usize| (index + at as usize).is_multiple_of(SAVE_EVERY as usize);
        let mut saved: Vec<Saved> =
            self.named().enumerate().filter(|(i, _)| turn(*i)).map(|(_, s)| s.save()).collect();
        let demand = self.demand.names().enumerate().filter(|(i, _)| turn(i + 150)).map(|(_, name)| name);
        saved.extend(demand.filter_map(|name| self.saved_demand(name)));
        saved
    }

    /// Everything, before the process ends.
    pub(crate) fn all(&self) -> Vec<Saved> {
        let demand = self.demand.names().filter_map(|name| self.saved_demand(name));
        self.named().map(Named::save).chain(demand).collect()
    }

    /// Goes on from what was kept.
    pub(crate) fn restore(&mut self, name: &str, data: &[u8]) {
        if let Some(app) = name.strip_prefix(DEMAND_PREFIX) {
            self.demand.restore(app, data);
        } else if name == OVERALL_NAME {
            self.overall = Series::from_bytes(WHOLE, data).unwrap_or_else(|| Series::new(WHOLE));
        } else if let Some(series) = Series::from_bytes(APP, data).filter(|_| self.apps.len() < MAX_APPS) {
            self.apps.insert(name.to_owned(), series);
        }
    }

    fn named(&self) -> impl Iterator<Item = Named<'_>> {
        let overall = Named { name: OVERALL_NAME, series: &self.overall };
        std::iter::once(overall).chain(self.apps.iter().map(|(name, series)| Named { name, series }))
    }

    fn saved_demand(&self, app: &str) -> Option<Saved> {
        Some(Saved { name: format!("{DEMAND_PREFIX}{app}"), data: self.demand.to_bytes(app)? })
    }
}

struct Named<'a> {
    name: &'a str,
    series: &'a Series,
}

impl Named<'_> {
    fn save(self) -> Saved {
        Saved { name: self.name.to_owned(), data: self.series.to_bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RINGS;
    use super::*;

    #[test]
    fn every_series_has_its_turn_and_comes_back() {
        let mut recorder = Recorder::default();
        for i in 0..1_000 {
            recorder.add_app(600, &format!("app-{i}"), &[1.0; 7]);
        }
        recorder.add_demand(600, "app-7", 5);
        recorder.add_demand(660, "app-7", 6);
        let mut restored = Recorder::default();
        let mut most = 0;
        for second in 0..SAVE_EVERY {
            let due = recorder.due(second);
            most = most.max(due.len());
            for saved in &due {
                restored.restore(&saved.name, &saved.data);
            }
        }
        assert!(most <= 5, "{most} in one second");
        assert_eq!(restored.names().count(), 1_000);
        assert_eq!(restored.demand().of("app-7", 0).next(), Some((600, 5)));
    }

    #[test]
    fn an_application_takes_what_the_documentation_says() {
        let of_a_point = size_of::<u32>() + APP.len() * size_of::<f32>();
        let points: usize = RINGS.iter().map(|(_, most)| most).sum();
        assert!((54_000..56_000).contains(&(points * of_a_point)), "55 KB of memory");
        assert!((44_000..46_000).contains(&Series::new(APP).to_bytes().len()), "45 KB of the database");
    }

    #[test]
    fn the_number_of_applications_is_bounded() {
        let mut recorder = Recorder::default();
        for i in 0..MAX_APPS + 100 {
            recorder.add_app(1, &format!("app-{i}"), &[0.0; 7]);
        }
        assert_eq!(recorder.names().count(), MAX_APPS);
    }
}
