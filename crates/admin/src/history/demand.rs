//! What each application asked for, second by second, for a day: what would have been is computed from it.

use std::collections::{BTreeMap, VecDeque};

/// Seconds in one piece.
const PIECE: u32 = 60;

/// How long it is kept, in seconds.
const KEPT: u32 = 24 * 3_600;

/// How many bytes all of it may take. A busy application takes some 250 KiB for a day, an idle one nearly nothing.
const MAX_BYTES: usize = 64 << 20;

/// What applications asked for, whether they got it or not.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    apps: BTreeMap<String, Record>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Record {
    /// Minutes in which something was asked for, packed.
    pieces: VecDeque<Piece>,
    /// The minute that is not over.
    open: Option<(u32, Box<[u64; PIECE as usize]>)>,
}

#[derive(Debug, PartialEq, Eq)]
struct Piece {
    /// Its minute, in seconds since 1970.
    at: u32,
    /// One number after another, each in as few bytes as it needs.
    packed: Box<[u8]>,
}

/// What a piece takes besides what is packed in it.
const OVERHEAD: usize = size_of::<Piece>();

impl Demand {
    /// Adds what was asked for in a second.
    pub(crate) fn add(&mut self, at: u32, app: &str, cost: u64) {
        if cost == 0 && !self.apps.contains_key(app) {
            return;
        }
        let record = match self.apps.get_mut(app) {
            Some(record) => record,
            None => self.apps.entry(app.to_owned()).or_default(),
        };
        let minute = at - at % PIECE;
        if record.open.as_ref().is_some_and(|(open, _)| *open != minute) {
            self.bytes += record.close();
        }
        if cost > 0 {
            let (_, seconds) = record.open.get_or_insert_with(|| (minute, Box::new([0; PIECE as usize])));
            seconds[(at % PIECE) as usize] += cost;
        }
        self.bytes -= record.drop_before(minute.saturating_sub(KEPT));
        self.shrink();
    }

    /// The seconds in which an application asked for something, not before `since`, the earliest first.
    pub(crate) fn of(&self, app: &str, since: u32) -> impl Iterator<Item = (u32, u64)> {
        let record = self.apps.get(app);
        let pieces = record.into_iter().flat_map(|record| &record.pieces);
        let packed = pieces.filter(move |piece| piece.at + PIECE > since).flat_map(|piece| {
            (piece.at..).zip(unpack(&piece.packed)).filter(|(_, cost)| *cost > 0).collect::<Vec<_>>()
        });
        let open = record.and_then(|record| record.open.as_ref());
        let open = open.into_iter().flat_map(|(minute, seconds)| (*minute..).zip(seconds.iter().copied()));
        packed.chain(open.filter(|(_, cost)| *cost > 0)).filter(move |(at, _)| *at >= since)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.apps.keys()
    }

    pub(crate) fn forget(&mut self, app: &str) {
        if let Some(record) = self.apps.remove(app) {
            self.bytes -= record.pieces.iter().map(Piece::size).sum::<usize>();
        }
    }

    /// The minutes that are over, to be kept.
    pub(crate) fn to_bytes(&self, app: &str) -> Option<Vec<u8>> {
        let pieces = &self.apps.get(app)?.pieces;
        let piece = |piece: &Piece| {
            let length = u16::try_from(piece.packed.len()).unwrap_or(u16::MAX);
            [&piece.at.to_le_bytes()[..], &length.to_le_bytes(), &piece.packed].concat()
        };
        (!pieces.is_empty()).then(|| pieces.iter().flat_map(piece).collect())
    }

    /// Goes on from what was kept; what cannot be read is left out.
    pub(crate) fn restore(&mut self, app: &str, mut data: &[u8]) {
        let record = self.apps.entry(app.to_owned()).or_default();
        while let Some((head, rest)) = data.split_first_chunk::<6>() {
            let [a, b, c, d, low, high] = *head;
            let length = usize::from(u16::from_le_bytes([low, high]));
            let Some((packed, rest)) = rest.split_at_checked(length) else { break };
            let piece = Piece { at: u32::from_le_bytes([a, b, c, d]), packed: packed.into() };
            if record.pieces.back().is_none_or(|last| last.at < piece.at) {
                self.bytes += piece.size();
                record.pieces.push_back(piece);
            }
            data = rest;
        }
        self.shrink();
    }

    /// Forgets the oldest of whoever has most, until it fits.
    fn shrink(&mut self) {
        while self.bytes > MAX_BYTES {
            let longest = self.apps.values_mut().max_by_key(|record| record.pieces.len());
            let Some(piece) = longest.and_then(|record| record.pieces.pop_front()) else { return };
            self.bytes -= piece.size();
        }
    }
}

impl Record {
    /// Packs the minute that is over; returns what it takes.
    fn close(&mut self) -> usize {
        let Some((at, seconds)) = self.open.take() else { return 0 };
        let piece = Piece { at, packed: pack(&seconds[..]) };
        let size = piece.size();
        self.pieces.push_back(piece);
        size
    }

    fn drop_before(&mut self, time: u32) -> usize {
        let mut freed = 0;
        while self.pieces.front().is_some_and(|piece| piece.at < time) {
            freed += self.pieces.pop_front().map_or(0, |piece| piece.size());
        }
        freed
    }
}

impl Piece {
    fn size(&self) -> usize {
        OVERHEAD + self.packed.len()
    }
}

/// Seven bits a byte, the lowest first; the highest bit says that more follows.
fn pack(numbers: &[u64]) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push(low_bits(rest) | 0x80);
            rest >>= 7;
        }
        bytes.push(low_bits(rest));
    }
    bytes.into()
}

const fn low_bits(number: u64) -> u8 {
    number.to_le_bytes()[0] & 0x7f
}

fn unpack(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let mut bytes = bytes.iter();
    std::iter::from_fn(move || {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.next()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_asked_for_is_told(steps in prop::collection::vec((1..200u32, 0..u64::MAX / 2), 1..100)) {
            let mut demand = Demand::default();
            let (mut at, mut expected) = (1_000_000, Vec::new());
            for (pause, cost) in steps {
                at += pause;
                demand.add(at, "a", cost);
                if cost > 0 {
                    expected.push((at, cost));
                }
            }
            prop_assert_eq!(demand.of("a", 0).collect::<Vec<_>>(), expected.clone());
            let since = at - 100;
            expected.retain(|(at, _)| *at >= since);
            prop_assert_eq!(demand.of("a", since).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn garbage_breaks_nothing(data in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut demand = Demand::default();
            demand.restore("a", &data);
            let _ = demand.of("a", 0).count();
        }
    }

    #[test]
    fn a_day_of_a_busy_application_is_small_and_what_is_older_is_forgotten() {
        let mut demand = Demand::default();
        for at in 0..2 * KEPT {
            demand.add(at, "a", 10_000 + u64::from(at % 1_000));
        }
        assert!(demand.bytes < 350 << 10, "{} bytes", demand.bytes);
        assert!(demand.of("a", 0).count() <= (KEPT + 2 * PIECE) as usize);
    }

    #[test]
    fn all_of_it_is_bounded() {
        let mut demand = Demand::default();
        let piece: Vec<u8> =
            [&0u32.to_le_bytes()[..], &60_000u16.to_le_bytes(), &vec![0x80; 60_000]].concat();
        for i in 0..2_000 {
            demand.restore(&format!("app-{i}"), &piece);
        }
        assert!(demand.bytes <= MAX_BYTES);
    }
}
