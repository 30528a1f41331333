use super::endpoint::{Group, Standing};
use super::station::Station;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use tollgate_config::gateway::Balance;

/// The servers of a group, as one thread uses them.
pub(crate) struct Fleet<B> {
    stations: Vec<Rc<Station<B>>>,
    balance: Balance,
    next: Cell<usize>,
}

impl<B> Fleet<B> {
    /// Makes a fleet; connections to servers that were in the one before are kept. `start` spreads threads that
    /// would otherwise all begin with the first server.
    pub(crate) fn new(group: &Group, before: Option<&Self>, start: usize) -> Self {
        let station = |endpoint| {
            let known = before?.stations.iter().find(|station| Arc::ptr_eq(&station.endpoint, endpoint))?;
            Some(Rc::clone(known))
        };
        let idle = group.upstream.idle_connections;
        let stations = group
            .endpoints
            .iter()
            .map(|endpoint| {
                station(endpoint).unwrap_or_else(|| Rc::new(Station::new(Arc::clone(endpoint), idle)))
            })
            .collect();
        Self { stations, balance: group.upstream.balance, next: Cell::new(start) }
    }

    /// Every server.
    pub(crate) fn stations(&self) -> &[Rc<Station<B>>] {
        &self.stations
    }

    /// The server for the next request, none of `tried` if there is another; none if all are ill.
    pub(crate) fn pick(&self, tried: &[*const Station<B>]) -> Option<&Rc<Station<B>>> {
        let start = self.next.get();
        self.next.set(start.wrapping_add(1));
        let best = |standing: Standing, again: bool| {
            let count = self.stations.len();
            let in_turn = (0..count).map(|i| &self.stations[start.wrapping_add(i) % count]);
            let mut fit = in_turn.filter(|station| {
                station.endpoint.standing() == standing && (again || !tried.contains(&Rc::as_ptr(station)))
            });
            match self.balance {
                Balance::RoundRobin => fit.next(),
                Balance::LeastInFlight => fit.min_by_key(|station| station.in_flight()),
            }
        };
        let choices = [
            (Standing::Well, false),
            (Standing::Ejected, false),
            (Standing::Well, true),
            (Standing::Ejected, true),
        ];
        choices.into_iter().find_map(|(standing, again)| best(standing, again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_config::source::{Document, Format};

    fn fleet(balance: &str) -> Fleet<()> {
        let text = format!(
            "[[upstreams]]\nid = 'u'\nservers = ['http://a', 'http://b', 'http://c']\nbalance = '{balance}'\n\
             health = {{path = '/', ill_after = 1, well_after = 1, eject_after = 1, eject_ms = 60_000}}"
        );
        let config = Document::parse(&text, Format::Toml).unwrap().read().unwrap();
        let group = Group::new("u", &config.settings.gateway.upstreams["u"], None).unwrap();
        Fleet::new(&group, None, 0)
    }

    fn names(fleet: &Fleet<()>, count: usize) -> String {
        (0..count)
            .filter_map(|_| fleet.pick(&[]))
            .map(|station| station.endpoint.server.host.clone())
            .collect()
    }

    #[test]
    fn servers_take_turns_and_the_unwell_are_passed_over() {
        let fleet = fleet("round_robin");
        assert_eq!(names(&fleet, 6), "abcabc");
        fleet.stations[1].endpoint.failed();
        assert!(!names(&fleet, 9).contains('b'));
        fleet.stations[0].endpoint.answered(false);
        assert_eq!(names(&fleet, 3), "ccc");
        fleet.stations[2].endpoint.answered(false);
        assert_eq!(names(&fleet, 3), "bbb", "better one that failed than none");
        fleet.stations[1].endpoint.answered(false);
        assert_eq!(names(&fleet, 3), "", "nobody who says it is ill");
    }

    #[test]
    fn the_least_busy_is_next() {
        let fleet = fleet("least_in_flight");
        fleet.stations[0].count(2);
        fleet.stations[1].count(1);
        assert_eq!(names(&fleet, 3), "ccc");
    }

    #[test]
    fn another_is_tried_if_there_is_another() {
        let fleet = fleet("round_robin");
        let all: Vec<*const Station<()>> = fleet.stations.iter().map(Rc::as_ptr).collect();
        assert_eq!(fleet.pick(&all[..2]).map(Rc::as_ptr), Some(all[2]));
        assert!(fleet.pick(&all).is_some());
    }
}
