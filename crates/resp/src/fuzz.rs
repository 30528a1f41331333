//! What strangers may send to the door, whole and in pieces, in either version of the protocol, with a password and without: what is
//! written is what a client of Redis reads.

use crate::frame::Frame;
use crate::reply::Protocol;
use crate::server::{Door, Next};
use std::collections::{BTreeMap, BTreeSet};
use tollgate_config::resp::Resp;
use tollgate_config::source::{Document, Format};
use tollgate_testkit::Fuzz;

/// How clients begin, and whether there is a password then.
const BEGINNINGS: [(&str, bool); 4] =
    [("", false), ("HELLO 3\r\n", false), ("", true), ("HELLO 3 AUTH default open-sesame\r\n", true)];

/// What a client reads.
#[derive(Debug)]
enum Said {
    Simple(String),
    Error(String),
    Number(i64),
    Text(usize),
    Null(Protocol),
    List(Vec<Said>),
    Map(Vec<Said>),
}

impl Said {
    /// Reads all of it, as a client does.
    fn all(mut out: &[u8]) -> Vec<Self> {
        let mut all = Vec::new();
        while !out.is_empty() {
            all.push(Self::take(&mut out));
        }
        all
    }

    fn take(out: &mut &[u8]) -> Self {
        let end = out.iter().position(|byte| *byte == b'\r').expect("a line that ends");
        let line = std::str::from_utf8(&out[1..end]).unwrap();
        let mark = out[0];
        assert!(out[end..].starts_with(b"\r\n") && !line.contains('\n'), "{line:?}");
        *out = &out[end + 2..];
        let number = || line.parse::<i64>().unwrap();
        let several = |out: &mut &[u8], times: i64| (0..times * number()).map(|_| Self::take(out)).collect();
        match mark {
            b'+' => Self::Simple(line.to_owned()),
            b'-' => Self::Error(line.to_owned()),
            b':' => Self::Number(number()),
            b'$' if line == "-1" => Self::Null(Protocol::Two),
            b'_' => Self::Null(Protocol::Three),
            b'$' => {
                let length = usize::try_from(number()).unwrap();
                assert_eq!(&out[length..length + 2], b"\r\n");
                *out = &out[length + 2..];
                Self::Text(length)
            }
            b'*' => Self::List(several(out, 1)),
            b'%' => Self::Map(several(out, 2)),
            mark => panic!("no answer begins with {:?}", char::from(mark)),
        }
    }

    /// Whether only clients of the third version understand it.
    fn is_of_three(&self) -> bool {
        match self {
            Self::Map(_) | Self::Null(Protocol::Three) => true,
            Self::List(parts) => parts.iter().any(Self::is_of_three),
            _ => false,
        }
    }

    /// Its kind, without what differs from one try to the next.
    fn kind(&self) -> String {
        match self {
            Self::Simple(text) => text.clone(),
            // Up to what it quotes.
            Self::Error(text) => text.split(['\'', '"']).next().unwrap_or_default().to_owned(),
            Self::Number(_) => "a number".into(),
            Self::Text(length) => format!("a text of {}", length.min(&8)),
            Self::Null(_) => "nothing".into(),
            Self::List(parts) | Self::Map(parts) => format!("{} parts", parts.len()),
        }
    }

    /// What became of a command, in a word.
    fn end(&self) -> &'static str {
        match self {
            Self::List(parts) => match &parts[..] {
                [Self::Number(0), Self::Number(_), ..] => "passed",
                [Self::Number(1), Self::Number(_), ..] => "throttled",
                _ => "told",
            },
            Self::Error(text) => match text.split_once(' ') {
                Some(("NOAUTH", _)) => "not let in",
                Some(("WRONGPASS", _)) => "a wrong password",
                _ if text.starts_with("ERR Protocol error: ") => "malformed",
                _ => "an error",
            },
            _ => "told",
        }
    }
}

/// A door of 64 keys.
fn settings(more: &str) -> Resp {
    let text = format!("[resp]\nmax_keys = 64\n{more}");
    Document::parse(&text, Format::Toml).unwrap().read().unwrap().settings.resp
}

/// Everything that is written to a client that begins and goes on so, until it would be let go.
fn converse(settings: &Resp, beginning: &str, input: &[u8], pieces: usize) -> Vec<Said> {
    let door = Door::new(settings);
    let mut session = door.session(1);
    let (mut frame, mut buffer, mut out) = (Frame::default(), Vec::new(), Vec::new());
    let pieces = input.chunks(pieces.max(1));
    'all: for piece in [beginning.as_bytes()].into_iter().chain(pieces) {
        buffer.extend_from_slice(piece);
        loop {
            let before = buffer.len();
            let next = door.answer_all(&mut session, &mut buffer, &mut out, &mut frame);
            assert!(buffer.len() <= before && (next != Next::Wait || buffer.len() < before));
            match next {
                Next::Read => break,
                Next::Wait if !session.is_over() => {}
                Next::Wait | Next::Leave => break 'all,
            }
        }
    }
    let said = Said::all(&out);
    let (counts, count) =
        (door.counts(), |is: fn(&Said) -> bool| said.iter().filter(|said| is(said)).count());
    let malformed = count(|said| said.end() == "malformed");
    assert_eq!(counts.commands, u64::try_from(said.len() - malformed).unwrap(), "each is answered once");
    assert_eq!(counts.errors, u64::try_from(count(|said| matches!(said, Said::Error(_)))).unwrap());
    assert!(count(|said| said.end() == "a wrong password") <= 3);
    said
}

#[test]
fn fuzz_resp_parser() {
    let fuzz = Fuzz {
        target: "resp-parser",
        words: &[
            "*5\r\n",
            "*1\r\n",
            "*-1\r\n",
            "*0\r\n",
            "$4\r\n",
            "$-1\r\n",
            "$0\r\n\r\n",
            "\r\n",
            "CL.THROTTLE",
            "PING",
            "HELLO",
            "3",
            "AUTH",
            "AUTH open-sesame\r\n",
            "HELLO 2 AUTH default open-sesame\r\n",
            "CLIENT",
            "CLIENT GETNAME\r\n",
            "SETNAME",
            "CONFIG",
            "COMMAND",
            "QUIT",
            "RESET",
            "*64\r\n",
            "$16384\r\n",
            "\"",
            "'",
        ],
        mutations: 3_000,
    };
    let (open, locked) = (settings(""), settings("password = 'open-sesame'"));
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    fuzz.run(|input| {
        let kinds = |said: &[Said]| said.iter().map(Said::kind).collect::<Vec<String>>();
        BEGINNINGS.map(|(beginning, has_password)| {
            let settings = if has_password { &locked } else { &open };
            let whole = converse(settings, beginning, input, input.len());
            let may_be_three =
                !beginning.is_empty() || input.to_ascii_lowercase().windows(5).any(|w| w == b"hello");
            assert!(may_be_three || !whole.iter().any(Said::is_of_three), "{whole:?}");
            for pieces in [1, 7] {
                let parts = converse(settings, beginning, input, pieces);
                assert_eq!(kinds(&whole), kinds(&parts), "in pieces of {pieces}");
            }
            // Not what the beginning was answered.
            for said in whole.iter().skip(usize::from(!beginning.is_empty())) {
                *ends.entry(said.end()).or_default() += 1;
            }
            // More of the same is nothing new.
            kinds(&whole).into_iter().collect::<BTreeSet<String>>()
        })
    })
    .unwrap();
    // One input that is tried again need not do it all.
    if std::env::var_os("FUZZ_INPUT").is_none() {
        let all = ["a wrong password", "an error", "malformed", "not let in", "passed", "throttled", "told"];
        assert_eq!(ends.keys().copied().collect::<Vec<_>>(), all);
        assert!(ends.values().all(|times| *times >= 10), "{ends:?}: the corpus is out of date");
    }
}
