//! Only Linux has names that are gone with their process and cannot be left behind as files; elsewhere a process that
//! follows shares the ports of the one before.

use crate::Listeners;
use std::future::pending;
use std::io;
use std::net::SocketAddr;

/// The process before this one. There is none to be found.
#[derive(Debug)]
pub enum Predecessor {}

impl Predecessor {
    /// Nobody hands anything over.
    pub async fn find(_address: SocketAddr) -> io::Result<Option<(Self, Listeners)>> {
        Ok(None)
    }

    /// Cannot be called.
    pub async fn relieve(self) -> io::Result<()> {
        match self {}
    }
}

/// Waits for ever: nobody can come.
pub async fn offer(_address: SocketAddr, _listeners: Listeners) -> io::Result<()> {
    pending().await
}
