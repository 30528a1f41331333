//! What was promised: the terms of an application (L2) and of a cluster (L1).

use crate::priority::Priority;
use crate::units::{Millis, Rate, Ratio, Tokens};

/// What an application was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quota {
    /// The rate it can always count on.
    pub guaranteed: Rate,
    /// The most it may save, leases included.
    pub burst: Tokens,
    /// How often the burst allowance starts anew.
    pub burst_window: Millis,
    /// How much it matters when there is not enough for all.
    pub priority: Priority,
    /// On what terms it may borrow.
    pub loan: LoanTerms,
}

impl Quota {
    /// How often the burst allowance starts anew, unless configured otherwise.
    pub const DEFAULT_BURST_WINDOW: Millis = Millis::from_secs(60);

    /// What it may draw beyond its bucket in one burst window.
    pub const fn allowance(&self) -> Tokens {
        self.burst.minus(self.guaranteed.per_one_second())
    }
}

/// On what terms an application may borrow from the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoanTerms {
    /// The most that may be borrowed at a time.
    pub limit: Tokens,
    /// What is owed on top of what was borrowed.
    pub interest: Ratio,
    /// The share of the application's refill that goes into paying back.
    pub repay_share: Ratio,
    /// Whether a request that finds nothing else borrows by itself.
    pub automatic: bool,
}

impl Default for LoanTerms {
    fn default() -> Self {
        Self {
            limit: Tokens::whole(10_000),
            interest: Ratio::percent(20),
            repay_share: Ratio::percent(50),
            automatic: true,
        }
    }
}

/// What a cluster can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Capacity {
    /// What the hardware can serve.
    pub rate: Rate,
    /// The share of a second's capacity that bursts and loans may not touch.
    pub reserved: Ratio,
    /// How far above one second's capacity unused headroom may pile up.
    pub burst_ratio: Ratio,
    /// The use at which emergency mode starts by itself.
    pub emergency_threshold: Ratio,
    /// How many connections may be open at once.
    #[cfg_attr(feature = "serde", serde(default = "Capacity::usual_connections"))]
    pub connections: u32,
}

impl Capacity {
    /// The share of the capacity that guarantees may add up to.
    pub const PROMISABLE: Ratio = Ratio::percent(90);

    /// What a cluster may have open that says nothing about it.
    const fn usual_connections() -> u32 {
        5_000
    }

    /// The most that guarantees may add up to.
    pub const fn promisable(&self) -> Rate {
        self.rate.scaled(Self::PROMISABLE)
    }

    /// What bursts and loans must leave.
    pub const fn reserve(&self) -> Tokens {
        self.reserved.of(self.rate.per_one_second())
    }

    /// The most headroom that may pile up, in meters and slack together.
    pub const fn depth(&self) -> Tokens {
        self.burst_ratio.of(self.rate.per_one_second())
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            rate: Rate::per_second(1_000_000),
            reserved: Ratio::percent(10),
            burst_ratio: Ratio::percent(120),
            emergency_threshold: Ratio::percent(95),
            connections: Self::usual_connections(),
        }
    }
}
