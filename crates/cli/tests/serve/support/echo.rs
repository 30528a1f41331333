use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A server behind the gateway that answers with the request, head and body, byte by byte; and whatever is said on a connection
/// that it was asked to upgrade, it says back.
pub(crate) struct Echo {
    address: SocketAddr,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // How a connection ends is the client's business.
                thread::spawn(move || drop(serve(&stream)));
            }
        });
        Self { address }
    }

    /// A route to it, for a configuration.
    pub(crate) fn route(&self) -> String {
        format!(
            "[[upstreams]]\nid = 'echo'\nservers = ['http://{}']\n[[routes]]\nupstream = 'echo'\n",
            self.address
        )
    }
}

fn serve(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            if reader.read_until(b'\n', &mut request)? == 0 {
                return Ok(());
            }
        }
        let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
        if head.contains("\r\nupgrade: ") {
            writer.write_all(
                b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
            )?;
            return std::io::copy(&mut reader, &mut writer).map(drop);
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        reader.by_ref().take(length.unwrap_or(0)).read_to_end(&mut request)?;
        write!(writer, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", request.len())?;
        writer.write_all(&request)?;
    }
}
