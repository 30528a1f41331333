//! The arithmetic of Tollgate.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod algorithm;
pub mod cost;
pub mod id;
pub mod priority;
pub mod quota;
pub mod units;
