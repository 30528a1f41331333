//! The plainest of HTTP clients.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.header(name).parse().unwrap_or_else(|_| panic!("{name} in {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }
}

pub(crate) fn open(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
    stream
}

/// Sends `METHOD /path` with header lines and a body on a connection of its own.
pub(crate) fn ask(address: SocketAddr, line: &str, headers: &[&str], body: &str) -> Reply {
    exchange(&mut open(address), line, headers, body).unwrap()
}

/// The same on a connection that is there.
pub(crate) fn ask_on(stream: &mut TcpStream, line: &str, headers: &[&str]) -> Reply {
    exchange(stream, line, headers, "").unwrap()
}

pub(crate) fn exchange(
    stream: &mut TcpStream,
    line: &str,
    headers: &[&str],
    body: &str,
) -> io::Result<Reply> {
    let length = format!("content-length: {}", body.len());
    let first = format!("{line} HTTP/1.1");
    let mut lines = vec![first.as_str(), "host: tollgate.test"];
    lines.extend(headers);
    if !body.is_empty() {
        lines.push(&length);
    }
    stream.write_all(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes())?;
    read(&mut BufReader::new(stream))
}

fn read(reader: &mut impl BufRead) -> io::Result<Reply> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status in {line:?}")))?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut reply = Reply { status, headers, body: Vec::new() };
    if reply.header("transfer-encoding").eq_ignore_ascii_case("chunked") {
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let size = u64::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
            reader.by_ref().take(size).read_to_end(&mut reply.body)?;
            line.clear();
            reader.read_line(&mut line)?;
            if size == 0 {
                return Ok(reply);
            }
        }
    }
    let length = reply.header("content-length").parse().unwrap_or(0);
    reader.by_ref().take(length).read_to_end(&mut reply.body)?;
    Ok(reply)
}
