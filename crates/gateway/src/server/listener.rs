//! Sockets that many threads, and a new process beside the old one, can listen on together.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4_096;

/// Opens `count` listeners on one address, of which the kernel gives each connection to one. If the port is 0,
/// the first listener finds one and the others join it.
pub(crate) fn open(address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::with_capacity(count);
    let mut address = address;
    for _ in 0..count {
        let listener = open_one(address)?;
        address = listener.local_addr()?;
        listeners.push(listener);
    }
    Ok(listeners)
}

fn open_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
