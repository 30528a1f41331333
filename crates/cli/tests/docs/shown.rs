//! The demo that README speaks of, and comparing what it says with what is shown.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// `tollgate demo` on free ports, killed when dropped.
pub(crate) struct Demo {
    child: Child,
    said: Vec<String>,
}

impl Demo {
    /// Starts it and reads up to where the traffic is shown.
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .arg("demo")
            .args(["--set", "listen.gateway=127.0.0.1:0", "--set", "listen.check=127.0.0.1:0"])
            .args(["--set", "listen.rls=127.0.0.1:0", "--set", "listen.admin=127.0.0.1:0"])
            // A busy machine may be late by more than requests are usually patient with.
            .args(["--set", "ledger.timeout_ms=5000"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let said = lines.take_while(|line| !line.starts_with("Requests")).collect();
        Self { child, said }
    }

    /// A line of README with the addresses of this demo in place of the usual ones.
    pub(crate) fn in_place(&self, line: &str) -> String {
        line.replace("http://127.0.0.1:8080", &self.address("gateway"))
            .replace("http://127.0.0.1:8081", &self.address("check"))
    }

    fn address(&self, door: &str) -> String {
        let words = self.said.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = words.into_iter().find(|words| words.first() == Some(&door));
        line.unwrap_or_else(|| panic!("no {door} in {:#?}", self.said))[1]
            .trim_end_matches("/v1/check")
            .to_owned()
    }

    /// What it proposes to try.
    pub(crate) fn curl_lines(&self) -> Vec<String> {
        self.said
            .iter()
            .map(|line| line.trim())
            .filter(|line| line.starts_with("curl "))
            .map(Into::into)
            .collect()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the text is what was shown, where `...` stands for anything within a line.
pub(crate) fn matches(shown: &str, text: &str) -> bool {
    shown.lines().count() == text.lines().count()
        && shown.lines().zip(text.lines()).all(|(shown, line)| line_matches(shown, line))
}

fn line_matches(shown: &str, line: &str) -> bool {
    let mut parts = shown.split("...");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let found = if parts.peek().is_none() {
            rest.len().checked_sub(part.len()).filter(|_| rest.ends_with(part))
        } else {
            rest.find(part)
        };
        let Some(at) = found else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

#[test]
fn dots_stand_for_anything_and_nothing_else_does() {
    assert!(matches("a ... c\nd", "a b c\nd"));
    assert!(matches("r=...;t=...", "r=1;t=2"));
    for other in ["a b\nd", "a b c d\nd", "a b c\nd\n\ne", "a b c"] {
        assert!(!matches("a ... c\nd", other), "{other}");
    }
}
