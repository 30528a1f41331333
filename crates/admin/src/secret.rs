//! What nobody may guess, and names that sort by time.

use crate::clock;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};

/// The system has no randomness to give: nothing secret can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRandomness;

impl std::fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the system gave no random bytes")
    }
}

impl std::error::Error for NoRandomness {}

/// Random bytes.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// A secret of 256 bits, in hexadecimal digits.
pub(crate) fn token() -> Result<String, NoRandomness> {
    bytes::<32>().map(|bytes| hex(&bytes))
}

/// A password that can be typed: 20 of 32 letters and digits that are not mistaken for one another, 100 bits.
pub(crate) fn password() -> Result<String, NoRandomness> {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789X";
    let letters = bytes::<20>()?.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    let groups: Vec<String> = letters.chunks(5).map(|group| group.iter().collect()).collect();
    Ok(groups.join("-"))
}

/// A name that is unique, and sorts after those that this process made before, also in the same millisecond.
pub(crate) fn ordered_id() -> Result<String, NoRandomness> {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = clock::wall();
    let next = |last: i64| now.max(last.saturating_add(1));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
    let millis = next(last.unwrap_or_default());
    bytes::<10>().map(|random| format!("{millis:012x}{}", hex(&random)))
}

/// What is kept of a secret that has many random bits by itself.
pub(crate) fn digest(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// Whether two texts are the same, in a time that does not tell where they differ.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (a, b) = (token().unwrap(), token().unwrap());
        assert_eq!(a.len(), 64);
        assert_ne!(a, b);
        assert_eq!(password().unwrap().len(), 23);
        assert_ne!(password(), password());
    }

    #[test]
    fn names_sort_by_when_they_were_made() {
        let before = format!("{:012x}{}", clock::wall() - 1, "f".repeat(20));
        let names: Vec<String> = (0..1_000).map(|_| ordered_id().unwrap()).collect();
        assert!(names.is_sorted() && before < names[0] && before.len() == names[0].len());
    }

    #[test]
    fn comparing_is_exact() {
        assert!(same("abc", "abc"));
        assert!(!same("abc", "abd") && !same("abc", "ab"));
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
