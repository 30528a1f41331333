//! The server behind the gateways. It counts what reaches it, which is what was admitted, whoever lost the answer.

use anyhow::Context;
use socket2::{Domain, Socket, Type};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Requests that name this application are counted.
pub(crate) const COUNTED: &str = "x-tollgate-app: app\r\n";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A server that can die and come back on the same port.
#[derive(Debug)]
pub(crate) struct Upstream {
    port: u16,
    served: Arc<AtomicU64>,
    life: Option<Arc<Life>>,
}

/// From one start to the next death.
#[derive(Debug, Default)]
struct Life {
    is_over: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl Upstream {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let mut upstream = Self { port: 0, served: Arc::default(), life: None };
        upstream.revive()?;
        Ok(upstream)
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// How many requests of the application have come.
    pub(crate) fn served(&self) -> u64 {
        self.served.load(Ordering::SeqCst)
    }

    /// Closes its port and all its connections.
    pub(crate) fn die(&mut self) {
        let Some(life) = self.life.take() else { return };
        life.is_over.store(true, Ordering::SeqCst);
        // Wakes whoever waits for the next connection, so that the port is closed.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
        for connection in life.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// Starts it, on the port that it had if it had one.
    pub(crate) fn revive(&mut self) -> anyhow::Result<()> {
        let listener = listen(self.port)?;
        self.port = listener.local_addr()?.port();
        let (life, served) = (Arc::new(Life::default()), Arc::clone(&self.served));
        self.life = Some(Arc::clone(&life));
        thread::spawn(move || accept(&listener, &life, &served));
        Ok(())
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.die();
    }
}

/// The port may be held for a moment by what is left of an earlier life.
fn listen(port: u16) -> anyhow::Result<TcpListener> {
    let mut tries = 0;
    loop {
        match bind(port) {
            Err(_) if tries < 100 => thread::sleep(Duration::from_millis(20)),
            bound => return bound.context("no port for the server behind the gateways"),
        }
        tries += 1;
    }
}

/// A crowd at the gateways is a crowd here: with the usual queue of 128, some would have to knock again after a second.
fn bind(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    socket.listen(4_096)?;
    Ok(socket.into())
}

fn accept(listener: &TcpListener, life: &Arc<Life>, served: &Arc<AtomicU64>) {
    for stream in listener.incoming().flatten() {
        if life.is_over.load(Ordering::SeqCst) {
            return;
        }
        if let Ok(copy) = stream.try_clone() {
            life.connections.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        }
        let served = Arc::clone(served);
        // How a connection ends is the gateway's business.
        thread::spawn(move || serve(&stream, &served));
    }
}

fn serve(stream: &TcpStream, served: &AtomicU64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        head.clear();
        let mut length = 0;
        while !head.ends_with("\r\n\r\n") {
            let from = head.len();
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
            let line = head[from..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        if head.to_ascii_lowercase().contains(COUNTED) {
            served.fetch_add(1, Ordering::SeqCst);
        }
        io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
        (&*stream).write_all(ANSWER)?;
    }
}
