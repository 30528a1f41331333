//! `tollgate demo`: what it says, and that what it says is true.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A demo on free ports, killed when dropped.
struct Demo {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Demo {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .arg("demo")
            .args(["--set", "listen.gateway=127.0.0.1:0", "--set", "listen.check=127.0.0.1:0"])
            .args(["--set", "listen.rls=127.0.0.1:0", "--set", "listen.admin=127.0.0.1:0"])
            // A busy machine may be late by more than requests are usually patient with.
            .args(["--set", "ledger.timeout_ms=5000"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Lines up to the one that contains this.
    fn read_to(&mut self, text: &str) -> Vec<String> {
        let mut read = Vec::new();
        for line in self.lines.by_ref().map_while(Result::ok) {
            read.push(line);
            if read.last().unwrap().contains(text) {
                return read;
            }
        }
        panic!("no {text:?} in {read:#?}")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the shell says to this.
fn shell(line: &str) -> String {
    String::from_utf8(Command::new("sh").args(["-c", line]).output().unwrap().stdout).unwrap()
}

/// Tries every line that it proposes, and holds the answer to what it says below it.
fn try_curl_lines(said: &[String]) {
    let mut tried = 0;
    for pair in said.windows(2).filter(|pair| pair[0].trim_start().starts_with("curl ")) {
        let (status, word) = pair[1].trim_start().trim_start_matches("# ").split_once(": ").unwrap();
        let answer = shell(&pair[0].replace("curl -i", "curl -si"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{}: {answer}", pair[0]);
        let reason = word.split([',', ' ']).next().unwrap();
        assert!(status == "200" || answer.contains(&format!("\"reason\":\"{reason}\"")), "{answer}");
        tried += 1;
    }
    assert_eq!(tried, 3, "{said:#?}");
}

/// Logs in by the name and the password that it printed.
fn try_to_log_in(said: &[String]) {
    let line = said.iter().find_map(|line| line.trim().strip_prefix("console")).unwrap();
    let (address, account) = line.trim().split_once("  (user ").unwrap();
    let (name, rest) = account.split_once(", password ").unwrap();
    let password = rest.split(';').next().unwrap();
    let login = |password: &str| {
        let body = format!("{{\"username\": \"{name}\", \"password\": \"{password}\"}}");
        shell(&format!("curl -si -H 'content-type: application/json' -d '{body}' {address}/api/v1/login"))
    };
    let answer = login(password);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"access_token\""), "{answer}");
    assert!(login("another password").starts_with("HTTP/1.1 401 "));
}

#[test]
fn its_curl_lines_are_answered_as_it_says_and_there_is_traffic() {
    let mut demo = Demo::start(&[]);
    let said = demo.read_to("Requests of the last second");
    try_curl_lines(&said);
    try_to_log_in(&said);
    let traffic = demo.read_to("app-c: ").pop().unwrap();
    assert!(traffic.contains("video-service: ") && !traffic.contains("failed"), "{traffic}");
    let interrupted = Command::new("kill").arg("-INT").arg(demo.child.id().to_string()).status().unwrap();
    assert!(interrupted.success());
    demo.read_to("stopped");
    assert_eq!(demo.child.wait().unwrap().code(), Some(0));
}

/// Whether that process is still there.
fn is_alive(process: &str) -> bool {
    Command::new("kill").args(["-0", process]).stderr(Stdio::null()).status().unwrap().success()
}

/// The demo's own traffic may have spent what a gateway without Redis lets pass in a second: then it says so, and what comes later
/// passes.
fn passes_soon(curl: &str) {
    for _ in 0..100 {
        let answer = shell(curl);
        if answer.starts_with("HTTP/1.1 200 ") {
            return;
        }
        assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{curl} is refused all the time");
}

#[test]
fn on_a_redis_of_its_own_three_gateways_serve_and_go_on_without_it() {
    let mut demo = Demo::start(&["--redis"]);
    let said = demo.read_to("Requests of the last second");
    assert_eq!(said.iter().filter(|line| line.ends_with("(another)")).count(), 2, "{said:#?}");
    let redis = said.iter().find_map(|line| line.split_once("(process ")).unwrap().1;
    let redis = redis.split(';').next().unwrap().to_owned();
    assert!(is_alive(&redis));
    try_curl_lines(&said);
    try_to_log_in(&said);
    for gateway in
        said.iter().filter_map(|line| line.trim_start_matches("  gateway").trim().strip_prefix("http://"))
    {
        let gateway = gateway.split(' ').next().unwrap();
        let curl = format!("curl -si -H 'X-Tollgate-App: app-a' http://{gateway}/");
        passes_soon(&curl);
        // The first gateway meets the loss of Redis, the others come after it.
        assert!(Command::new("kill").args(["-9", &redis]).stderr(Stdio::null()).status().is_ok());
        passes_soon(&curl);
    }
}

#[test]
fn its_redis_ends_with_it() {
    let mut demo = Demo::start(&["--redis", "--seconds", "2"]);
    let said = demo.read_to("stopped");
    assert_eq!(demo.child.wait().unwrap().code(), Some(0));
    let redis = said.iter().find_map(|line| line.split_once("(process ")).unwrap().1;
    assert!(!is_alive(redis.split(';').next().unwrap()), "{said:#?}");
}

#[test]
fn without_a_redis_to_start_it_says_what_to_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .args(["demo", "--redis"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("redis-server") && said.contains("leave --redis out"), "{said}");
}

#[test]
fn it_stops_by_itself_when_told_to() {
    let mut demo = Demo::start(&["--seconds", "1"]);
    demo.read_to("stopped");
    assert_eq!(demo.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_told_with_the_flag_that_changes_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let flag = format!("listen.gateway={}", taken.local_addr().unwrap());
    let output =
        Command::new(env!("CARGO_BIN_EXE_tollgate")).args(["demo", "--set", &flag]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Address already in use") && said.contains("--set listen.gateway=..."), "{said}");
}
