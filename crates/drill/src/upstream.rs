//! The server behind the gateways. It counts what reaches it, which is what was admitted, whoever lost the answer.
//!
//! One thread serves all connections. With a thread for each, a crowd at the gateways had a thousand threads start here, and whatever
//! else was due on the machine waited for them: requests for up to 340 ms, and a gateway for its ledger until it gave up.

use anyhow::Context;
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Requests that name this application are counted.
pub(crate) const COUNTED: &str = "x-tollgate-app: app\r\n";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A server that can die and come back on the same port.
#[derive(Debug)]
pub(crate) struct Upstream {
    port: u16,
    served: Arc<AtomicU64>,
    life: Option<Life>,
}

/// From one start to the next death.
#[derive(Debug)]
struct Life {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
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
        if let Some(life) = self.life.take() {
            let _ = life.end.send(());
            let _ = life.thread.join();
        }
    }

    /// Starts it, on the port that it had if it had one.
    pub(crate) fn revive(&mut self) -> anyhow::Result<()> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let listener = listen(self.port)?;
        self.port = listener.local_addr()?.port();
        let served = Arc::clone(&self.served);
        let (end, ended) = oneshot::channel();
        let thread = thread::spawn(move || live(&runtime, listener, &served, ended));
        self.life = Some(Life { end, thread });
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
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Serves until it is told to end. What is open then is closed with the runtime.
fn live(runtime: &Runtime, listener: TcpListener, served: &Arc<AtomicU64>, ended: oneshot::Receiver<()>) {
    runtime.block_on(async {
        tokio::select! {
            _ = ended => {}
            () = accept(listener, served) => {}
        }
    });
}

async fn accept(listener: TcpListener, served: &Arc<AtomicU64>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            // How a connection ends is the gateway's business.
            tokio::spawn(serve(stream, Arc::clone(served)));
        }
    }
}

async fn serve(stream: TcpStream, served: Arc<AtomicU64>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    loop {
        head.clear();
        let mut length = 0;
        while !head.ends_with("\r\n\r\n") {
            let from = head.len();
            if stream.read_line(&mut head).await? == 0 {
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
        tokio::io::copy(&mut (&mut stream).take(length), &mut tokio::io::sink()).await?;
        stream.write_all(ANSWER).await?;
    }
}
