use std::io::Write;

/// Which version of the protocol a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2.
    #[default]
    Two,
    /// RESP3, which has maps.
    Three,
}

/// What is sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A short text.
    Simple(&'static str),
    /// Something was wrong.
    Error(String),
    /// A number.
    Number(i64),
    /// A text.
    Text(Vec<u8>),
    /// Nothing.
    Null,
    /// Several things.
    List(Vec<Reply>),
    /// Several things by name.
    Map(Vec<(&'static str, Reply)>),
    /// Whether, how much at most, how much is left, when to come back, when all is there again.
    Throttled([i64; 5]),
}

impl Reply {
    /// An error that a caller made.
    pub(crate) fn error(text: impl std::fmt::Display) -> Self {
        Self::Error(format!("ERR {text}"))
    }

    /// Writes it as the client understands it.
    pub fn write(&self, protocol: Protocol, out: &mut Vec<u8>) {
        match self {
            Self::Simple(text) => line(out, b'+', text),
            Self::Error(text) => line(out, b'-', text.replace(['\r', '\n'], " ")),
            Self::Number(number) => line(out, b':', number),
            Self::Text(text) => {
                line(out, b'$', text.len());
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            Self::Null if protocol == Protocol::Three => out.extend_from_slice(b"_\r\n"),
            Self::Null => out.extend_from_slice(b"$-1\r\n"),
            Self::List(items) => {
                line(out, b'*', items.len());
                for item in items {
                    item.write(protocol, out);
                }
            }
            Self::Map(items) => {
                let (mark, count) =
                    if protocol == Protocol::Three { (b'%', items.len()) } else { (b'*', items.len() * 2) };
                line(out, mark, count);
                for (name, item) in items {
                    line(out, b'$', name.len());
                    line(out, name.as_bytes().first().copied().unwrap_or(b' '), name.get(1..).unwrap_or(""));
                    item.write(protocol, out);
                }
            }
            Self::Throttled(numbers) => {
                out.extend_from_slice(b"*5\r\n");
                for number in numbers {
                    line(out, b':', number);
                }
            }
        }
    }
}

fn line(out: &mut Vec<u8>, mark: u8, text: impl std::fmt::Display) {
    out.push(mark);
    // Writing to memory does not fail.
    let _ = write!(out, "{text}\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(reply: &Reply, protocol: Protocol) -> String {
        let mut out = Vec::new();
        reply.write(protocol, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn replies_are_written_for_either_version() {
        let map = Reply::Map(vec![("proto", Reply::Number(3)), ("none", Reply::Null)]);
        assert_eq!(written(&map, Protocol::Two), "*4\r\n$5\r\nproto\r\n:3\r\n$4\r\nnone\r\n$-1\r\n");
        assert_eq!(written(&map, Protocol::Three), "%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nnone\r\n_\r\n");
        let throttled = Reply::Throttled([0, 16, 15, -1, 2]);
        assert_eq!(written(&throttled, Protocol::Two), "*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n");
        assert_eq!(written(&Reply::error("a\r\nb"), Protocol::Two), "-ERR a  b\r\n");
    }
}
