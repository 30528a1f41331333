//! Where each message of an HTTP/1 connection starts and ends.
//!
//! Where one server is lenient another may be lenient in another way, which is how requests are smuggled. So the heads
//! and chunks of clients are read by rules that leave no choice.

mod chunked;
mod fault;
mod head;
mod wish;

pub(crate) use chunked::{Broken, Chunked};
pub(crate) use fault::Fault;
pub(crate) use head::{Bounds, Framed, Outline, Places, Scan, end_of, is_host, scan};
pub(crate) use wish::Wish;
