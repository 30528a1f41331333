//! What happened in the last week, bounded in memory and on disk, and still there after a restart.

mod demand;
mod recorder;
mod series;

pub(crate) use demand::Demand;
pub(crate) use recorder::{DEMAND_PREFIX, Recorder, Saved};
pub(crate) use series::{Kind, Point, RINGS, Series};

use serde::{Deserialize, Serialize};
use tollgate_core::cost::Operation;
use utoipa::ToSchema;

/// How far back to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) enum Range {
    /// Five minutes, by the second.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// An hour, by ten seconds.
    #[default]
    #[serde(rename = "1h")]
    Hour,
    /// Six hours, by the minute.
    #[serde(rename = "6h")]
    SixHours,
    /// A day, by four minutes.
    #[serde(rename = "24h")]
    Day,
    /// A week, by half hours.
    #[serde(rename = "7d")]
    Week,
}

impl Range {
    pub(crate) const fn ring(self) -> usize {
        self as usize
    }

    /// Seconds of a point.
    pub(crate) const fn step(self) -> u32 {
        RINGS[self as usize].0
    }

    /// Seconds in all.
    pub(crate) const fn seconds(self) -> u32 {
        match self {
            Self::FiveMinutes => 300,
            Self::Hour => 3_600,
            Self::SixHours => 6 * 3_600,
            Self::Day => 24 * 3_600,
            Self::Week => 7 * 24 * 3_600,
        }
    }
}

macro_rules! columns {
    ($module:ident, $kinds:ident: $($index:literal $name:ident $kind:ident,)+) => {
        /// Which number of a point is which.
        pub(crate) mod $module {
            $(pub(crate) const $name: usize = $index;)+
        }
        const $kinds: &[Kind] = &[$(Kind::$kind),+];
    };
}

columns! { of_all, OVERALL:
    0 REQUESTS Sum, 1 COST Sum, 2 REFUSED Sum, 3 REFUSED_COST Sum, 4 MISSES Sum, 5 SHADOWED Sum,
    6 SLACK Gauge, 7 CAPACITY Gauge, 8 USAGE Gauge, 9 RIGHTS Gauge, 10 BURST Gauge, 11 OUTSTANDING Gauge,
    12 HELD Gauge, 13 CONNECTIONS Gauge, 14 CONNECTIONS_REJECTED Sum, 15 CONNECTIONS_LEAKED Sum,
    16 LATENCY_MS Gauge,
}

columns! { of_app, APP:
    0 REQUESTS Sum, 1 COST Sum, 2 REFUSED Sum, 3 REFUSED_COST Sum, 4 RIGHTS Gauge, 5 CONNECTIONS Gauge,
    6 HELD Gauge,
}

/// How many numbers a point has for all applications together, operations left aside.
pub(crate) const OVERALL_WIDTH: usize = OVERALL.len();

/// How many numbers a point of an application has.
pub(crate) const APP_WIDTH: usize = APP.len();

/// The same with requests and cost of each operation behind them.
pub(crate) const WHOLE_WIDTH: usize = OVERALL_WIDTH + 2 * Operation::COUNT;

const WHOLE: &[Kind] = &{
    let mut kinds = [Kind::Sum; WHOLE_WIDTH];
    let mut i = 0;
    while i < OVERALL_WIDTH {
        kinds[i] = OVERALL[i];
        i += 1;
    }
    kinds
};

/// Where requests of an operation are counted.
pub(crate) const fn requests_of(operation: Operation) -> usize {
    OVERALL_WIDTH + 2 * operation.index()
}

/// Where the cost of an operation is counted.
pub(crate) const fn cost_of(operation: Operation) -> usize {
    requests_of(operation) + 1
}
