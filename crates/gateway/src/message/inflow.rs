use crate::framing::{Broken, Chunked};
use bytes::{Buf, Bytes, BytesMut};
use http_body::{Frame, SizeHint};

/// The most bytes of the trailers of a response.
const MAX_TRAILERS: usize = 64 * 1024;

/// The body of a message, by how its end is told.
#[derive(Debug)]
pub(crate) enum Inflow {
    /// It has ended.
    Over,
    /// So many bytes are left.
    Sized(u64),
    Chunked(Box<Chunked>),
    /// It ends when the sender closes the connection.
    UntilClosed,
}

/// What can be done about a body now.
pub(crate) enum Step {
    /// A piece of it.
    Frame(Frame<Bytes>),
    End,
    /// There is nothing left to go on with.
    More,
}

impl Inflow {
    pub(crate) const fn sized(length: u64) -> Self {
        if length == 0 { Self::Over } else { Self::Sized(length) }
    }

    /// The chunks of a server.
    pub(crate) fn chunked() -> Self {
        Self::Chunked(Box::new(Chunked::of_server(MAX_TRAILERS)))
    }

    /// The chunks of a client.
    pub(crate) fn chunked_strictly(max_trailers: usize) -> Self {
        Self::Chunked(Box::new(Chunked::of_client(max_trailers)))
    }

    pub(crate) const fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// Takes the next piece out of what was read.
    pub(crate) fn next(&mut self, read: &mut BytesMut) -> Result<Step, &'static str> {
        let frame = match self {
            Self::Over => return Ok(Step::End),
            Self::UntilClosed if read.is_empty() => return Ok(Step::More),
            Self::UntilClosed => Frame::data(read.split().freeze()),
            Self::Sized(left) => {
                let Some(piece) = piece(read, *left) else { return Ok(Step::More) };
                *self = Self::sized(*left - piece.len() as u64);
                Frame::data(piece)
            }
            Self::Chunked(chunked) => {
                pass_framing(chunked, read)?;
                if let Some(piece) = piece(read, chunked.data()) {
                    chunked.took(piece.len());
                    // The end often comes with the last piece: then nobody has to ask for it.
                    pass_framing(chunked, read)?;
                    if chunked.is_over() && !chunked.has_trailers() {
                        *self = Self::Over;
                    }
                    Frame::data(piece)
                } else if chunked.is_over() {
                    let trailers = chunked.take_trailers();
                    *self = Self::Over;
                    let Some(trailers) = trailers else { return Ok(Step::End) };
                    Frame::trailers(trailers)
                } else {
                    return Ok(Step::More);
                }
            }
        };
        Ok(Step::Frame(frame))
    }

    /// The sender has closed the connection; whether that is the end of the body.
    pub(crate) fn closed(&mut self) -> bool {
        let is_end = matches!(self, Self::UntilClosed | Self::Over);
        if is_end {
            *self = Self::Over;
        }
        is_end
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        match self {
            Self::Over => SizeHint::with_exact(0),
            Self::Sized(left) => SizeHint::with_exact(*left),
            Self::Chunked(_) | Self::UntilClosed => SizeHint::default(),
        }
    }
}

/// What was read of the next `length` bytes; none if that is nothing.
fn piece(read: &mut BytesMut, length: u64) -> Option<Bytes> {
    let here = usize::try_from(length).unwrap_or(usize::MAX).min(read.len());
    (here > 0).then(|| read.split_to(here).freeze())
}

fn pass_framing(chunked: &mut Chunked, read: &mut BytesMut) -> Result<(), &'static str> {
    let between = chunked.skip_to_data(read).map_err(|Broken(why)| why)?;
    read.advance(between);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that comes of bytes that arrive in pieces: the data, the trailers, what is left, or what is wrong.
    fn taken(mut inflow: Inflow, bytes: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), &'static str> {
        let (mut read, mut data, mut trailers) = (BytesMut::new(), Vec::new(), 0);
        let mut pieces = bytes.chunks(step.max(1));
        loop {
            match inflow.next(&mut read)? {
                Step::Frame(frame) => match frame.into_data() {
                    Ok(piece) => data.extend_from_slice(&piece),
                    Err(frame) => trailers += frame.into_trailers().map_or(0, |fields| fields.len()),
                },
                Step::End => return Ok((data, trailers, read.is_empty())),
                Step::More => match pieces.next() {
                    Some(piece) => read.extend_from_slice(piece),
                    None if inflow.closed() => {}
                    None => return Err("breaks off"),
                },
            }
        }
    }

    #[test]
    fn bodies_end_where_they_are_said_to() {
        for step in 1..40 {
            let sized = taken(Inflow::sized(5), b"helloHTTP", step).unwrap();
            assert_eq!((sized.0.as_slice(), sized.2), (&b"hello"[..], step == 5 || step == 1), "{step}");
            assert_eq!(taken(Inflow::sized(6), b"hello", step), Err("breaks off"));
            assert_eq!(taken(Inflow::UntilClosed, b"hello", step), Ok((b"hello".to_vec(), 0, true)));
            let chunked = b"2  \r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n";
            assert_eq!(taken(Inflow::chunked(), chunked, step), Ok((b"hello".to_vec(), 0, true)), "{step}");
            let trailers = b"5\r\nhello\r\n0\r\nA: b\r\nC:\r\n\r\n";
            assert_eq!(taken(Inflow::chunked(), trailers, step), Ok((b"hello".to_vec(), 2, true)), "{step}");
            assert_eq!(taken(Inflow::chunked(), b"5\r\nhello\r\n0\r\n", step), Err("breaks off"));
            assert!(taken(Inflow::chunked(), b"5\r\nhelloHTTP", step).is_err(), "{step}");
        }
    }

    #[test]
    fn the_end_that_comes_with_the_last_piece_is_seen_there() {
        let mut read = BytesMut::from(&b"5\r\nhello\r\n0\r\n\r\n"[..]);
        let mut inflow = Inflow::chunked();
        assert!(matches!(inflow.next(&mut read), Ok(Step::Frame(_))));
        assert!(matches!(inflow, Inflow::Over) && read.is_empty());
    }

    proptest! {
        #[test]
        fn what_was_chunked_is_whole_again(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..8),
            step in 1..60_usize,
        ) {
            let mut bytes = Vec::new();
            for chunk in &chunks {
                bytes.extend(format!("{:X}\r\n", chunk.len()).into_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(taken(Inflow::chunked(), &bytes, step), Ok((chunks.concat(), 0, true)));
        }

        #[test]
        fn garbage_breaks_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200), step in 1..60_usize) {
            let _ = taken(Inflow::chunked(), &bytes, step);
        }
    }
}
