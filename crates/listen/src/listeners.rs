use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4_096;

/// What a process listens on.
///
/// Doors open their sockets here, so that all of them can be handed to the process that follows. A socket that was handed
/// to this one is used before another is opened. Clones are the same listeners.
#[derive(Clone, Debug, Default)]
pub struct Listeners(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    /// From the process before; nobody has asked for them yet.
    inherited: Vec<TcpListener>,
    /// A copy of each that is in use, for the process after.
    open: Vec<TcpListener>,
}

impl Listeners {
    /// Listens on an address. If its port is 0, one that is free.
    pub fn open(&self, address: SocketAddr) -> io::Result<TcpListener> {
        let first = self.open_many(address, 1)?.into_iter().next();
        first.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Listens on an address with this many sockets, of which the kernel gives each connection to one; with more if more
    /// were inherited, as there may be somebody waiting at each.
    pub fn open_many(&self, address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
        let mut held = self.held();
        let mut listeners = held.take_inherited(address);
        let mut address = address;
        while listeners.len() < count {
            let listener = open_one(address)?;
            // The others join the first if it found a port.
            address = listener.local_addr()?;
            listeners.push(listener);
        }
        for listener in &listeners {
            held.open.push(listener.try_clone()?);
        }
        Ok(listeners)
    }

    /// Lets go of what the doors have not asked for and of what was kept for a process that follows: once the doors close
    /// theirs, nobody listens.
    pub fn close(&self) {
        *self.held() = Held::default();
    }

    /// Every door is open: what was inherited beyond that is listened on by nobody.
    pub fn settle(&self) {
        self.held().inherited.clear();
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn inherit(&self, listener: TcpListener) {
        self.held().inherited.push(listener);
    }

    /// Copies of all that are open.
    #[cfg(target_os = "linux")]
    pub(crate) fn copies(&self) -> io::Result<Vec<TcpListener>> {
        self.held().open.iter().map(TcpListener::try_clone).collect()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn take_inherited(&mut self, address: SocketAddr) -> Vec<TcpListener> {
        let is_there = |listener: &mut TcpListener| listener.local_addr().is_ok_and(|local| local == address);
        self.inherited.extract_if(.., is_there).collect()
    }
}

/// Other sockets may listen on the same port: those of other threads, and of a process that is about to stop.
fn open_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
