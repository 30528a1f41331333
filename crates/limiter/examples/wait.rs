//! Workers that share one limit and wait for their turn: `cargo run -p tollgate-limiter --example wait`

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use std::sync::Arc;
use std::time::Instant;
use tollgate_limiter::{Algorithm, Bucket, Error, Limit};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // Twenty a second, three at once.
    let bucket = Arc::new(Bucket::new(Algorithm::TokenBucket, Limit::new(20, 3)?));
    let start = Instant::now();
    let workers: Vec<_> = (1..=8)
        .map(|worker| {
            let bucket = Arc::clone(&bucket);
            tokio::spawn(async move {
                bucket.acquire(1).await?;
                println!("worker {worker} starts after {:3} ms", start.elapsed().as_millis());
                Ok::<(), Error>(())
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap_or(Ok(()))?;
    }
    Ok(())
}
