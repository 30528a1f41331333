//! Clients that mean no good, and what they must not get.

use crate::drill::Crowd;
use anyhow::Context;
use socket2::SockRef;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// When a gateway must have got rid of those that keep it waiting: its own two seconds, and what a busy machine takes.
const RID_OF: Duration = Duration::from_secs(10);

/// Nobody has to leave before that.
const LET_IN: Duration = Duration::from_secs(1);

/// Connections that are open at a time when many are opened and dropped.
const AT_A_TIME: usize = 500;

const HEAD: &str = "HTTP/1.1\r\nhost: drill\r\nx-tollgate-app: crowd\r\n";

/// Sends them to all gateways at once, and fails if they get to keep a connection that they should not.
pub(crate) fn send(crowd: Crowd, gateways: &[SocketAddr]) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let sent: Vec<_> =
            gateways.iter().map(|gateway| scope.spawn(move || send_to(crowd, *gateway))).collect();
        sent.into_iter()
            .try_for_each(|one| one.join().unwrap_or_else(|_| anyhow::bail!("a crowd has panicked")))
    })
}

fn send_to(crowd: Crowd, gateway: SocketAddr) -> anyhow::Result<()> {
    match crowd {
        Crowd::SlowHeads(count) => linger(gateway, count, &format!("GET / {HEAD}x-slow: "), b"s"),
        Crowd::HalfBodies(count) => {
            let half = format!("PUT / {HEAD}content-length: 1000\r\n\r\nhalf of it");
            linger(gateway, count, &half, b"")
        }
        Crowd::OpenAndDrop(count) => open_and_drop(gateway, count),
    }
}

fn open(gateway: SocketAddr, count: usize, beginning: &str) -> anyhow::Result<Vec<TcpStream>> {
    let open = |number: usize| {
        let mut stream =
            TcpStream::connect(gateway).with_context(|| format!("after {number} connections"))?;
        stream.write_all(beginning.as_bytes())?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    };
    (0..count).map(open).collect()
}

/// Opens connections and sends a little now and then until all were closed from the other side. Who is sent away at once keeps nobody
/// waiting: they must be let in first.
fn linger(gateway: SocketAddr, count: usize, beginning: &str, little: &[u8]) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut streams = open(gateway, count, beginning)?;
    streams.retain_mut(is_open);
    let let_in = streams.len();
    anyhow::ensure!(let_in == count || start.elapsed() > LET_IN, "{let_in} of {count} were let in");
    let start = Instant::now();
    while !streams.is_empty() {
        let left = streams.len();
        anyhow::ensure!(start.elapsed() < RID_OF, "{left} connections that keep it waiting are still open");
        streams.retain_mut(|stream| stream.write_all(little).is_ok() && is_open(stream));
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// Whatever is said before a connection is closed is of no interest here.
fn is_open(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(1..) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            Ok(0) | Err(_) => return false,
        }
    }
}

/// Half of them send something first, and all are reset, which leaves nothing behind on our side.
fn open_and_drop(gateway: SocketAddr, count: usize) -> anyhow::Result<()> {
    let mut opened = 0;
    while opened < count {
        let batch = AT_A_TIME.min(count - opened);
        let streams = open(gateway, batch / 2, "GET / HTTP/1.1\r\nhost: dr")?;
        for stream in streams.iter().chain(&open(gateway, batch - batch / 2, "")?) {
            SockRef::from(stream).set_linger(Some(Duration::ZERO))?;
        }
        opened += batch;
    }
    Ok(())
}
