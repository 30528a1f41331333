//! HTTP/1 messages on their way: how the end of a body is found, and how a message is written.

mod appetite;
mod inflow;
mod outflow;

pub(crate) use appetite::Appetite;
pub(crate) use inflow::{Inflow, Step};
pub(crate) use outflow::{Departure, Outflow, Rest, write_field};
