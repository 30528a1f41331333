//! Bodies of any size pass through in constant memory.
//!
//! The gateway, the client and the server are in this process, so what is measured bounds them all. 256 MiB go each
//! way; with `TOLLGATE_TEST_LARGE` set, 1 GiB.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]
#![allow(unsafe_code, reason = "an allocator that counts can only be written so")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tollgate_config::source::{Document, Format};
use tollgate_gateway::{Gateway, Open};
use tollgate_listen::Listeners;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller keeps to the contract of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CHUNK: usize = 64 * 1024;

/// The most memory that may be held at a time beyond what was held before.
const BOUND: usize = 16 * 1024 * 1024;

fn size() -> usize {
    if std::env::var_os("TOLLGATE_TEST_LARGE").is_some() { 1 << 30 } else { 256 << 20 }
}

/// A server that takes in a body of `size` bytes and sends one back, in this order.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                read_head(&mut stream);
                take(&mut stream, size());
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", size()).unwrap();
                give(&mut stream, size());
            });
        }
    });
    address
}

fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn take(stream: &mut TcpStream, mut left: usize) {
    let mut chunk = vec![0; CHUNK];
    while left > 0 {
        let here = left.min(CHUNK);
        let count = stream.read(&mut chunk[..here]).unwrap();
        assert!(count > 0, "{left} bytes are missing");
        left -= count;
    }
}

fn give(stream: &mut TcpStream, size: usize) {
    let chunk = vec![b'x'; CHUNK];
    for _ in 0..size / CHUNK {
        stream.write_all(&chunk).unwrap();
    }
}

#[test]
fn a_large_body_each_way_takes_little_memory() {
    let text = format!(
        "listen.gateway = '127.0.0.1:0'\ngateway.threads = 1\n[[routes]]\nupstream = 'u'\n\
         [[upstreams]]\nid = 'u'\nservers = ['http://{}']\n",
        server()
    );
    let config = Document::parse(&text, Format::Toml).unwrap().read().unwrap().settings.gateway;
    let gate = Open::default();
    let gateway = Gateway::start(config, gate.clone(), &Listeners::default()).unwrap();
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let mut stream = TcpStream::connect(gateway.local_addr()).unwrap();
    write!(stream, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", size()).unwrap();
    give(&mut stream, size());
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 200 OK\r\n"));
    take(&mut stream, size());
    let peak = PEAK.load(Ordering::Relaxed) - before;
    assert!(peak < BOUND, "{peak} bytes were held at a time");
    drop(stream);
    while gate.passed().finished == 0 {
        thread::yield_now();
    }
    let traffic = gate.passed().traffic;
    assert_eq!((traffic.request, traffic.response), (size() as u64, size() as u64));
}

#[test]
fn a_server_that_does_not_read_holds_the_client_back() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!(
        "listen.gateway = '127.0.0.1:0'\ngateway.threads = 1\n[[routes]]\nupstream = 'u'\n\
         [[upstreams]]\nid = 'u'\nservers = ['http://{}']\n",
        listener.local_addr().unwrap()
    );
    let config = Document::parse(&text, Format::Toml).unwrap().read().unwrap().settings.gateway;
    let gateway = Gateway::start(config, Open::default(), &Listeners::default()).unwrap();
    let mut stream = TcpStream::connect(gateway.local_addr()).unwrap();
    write!(stream, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", size()).unwrap();
    let (_accepted, _) = listener.accept().unwrap();
    stream.set_write_timeout(Some(std::time::Duration::from_secs(1))).unwrap();
    let chunk = vec![b'x'; CHUNK];
    let mut sent = 0;
    while sent < size() && stream.write_all(&chunk).is_ok() {
        sent += CHUNK;
    }
    // What fits into the sockets' buffers on the way, and into ours.
    assert!(sent < 64 << 20, "{sent} bytes went somewhere");
}
