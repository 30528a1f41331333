use crate::framing::Wish;
use crate::message::Inflow;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Version};
use httparse::{ParserConfig, Status};
use std::mem::MaybeUninit;

/// The most header fields of a response.
const MAX_FIELDS: usize = 256;

/// The head of a response, and what it says about what follows.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) response: Response<()>,
    pub(super) inflow: Inflow,
    /// Whether the server will take another request on this connection.
    pub(super) stays: bool,
}

impl Head {
    /// Reads the head of a response to a request of this method; `bytes` are all of it and nothing else.
    pub(super) fn parse(bytes: &Bytes, method: &Method) -> Result<Self, &'static str> {
        let mut fields = [const { MaybeUninit::uninit() }; MAX_FIELDS];
        let mut head = httparse::Response::new(&mut []);
        let parsed =
            ParserConfig::default().parse_response_with_uninit_headers(&mut head, bytes, &mut fields);
        match parsed {
            Ok(Status::Complete(length)) if length == bytes.len() => {}
            Ok(_) => return Err("its head does not end where it should"),
            Err(httparse::Error::TooManyHeaders) => return Err("too many header fields"),
            Err(_) => return Err("its head is malformed"),
        }
        let status = head.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or("no status")?;
        let mut headers = HeaderMap::with_capacity(head.headers.len() + SPARE);
        let mut wish = Wish::default();
        for field in head.headers.iter() {
            let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| "a malformed name")?;
            if name == CONNECTION && wish.hear(field.value) {
                continue;
            }
            let value = HeaderValue::from_maybe_shared(bytes.slice_ref(field.value));
            headers.append(name, value.map_err(|_| "a malformed value")?);
        }
        let version = if head.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
        let (inflow, is_clear) = framing(&mut headers, method, status, version)?;
        let stays =
            is_clear && !matches!(inflow, Inflow::UntilClosed) && wish.stays(version != Version::HTTP_10);
        let mut response = Response::new(());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        *response.version_mut() = version;
        Ok(Self { response, inflow, stays })
    }
}

/// Room for the fields that are added on the way to the client.
const SPARE: usize = 8;

/// How the end of the body is told, and whether it is told in one way only.
fn framing(
    headers: &mut HeaderMap,
    method: &Method,
    status: StatusCode,
    version: Version,
) -> Result<(Inflow, bool), &'static str> {
    let has_none = status.is_informational() || [204, 304].contains(&status.as_u16());
    if method == Method::HEAD || has_none {
        return Ok((Inflow::Over, true));
    }
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next() {
        let is_chunked = coding.as_bytes().eq_ignore_ascii_case(b"chunked") && codings.next().is_none();
        if !is_chunked || version == Version::HTTP_10 {
            return Err("a transfer coding that nobody asked for");
        }
        // Some would go by the one and some by the other: the client gets to see one of them only.
        let is_clear = headers.remove(CONTENT_LENGTH).is_none();
        return Ok((Inflow::chunked(), is_clear));
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter().map(length);
    let Some(first) = lengths.next() else { return Ok((Inflow::UntilClosed, true)) };
    let first = first?;
    let mut is_repeated = false;
    for other in lengths {
        if other? != first {
            return Err("several lengths");
        }
        is_repeated = true;
    }
    if is_repeated {
        headers.insert(CONTENT_LENGTH, first.into());
    }
    Ok((Inflow::sized(first), true))
}

fn length(value: &HeaderValue) -> Result<u64, &'static str> {
    let digits = value.as_bytes();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = value.to_str().ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).ok_or("a length that is no number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: &Method, head: &str) -> Result<Head, &'static str> {
        Head::parse(&Bytes::copy_from_slice(head.as_bytes()), method)
    }

    fn told(head: &str) -> String {
        match parse(&Method::GET, head) {
            Ok(head) => format!("{:?} {}", head.inflow, if head.stays { "stays" } else { "goes" }),
            Err(why) => why.to_owned(),
        }
    }

    #[test]
    fn the_end_of_a_body_is_told_in_one_way() {
        for (fields, expected) in [
            ("Content-Length: 5\r\n", "Sized(5) stays"),
            ("Content-Length: 0\r\n", "Over stays"),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", "Sized(5) stays"),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", "several lengths"),
            ("Content-Length: 5, 5\r\n", "a length that is no number"),
            ("Content-Length: +5\r\n", "a length that is no number"),
            ("Content-Length:\r\n", "a length that is no number"),
            ("Content-Length: 99999999999999999999\r\n", "a length that is no number"),
            ("", "UntilClosed goes"),
            ("Transfer-Encoding: gzip, chunked\r\n", "a transfer coding that nobody asked for"),
            (
                "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
                "a transfer coding that nobody asked for",
            ),
            ("Content-Length: 5\r\nConnection: x, Close\r\n", "Sized(5) goes"),
            ("Content-Length: 5\r\nConnection: Close\r\n", "Sized(5) goes"),
            ("Content-Length: 5\r\nConnection: keep-alive\r\nConnection: close\r\n", "Sized(5) goes"),
            ("Content-Length: 5\r\nConnection: keep-alive\r\n", "Sized(5) stays"),
        ] {
            assert_eq!(told(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n")), expected, "{fields}");
        }
        let both = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 5\r\n\r\n";
        assert!(told(both).starts_with("Chunked") && told(both).ends_with("goes"), "{}", told(both));
        let head = parse(&Method::GET, both).unwrap();
        assert!(!head.response.headers().contains_key(CONTENT_LENGTH));
    }

    #[test]
    fn some_responses_have_no_body_whatever_they_say() {
        let text = |status: u16| format!("HTTP/1.1 {status} x\r\nContent-Length: 5\r\n\r\n");
        for (method, status) in [(Method::HEAD, 200), (Method::GET, 204), (Method::GET, 304)] {
            let head = parse(&method, &text(status)).unwrap();
            assert!(matches!(head.inflow, Inflow::Over) && head.stays, "{method} {status}");
            assert_eq!(head.response.headers()[CONTENT_LENGTH], "5");
        }
    }

    #[test]
    fn version_1_0_goes_unless_it_says_otherwise() {
        assert_eq!(told("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n"), "Sized(1) goes");
        let kept = "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\n";
        assert_eq!(told(kept), "Sized(1) stays");
        assert_eq!(told(&kept.replace("Keep-Alive", "x, Keep-Alive")), "Sized(1) stays");
        assert_eq!(told(&kept.replace("Keep-Alive", "Keep-Alive, close")), "Sized(1) goes");
        let chunked = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(told(chunked), "a transfer coding that nobody asked for");
    }

    #[test]
    fn what_only_says_whether_the_connection_stays_goes_no_further() {
        let left = |value: &str| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: {value}\r\n\r\n");
            parse(&Method::GET, &head).unwrap().response.headers().contains_key(CONNECTION)
        };
        assert!(!left("Keep-Alive") && !left("close"));
        // What else it lists concerns other fields.
        assert!(left("close, x-private") && left("upgrade"));
    }

    #[test]
    fn what_is_no_head_is_not_taken_for_one() {
        for head in [
            "\r\n\r\n",
            "SSH-2.0-OpenSSH\r\n\r\n",
            "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.1 99 x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n",
            "HTTP/1.1 200 OK\r\na: b\x00\r\n\r\n",
        ] {
            assert!(parse(&Method::GET, head).is_err(), "{head:?}");
        }
        let many = "a: b\r\n".repeat(MAX_FIELDS + 1);
        assert_eq!(told(&format!("HTTP/1.1 200 OK\r\n{many}\r\n")), "too many header fields");
    }
}
