//! What the kernel takes for a request that is refused, whoever refuses it: a loop that waits for connections, reads each once and
//! writes the same bytes. It looks at nothing, so a server that makes these calls cannot take less.

use anyhow::Context;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Connections that are looked at after one wait.
const AT_ONCE: usize = 1_024;

/// As much as is read at a time by the gateway.
const ROOM: usize = 16 * 1_024;

/// A refusal of ours, as the gateway writes it.
const ANSWER: &[u8] = include_bytes!("conf/refusal.http");

/// Serves until it is killed.
pub(crate) fn serve(port: u16) -> anyhow::Result<()> {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).context("cannot listen")?;
    door.set_nonblocking(true)?;
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &door, EventData::new_u64(0), EventFlags::IN)?;
    let mut streams: HashMap<u64, TcpStream> = HashMap::new();
    let mut last = 0;
    let (mut events, mut room) = (Vec::with_capacity(AT_ONCE), vec![0; ROOM]);
    loop {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let number = event.data.u64();
            if number > 0 {
                if streams.get_mut(&number).is_none_or(|stream| !refuse(stream, &mut room)) {
                    streams.remove(&number);
                }
                continue;
            }
            while let Ok((stream, _)) = door.accept() {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                last += 1;
                let readiness = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
                epoll::add(&epoll, &stream, EventData::new_u64(last), readiness)?;
                streams.insert(last, stream);
            }
        }
    }
}

/// Whether the client is still there.
fn refuse(stream: &mut TcpStream, room: &mut [u8]) -> bool {
    match stream.read(room) {
        Ok(0) => false,
        Ok(_) => stream.write_all(ANSWER).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}
