//! The plainest of HTTP clients, over TCP and TLS, which counts on nothing.

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// After which a request is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that is used again and again, and opened anew when it was closed.
pub(crate) struct Client {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
    patience: Duration,
    connection: Option<BufReader<Connection>>,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer, and whether some of it had come.
struct Broken {
    error: io::Error,
    has_begun: bool,
}

enum Connection {
    Plain(TcpStream),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Client {
    pub(crate) fn new(address: SocketAddr, tls: Option<Arc<ClientConfig>>) -> Self {
        Self { address, tls, patience: PATIENCE, connection: None }
    }

    /// Sends a request and reads the answer. A connection that was used before and was closed before anything came back says nothing of
    /// the request: it is sent once more, on a new one, as every client of HTTP does with what may be repeated.
    pub(crate) fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        let Some(used) = self.connection.take() else { return self.ask_on_a_new_one(request) };
        match self.ask_on(used, request) {
            Err(Broken { error, has_begun: false }) if is_closed(&error) => self.ask_on_a_new_one(request),
            asked => asked.map_err(|broken| broken.error),
        }
    }

    /// Opens a new connection with the next request.
    pub(crate) fn hang_up(&mut self) {
        self.connection = None;
    }

    fn ask_on_a_new_one(&mut self, request: &[u8]) -> io::Result<Answer> {
        let new = BufReader::new(self.open()?);
        self.ask_on(new, request).map_err(|broken| broken.error)
    }

    fn ask_on(&mut self, mut connection: BufReader<Connection>, request: &[u8]) -> Result<Answer, Broken> {
        let silent = |error| Broken { error, has_begun: false };
        connection.get_mut().write_all(request).map_err(silent)?;
        if connection.fill_buf().map_err(silent)?.is_empty() {
            return Err(silent(io::ErrorKind::UnexpectedEof.into()));
        }
        let (answer, stays_open) =
            read(&mut connection).map_err(|error| Broken { error, has_begun: true })?;
        self.connection = stays_open.then_some(connection);
        Ok(answer)
    }

    fn open(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&self.address, self.patience)?;
        stream.set_read_timeout(Some(self.patience))?;
        stream.set_write_timeout(Some(self.patience))?;
        stream.set_nodelay(true)?;
        let Some(config) = &self.tls else { return Ok(Connection::Plain(stream)) };
        let name = ServerName::from(self.address.ip());
        let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        Ok(Connection::Encrypted(Box::new(StreamOwned::new(session, stream))))
    }
}

/// Sends one request on a connection of its own.
pub(crate) fn ask(address: SocketAddr, line: &str, body: &str) -> io::Result<Answer> {
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: drill\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    Client::new(address, None).ask((head + body).as_bytes())
}

/// The certificate that is shown to a new connection.
pub(crate) fn certificate(address: SocketAddr, tls: &Arc<ClientConfig>) -> io::Result<Vec<u8>> {
    let mut connection = Client::new(address, Some(Arc::clone(tls))).open()?;
    connection.write_all(b"GET / HTTP/1.1\r\n")?;
    let Connection::Encrypted(stream) = connection else { return Err(io::ErrorKind::InvalidInput.into()) };
    let shown = stream.conn.peer_certificates().and_then(|chain| Some(chain.first()?.to_vec()));
    shown.ok_or_else(|| io::Error::other("no certificate was shown"))
}

/// Has a look, which is not worth waiting for.
pub(crate) fn look(address: SocketAddr, line: &str) -> io::Result<Answer> {
    let mut client = Client { patience: Duration::from_secs(1), ..Client::new(address, None) };
    client.ask(format!("{line} HTTP/1.1\r\nhost: drill\r\n\r\n").as_bytes())
}

/// Whether the other side had closed the connection, or nobody listens.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// The answer, and whether the connection can be used again.
fn read(reader: &mut impl BufRead) -> io::Result<(Answer, bool)> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status in {line:?}")))?;
    let (mut length, mut stays_open) = (0, true);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
            "connection" => stays_open = !value.trim().eq_ignore_ascii_case("close"),
            "transfer-encoding" => return Err(io::Error::other("chunks are not expected here")),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((Answer { status, body }, stays_open))
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Encrypted(stream) => stream.flush(),
        }
    }
}
