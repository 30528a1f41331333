//! Drills: real gateways on a real ledger under load, while something is broken.
//!
//! A [`Drill`] is data: what is started, what is done to it, and what is forgiven. [`play`] carries it out and returns an
//! [`Outcome`], which knows its numbers and whether they are what was promised. [`catalogue::all`] has every drill;
//! [`soak`] is the one in which nothing is broken and memory is watched.

pub mod catalogue;
mod crowd;
mod disk;
mod drill;
mod gateway;
mod http;
mod level;
mod load;
mod outcome;
mod play;
mod promise;
mod pulse;
mod scene;
mod soak;
mod upstream;
mod watch;

pub use drill::{
    ByGateway, ByLine, ByNetwork, ByRedis, ByUpstream, Crowd, Drill, File, Form, Ledger, Login, Loss, Room,
    Server, Stage, Step,
};
pub use level::Level;
pub use load::Series;
pub use outcome::{Mark, Outcome};
pub use play::{Played, Program, play};
pub use promise::RATE;
pub use soak::{Slope, Soak, soak};
