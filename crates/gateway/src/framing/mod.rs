//! Finds where each request of an HTTP/1 connection starts and ends, before anybody acts on it.
//!
//! hyper is lenient in places where another server behind us may be lenient in another way, which is how
//! requests are smuggled. So every head is read here first, by rules that leave no choice; hyper only gets to
//! see heads that passed. To know where the next head starts, bodies are followed too.

mod chunked;
mod fault;
mod head;

pub(crate) use chunked::{Broken, Chunked};
pub(crate) use fault::Fault;
pub(crate) use head::{Bounds, end_of, is_host};

use head::{Framed, Scan, scan};

/// Empty lines before a request that are overlooked, as some clients end a body with one.
const MAX_EMPTY_LINES: u8 = 4;

/// Where in its requests a connection is.
#[derive(Debug)]
pub(crate) struct Framing {
    bounds: Bounds,
    state: State,
    /// How many heads passed.
    heads: u64,
    empty_lines: u8,
}

#[derive(Debug)]
enum State {
    Head,
    Body(u64),
    Chunked(Box<Chunked>),
    /// After a head that asks for an upgrade nobody knows yet what the next bytes are.
    Undecided,
}

/// How far bytes may pass.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// So many of them.
    pub(crate) bytes: usize,
    /// And why not more.
    pub(crate) then: Then,
}

/// What comes after the bytes that passed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing: all passed.
    All,
    /// Part of a head.
    Partial,
    /// So many bytes that are to be left out.
    Skip(usize),
    /// Whatever was agreed on by an upgrade, or the next request.
    Undecided,
    /// A request that is not let in.
    Fault(Fault),
    /// The rest of a body that breaks its encoding.
    Broken(&'static str),
}

impl Framing {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, state: State::Head, heads: 0, empty_lines: 0 }
    }

    /// How many heads passed.
    pub(crate) fn heads(&self) -> u64 {
        self.heads
    }

    /// Whether no request is half read.
    pub(crate) fn is_between_requests(&self) -> bool {
        matches!(self.state, State::Head | State::Undecided)
    }

    /// Whether nobody knows what the next bytes are.
    pub(crate) fn is_undecided(&self) -> bool {
        matches!(self.state, State::Undecided)
    }

    /// Whether a head of so many bytes is too long, whatever comes.
    pub(crate) fn is_full(&self, bytes: usize) -> bool {
        bytes >= self.bounds.bytes
    }

    /// The upgrade was refused: what follows is the next request.
    pub(crate) fn go_on(&mut self) {
        self.state = State::Head;
    }

    /// Goes through the next bytes.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> Passed {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let (passed, then) = match &mut self.state {
                State::Head => self.head(rest),
                State::Body(left) => {
                    let here = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= here as u64;
                    if *left == 0 {
                        self.state = State::Head;
                    }
                    (here, None)
                }
                State::Chunked(chunked) => match chunked.advance(rest) {
                    Ok((here, ended)) => {
                        if ended {
                            self.state = State::Head;
                        }
                        (here, None)
                    }
                    Err(Broken(why)) => (0, Some(Then::Broken(why))),
                },
                State::Undecided => (0, Some(Then::Undecided)),
            };
            at += passed;
            if let Some(then) = then {
                return Passed { bytes: at, then };
            }
        }
        Passed { bytes: at, then: Then::All }
    }

    fn head(&mut self, bytes: &[u8]) -> (usize, Option<Then>) {
        if matches!(bytes, b"\r" | [b'\r', b'\n', ..]) && self.empty_lines < MAX_EMPTY_LINES {
            if bytes.len() == 1 {
                return (0, Some(Then::Partial));
            }
            self.empty_lines += 1;
            return (0, Some(Then::Skip(2)));
        }
        match scan(bytes, self.bounds) {
            Scan::Partial => (0, Some(Then::Partial)),
            Scan::Fault(fault) => (0, Some(Then::Fault(fault))),
            Scan::Head { length, body, upgrade } => {
                self.heads += 1;
                self.empty_lines = 0;
                self.state = match body {
                    Framed::Length(0) if upgrade => State::Undecided,
                    Framed::Length(0) => State::Head,
                    Framed::Length(length) => State::Body(length),
                    Framed::Chunked => State::Chunked(Box::new(Chunked::new(self.bounds.bytes))),
                };
                (length, None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { headers: 10, bytes: 1_024 };
    const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    fn advance(input: &str) -> (Passed, u64) {
        let mut framing = Framing::new(BOUNDS);
        let passed = framing.advance(input.as_bytes());
        (passed, framing.heads())
    }

    #[test]
    fn requests_follow_one_another() {
        let put = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /";
        let post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n";
        let all = [GET, put, GET, post, GET].concat();
        let (passed, heads) = advance(&all);
        assert_eq!((passed, heads), (Passed { bytes: all.len(), then: Then::All }, 5));
    }

    #[test]
    fn a_bad_request_is_found_behind_good_ones() {
        let put = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345";
        let good = [GET, put].concat();
        let (passed, heads) = advance(&[&good, "GET / HTTP/1.1\r\n\r\n"].concat());
        assert_eq!((passed, heads), (Passed { bytes: good.len(), then: Then::Fault(Fault::HostMissing) }, 2));
    }

    #[test]
    fn a_few_empty_lines_are_left_out() {
        assert_eq!(advance("\r\nGET").0, Passed { bytes: 0, then: Then::Skip(2) });
        assert_eq!(advance("\nGET / HTTP/1.1").0.then, Then::Fault(Fault::LineEnd));
        let mut framing = Framing::new(BOUNDS);
        for _ in 0..MAX_EMPTY_LINES {
            assert_eq!(framing.advance(b"\r\n").then, Then::Skip(2));
        }
        assert_eq!(framing.advance(b"\r\n").then, Then::Fault(Fault::RequestLine));
    }

    #[test]
    fn nothing_passes_behind_an_undecided_upgrade() {
        let upgrade = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n";
        let mut framing = Framing::new(BOUNDS);
        let both = [upgrade, "\x01\x02"].concat();
        assert_eq!(framing.advance(both.as_bytes()), Passed { bytes: upgrade.len(), then: Then::Undecided });
        framing.go_on();
        assert_eq!(framing.advance(GET.as_bytes()).then, Then::All);
    }
}
