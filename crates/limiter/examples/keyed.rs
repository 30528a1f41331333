//! A limit per client address, as a web server would use it: `cargo run -p tollgate-limiter --example keyed`

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use std::time::Duration;
use tollgate_limiter::{Error, Limit, Limiter, ManualClock};

fn main() -> Result<(), Error> {
    // A clock that moves when told to, so that the output is always the same.
    let clock = ManualClock::default();
    let limiter = Limiter::builder().max_keys(10_000).build_with_clock(clock.clone());
    let limit = Limit::new(2, 3)?; // two a second, three at once

    for (pause, client) in [
        (0, "203.0.113.7"),
        (0, "203.0.113.7"),
        (0, "203.0.113.7"),
        (0, "203.0.113.7"),
        (0, "198.51.100.4"),
        (500, "203.0.113.7"),
    ] {
        clock.advance(Duration::from_millis(pause));
        let answer = limiter.allow(client, &limit)?;
        match answer.retry_after() {
            _ if answer.is_allowed() => println!("{client:12} 200, {} left", answer.remaining()),
            Some(wait) => println!("{client:12} 429, retry after {} ms", wait.as_millis()),
            None => println!("{client:12} 429, never"),
        }
    }
    Ok(())
}
