//! The head of an HTTP/1 request, read strictly: what two readers could understand differently is refused.

use super::{Fault, Wish};
use memchr::memchr;
use std::ops::Range;

/// How large a head may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) headers: usize,
    pub(crate) bytes: usize,
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framed {
    /// By its length, which may be none.
    Length(u64),
    /// By its last chunk.
    Chunked,
}

/// What the bytes at the start of a request are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// Not all of a head yet.
    Partial,
    /// A head.
    Head(Outline),
    /// No head that is let in.
    Fault(Fault),
}

/// Where the parts of a head are, and what it says about its request and the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) length: usize,
    pub(crate) method: Range<usize>,
    pub(crate) target: Range<usize>,
    pub(crate) is_1_1: bool,
    pub(crate) body: Framed,
    pub(crate) wish: Wish,
    pub(crate) takes_trailers: bool,
}

/// Where the names and values of fields are.
pub(crate) type Places = Vec<(Range<usize>, Range<usize>)>;

/// Reads the head at the start of `bytes`, and notes where its fields are.
pub(crate) fn scan(bytes: &[u8], bounds: Bounds, fields: &mut Places) -> Scan {
    fields.clear();
    let mut facts = Facts::default();
    let mut rest = bytes;
    let mut count = 0_usize;
    while let Some(end) = memchr(b'\n', rest) {
        if bytes.len() - rest.len() + end >= bounds.bytes {
            return Scan::Fault(Fault::TooLarge);
        }
        let Some(line) = rest[..end].strip_suffix(b"\r") else { return Scan::Fault(Fault::LineEnd) };
        let start = bytes.len() - rest.len();
        rest = &rest[end + 1..];
        if count > 0 && line.is_empty() {
            let length = bytes.len() - rest.len();
            return facts.conclude(length).unwrap_or_else(Scan::Fault);
        }
        let read = if count == 0 { facts.request_line(line) } else { facts.header(line, start, fields) };
        if let Err(fault) = read {
            return Scan::Fault(fault);
        }
        count += 1;
        if count > bounds.headers + 1 {
            return Scan::Fault(Fault::TooManyHeaders);
        }
    }
    if bytes.len() >= bounds.bytes { Scan::Fault(Fault::TooLarge) } else { Scan::Partial }
}

/// Where the first empty line ends that is at `from` or later: before that there is no need to look again.
pub(crate) fn end_of(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from.saturating_sub(3);
    while let Some(found) = memchr(b'\n', &bytes[at..]) {
        at += found + 1;
        match bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// What the lines of a head say about its framing.
#[derive(Default)]
struct Facts {
    method: Range<usize>,
    target: Range<usize>,
    is_1_1: bool,
    host: Option<()>,
    length: Option<u64>,
    chunked: bool,
    wish: Wish,
    takes_trailers: bool,
}

impl Facts {
    fn request_line(&mut self, line: &[u8]) -> Result<(), Fault> {
        let method_end = memchr(b' ', line).ok_or(Fault::RequestLine)?;
        let (method, rest) = (&line[..method_end], &line[method_end + 1..]);
        let target_end = memchr(b' ', rest).ok_or(Fault::RequestLine)?;
        let (target, version) = (&rest[..target_end], &rest[target_end + 1..]);
        if !is_token(method) || target.is_empty() || !target.iter().all(u8::is_ascii_graphic) {
            return Err(Fault::RequestLine);
        }
        match version {
            b"HTTP/1.1" => self.is_1_1 = true,
            b"HTTP/1.0" => {}
            [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
                if major.is_ascii_digit() && minor.is_ascii_digit() =>
            {
                return Err(Fault::Version);
            }
            _ => return Err(Fault::RequestLine),
        }
        self.method = 0..method_end;
        self.target = method_end + 1..method_end + 1 + target_end;
        if method == b"CONNECT" { Err(Fault::Connect) } else { Ok(()) }
    }

    fn header(&mut self, line: &[u8], start: usize, fields: &mut Places) -> Result<(), Fault> {
        if matches!(line, [b' ' | b'\t', ..]) {
            return Err(Fault::Folded);
        }
        let colon = memchr(b':', line).ok_or(Fault::Header)?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if !is_token(name) {
            return Err(Fault::Header);
        }
        if !is_plain(value) {
            return Err(if value.contains(&b'\r') { Fault::LineEnd } else { Fault::Header });
        }
        let padding = value.len() - value.trim_ascii_start().len();
        let value = value.trim_ascii();
        let at = start + colon + 1 + padding;
        fields.push((start..start + colon, at..at + value.len()));
        match name.len() {
            2 if name.eq_ignore_ascii_case(b"te") => {
                let mut words = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                self.takes_trailers |= words.any(|word| word.eq_ignore_ascii_case(b"trailers"));
                Ok(())
            }
            4 if name.eq_ignore_ascii_case(b"host") => self.host(value),
            10 if name.eq_ignore_ascii_case(b"connection") => {
                self.wish.hear(value);
                Ok(())
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => self.length(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.encoding(value),
            _ => Ok(()),
        }
    }

    fn host(&mut self, value: &[u8]) -> Result<(), Fault> {
        if self.host.replace(()).is_some() {
            return Err(Fault::HostRepeated);
        }
        if is_host(value) { Ok(()) } else { Err(Fault::HostInvalid) }
    }

    fn length(&mut self, value: &[u8]) -> Result<(), Fault> {
        let is_number = !value.is_empty() && value.len() <= 19 && value.iter().all(u8::is_ascii_digit);
        if self.length.is_some() {
            return Err(Fault::LengthRepeated);
        }
        if !is_number {
            return Err(Fault::LengthInvalid);
        }
        // Nineteen digits fit.
        self.length = Some(value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')));
        Ok(())
    }

    fn encoding(&mut self, value: &[u8]) -> Result<(), Fault> {
        if self.chunked || !self.is_1_1 || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(Fault::Encoding);
        }
        self.chunked = true;
        Ok(())
    }

    fn conclude(self, length: usize) -> Result<Scan, Fault> {
        if self.is_1_1 && self.host.is_none() {
            return Err(Fault::HostMissing);
        }
        let body = match (self.chunked, self.length) {
            (true, Some(_)) => return Err(Fault::LengthAndEncoding),
            (true, None) => Framed::Chunked,
            (false, length) => Framed::Length(length.unwrap_or(0)),
        };
        let Self { method, target, is_1_1, wish, takes_trailers, .. } = self;
        Ok(Scan::Head(Outline { length, method, target, is_1_1, body, wish, takes_trailers }))
    }
}

/// Characters of methods and names.
pub(super) fn is_token(bytes: &[u8]) -> bool {
    const TOKEN: [bool; 256] = {
        let mut table = [false; 256];
        let mut c = 0;
        while c < 128_u8 {
            table[c as usize] = c.is_ascii_alphanumeric()
                || matches!(
                    c,
                    b'!' | b'#'
                        | b'$'
                        | b'%'
                        | b'&'
                        | b'\''
                        | b'*'
                        | b'+'
                        | b'-'
                        | b'.'
                        | b'^'
                        | b'_'
                        | b'`'
                        | b'|'
                        | b'~'
                );
            c += 1;
        }
        table
    };
    !bytes.is_empty() && bytes.iter().all(|c| TOKEN[usize::from(*c)])
}

/// No control characters but tabs. Written without an early exit, so that it is done many bytes at a time.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let is_control = |c: u8| (c < 0x20 && c != b'\t') || c == 0x7f;
    bytes.iter().fold(0, |found, &c| found | u8::from(is_control(c))) == 0
}

/// A name or an address, and perhaps a port. Whatever could be taken for a path or for credentials is none.
pub(crate) fn is_host(value: &[u8]) -> bool {
    let is_letter =
        |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'_' | b':' | b'[' | b']');
    !value.is_empty() && value.len() <= 261 && value.iter().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOUNDS: Bounds = Bounds { headers: 4, bytes: 256 };

    fn fault(head: &str) -> Option<Fault> {
        match scan(head.as_bytes(), BOUNDS, &mut Vec::new()) {
            Scan::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    #[test]
    fn tells_how_the_body_ends() {
        let framed = |head: &str| match scan(head.as_bytes(), BOUNDS, &mut Vec::new()) {
            Scan::Head(outline) => Some(outline.body),
            _ => None,
        };
        assert_eq!(framed("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Some(Framed::Length(0)));
        assert_eq!(framed("GET / HTTP/1.0\r\n\r\n"), Some(Framed::Length(0)));
        assert_eq!(
            framed("PUT / HTTP/1.1\r\nHost: a\r\ncontent-length:\t 17 \r\n\r\n"),
            Some(Framed::Length(17))
        );
        assert_eq!(
            framed("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"),
            Some(Framed::Chunked)
        );
    }

    #[test]
    fn refuses_what_two_readers_could_read_differently() {
        let cases = [
            ("GET / HTTP/1.1\r\n\r\n", Fault::HostMissing),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", Fault::HostRepeated),
            ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", Fault::HostInvalid),
            ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", Fault::HostInvalid),
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n", Fault::HostInvalid),
            ("GET / HTTP/1.1\nHost: a\n\n", Fault::LineEnd),
            ("GET / HTTP/1.1\r\nHost: a\n\r\n", Fault::LineEnd),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", Fault::LineEnd),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", Fault::Folded),
            ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", Fault::Folded),
            ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", Fault::Header),
            ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", Fault::Header),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", Fault::Header),
            ("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", Fault::Header),
            ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", Fault::RequestLine),
            ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", Fault::RequestLine),
            ("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", Fault::RequestLine),
            ("GET /\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n", Fault::RequestLine),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", Fault::Version),
            ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", Fault::Connect),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                Fault::LengthRepeated,
            ),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", Fault::LengthInvalid),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", Fault::LengthInvalid),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
                Fault::LengthInvalid,
            ),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                Fault::LengthAndEncoding,
            ),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", Fault::Encoding),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", Fault::Encoding),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
                Fault::Encoding,
            ),
            ("PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", Fault::Encoding),
            ("GET / HTTP/1.1\r\nHost: a\r\n1: 1\r\n2: 2\r\n3: 3\r\n4: 4\r\n\r\n", Fault::TooManyHeaders),
        ];
        for (head, expected) in cases {
            assert_eq!(fault(head), Some(expected), "{head:?}");
        }
        assert_eq!(fault(&format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(256))), Some(Fault::TooLarge));
    }

    proptest! {
        #[test]
        fn a_head_is_partial_until_its_last_byte(cut in 0..61_usize, tail in "[a-z]{0,9}") {
            let head = "PUT /p HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nX: y\r\n\r\n";
            prop_assert_eq!(head.len(), 61);
            let mut fields = Vec::new();
            prop_assert_eq!(scan(&head.as_bytes()[..cut], BOUNDS, &mut fields), Scan::Partial);
            prop_assert_eq!(end_of(&head.as_bytes()[..cut], 0), None);
            prop_assert_eq!(end_of(format!("{head}{tail}").as_bytes(), cut), Some(61));
            let outline = Outline {
                length: 61,
                method: 0..3,
                target: 4..6,
                is_1_1: true,
                body: Framed::Length(5),
                wish: Wish::default(),
                takes_trailers: false,
            };
            let whole = format!("{head}{tail}");
            prop_assert_eq!(scan(whole.as_bytes(), BOUNDS, &mut fields), Scan::Head(outline));
            let fields: Vec<(&str, &str)> =
                fields.into_iter().map(|(name, value)| (&whole[name], &whole[value])).collect();
            prop_assert_eq!(fields, [("Host", "a.example"), ("Content-Length", "5"), ("X", "y")]);
        }

        #[test]
        fn any_bytes_can_be_scanned(bytes in prop::collection::vec(prop::sample::select(b"GET /HTP1.\r\n:a \t\0".to_vec()), 0..300)) {
            if let Scan::Head(Outline { length, .. }) = scan(&bytes, BOUNDS, &mut Vec::new()) {
                prop_assert!(length <= bytes.len() && bytes[..length].ends_with(b"\r\n\r\n"));
            }
        }
    }
}
