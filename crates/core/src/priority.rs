//! How much an application matters when there is not enough for all.

use core::fmt;

/// P0 matters most, P3 least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Priority {
    /// Served in full even in an emergency.
    P0,
    /// The first to lose something in an emergency.
    P1,
    /// Best effort with a small share.
    #[default]
    P2,
    /// Background work.
    P3,
}

/// A number that names no priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPriority(pub u64);

impl Priority {
    /// All priorities, most important first.
    pub const ALL: [Self; 4] = [Self::P0, Self::P1, Self::P2, Self::P3];

    /// The number of the priority: 0 for P0.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Its weight when spare capacity is shared out: 8, 4, 2, 1.
    pub const fn weight(self) -> u64 {
        8 >> self as u8
    }
}

impl TryFrom<u64> for Priority {
    type Error = UnknownPriority;

    fn try_from(number: u64) -> Result<Self, UnknownPriority> {
        usize::try_from(number).ok().and_then(|n| Self::ALL.get(n)).copied().ok_or(UnknownPriority(number))
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.number())
    }
}

impl fmt::Display for UnknownPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a priority from 0 to 3", self.0)
    }
}

impl core::error::Error for UnknownPriority {}
