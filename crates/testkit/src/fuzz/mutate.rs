//! Inputs made from others.

use fastrand::Rng;

/// The longest input: what is longer is cut. Bounds of targets are far below.
const MOST_BYTES: usize = 64 * 1024;

/// The most changes at once.
const MOST_CHANGES: usize = 8;

/// Numbers where arithmetic breaks, as texts.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551616",
    "1e999",
    "0.00000001",
];

/// Bytes that mean something in most formats.
const BYTES: [u8; 20] = [
    0, 9, 10, 13, 32, b'"', b'\'', b'%', b'&', b'*', b',', b'/', b':', b'=', b'[', b']', b'{', b'}', 0x7f,
    0xff,
];

/// One of the inputs, changed here and there. There must be one.
pub(super) fn mutate(kept: &[Vec<u8>], words: &[&str], rng: &mut Rng) -> Vec<u8> {
    let mut input = kept[rng.usize(..kept.len())].clone();
    for _ in 0..=rng.usize(..MOST_CHANGES) {
        change(&mut input, kept, words, rng);
    }
    input.truncate(MOST_BYTES);
    input
}

fn change(input: &mut Vec<u8>, kept: &[Vec<u8>], words: &[&str], rng: &mut Rng) {
    let at = rng.usize(..=input.len());
    let to = at + rng.usize(..=(input.len() - at).min(32));
    match rng.u8(..10) {
        0 if at < input.len() => input[at] ^= 1 << rng.u8(..8),
        1 if at < input.len() => input[at] = BYTES[rng.usize(..BYTES.len())],
        2 => input.insert(at, rng.u8(..)),
        3 => drop(input.drain(at..to)),
        4 => {
            let piece = input[at..to].to_vec();
            let place = rng.usize(..=input.len());
            let times = if rng.u8(..16) == 0 { 200 } else { 1 };
            drop(input.splice(place..place, piece.repeat(times)));
        }
        5 if !words.is_empty() => put(input, at, at, words[rng.usize(..words.len())].as_bytes()),
        6 if !words.is_empty() => put(input, at, to, words[rng.usize(..words.len())].as_bytes()),
        7 => {
            let (from, until) = digits(input, at);
            put(input, from, until, NUMBERS[rng.usize(..NUMBERS.len())].as_bytes());
        }
        8 => {
            let other = &kept[rng.usize(..kept.len())];
            let from = rng.usize(..=other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        _ => input.truncate(at),
    }
}

fn put(input: &mut Vec<u8>, from: usize, to: usize, bytes: &[u8]) {
    drop(input.splice(from..to, bytes.iter().copied()));
}

/// The number around a place, which may be none.
fn digits(input: &[u8], at: usize) -> (usize, usize) {
    let before = input[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let after = input[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (at - before, at + after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let kept = [b"a = 12".to_vec(), b"[b]".to_vec()];
        let make = |seed| {
            let mut rng = Rng::with_seed(seed);
            (0..200).map(|_| mutate(&kept, &["word"], &mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(make(7), make(7));
        assert_ne!(make(7), make(8));
        let has = |text: &str| make(7).iter().any(|input| String::from_utf8_lossy(input).contains(text));
        assert!(has("word") && has("9223372036854775807"));
    }

    #[test]
    fn a_number_is_found_around_a_place() {
        assert_eq!(digits(b"a = 123;", 5), (4, 7));
        assert_eq!(digits(b"a", 1), (1, 1));
    }
}
