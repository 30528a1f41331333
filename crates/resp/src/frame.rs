//! What clients send: a command is a list of texts, or a line.
//!
//! Nothing is copied: a command is where its words lie in what was received. Sizes are bounded before anything is waited for.

use std::fmt;
use std::ops::Range;

/// The most words of a command.
pub const MAX_WORDS: usize = 64;

/// The longest word, in bytes.
pub const MAX_WORD: usize = 16_384;

/// The longest line, in bytes.
pub const MAX_LINE: usize = 4_096;

/// A command as it lies in what was received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Where its words are.
    pub words: Vec<Range<usize>>,
    /// How much of what was received it takes.
    pub length: usize,
}

/// What was received is not what a client of Redis sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl Frame {
    /// Finds the first command in `input`, into `self`. `false` if it is not all there yet.
    pub fn find(&mut self, input: &[u8]) -> Result<bool, Malformed> {
        self.words.clear();
        match input.first() {
            None => Ok(false),
            Some(b'*') => self.find_list(input),
            Some(_) => self.find_line(input),
        }
    }

    /// The words of the command.
    pub fn words<'a>(&self, input: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.words.iter().filter_map(move |range| input.get(range.clone()))
    }

    fn find_list(&mut self, input: &[u8]) -> Result<bool, Malformed> {
        let Some((count, mut at)) = number(input, 1)? else { return Ok(false) };
        if count > MAX_WORDS {
            return Err(Malformed("too many words"));
        }
        for _ in 0..count {
            match input.get(at) {
                None => return Ok(false),
                Some(b'$') => {}
                Some(_) => return Err(Malformed("expected '$'")),
            }
            let Some((length, start)) = number(input, at + 1)? else { return Ok(false) };
            if length > MAX_WORD {
                return Err(Malformed("a word is too long"));
            }
            let end = start + length;
            match input.get(end..end + 2) {
                None => return Ok(false),
                Some(b"\r\n") => {}
                Some(_) => return Err(Malformed("expected the end of a word")),
            }
            self.words.push(start..end);
            at = end + 2;
        }
        self.length = at;
        Ok(true)
    }

    fn find_line(&mut self, input: &[u8]) -> Result<bool, Malformed> {
        let Some(end) = input.iter().take(MAX_LINE).position(|&byte| byte == b'\n') else {
            return if input.len() < MAX_LINE { Ok(false) } else { Err(Malformed("a line is too long")) };
        };
        let mut at = 0;
        for word in input[..end].split(u8::is_ascii_whitespace) {
            if !word.is_empty() {
                self.words.push(at..at + word.len());
            }
            at += word.len() + 1;
        }
        if self.words.len() > MAX_WORDS {
            return Err(Malformed("too many words"));
        }
        self.length = end + 1;
        Ok(true)
    }
}

/// A number that ends with a line, and where the next line starts.
fn number(input: &[u8], start: usize) -> Result<Option<(usize, usize)>, Malformed> {
    /// As many digits as any number that is not too large.
    const DIGITS: usize = 6;
    let mut value = 0;
    for (i, &byte) in input.iter().skip(start).enumerate() {
        match byte {
            b'0'..=b'9' if i < DIGITS => value = value * 10 + usize::from(byte - b'0'),
            b'\r' if i > 0 => {
                return match input.get(start + i + 1) {
                    None => Ok(None),
                    Some(b'\n') => Ok(Some((value, start + i + 2))),
                    Some(_) => Err(Malformed("expected the end of a line")),
                };
            }
            _ => return Err(Malformed("invalid length")),
        }
    }
    Ok(None)
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(input: &[u8]) -> Result<Option<Vec<Vec<u8>>>, Malformed> {
        let mut frame = Frame::default();
        let is_there = frame.find(input)?;
        Ok(is_there.then(|| frame.words(input).map(<[u8]>::to_vec).collect()))
    }

    fn encode(words: &[Vec<u8>]) -> Vec<u8> {
        let mut out = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            out.extend(format!("${}\r\n", word.len()).into_bytes());
            out.extend(word);
            out.extend(b"\r\n");
        }
        out
    }

    #[test]
    fn lines_are_commands_too() {
        assert_eq!(words(b"PING\r\n"), Ok(Some(vec![b"PING".to_vec()])));
        assert_eq!(words(b" a  b\t\n"), Ok(Some(vec![b"a".to_vec(), b"b".to_vec()])));
        assert_eq!(words(b"\r\n"), Ok(Some(vec![])));
        assert_eq!(words(b"PING"), Ok(None));
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_there() {
        for input in [
            &b"*65\r\n"[..],
            b"*9999999\r\n",
            b"*1\r\n$16385\r\n",
            b"*1\r\n$99999999999999999999\r\n",
            b"*-1\r\n",
            b"*\r\n",
            b"*1\r\n:5\r\n",
            b"*1\r\n*1\r\n$1\r\na\r\n",
            b"*1\r\n$1\r\nab\r\n",
            b"*1\rx",
            &[b'x'; MAX_LINE],
            &b"a ".repeat(70).into_iter().chain(*b"\n").collect::<Vec<u8>>(),
        ] {
            assert!(words(input).is_err(), "{:?}", String::from_utf8_lossy(input));
        }
    }

    proptest! {
        #[test]
        fn any_list_is_read_back_and_no_part_of_it_is_a_command(
            list in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8), rest: Vec<u8>,
        ) {
            let whole = encode(&list);
            for cut in 0..whole.len() {
                prop_assert_eq!(words(&whole[..cut]), Ok(None));
            }
            let mut input = whole.clone();
            input.extend(rest);
            prop_assert_eq!(words(&input), Ok(Some(list)));
            let mut frame = Frame::default();
            prop_assert_eq!(frame.find(&input), Ok(true));
            prop_assert_eq!(frame.length, whole.len());
        }

        #[test]
        fn no_input_does_harm(input: Vec<u8>) {
            let mut frame = Frame::default();
            if frame.find(&input) == Ok(true) {
                prop_assert!(frame.length <= input.len() && frame.length > 0);
            }
        }
    }
}
