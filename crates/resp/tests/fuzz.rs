//! What strangers may send to the door for clients of Redis, whole and in pieces.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use tollgate_limiter::Limiter;
use tollgate_resp::frame::{Frame, MAX_WORD, MAX_WORDS};
use tollgate_resp::{Reply, Session};
use tollgate_testkit::Fuzz;

/// What a client is answered until the connection would be closed.
fn converse(input: &[u8], pieces: usize) -> Vec<Reply> {
    let mut session = Session::new(Arc::new(Limiter::builder().max_keys(64).build()), None, 1);
    let (mut frame, mut buffer, mut replies) = (Frame::default(), Vec::new(), Vec::new());
    for piece in input.chunks(pieces.max(1)) {
        buffer.extend_from_slice(piece);
        loop {
            match frame.find(&buffer) {
                Err(_) => {
                    replies.push(Reply::Simple("malformed"));
                    return replies;
                }
                Ok(false) => break,
                Ok(true) => {
                    assert!(frame.length > 0 && frame.length <= buffer.len(), "{frame:?}");
                    let words: Vec<&[u8]> = frame.words(&buffer).collect();
                    assert_eq!(words.len(), frame.words.len(), "words that are not there");
                    assert!(words.iter().all(|word| word.len() <= MAX_WORD) && words.len() <= MAX_WORDS);
                    if let Some((name, rest)) = words.split_first() {
                        replies.push(session.answer(name, rest));
                    }
                    let length = frame.length;
                    drop(buffer.drain(..length));
                    if session.is_over() {
                        return replies;
                    }
                }
            }
        }
    }
    replies
}

/// The kind of an answer: times in it differ from one try to the next.
fn kind(reply: &Reply) -> String {
    match reply {
        Reply::Throttled(_) => "throttled".into(),
        Reply::Number(_) => "number".into(),
        Reply::List(list) => format!("list of {}", list.len()),
        Reply::Map(map) => format!("map of {}", map.len()),
        Reply::Text(text) => format!("text of {}", text.len().min(8)),
        other => format!("{other:?}"),
    }
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
            "CLIENT",
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
        mutations: 6_000,
    };
    fuzz.run(|input| {
        let whole: Vec<String> = converse(input, input.len()).iter().map(kind).collect();
        for pieces in [1, 7] {
            let parts: Vec<String> = converse(input, pieces).iter().map(kind).collect();
            assert_eq!(whole, parts, "in pieces of {pieces}");
        }
        whole
    })
    .unwrap();
}
