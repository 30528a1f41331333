//! What connections cost that stand idle.

use super::contender::Contender;
use anyhow::Context;
use std::io::{Read, Write};
use std::net::TcpStream;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: bench\r\nx-tollgate-app: app-a\r\n\r\n";

/// Memory for each of `count` connections that have had a request answered and stand idle, in bytes.
#[allow(clippy::cast_precision_loss, reason = "numbers of bytes and connections")]
pub(super) fn weigh(contender: &Contender, count: usize) -> anyhow::Result<f64> {
    // What the first connections need is there for all.
    let _first = open(contender, 100)?;
    let before = contender.resident()?;
    let all = open(contender, count)?;
    let after = contender.resident()?;
    drop(all);
    Ok((after.saturating_sub(before) * 1024) as f64 / count as f64)
}

fn open(contender: &Contender, count: usize) -> anyhow::Result<Vec<TcpStream>> {
    let mut buffer = [0; 4096];
    let mut streams = Vec::with_capacity(count);
    for number in 0..count {
        let stream = TcpStream::connect(("127.0.0.1", contender.port));
        let mut stream = stream.with_context(|| format!("after {number} connections"))?;
        stream.write_all(REQUEST)?;
        let read = stream.read(&mut buffer)?;
        anyhow::ensure!(buffer[..read].starts_with(b"HTTP/1.1 200"), "connection {number} was refused");
        streams.push(stream);
    }
    Ok(streams)
}
