//! Sockets of one process, as far as the kernel is concerned two: who knocks at the old one is let in by the new one.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use tollgate_listen::{Listeners, Predecessor, offer};

const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

async fn find(address: SocketAddr) -> (Predecessor, Listeners) {
    for _ in 0..1_000 {
        if let Some(found) = Predecessor::find(address).await.unwrap() {
            return found;
        }
        tokio::task::yield_now().await;
    }
    panic!("nobody offers {address}");
}

/// Whether somebody waits to be let in.
fn let_in(listener: &TcpListener) -> io::Result<()> {
    listener.accept().map(drop)
}

#[tokio::test]
async fn who_has_knocked_is_let_in_by_the_process_that_follows() {
    let old = Listeners::default();
    let (gateway, check) = (old.open_many(ANYWHERE, 3).unwrap(), old.open(ANYWHERE).unwrap());
    let (address, other) = (gateway[0].local_addr().unwrap(), check.local_addr().unwrap());
    let offered = tokio::spawn(offer(address, old.clone()));
    let knocking: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();

    let (predecessor, new) = find(address).await;
    let (gateway_now, check_now) = (new.open_many(address, 1).unwrap(), new.open(other).unwrap());
    assert_eq!(gateway_now.len(), 3, "there may be somebody waiting at each");
    predecessor.relieve().await.unwrap();
    offered.await.unwrap().unwrap();
    old.close();
    drop((gateway, check));

    let let_in: usize = gateway_now.iter().map(|one| std::iter::from_fn(|| let_in(one).ok()).count()).sum();
    assert_eq!(let_in, knocking.len());
    drop(TcpStream::connect(other).unwrap());
    check_now.accept().unwrap();
}

#[tokio::test]
async fn the_one_that_took_over_is_the_one_to_follow() {
    let old = Listeners::default();
    let address = old.open(ANYWHERE).unwrap().local_addr().unwrap();
    tokio::spawn(offer(address, old));
    for _ in 0..3 {
        let (predecessor, new) = find(address).await;
        new.open(address).unwrap();
        predecessor.relieve().await.unwrap();
        tokio::spawn(offer(address, new));
    }
}

#[tokio::test]
async fn whoever_gives_up_halfway_leaves_the_offer_as_it_was() {
    let old = Listeners::default();
    let address = old.open(ANYWHERE).unwrap().local_addr().unwrap();
    let offered = tokio::spawn(offer(address, old.clone()));
    drop(find(address).await);
    let (_, new) = find(address).await;
    assert_eq!(new.open_many(address, 1).unwrap().len(), 1);
    assert!(!offered.is_finished());
}

#[tokio::test]
async fn more_sockets_are_opened_where_fewer_were_inherited() {
    let old = Listeners::default();
    let address = old.open(ANYWHERE).unwrap().local_addr().unwrap();
    tokio::spawn(offer(address, old));
    let (_, new) = find(address).await;
    let open = new.open_many(address, 200).unwrap();
    assert!(open.iter().all(|one| one.local_addr().unwrap() == address));
    // All of them go on to the next, in several messages.
    tokio::spawn(offer(open_under(address), new));
    let (_, next) = find(open_under(address)).await;
    assert_eq!(next.open_many(address, 1).unwrap().len(), 200);
}

/// Another name, as the first is still in use.
fn open_under(mut address: SocketAddr) -> SocketAddr {
    address.set_ip(std::net::IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 9)));
    address
}

#[tokio::test]
async fn nobody_is_found_where_nobody_is() {
    let free = TcpListener::bind(ANYWHERE).unwrap().local_addr().unwrap();
    assert!(Predecessor::find(free).await.unwrap().is_none());
}

#[tokio::test]
async fn once_closed_nobody_listens() {
    let listeners = Listeners::default();
    let door = listeners.open(ANYWHERE).unwrap();
    let address = door.local_addr().unwrap();
    drop(door);
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).unwrap();
    listeners.close();
    assert!(TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err());
}
