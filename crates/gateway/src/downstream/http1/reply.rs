use super::wire::Manners;
use crate::gate::Ticket;
use crate::message::{Departure, Outflow, Rest, write_field};
use crate::proxy::Outgoing;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body::Body;
use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

/// Stages the answer to a request; tells whether the connection can go on after it.
pub(super) fn start<T: Ticket>(
    outflow: &mut Outflow<Outgoing<T>>,
    response: Response<Outgoing<T>>,
    client: Manners,
) -> bool {
    let (parts, body) = response.into_parts();
    let rest = rest(parts.status, &body, client);
    let announced = body.size_hint().exact();
    let stays = client.stays && rest != Rest::UntilClosed && !closes(&parts.headers);
    outflow.start(body, rest, Departure::Together, |text| {
        write_status(text, parts.status);
        write_fields(text, &parts, rest, announced, client);
        if !parts.headers.contains_key(CONNECTION) {
            match (stays, client.is_1_1) {
                (false, true) => text.extend_from_slice(b"connection: close\r\n"),
                (true, false) => text.extend_from_slice(b"connection: keep-alive\r\n"),
                _ => {}
            }
        }
        text.extend_from_slice(b"\r\n");
    });
    stays
}

/// What follows the head.
fn rest<T: Ticket>(status: StatusCode, body: &Outgoing<T>, client: Manners) -> Rest {
    if client.is_head || has_no_body(status) || body.is_end_stream() {
        return Rest::Nothing;
    }
    match body.size_hint().exact() {
        Some(length) => Rest::Sized(length),
        None if client.is_1_1 => Rest::Chunks { with_trailers: client.takes_trailers },
        None => Rest::UntilClosed,
    }
}

fn has_no_body(status: StatusCode) -> bool {
    status.is_informational() || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED
}

fn closes(headers: &HeaderMap) -> bool {
    headers.get(CONNECTION).is_some_and(|value| value.as_bytes() == b"close")
}

fn write_status(text: &mut Vec<u8>, status: StatusCode) {
    if status == StatusCode::OK {
        text.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        return;
    }
    text.extend_from_slice(b"HTTP/1.1 ");
    text.extend_from_slice(status.as_str().as_bytes());
    text.push(b' ');
    text.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    text.extend_from_slice(b"\r\n");
}

fn write_fields(text: &mut Vec<u8>, parts: &Parts, rest: Rest, announced: Option<u64>, client: Manners) {
    let headers = &parts.headers;
    // What a server says of a body that it does not send is passed on: it is the length that the body would have.
    let is_said =
        parts.status == StatusCode::NOT_MODIFIED || client.is_head && headers.contains_key(CONTENT_LENGTH);
    let mut length = match rest {
        _ if is_said || has_no_body(parts.status) => None,
        Rest::Sized(length) => Some(length),
        Rest::Nothing if client.is_head => announced.filter(|length| *length > 0),
        Rest::Nothing => Some(0),
        Rest::Chunks { .. } | Rest::UntilClosed => None,
    };
    let mut has_date = false;
    for (name, value) in headers {
        has_date |= *name == DATE;
        if *name == CONTENT_LENGTH && !is_said {
            write_length(text, length.take());
        } else if *name != TRANSFER_ENCODING {
            write_field(text, name, value);
        }
    }
    write_length(text, length);
    if matches!(rest, Rest::Chunks { .. }) {
        text.extend_from_slice(b"transfer-encoding: chunked\r\n");
    }
    if !has_date {
        write_date(text);
    }
}

fn write_length(text: &mut Vec<u8>, length: Option<u64>) {
    if let Some(length) = length {
        write_field(text, &CONTENT_LENGTH, &HeaderValue::from(length));
    }
}

/// The date changes once a second.
fn write_date(text: &mut Vec<u8>) {
    thread_local! {
        static LAST: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
    }
    let now = SystemTime::now();
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    LAST.with_borrow_mut(|(of, last)| {
        if *of != second || last.is_empty() {
            *of = second;
            *last = httpdate::fmt_http_date(now);
        }
        text.extend_from_slice(b"date: ");
        text.extend_from_slice(last.as_bytes());
        text.extend_from_slice(b"\r\n");
    });
}
