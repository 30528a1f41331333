//! L3: what a node holds and decides by itself.

pub mod connection;
