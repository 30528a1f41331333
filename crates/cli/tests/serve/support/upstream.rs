use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// A server behind the gateway, with a thread for each connection. What it does is in the path:
/// `/hang` never answers, `/break` sends half of an answer and no more, `/bytes/N` sends that many bytes, anything
/// else gets `ok`.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    requests: AtomicU64,
    bytes: AtomicU64,
    is_over: AtomicBool,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&served);
                thread::spawn(move || {
                    // How a connection ends is the client's business.
                    let _ = serve(&stream, &shared);
                });
            }
        });
        Self { address, shared }
    }

    /// How many requests have come, as far as their heads.
    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }

    /// How many bytes of bodies have come.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::SeqCst)
    }

    /// A route to it, for a configuration.
    pub(crate) fn route(&self) -> String {
        format!(
            "[[upstreams]]\nid = 'up'\nservers = ['http://{}']\n[[routes]]\nupstream = 'up'\n",
            self.address
        )
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or("/").to_owned();
        let (mut length, mut is_chunked) = (0, false);
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "transfer-encoding" => is_chunked = true,
                _ => {}
            }
        }
        shared.requests.fetch_add(1, Ordering::SeqCst);
        if is_chunked {
            while let size @ 1.. = chunk_size(&mut reader)? {
                swallow(&mut reader, size, shared)?;
                chunk_size(&mut reader)?;
            }
            reader.read_line(&mut line)?;
        } else {
            swallow(&mut reader, length, shared)?;
        }
        answer(&path, &mut writer, shared)?;
    }
}

fn answer(path: &str, writer: &mut &TcpStream, shared: &Shared) -> std::io::Result<()> {
    if let Some(count) = path.strip_prefix("/bytes/") {
        let mut left: usize = count.parse().unwrap();
        writer.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {left}\r\n\r\n").as_bytes())?;
        let piece = vec![b'x'; 256 * 1024];
        while left > 0 {
            let size = left.min(piece.len());
            writer.write_all(&piece[..size])?;
            left -= size;
        }
        return Ok(());
    }
    match path {
        "/hang" => wait(shared),
        "/break" => {
            writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf")?;
            wait(shared);
        }
        _ => writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")?,
    }
    Ok(())
}

/// Nothing more comes, for as long as the test goes on.
fn wait(shared: &Shared) {
    while !shared.is_over.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(50));
    }
}

/// The size in a line of its own; an empty line is 0.
fn chunk_size(reader: &mut impl BufRead) -> std::io::Result<u64> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(u64::from_str_radix(line.trim_end(), 16).unwrap_or(0))
}

fn swallow(reader: &mut impl Read, mut length: u64, shared: &Shared) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    while length > 0 {
        let most = usize::try_from(length).unwrap_or(usize::MAX).min(buffer.len());
        let count = reader.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        shared.bytes.fetch_add(count as u64, Ordering::SeqCst);
        length -= count as u64;
    }
    Ok(())
}
