//! How large a system is, and its story.

use serde::Serialize;
use std::fmt;

/// Requests per second of each node: enough that every node has something to say, few enough that thousands can be played.
pub(super) const PER_NODE: usize = 20;

/// What a request costs on average.
const COST: usize = 3;

/// From how many nodes on the story is shorter.
const LARGE: usize = 1_000;

/// How large a system is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Size {
    pub(super) nodes: usize,
    pub(super) apps: usize,
    pub(super) clusters: usize,
    pub(super) kind: Kind,
}

/// How much is asked for, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Kind {
    /// Less than what was promised, and it moves from one half of the nodes to the other.
    Plenty,
    /// Twice what was promised; few make most of the traffic.
    Scarce,
    /// Twice what was promised, and everybody was promised as little.
    Tiny,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Plenty, Self::Scarce, Self::Tiny];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plenty => "plenty",
            Self::Scarce => "scarce",
            Self::Tiny => "tiny",
        }
    }

    pub(super) const fn about(self) -> &'static str {
        match self {
            Self::Plenty => "Plenty: the load moves between the nodes",
            Self::Scarce => "Scarce: everybody wants twice its guarantee",
            Self::Tiny => "Tiny: the same, and each request is the first of its application at its node",
        }
    }

    /// How much more popular the first applications are: the exponent of Zipf's law.
    const fn skew(self) -> f64 {
        match self {
            Self::Plenty | Self::Scarce => 1.1,
            Self::Tiny => 0.0,
        }
    }
}

impl Size {
    /// How many times the work of `other` it makes: as many as it has nodes. Applications hardly matter, as long as each node
    /// has as many requests.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub(super) fn growth(&self, other: &Self) -> f64 {
        self.nodes as f64 / other.nodes as f64
    }

    /// The story that is played.
    pub(super) fn story(&self) -> String {
        let Self { nodes, clusters, kind, .. } = *self;
        let (run, moves) = if nodes < LARGE { (20, 5) } else { (9, 4) };
        let promises = self.promises();
        // A third of it is promised.
        let capacity = promises.iter().sum::<usize>() * 3;
        let moving = if kind == Kind::Plenty { format!(" moving every {moves}s") } else { String::new() };
        let rate = nodes * PER_NODE / clusters;
        let mut lines = vec![format!("nodes {nodes}\nrun {run}s\nmeasure from 5s")];
        lines.extend((0..clusters).map(|cluster| format!("cluster c{cluster:02} capacity {capacity}")));
        for cluster in 0..clusters {
            lines.extend(promises.iter().enumerate().map(|(app, promised)| {
                let burst = promised * 5;
                format!("app t{cluster:02}-{app:05} guaranteed {promised} burst {burst} borrows nothing on c{cluster:02}")
            }));
            let skew = kind.skew();
            lines.push(format!("load t{cluster:02}-* zipf {skew} poisson {rate}/s cost 1 to 5{moving}"));
        }
        lines.join("\n")
    }

    /// What each application of a cluster is promised.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and never negative"
    )]
    fn promises(&self) -> Vec<usize> {
        let Self { nodes, apps, clusters, kind } = *self;
        let (count, demand) = ((apps / clusters).max(1), nodes * PER_NODE * COST);
        if kind == Kind::Plenty {
            return vec![demand * 2; count];
        }
        let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-kind.skew())).collect();
        let half = demand as f64 / clusters as f64 / 2.0 / weights.iter().sum::<f64>();
        weights.iter().map(|weight| ((weight * half) as usize).max(1)).collect()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, apps, clusters, kind } = self;
        write!(f, "{nodes} nodes, {apps} applications, {clusters} clusters, {}", kind.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_promised_is_half_of_what_is_asked_for_and_the_first_gets_most() {
        let size = Size { nodes: 100, apps: 1_000, clusters: 1, kind: Kind::Scarce };
        let promises = size.promises();
        let sum: usize = promises.iter().sum();
        assert!((2_500..=3_500).contains(&sum), "{sum}");
        assert!(
            promises.is_sorted_by(|first, second| first >= second) && promises[0] > 300 && promises[999] == 1
        );
        let tiny = Size { kind: Kind::Tiny, ..size };
        assert_eq!(tiny.promises(), vec![3; 1_000]);
    }

    #[test]
    fn every_story_can_be_read() {
        for kind in Kind::ALL {
            for (nodes, apps, clusters) in [(1, 1, 1), (10, 100, 4), (1_000, 10, 16)] {
                let story = Size { nodes, apps, clusters, kind }.story();
                assert!(tollgate_sim::Scenario::parse("scale", &story).is_ok(), "{story}");
            }
        }
    }
}
