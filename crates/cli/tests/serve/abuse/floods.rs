//! Too many connections, too many watchers, and tunnels that carry too much.

use super::{made_up, start, start_with, still_serves, token};
use crate::support::{APPS, Echo, Tollgate, ask, crowd, eventually, most_files, open};
use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Asks for a ticket, and to watch by it: the connection, and what was answered.
fn watch(tollgate: &Tollgate, token: &str) -> (TcpStream, u16) {
    let bearer = format!("authorization: Bearer {token}");
    let answer = ask(tollgate.admin, "POST /api/v1/ws/ticket", &[&bearer], "");
    let ticket = answer.json()["ticket"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned();
    upgrade(tollgate.admin, &format!("/api/v1/ws?ticket={ticket}"), "")
}

/// Asks for a WebSocket there: the connection, at the end of the head of the answer, and its status.
fn upgrade(door: SocketAddr, path: &str, field: &str) -> (TcpStream, u16) {
    let mut stream = open(door);
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n{field}\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0; 1];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    (stream, String::from_utf8_lossy(&head[9..12]).parse().unwrap())
}

/// A subscription of so many bytes, most of which say nothing, as a client sends it: in one frame, its length in two bytes (126), masked by zeros.
fn subscription(length: u16) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    let mut frame = vec![0x81, 0xfe, high, low, 0, 0, 0, 0];
    frame.extend(b"{\"subscribe\": [\"metrics\"]}");
    frame.resize(8 + usize::from(length), b' ');
    frame
}

/// The head of a frame of so many bytes (its length in eight bytes, 127), and its first MiB.
fn begun_frame(length: u64) -> Vec<u8> {
    let mut frame = vec![0x81, 0xff];
    frame.extend(length.to_be_bytes());
    frame.resize(14 + (1 << 20), b' ');
    frame[10..14].fill(0);
    frame
}

/// How many files the process has open.
fn files(tollgate: &Tollgate) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", tollgate.id())).unwrap().count()
}

#[test]
fn there_are_so_many_watchers_and_no_more() {
    let (_upstream, tollgate) = start();
    let token = token(&tollgate);
    let watchers: Vec<(TcpStream, u16)> = (0..500).map(|_| watch(&tollgate, &token)).collect();
    assert!(watchers.iter().all(|(_, status)| *status == 101));
    assert_eq!(watch(&tollgate, &token).1, 429);
    still_serves(&tollgate);
    drop(watchers);
    eventually("a seat is free again", || watch(&tollgate, &token).1 == 101);
}

#[test]
fn a_watcher_that_says_too_much_has_to_leave() {
    let (_upstream, tollgate) = start();
    let token = token(&tollgate);
    for (length, stays) in [(4_096, true), (4_097, false), (u16::MAX, false)] {
        let (mut stream, status) = watch(&tollgate, &token);
        assert_eq!(status, 101);
        let _ = stream.write_all(&subscription(length));
        // Whoever stays hears the numbers of every second.
        let (mut heard, mut buffer) = (0, [0; 8_192]);
        while heard < 3 {
            match stream.read(&mut buffer) {
                Ok(1..) => heard += 1,
                Ok(0) | Err(_) => break,
            }
        }
        assert_eq!(heard == 3, stays, "{length} bytes, {heard} answers");
    }
    still_serves(&tollgate);
}

/// The limit holds for what a head announces: nothing is kept until the rest has come.
#[test]
fn a_watcher_that_only_announces_too_much_has_to_leave() {
    let (_upstream, tollgate) = start();
    let token = token(&tollgate);
    let watchers: Vec<(TcpStream, u16)> = (0..64).map(|_| watch(&tollgate, &token)).collect();
    assert!(watchers.iter().all(|(_, status)| *status == 101));
    let before = tollgate.peak_memory();
    let begun = begun_frame((16 << 20) - 1);
    for (stream, _) in &watchers {
        let _ = { stream }.write_all(&begun);
    }
    let stay = watchers.into_iter().filter(|(stream, _)| {
        // Whoever stays hears the numbers of every second.
        let mut buffer = [0; 8_192];
        (0..10).all(|_| matches!({ stream }.read(&mut buffer), Ok(1..)))
    });
    let stay: Vec<(TcpStream, u16)> = stay.collect();
    let grown = tollgate.grown_since(before);
    assert!(stay.is_empty(), "{} of 64 may go on, {grown} KiB", stay.len());
    assert!(grown < 16 * 1024, "{grown} KiB for 64 frames that were begun");
    still_serves(&tollgate);
}

#[test]
fn websockets_through_the_gateway_are_connections_of_their_application() {
    let echo = Echo::start();
    let tollgate = Tollgate::start(&format!(
        "{}{APPS}[[apps]]\nid = 'talker'\nguaranteed_quota = 1000\nburst_quota = 1000\nmax_connections = 20\n",
        echo.route()
    ));
    let talk = || upgrade(tollgate.gateway, "/", "x-tollgate-app: talker\r\n");
    let mut tunnels: Vec<(TcpStream, u16)> = (0..20).map(|_| talk()).collect();
    assert!(tunnels.iter().all(|(_, status)| *status == 101), "{tunnels:?}");
    assert!((0..50).all(|_| talk().1 == 429), "there is no room for more");
    // What is said in a tunnel comes out of it, and is kept nowhere.
    let before = tollgate.peak_memory();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        let (stream, _) = &mut tunnels[0];
        let mut back = stream.try_clone().unwrap();
        let reader = std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 20];
            back.read_exact(&mut piece).map(|()| piece)
        });
        stream.write_all(&piece).unwrap();
        assert!(reader.join().unwrap().unwrap() == piece);
    }
    let grown = tollgate.grown_since(before);
    assert!(grown < 16 * 1024, "{grown} KiB for 64 MiB through a tunnel");
    let other = ask(tollgate.gateway, "GET /", &["x-tollgate-app: large", "connection: close"], "");
    assert_eq!(other.status, 200, "{other:?}");
    drop(tunnels);
    eventually("there is room again", || talk().1 == 101);
}

#[test]
fn connections_to_the_console_that_say_nothing_leave_the_gateway_alone() {
    let (_upstream, tollgate) = start();
    // More than there is room for: the rest waits outside, without a place in the process.
    let silent: Vec<TcpStream> = (0..1_500).map(|_| open(tollgate.admin)).collect();
    eventually("some are let in", || files(&tollgate) > 900);
    std::thread::sleep(Duration::from_millis(300));
    assert!(files(&tollgate) < 1_200, "{} files for connections that say nothing", files(&tollgate));
    still_serves(&tollgate);
    drop(silent);
    eventually("there is room again", || {
        TcpStream::connect(tollgate.admin).is_ok() && files(&tollgate) < 200
    });
    assert_eq!(ask(tollgate.admin, "GET /health", &[], "").status, 200);
}

#[test]
fn connections_to_the_rate_limit_service_that_say_nothing_leave_the_gateway_alone() {
    let (_upstream, tollgate) = start();
    let silent: Vec<TcpStream> = (0..1_500).map(|_| open(tollgate.rls)).collect();
    eventually("some are let in", || files(&tollgate) > 900);
    std::thread::sleep(Duration::from_millis(300));
    assert!(files(&tollgate) < 1_200, "{} files for connections that say nothing", files(&tollgate));
    still_serves(&tollgate);
    drop(silent);
    eventually("there is room again", || files(&tollgate) < 200);
}

#[test]
fn clients_of_redis_that_do_not_say_the_password_lose_their_places() {
    let (_upstream, tollgate) =
        start_with("[resp]\nlisten = '127.0.0.1:0'\npassword = 'open-sesame'\nmax_connections = 100\n");
    let (door, before) = (tollgate.door("resp"), tollgate.peak_memory());
    let silent: Vec<TcpStream> = (0..100).map(|_| open(door)).collect();
    // As much of a command as is waited for.
    let word = format!("$16384\r\n{}\r\n", "x".repeat(16_384));
    let begun = format!("*64\r\n{}", word.repeat(60));
    for stream in silent.iter().take(20) {
        let _ = { stream }.write_all(begun.as_bytes());
    }
    let ask = || {
        let mut told = [0; 12];
        let mut stream = open(door);
        stream.write_all(b"AUTH open-sesame\r\nPING\r\n").is_ok()
            && stream.read_exact(&mut told).is_ok()
            && &told == b"+OK\r\n+PONG\r\n"
    };
    assert!(!ask(), "there is room for more");
    eventually("there is room again", ask);
    let grown = tollgate.grown_since(before);
    assert!(grown < 64 * 1024, "{grown} KiB for 20 MiB of commands that were begun");
    still_serves(&tollgate);
    drop(silent);
}

/// As many as names are made up: some say half of a head, all are reset.
#[test]
fn connections_that_come_and_go_leave_nothing_behind() {
    let (_upstream, tollgate) = start_with("[resp]\nlisten = '127.0.0.1:0'\n");
    still_serves(&tollgate);
    let doors = [tollgate.gateway, tollgate.check, tollgate.rls, tollgate.admin, tollgate.door("resp")];
    let (rest, before, count) = (files(&tollgate), tollgate.peak_memory(), made_up());
    for (number, door) in (0..count).zip(doors.into_iter().cycle()) {
        let mut stream = open(door);
        if number % 3 == 0 {
            stream.write_all(b"GET / HTTP/1.1\r\nhost: ha").unwrap();
        }
        // Nothing is left of it on this side either.
        SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
    eventually("all are gone", || files(&tollgate) < rest + 20);
    let grown = tollgate.grown_since(before);
    assert!(grown < 16 * 1024, "{grown} KiB for {count} connections");
    still_serves(&tollgate);
}

/// Ten thousand and some take more files than many machines allow a process, on both sides.
#[test]
fn there_are_so_many_connections_to_the_check_and_no_more() {
    const PLACES: usize = 10_000;
    if most_files() < PLACES + 1_000 {
        eprintln!("skipped: a process may have {} files here", most_files());
        return;
    }
    let _crowd = crowd();
    let (_upstream, tollgate) = start();
    let rest = files(&tollgate);
    let silent: Vec<TcpStream> =
        (0..PLACES + 500).map(|_| TcpStream::connect(tollgate.check).unwrap()).collect();
    eventually("many are let in", || files(&tollgate) >= rest + PLACES - 100);
    std::thread::sleep(Duration::from_millis(300));
    assert!(files(&tollgate) <= rest + PLACES + 100, "{} files", files(&tollgate));
    still_serves(&tollgate);
    drop(silent);
    eventually("there is room again", || files(&tollgate) < rest + 100);
    assert_eq!(ask(tollgate.check, "GET /v1/check", &["x-tollgate-app: large"], "").status, 200);
}
