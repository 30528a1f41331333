use super::timely;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection on which anything can be said.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    /// Read and not looked at yet.
    rest: Vec<u8>,
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, rest: Vec::new() }
    }

    pub(crate) async fn say(&mut self, text: impl AsRef<[u8]>) {
        self.stream.write_all(text.as_ref()).await.unwrap();
    }

    /// The head of the next response and its body, as far as its length is told.
    pub(crate) async fn hear(&mut self) -> (String, String) {
        let head = timely(self.until(b"\r\n\r\n")).await;
        let head = String::from_utf8(head).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        let body = match length {
            Some(length) => timely(self.exactly(length)).await,
            None => Vec::new(),
        };
        (head, String::from_utf8(body).unwrap())
    }

    /// Everything until the other side closes.
    pub(crate) async fn hear_all(&mut self) -> String {
        let mut all = std::mem::take(&mut self.rest);
        // A reset is a close, too.
        let _ = timely(self.stream.read_to_end(&mut all)).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Whether the other side has closed, without having said more.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.rest.is_empty() && matches!(timely(self.stream.read(&mut [0; 1])).await, Ok(0) | Err(_))
    }

    async fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.rest.windows(end.len()).position(|window| window == end) {
                return self.rest.drain(..at + end.len()).collect();
            }
            self.more().await;
        }
    }

    /// So many bytes.
    pub(crate) async fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.rest.len() < length {
            self.more().await;
        }
        self.rest.drain(..length).collect()
    }

    async fn more(&mut self) {
        let mut buffer = [0; 4096];
        let count = self.stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(&self.rest));
        self.rest.extend_from_slice(&buffer[..count]);
    }
}

/// The status of a head.
pub(crate) fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}
