use crate::chance::seconds;
use tollgate_core::units::Nanos;

/// Requests of one or more applications.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Whose requests, by number; drawn by rank if there are several.
    pub apps: Vec<usize>,
    /// How much more often the first of them is drawn than the others: the exponent of Zipf's law.
    pub skew: f64,
    /// How they come.
    pub shape: Shape,
    /// How many there are in a second, at the height of it.
    pub rate: f64,
    /// Where they come to.
    pub place: Place,
    /// What one costs: at least this, at most that.
    pub cost: (u64, u64),
    /// The share of them that is given up before it gets anywhere.
    pub cancelled: f64,
    /// When they start.
    pub from: Nanos,
    /// When they stop.
    pub until: Nanos,
}

/// How requests come over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// One after the other, at equal distances.
    Steady,
    /// Each by itself, as those of many users do.
    Poisson,
    /// As many for some time, none for some time.
    Bursts {
        /// How long there are.
        on: Nanos,
        /// How long there are none.
        off: Nanos,
    },
    /// Up and down, as day and night.
    Diurnal {
        /// How long a day is.
        period: Nanos,
    },
    /// All at once, then fewer and fewer.
    Flash {
        /// How long until half of them have left.
        half: Nanos,
    },
}

/// Which nodes requests come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// All.
    Everywhere,
    /// From the first number to the last, without it.
    Range(usize, usize),
    /// A part of them, and the next part when the time is up.
    Moving {
        /// The share of the nodes.
        share: f64,
        /// How long they stay.
        every: Nanos,
    },
}

impl Load {
    /// The share of the rate that is there at a time.
    pub(crate) fn strength(&self, at: Nanos) -> f64 {
        let since = seconds(at.since(self.from));
        match self.shape {
            Shape::Steady | Shape::Poisson => 1.0,
            Shape::Bursts { on, off } => {
                let (on, period) = (seconds(on), seconds(on.plus(off)));
                if since % period < on { 1.0 } else { 0.0 }
            }
            Shape::Diurnal { period } => 0.5 - 0.5 * (since / seconds(period) * std::f64::consts::TAU).cos(),
            Shape::Flash { half } => (-since / seconds(half)).exp2(),
        }
    }

    /// The nodes that requests come to at a time, of `nodes`: the first, and how many from there on, around the corner.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "small"
    )]
    pub(crate) fn nodes(&self, at: Nanos, nodes: usize) -> (usize, usize) {
        match self.place {
            Place::Everywhere => (0, nodes),
            Place::Range(from, to) => (from.min(nodes), to.min(nodes).saturating_sub(from)),
            Place::Moving { share, every } => {
                let width = ((nodes as f64 * share) as usize).clamp(1, nodes.max(1));
                let turn = at.since(self.from).get() / every.get().max(1);
                ((turn as usize).wrapping_mul(width) % nodes.max(1), width)
            }
        }
    }
}
