//! Real clients of Redis, in three languages.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tollgate_config::resp::Resp;
use tollgate_config::source::{Document, Format};
use tollgate_listen::Listeners;
use tollgate_resp::Handle;
use tollgate_testkit::tools;

fn open(more: &str) -> Handle {
    let text = format!("[resp]\nlisten = '127.0.0.1:0'\n{more}");
    let settings: Resp = Document::parse(&text, Format::Toml).unwrap().read().unwrap().settings.resp;
    tollgate_resp::start(&settings, &Listeners::default()).unwrap().unwrap()
}

/// Runs a program to its end and returns what it printed.
async fn run(mut command: Command) -> String {
    let shown = format!("{command:?}");
    let output = spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{shown} (is it installed? run scripts/need-redis-clients): {out}{err}");
    out.trim().to_owned()
}

async fn cli(address: SocketAddr, words: &[&str]) -> String {
    let mut command = Command::new("redis-cli");
    command.args(["-h", "127.0.0.1", "-p", &address.port().to_string()]).args(words);
    run(command).await.replace('\n', " ")
}

#[tokio::test]
async fn redis_cli_in_either_version() {
    let door = open("password = 'open-sesame'");
    let address = door.local_addr();
    assert_eq!(cli(address, &["PING"]).await, "NOAUTH Authentication required.");
    let known = ["-a", "open-sesame", "--no-auth-warning"];
    let say = async |words: &[&str]| cli(address, &[&known[..], words].concat()).await;
    assert_eq!(say(&["PING"]).await, "PONG");
    assert_eq!(say(&["CL.THROTTLE", "user123", "15", "1", "3600", "1"]).await, "0 16 15 -1 3600");
    let refused = say(&["-3", "CL.THROTTLE", "user123", "15", "1", "3600", "16"]).await;
    let numbers: Vec<i64> = refused.split(' ').map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers[..3], [1, 16, 15]);
    assert!(numbers[3..].iter().all(|seconds| (3_500..=3_600).contains(seconds)), "{refused}");
    assert!(say(&["CL.THROTTLE", "user123", "x", "30", "60"]).await.starts_with("ERR max_burst is \"x\""));
    assert!(say(&["GET", "k"]).await.starts_with("ERR unknown command"));
    assert_eq!(say(&["-n", "0", "ECHO", "ä"]).await, "ä");
}

#[tokio::test]
async fn redis_py_in_either_version() {
    let door = open("password = 'open-sesame'");
    let port = door.local_addr().port();
    let script = format!(
        "import redis\n\
         for protocol in (2, 3):\n\
         \x20   r = redis.Redis(port={port}, password='open-sesame', protocol=protocol, client_name='py')\n\
         \x20   assert r.ping()\n\
         \x20   key = 'k%d' % protocol\n\
         \x20   print(r.execute_command('CL.THROTTLE', key, 1, 1, 3600), r.execute_command('CL.THROTTLE', key, 1, 1, 3600, 2)[0])\n\
         \x20   with r.pipeline(transaction=False) as p:\n\
         \x20       for _ in range(100): p.execute_command('CL.THROTTLE', 'p' + key, 49, 1, 3600)\n\
         \x20       print(sum(1 - answer[0] for answer in p.execute()))\n\
         \x20   assert r.client_getname() == ('py' if protocol == 3 else b'py') or r.client_getname() in ('py', b'py')\n\
         try:\n\
         \x20   redis.Redis(port={port}, password='wrong').ping()\n\
         except redis.AuthenticationError as e:\n\
         \x20   print('refused')\n"
    );
    let mut command = Command::new("python3");
    command.arg("-c").arg(script).env("PYTHONPATH", tools().join("python"));
    assert_eq!(run(command).await, "[0, 2, 1, -1, 3600] 1\n50\n[0, 2, 1, -1, 3600] 1\n50\nrefused");
}

#[tokio::test]
async fn ioredis() {
    let door = open("");
    let port = door.local_addr().port();
    let script = format!(
        "const Redis = require('ioredis');\n\
         (async () => {{\n\
         const r = new Redis({{ port: {port}, connectionName: 'js', maxRetriesPerRequest: 1 }});\n\
         console.log(await r.ping(), JSON.stringify(await r.call('CL.THROTTLE', 'k', 1, 1, 3600)));\n\
         const p = r.pipeline(); for (let i = 0; i < 100; i++) p.call('CL.THROTTLE', 'p', 49, 1, 3600);\n\
         console.log((await p.exec()).filter(([e, a]) => a[0] === 0).length);\n\
         await r.quit();\n\
         }})().catch(e => {{ console.error(e); process.exit(1); }});"
    );
    let mut command = Command::new("node");
    command.arg("-e").arg(script).env("NODE_PATH", tools().join("node_modules"));
    assert_eq!(run(command).await, "PONG [0,2,1,-1,3600]\n50");
}

#[tokio::test]
async fn a_client_in_rust() {
    let door = open("");
    let client = redis::Client::open(format!("redis://{}/?protocol=resp3", door.local_addr())).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut ask = redis::cmd("CL.THROTTLE");
    ask.arg("k").arg(0).arg(1).arg(3_600);
    let answers: [Vec<i64>; 2] =
        [ask.query_async(&mut connection).await.unwrap(), ask.query_async(&mut connection).await.unwrap()];
    assert_eq!((&answers[0][..], &answers[1][..3]), (&[0, 1, 0, -1, 3_600][..], &[1, 1, 0][..]));
    assert!(answers[1][3..].iter().all(|seconds| (3_500..=3_600).contains(seconds)), "{answers:?}");
}

#[tokio::test]
async fn nonsense_ends_the_conversation_and_nothing_else() {
    let door = open("");
    for nonsense in [&b"*1000000\r\n"[..], b"*1\r\n$1000000000\r\n", b"*1\r\n*1\r\n", &[b'x'; 5_000]] {
        let mut stream = TcpStream::connect(door.local_addr()).await.unwrap();
        stream.write_all(nonsense).await.unwrap();
        let mut told = String::new();
        stream.read_to_string(&mut told).await.unwrap();
        assert!(told.starts_with("-ERR Protocol error: "), "{told}");
    }
    // Half a command is waited for.
    let mut stream = TcpStream::connect(door.local_addr()).await.unwrap();
    for part in [&b"*1\r\n$4\r"[..], b"\nPI", b"NG\r\nPING\r\n"] {
        stream.write_all(part).await.unwrap();
    }
    let mut told = [0; 14];
    stream.read_exact(&mut told).await.unwrap();
    assert_eq!(&told, b"+PONG\r\n+PONG\r\n");
    assert_eq!((door.counts().errors, door.counts().commands), (4, 2));
    door.drain(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn who_has_just_come_when_it_closes_may_ask_and_who_has_been_answered_has_to_leave() {
    let door = open("");
    let (mut new, mut old) = (
        TcpStream::connect(door.local_addr()).await.unwrap(),
        TcpStream::connect(door.local_addr()).await.unwrap(),
    );
    // They are let in one after the other.
    old.write_all(b"PING\r\n").await.unwrap();
    let mut pong = [0; 7];
    old.read_exact(&mut pong).await.unwrap();
    let closing = tokio::spawn(door.drain(Duration::from_mins(1)));
    assert_eq!(old.read(&mut pong).await.unwrap(), 0);
    new.write_all(b"PING\r\nPING\r\n").await.unwrap();
    let mut told = String::new();
    new.read_to_string(&mut told).await.unwrap();
    assert_eq!(told, "+PONG\r\n+PONG\r\n");
    closing.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_never_stops_asking_has_to_leave_when_it_closes() {
    let door = open("");
    let (mut reading, mut writing) = TcpStream::connect(door.local_addr()).await.unwrap().into_split();
    let asking =
        tokio::spawn(async move { while writing.write_all(&b"PING\r\n".repeat(100)).await.is_ok() {} });
    let mut pong = [0; 7];
    reading.read_exact(&mut pong).await.unwrap();
    let listening = tokio::spawn(async move { tokio::io::copy(&mut reading, &mut tokio::io::sink()).await });
    tokio::time::timeout(Duration::from_secs(30), door.drain(Duration::from_mins(1))).await.unwrap();
    asking.await.unwrap();
    drop(listening.await.unwrap());
}

#[tokio::test]
async fn there_is_room_for_so_many_and_no_more() {
    let door = open("max_connections = 1");
    let first = TcpStream::connect(door.local_addr()).await.unwrap();
    let mut second = TcpStream::connect(door.local_addr()).await.unwrap();
    let mut told = String::new();
    second.read_to_string(&mut told).await.unwrap();
    assert_eq!(told, "-ERR max number of clients reached\r\n");
    assert_eq!(door.counts().turned_away, 1);
    drop(first);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_take_its_answers_loses_its_place() {
    let door = open("max_connections = 1");
    let mut deaf = TcpStream::connect(door.local_addr()).await.unwrap();
    let asking = async { while deaf.write_all(&b"HELLO\r\n".repeat(1_000)).await.is_ok() {} };
    // The clock goes on when everybody waits.
    tokio::time::timeout(Duration::from_hours(1), asking).await.expect("it is not waited for");
    // The place may take a moment to be free.
    let mut told = [0; 7];
    while told != *b"+PONG\r\n" {
        let mut next = TcpStream::connect(door.local_addr()).await.unwrap();
        next.write_all(b"PING\r\n").await.unwrap();
        let _ = next.read_exact(&mut told).await;
    }
}

/// What is read until the door ends it, and after how long it does.
async fn until_the_end(stream: &mut TcpStream, began: Instant) -> (String, u64) {
    let mut told = Vec::new();
    let read = tokio::time::timeout(Duration::from_hours(1), stream.read_to_end(&mut told)).await;
    read.unwrap().unwrap();
    (String::from_utf8(told).unwrap(), began.elapsed().as_secs())
}

async fn pong(stream: &mut TcpStream) {
    let mut pong = [0; 7];
    stream.read_exact(&mut pong).await.unwrap();
    assert_eq!(&pong, b"+PONG\r\n");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_say_the_password_soon_has_to_leave() {
    let door = open("password = 'open-sesame'");
    for begun in ["", "PI", "*2\r\n$4\r\nAUTH\r\n$11\r\nopen-ses"] {
        let (mut stream, began) = (TcpStream::connect(door.local_addr()).await.unwrap(), Instant::now());
        stream.write_all(begun.as_bytes()).await.unwrap();
        assert_eq!(until_the_end(&mut stream, began).await, (String::new(), 10), "{begun:?}");
    }
    // Asking something else does not help.
    let (stream, began) = (TcpStream::connect(door.local_addr()).await.unwrap(), Instant::now());
    let (mut reading, mut writing) = stream.into_split();
    tokio::spawn(async move {
        while writing.write_all(b"PING\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    });
    let _ = tokio::io::copy(&mut reading, &mut tokio::io::sink()).await;
    assert_eq!(began.elapsed().as_secs(), 10);
    // Nor does having said it, once it is taken back.
    let mut stream = TcpStream::connect(door.local_addr()).await.unwrap();
    stream.write_all(b"AUTH open-sesame\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_hours(1)).await;
    let began = Instant::now();
    stream.write_all(b"PING\r\nRESET\r\n").await.unwrap();
    let told = "+OK\r\n+PONG\r\n+RESET\r\n".to_owned();
    assert_eq!(until_the_end(&mut stream, began).await, (told, 10));
}

#[tokio::test(start_paused = true)]
async fn half_a_command_is_waited_for_but_not_for_ever() {
    let door = open("");
    let (mut slow, mut silent) = (
        TcpStream::connect(door.local_addr()).await.unwrap(),
        TcpStream::connect(door.local_addr()).await.unwrap(),
    );
    silent.write_all(b"PING\r\n").await.unwrap();
    pong(&mut silent).await;
    // Each begins when the one before is done.
    slow.write_all(b"PI").await.unwrap();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        slow.write_all(b"NG\r\nPI").await.unwrap();
        pong(&mut slow).await;
    }
    let began = Instant::now();
    let (mut reading, mut writing) = slow.into_split();
    tokio::spawn(async move {
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let _ = tokio::io::copy(&mut reading, &mut tokio::io::sink()).await;
    assert!((29..=31).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    // Pools keep connections that say nothing.
    tokio::time::sleep(Duration::from_hours(24)).await;
    silent.write_all(b"PING\r\n").await.unwrap();
    pong(&mut silent).await;
}

#[tokio::test(start_paused = true)]
async fn a_wrong_password_takes_time_and_the_third_is_the_last() {
    const WRONG: &str = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    let door = open("password = 'open-sesame'");
    let mut known = TcpStream::connect(door.local_addr()).await.unwrap();
    known.write_all(b"AUTH wrong\r\nAUTH other\r\nAUTH open-sesame\r\nPING\r\n").await.unwrap();
    let (mut told, began) = (vec![0; 2 * WRONG.len() + 5], Instant::now());
    known.read_exact(&mut told).await.unwrap();
    assert_eq!(String::from_utf8(told).unwrap(), format!("{WRONG}{WRONG}+OK\r\n"));
    assert_eq!(began.elapsed().as_secs(), 2);
    pong(&mut known).await;
    // However it is said.
    for guesses in ["AUTH a\r\n".repeat(9), "HELLO 3 AUTH default a\r\nRESET\r\n".repeat(9)] {
        let (mut stream, began) = (TcpStream::connect(door.local_addr()).await.unwrap(), Instant::now());
        stream.write_all(guesses.as_bytes()).await.unwrap();
        // Others do not wait for it.
        known.write_all(b"PING\r\n").await.unwrap();
        pong(&mut known).await;
        assert_eq!(began.elapsed().as_secs(), 0);
        let (told, seconds) = until_the_end(&mut stream, began).await;
        assert_eq!((told.replace("+RESET\r\n", ""), seconds), (WRONG.repeat(3), 3), "{guesses}");
    }
}
