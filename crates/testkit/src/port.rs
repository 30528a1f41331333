use anyhow::Context;
use std::net::TcpListener;
use std::ops::Range;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where ports are looked for: below those that the kernel gives to clients, of which a busy test has thousands.
const PORTS: Range<u32> = 22_000..32_000;

/// Those of nodes of a cluster, whose bus is ten thousand above.
const CLUSTER_PORTS: Range<u32> = 10_000..12_000;
const BUS: u16 = 10_000;

/// A port that nobody listens on just now, and that was given to nobody else in this process.
pub fn free_port() -> anyhow::Result<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    find(PORTS, &NEXT, is_free)
}

/// Another whose cluster bus port, ten thousand above, is free too.
pub(crate) fn free_cluster_port() -> anyhow::Result<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    find(CLUSTER_PORTS, &NEXT, |port| is_free(port) && is_free(port + BUS))
}

/// The next one in its turn. Processes begin at different ones.
fn find(ports: Range<u32>, next: &AtomicU32, is_good: impl Fn(u16) -> bool) -> anyhow::Result<u16> {
    let count = ports.end - ports.start;
    let first = process::id().wrapping_mul(97);
    let mut tried = (0..count).filter_map(|_| {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        u16::try_from(ports.start + first.wrapping_add(turn) % count).ok()
    });
    tried.find(|port| is_good(*port)).context("no free port")
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn nobody_gets_the_port_of_another() {
        let ports: BTreeSet<u16> = (0..1_000).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.len(), 1_000);
    }

    #[test]
    fn whatever_is_in_use_is_left_alone() {
        let port = free_cluster_port().unwrap();
        let (turn, ports) = (AtomicU32::new(0), u32::from(port)..u32::from(port) + 1);
        assert_eq!(find(ports.clone(), &turn, is_free).unwrap(), port);
        let _taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
        assert!(find(ports, &turn, is_free).is_err());
    }
}
