//! Where a chunked body ends. Strict, so that no other reader finds another end.

use super::head::{is_plain, is_token};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The most bytes of all chunk extensions of a body together.
const MAX_EXTENSIONS: usize = 16 * 1024;

/// The most digits of a chunk's size.
const MAX_DIGITS: u8 = 15;

/// A body that breaks the rules of its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) &'static str);

/// A chunked body on its way.
#[derive(Debug)]
pub(crate) struct Chunked {
    state: State,
    extensions: usize,
    /// A line of the trailers, as far as it is here.
    line: Vec<u8>,
    trailers: usize,
    max_trailers: usize,
    kept: HeaderMap,
    /// Whether a size may be followed by spaces.
    is_lenient: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Size { digits: u8, value: u64 },
    Extension { value: u64 },
    SizeEnd { value: u64 },
    Data(u64),
    DataCr,
    DataLf,
    Trailers,
    Over,
}

impl Chunked {
    pub(crate) fn of_client(max_trailers: usize) -> Self {
        let (state, kept) = (State::Size { digits: 0, value: 0 }, HeaderMap::new());
        Self { state, extensions: 0, line: Vec::new(), trailers: 0, max_trailers, kept, is_lenient: false }
    }

    /// Servers are forgiven spaces behind a size, which old ones leave there.
    pub(crate) fn of_server(max_trailers: usize) -> Self {
        Self { is_lenient: true, ..Self::of_client(max_trailers) }
    }

    /// Goes through what stands between data; tells how many bytes that is.
    pub(crate) fn skip_to_data(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        let mut at = 0;
        while at < bytes.len() && !matches!(self.state, State::Data(_) | State::Over) {
            self.state = self.step(bytes[at])?;
            at += 1;
        }
        Ok(at)
    }

    /// How many bytes of data come next.
    pub(crate) const fn data(&self) -> u64 {
        if let State::Data(left) = self.state { left } else { 0 }
    }

    /// So many of them were taken.
    pub(crate) const fn took(&mut self, bytes: usize) {
        let left = self.data().saturating_sub(bytes as u64);
        self.state = if left == 0 { State::DataCr } else { State::Data(left) };
    }

    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    pub(crate) fn has_trailers(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The trailers, if there were any.
    pub(crate) fn take_trailers(&mut self) -> Option<HeaderMap> {
        Some(std::mem::take(&mut self.kept)).filter(|kept| !kept.is_empty())
    }

    fn step(&mut self, byte: u8) -> Result<State, Broken> {
        match self.state {
            State::Size { digits, value } => self.size(digits, value, byte),
            State::Extension { value } => self.extension(value, byte),
            State::SizeEnd { value: 0 } if byte == b'\n' => Ok(State::Trailers),
            State::SizeEnd { value } if byte == b'\n' => Ok(State::Data(value)),
            State::DataCr if byte == b'\r' => Ok(State::DataLf),
            State::DataLf if byte == b'\n' => Ok(State::Size { digits: 0, value: 0 }),
            State::Trailers => self.trailer(byte),
            State::SizeEnd { .. } | State::DataCr | State::DataLf => {
                Err(Broken("a chunk does not end where it should"))
            }
            State::Data(_) | State::Over => Err(Broken("a chunk goes on after its end")),
        }
    }

    fn size(&self, digits: u8, value: u64, byte: u8) -> Result<State, Broken> {
        match char::from(byte).to_digit(16) {
            Some(_) if digits == MAX_DIGITS => Err(Broken("a chunk of too many digits")),
            Some(digit) => Ok(State::Size { digits: digits + 1, value: value << 4 | u64::from(digit) }),
            None if digits == 0 => Err(Broken("a chunk without a size")),
            None if byte == b'\r' => Ok(State::SizeEnd { value }),
            None if byte == b';' => Ok(State::Extension { value }),
            None if self.is_lenient && b" \t".contains(&byte) => Ok(State::Extension { value }),
            None => Err(Broken("a chunk whose size is no number")),
        }
    }

    fn extension(&mut self, value: u64, byte: u8) -> Result<State, Broken> {
        self.extensions += 1;
        match byte {
            _ if self.extensions > MAX_EXTENSIONS => Err(Broken("too many chunk extensions")),
            b'\r' => Ok(State::SizeEnd { value }),
            byte if is_plain(&[byte]) => Ok(State::Extension { value }),
            _ => Err(Broken("a control character in a chunk extension")),
        }
    }

    fn trailer(&mut self, byte: u8) -> Result<State, Broken> {
        self.trailers += 1;
        if self.trailers > self.max_trailers {
            return Err(Broken("too many trailers"));
        }
        self.line.push(byte);
        if byte != b'\n' {
            return Ok(State::Trailers);
        }
        let line = self.line.strip_suffix(b"\r\n").ok_or(Broken("a trailer that ends without CR"))?;
        if line.is_empty() {
            return Ok(State::Over);
        }
        let colon = memchr::memchr(b':', line).ok_or(Broken("a trailer without a name"))?;
        if !is_token(&line[..colon]) || !is_plain(&line[colon + 1..]) {
            return Err(Broken("a malformed trailer"));
        }
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        let (Ok(name), Ok(value)) = (name, value) else { return Err(Broken("a malformed trailer")) };
        // A map has a size beyond which it does not grow but panics.
        self.kept.try_append(name, value).map_err(|_| Broken("too many trailers"))?;
        self.line.clear();
        Ok(State::Trailers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Chunked {
        /// Goes through `bytes` up to the end of the body; tells how many are part of it, and whether it ended.
        fn advance(&mut self, bytes: &[u8]) -> Result<(usize, bool), Broken> {
            let mut at = 0;
            loop {
                at += self.skip_to_data(&bytes[at..])?;
                let here = usize::try_from(self.data()).unwrap_or(usize::MAX).min(bytes.len() - at);
                if here == 0 {
                    return Ok((at, self.is_over()));
                }
                self.took(here);
                at += here;
            }
        }
    }

    fn end(body: &[u8]) -> Result<(usize, bool), Broken> {
        Chunked::of_client(64).advance(body)
    }

    #[test]
    fn finds_the_end() {
        assert_eq!(end(b"0\r\n\r\nGET"), Ok((5, true)));
        assert_eq!(end(b"3\r\nabc\r\n0\r\n\r\n"), Ok((13, true)));
        assert_eq!(end(b"3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\nrest"), Ok((23, true)));
        assert_eq!(end(b"A\r\nabc"), Ok((6, false)));
    }

    #[test]
    fn refuses_what_could_end_elsewhere() {
        for body in [
            &b"3\nabc\r\n0\r\n\r\n"[..],
            b"3\r\nabc\n0\r\n\r\n",
            b"3\r\nabcd\r\n0\r\n\r\n",
            b" 3\r\nabc",
            b"3 \r\nabc",
            b"0x3\r\nabc",
            b"+3\r\nabc",
            b"-1\r\n",
            b"\r\n",
            b"ffffffffffffffff\r\n",
            b"3;\nabc",
            b"3;a\0\r\n",
            b"0\r\nX: y\n\r\n",
            b"0\r\n folded\r\n\r\n",
            b"0\r\nX : y\r\n\r\n",
            b"0\r\nX\r\n\r\n",
        ] {
            assert!(end(body).is_err(), "{:?}", String::from_utf8_lossy(body));
        }
        assert!(end(&[&b"0\r\nX: "[..], &[b'y'; 64]].concat()).is_err());
        assert!(end(&[&b"1;"[..], &vec![b'y'; MAX_EXTENSIONS + 1]].concat()).is_err());
    }

    #[test]
    fn more_trailers_than_a_map_can_hold_are_too_many() {
        let mut body = b"0\r\n".to_vec();
        body.extend((0..40_000).flat_map(|number| format!("x-{number}: y\r\n").into_bytes()));
        assert_eq!(Chunked::of_client(1 << 20).advance(&body), Err(Broken("too many trailers")));
    }

    proptest! {
        #[test]
        fn the_end_does_not_depend_on_how_it_arrives(
            sizes in prop::collection::vec(1..40_usize, 0..5),
            cuts in prop::collection::vec(1..9_usize, 1..50),
        ) {
            let mut body = Vec::new();
            for size in sizes {
                body.extend(format!("{size:x}\r\n{}\r\n", "0".repeat(size)).bytes());
            }
            body.extend(b"0\r\nA: b\r\n\r\n");
            let whole = body.len();
            body.extend(b"GET / HTTP/1.1");
            let (mut chunked, mut at) = (Chunked::of_client(64), 0);
            for cut in cuts.iter().cycle() {
                let piece = &body[at..(at + cut).min(body.len())];
                let (consumed, ended) = chunked.advance(piece).unwrap();
                at += consumed;
                if ended {
                    break;
                }
                prop_assert_eq!(consumed, piece.len());
            }
            prop_assert_eq!(at, whole);
        }
    }
}
