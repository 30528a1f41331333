//! The trace of a caller, as W3C has it told in a header field.

use http::HeaderMap;

const TRACEPARENT: &str = "traceparent";

/// The span of a caller that a decision is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// Its trace.
    pub trace: u128,
    /// The span itself.
    pub span: u64,
}

impl TraceParent {
    /// The one that a request tells of, if it tells of one and does so rightly.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut told = headers.get_all(TRACEPARENT).iter();
        let text = told.next()?.to_str().ok()?;
        if told.next().is_some() { None } else { Self::parse(text) }
    }

    /// Reads `version-trace-span-flags`. Later versions may say more behind it.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '-');
        let [version, trace, span, flags] = [2, 32, 16, 2].map(|digits| hex(parts.next()?, digits));
        let is_last = parts.next().is_none();
        let is_known = match version? {
            0 => is_last,
            0xff => false,
            _ => true,
        };
        let (trace, span) = (trace?, u64::try_from(span?).ok()?);
        (is_known && flags.is_some() && trace != 0 && span != 0).then_some(Self { trace, span })
    }
}

/// A number of exactly so many digits, without capitals.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u128::from_str_radix(text, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const RIGHT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(values: &[&str]) -> Option<TraceParent> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(TRACEPARENT, HeaderValue::from_str(value).unwrap());
        }
        TraceParent::of(&headers)
    }

    #[test]
    fn what_is_told_rightly_is_read() {
        let expected =
            TraceParent { trace: 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c, span: 0xb7ad_6b71_6920_3331 };
        let later = RIGHT.replacen("00", "cc", 1) + "-more-of-it";
        for text in [RIGHT, &RIGHT.replace("-01", "-00"), &later] {
            assert_eq!(read(&[text]), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_told_wrongly_is_not() {
        assert_eq!((read(&[]), read(&[RIGHT, RIGHT])), (None, None));
        for wrong in [
            "",
            "00",
            &RIGHT.to_uppercase(),
            &RIGHT.replacen("00", "ff", 1),
            &RIGHT.replacen("00", "0", 1),
            &(RIGHT.to_owned() + "-"),
            &RIGHT.replace("-01", ""),
            &RIGHT.replace("-01", "-1"),
            &RIGHT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &RIGHT.replace("b7ad6b7169203331", &"0".repeat(16)),
            &RIGHT.replace("b7ad6b7169203331", "+7ad6b7169203331"),
        ] {
            assert_eq!(read(&[wrong]), None, "{wrong}");
        }
    }
}
