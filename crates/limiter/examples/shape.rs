//! A leaky bucket that turns a burst into an even flow: `cargo run -p tollgate-limiter --example shape`

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use std::thread;
use std::time::Instant;
use tollgate_limiter::{Algorithm, Bucket, Error, Limit};

fn main() -> Result<(), Error> {
    // Ten a second leave, five fit in.
    let bucket = Bucket::new(Algorithm::LeakyBucket, Limit::new(10, 5)?);
    let start = Instant::now();
    let burst: Vec<_> = (1..=7).map(|packet| bucket.try_acquire(1).map(|answer| (packet, answer))).collect();
    for admitted in burst {
        let (packet, answer) = admitted?;
        if !answer.is_allowed() {
            println!("packet {packet} does not fit");
            continue;
        }
        let leaves_at = answer.delay();
        thread::sleep(leaves_at.saturating_sub(start.elapsed()));
        println!("packet {packet} leaves after {:3} ms", start.elapsed().as_millis());
    }
    Ok(())
}
