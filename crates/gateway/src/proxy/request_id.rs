//! Names for requests, by which they can be found again in every log.

use http::HeaderValue;
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use tollgate_core::id::Hex;

/// The longest name that is taken over from a client.
const MAX_LEN: usize = 128;

/// Makes names: random for each thread, then counted.
#[derive(Debug)]
pub(crate) struct RequestIds {
    prefix: u64,
    next: Cell<u64>,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        let random = RandomState::new();
        Self { prefix: random.hash_one(1), next: Cell::new(random.hash_one(2)) }
    }

    /// The client's own name for its request if it is a sane one, else a new one.
    pub(crate) fn of(&self, given: Option<&HeaderValue>) -> HeaderValue {
        match given {
            Some(id) if is_sane(id.as_bytes()) => id.clone(),
            _ => self.make(),
        }
    }

    fn make(&self) -> HeaderValue {
        let number = self.next.get();
        self.next.set(number.wrapping_add(1));
        let whole = u128::from(self.prefix) << 64 | u128::from(number);
        HeaderValue::from_str(Hex::of(whole).as_str()).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
    }
}

fn is_sane(id: &[u8]) -> bool {
    let is_plain =
        |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b':' | b'/' | b'+' | b'=');
    (1..=MAX_LEN).contains(&id.len()) && id.iter().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sane_names_are_kept_and_others_replaced() {
        let ids = RequestIds::new();
        let of = |text: &str| ids.of(Some(&text.parse().unwrap())).to_str().unwrap().to_owned();
        assert_eq!(of("req-1.a_b"), "req-1.a_b");
        for odd in ["", "a b", "a\"b", "{}", &"x".repeat(129)] {
            assert_eq!(of(odd).len(), 32, "{odd}");
        }
        assert_ne!(ids.of(None), ids.of(None));
        let ids = RequestIds { prefix: 0x0123_4567_89ab_cdef, next: Cell::new(0xfedc_ba98_7654_3210) };
        assert_eq!(ids.of(None), "0123456789abcdeffedcba9876543210");
    }
}
