use anyhow::Context;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// A line between clients and a server on this machine that can be made slow, silent, or cut.
#[derive(Debug)]
pub struct Link {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    server: AtomicU16,
    /// How long everything takes on its way to the server.
    delay_ms: AtomicU64,
    /// Whether everything gets lost on its way.
    is_silent: AtomicBool,
    /// Connections of an earlier generation are cut.
    generation: AtomicU64,
    /// How many connections there have been.
    opened: AtomicU64,
    /// So many of the first ones were cut.
    cut: AtomicU64,
    /// What is said on so many of the first ones is swallowed.
    forgotten: AtomicU64,
    is_over: AtomicBool,
}

/// One connection on it.
#[derive(Clone, Copy, Debug)]
struct Line {
    generation: u64,
    number: u64,
}

impl Link {
    /// A line to the server on that port.
    pub fn to(server: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port for a link")?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State { server: AtomicU16::new(server), ..State::default() });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                shared.connect(client);
            }
        });
        Ok(Self { port, state })
    }

    /// Where clients connect to.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Lets everything that is said to the server take that long on its way.
    pub fn delay(&self, delay: Duration) {
        let millis = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        self.state.delay_ms.store(millis, Ordering::Relaxed);
    }

    /// Swallows everything, with connections left open, or stops doing so: what was swallowed is gone, and with it the
    /// sense of those connections, so they are cut.
    pub fn silence(&self, is_silent: bool) {
        self.state.is_silent.store(is_silent, Ordering::Relaxed);
        if !is_silent {
            self.cut();
        }
    }

    /// Swallows what is said on the connections that are open, for good; new ones carry. So it is where somebody between the two has
    /// forgotten them.
    pub fn forget(&self) {
        self.state.forgotten.store(self.state.opened.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whether there has been a connection since they were cut.
    pub fn is_in_use(&self) -> bool {
        self.state.opened.load(Ordering::Relaxed) > self.state.cut.load(Ordering::Relaxed)
    }

    /// Cuts all connections; new ones can be made.
    pub fn cut(&self) {
        self.state.cut.store(self.state.opened.load(Ordering::Relaxed), Ordering::Relaxed);
        self.state.generation.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        self.cut();
        // Wakes the listener, so that it notices.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

impl State {
    fn connect(self: &Arc<Self>, client: TcpStream) {
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.server.load(Ordering::Relaxed)))
        else {
            return;
        };
        let (Ok(from_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else { return };
        let line = Line {
            generation: self.generation.load(Ordering::Relaxed),
            number: self.opened.fetch_add(1, Ordering::Relaxed),
        };
        let (there, back) = (Arc::clone(self), Arc::clone(self));
        thread::spawn(move || there.pump(from_client, server, line, true));
        thread::spawn(move || back.pump(from_server, client, line, false));
    }

    fn swallows(&self, line: Line) -> bool {
        self.is_silent.load(Ordering::Relaxed) || line.number < self.forgotten.load(Ordering::Relaxed)
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream, line: Line, is_delayed: bool) {
        let _ = from.set_read_timeout(Some(Duration::from_millis(20)));
        let _ = to.set_nodelay(true);
        let mut buffer = vec![0; 65_536];
        while self.generation.load(Ordering::Relaxed) == line.generation {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if is_timeout(&error) => continue,
                Err(_) => break,
            };
            if self.swallows(line) {
                continue;
            }
            if is_delayed {
                thread::sleep(Duration::from_millis(self.delay_ms.load(Ordering::Relaxed)));
            }
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                thread::spawn(move || std::io::copy(&mut client.try_clone().unwrap(), &mut client));
            }
        });
        port
    }

    #[test]
    fn carries_swallows_and_cuts() {
        let link = Link::to(echo()).unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, link.port())).unwrap();
        let mut buffer = [0; 4];

        let mut client = connect();
        client.write_all(b"ping").unwrap();
        client.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"ping");

        link.silence(true);
        client.write_all(b"lost").unwrap();
        client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(is_timeout(&client.read(&mut buffer).unwrap_err()));
        link.silence(false);
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        assert!(!matches!(client.read(&mut buffer), Ok(1..)), "cut, and nothing came");

        let mut client = connect();
        client.write_all(b"more").unwrap();
        client.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"more");
        assert!(link.is_in_use());
        link.cut();
        assert!(!link.is_in_use());
        let mut client = connect();
        client.write_all(b"then").unwrap();
        client.read_exact(&mut buffer).unwrap();
        assert!(link.is_in_use());

        link.forget();
        client.write_all(b"lost").unwrap();
        client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(is_timeout(&client.read(&mut buffer).unwrap_err()), "it is forgotten, and not cut");
        let mut another = connect();
        another.write_all(b"rest").unwrap();
        another.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"rest");
    }
}
