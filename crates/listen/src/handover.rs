//! Sockets travel from one process to the next over a Unix socket.
//!
//! It is found by an abstract name with the gateway's address in it. Such names belong to a network namespace, as ports do;
//! they are no files, and gone with their process. Anybody may know one, so both sides look at who the other is: only
//! processes of the same user give and take.
//!
//! The old process sends its sockets, some at a time, and an end mark. When the new one has opened its doors it says so:
//! then the old one gives up its name, and the new one is the one to follow.

use crate::Listeners;
use rustix::fd::OwnedFd;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg, sockopt,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixListener as StdListener, UnixStream as StdStream};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

/// Sockets in one message. The kernel takes up to 253.
const AT_A_TIME: usize = 64;

/// More than any gateway has; whoever sends more is not one of us.
const MOST: usize = 4_096;

/// How long each may keep the other waiting, but for opening doors.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a new process may take to open its doors.
const OPENING: Duration = Duration::from_mins(2);

/// What messages say.
const SOCKETS: u8 = b's';
const ALL: u8 = b'.';
const OPEN: u8 = b'o';

/// The process before this one, which waits to be relieved.
#[derive(Debug)]
pub struct Predecessor(UnixStream);

impl Predecessor {
    /// The process whose gateway listens on this address, and what it listens on; none if no process offers it.
    pub async fn find(address: SocketAddr) -> io::Result<Option<(Self, Listeners)>> {
        let stream = match StdStream::connect_addr(&name(address)?) {
            Ok(stream) => stream,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
            Err(error) => return Err(error),
        };
        stream.set_nonblocking(true)?;
        let stream = UnixStream::from_std(stream)?;
        demand_one_of_us(&stream)?;
        let listeners = Listeners::default();
        timeout(PATIENCE, receive(&stream, &listeners)).await??;
        Ok(Some((Self(stream), listeners)))
    }

    /// Tells it that every door is open. It can be told to stop from now on; this process is the one to follow.
    pub async fn relieve(mut self) -> io::Result<()> {
        let relieved = async {
            self.0.write_all(&[OPEN]).await?;
            self.0.read_u8().await
        };
        timeout(PATIENCE, relieved).await?.map(drop)
    }
}

/// Offers what this process listens on to the one that follows, under the address of its gateway; returns once that one
/// has opened its doors.
pub async fn offer(address: SocketAddr, listeners: Listeners) -> io::Result<()> {
    let socket = StdListener::bind_addr(&name(address)?)?;
    socket.set_nonblocking(true)?;
    let door = UnixListener::from_std(socket)?;
    loop {
        let (mut heir, _) = door.accept().await?;
        // Whatever goes wrong with one, the next may have more luck.
        if hand_over(&mut heir, &listeners).await.is_ok() {
            drop(door);
            return timeout(PATIENCE, heir.write_all(&[OPEN])).await?;
        }
    }
}

async fn hand_over(heir: &mut UnixStream, listeners: &Listeners) -> io::Result<()> {
    demand_one_of_us(heir)?;
    timeout(PATIENCE, send(heir, &listeners.copies()?)).await??;
    match timeout(OPENING, heir.read_u8()).await?? {
        OPEN => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn name(address: SocketAddr) -> io::Result<UnixAddr> {
    UnixAddr::from_abstract_name(format!("tollgate/{address}"))
}

fn demand_one_of_us(stream: &UnixStream) -> io::Result<()> {
    if stream.peer_cred()?.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the process belongs to another user"))
}

async fn send(stream: &UnixStream, sockets: &[TcpListener]) -> io::Result<()> {
    for some in sockets.chunks(AT_A_TIME) {
        let fds: Vec<BorrowedFd<'_>> = some.iter().map(AsFd::as_fd).collect();
        stream.async_io(Interest::WRITABLE, || send_some(stream, &fds)).await?;
    }
    stream.async_io(Interest::WRITABLE, || stream.try_write(&[ALL])).await.map(drop)
}

fn send_some(stream: &UnixStream, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_A_TIME))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(stream, &[IoSlice::new(&[SOCKETS])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

async fn receive(stream: &UnixStream, listeners: &Listeners) -> io::Result<()> {
    let mut count = 0;
    loop {
        let (said, fds) = stream.async_io(Interest::READABLE, || receive_some(stream)).await?;
        count += fds.len();
        for fd in fds {
            // Whatever is no such socket is closed.
            if sockopt::socket_acceptconn(&fd).is_ok_and(|listens| listens) {
                listeners.inherit(TcpListener::from(fd));
            }
        }
        match said {
            Some(ALL) => return Ok(()),
            Some(SOCKETS) if count <= MOST => {}
            Some(_) => return Err(io::ErrorKind::InvalidData.into()),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn receive_some(stream: &UnixStream) -> io::Result<(Option<u8>, Vec<OwnedFd>)> {
    let mut said = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_A_TIME))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(stream, &mut [IoSliceMut::new(&mut said)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let rights = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let fds = rights.flatten().collect();
    Ok(((message.bytes > 0).then_some(said[0]), fds))
}
