//! The arithmetic of Tollgate: prices, buckets, tiers and decisions, as plain functions over integers.
//!
//! Nothing in here knows what time it is, talks to anybody or waits for anything: time arrives as an
//! argument, state as a value, and the answer is returned. The crate is `no_std`, so the compiler keeps it
//! that way.
//!
//! | module | what it decides |
//! |---|---|
//! | [`units`] | tokens, rates, ratios and times that cannot be mixed up |
//! | [`cost`] | what a request costs |
//! | [`algorithm`] | token bucket, leaky bucket, GCRA, fixed and sliding window |
//! | [`quota`], [`priority`], [`id`] | what was promised, to whom |
//! | [`account`], [`burst`], [`borrow`] | L2: rights, burst allowance, loans |
//! | [`pool`], [`usage`], [`overload`], [`share`], [`emergency`] | L1: slack, its use and who gets it when it is short |
//! | [`grant`] | what an application gets of what it asks for, and from where |
//! | [`lease`], [`demand`] | L3: how much a node should hold |
//! | [`connection`] | how many connections an application may have, and how many slots a node should hold |
//! | [`degrade`], [`breaker`], [`fallback`] | what to do when the ledger is slow or gone |
//! | [`reservation`], [`reconcile`] | settling what was taken ahead, correcting what drifted |
//! | [`reason`], [`decision`] | the answer |
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod account;
pub mod algorithm;
pub mod borrow;
pub mod breaker;
pub mod burst;
pub mod connection;
pub mod cost;
pub mod decision;
pub mod degrade;
pub mod demand;
pub mod emergency;
pub mod fallback;
pub mod grant;
pub mod id;
pub mod lease;
pub mod network;
pub mod overload;
pub mod pool;
pub mod priority;
pub mod quota;
pub mod reason;
pub mod reconcile;
pub mod reservation;
pub mod share;
#[cfg(test)]
mod test;
pub mod units;
pub mod usage;
