//! Rows of doubles, which is how a script likes its numbers best: it need not read digits.

use super::reply::unexpected;
use crate::ledger::Answer;

/// A script works with doubles: times and counts beyond this would not be exact.
pub(super) const MOST: u64 = 1 << 52;

/// The length of a number.
const BYTES: usize = size_of::<f64>();

/// Numbers on their way to a script.
#[derive(Debug, Default)]
pub(super) struct Row(Vec<u8>);

/// Numbers that came from a script, read from front to back.
#[derive(Debug)]
pub(super) struct Numbers<'a>(std::slice::ChunksExact<'a, u8>);

impl Row {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    #[expect(clippy::cast_precision_loss, reason = "exact up to here")]
    pub(super) fn number(mut self, number: u64) -> Self {
        self.0.extend((number.min(MOST) as f64).to_le_bytes());
        self
    }

    /// A number of any size by its halves, which a script only compares.
    pub(super) fn counter(self, number: u64) -> Self {
        self.number(number >> 32).number(number & u64::from(u32::MAX))
    }

    pub(super) fn into_inner(self) -> Vec<u8> {
        self.0
    }
}

impl<'a> Numbers<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Answer<Self> {
        let numbers = bytes.chunks_exact(BYTES);
        if numbers.remainder().is_empty() { Ok(Self(numbers)) } else { Err(unexpected(&bytes.len())) }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.0.len() == 0
    }

    pub(super) fn number(&mut self) -> Answer<u64> {
        self.optional()?.ok_or_else(|| unexpected(&"a number below zero"))
    }

    /// A number, or `None` for one below zero.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    pub(super) fn optional(&mut self) -> Answer<Option<u64>> {
        let bytes = self.0.next().and_then(|bytes| bytes.try_into().ok());
        let number = f64::from_le_bytes(bytes.ok_or_else(|| unexpected(&"the end of a row"))?);
        match number {
            ..0.0 => Ok(None),
            0.0..=9e15 if number.fract() == 0.0 => Ok(Some(number as u64)),
            other => Err(unexpected(&other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_went() {
        let row =
            Row::new().number(0).number(7).number(MOST).number(u64::MAX).counter(u64::MAX - 1).into_inner();
        let mut numbers = Numbers::new(&row).unwrap();
        let halves = [u64::from(u32::MAX), u64::from(u32::MAX) - 1];
        for number in [0, 7, MOST, MOST, halves[0], halves[1]] {
            assert_eq!(numbers.number(), Ok(number));
        }
        assert!(numbers.is_at_end() && numbers.number().is_err());
    }

    #[test]
    fn what_is_no_number_of_ours_is_refused() {
        for number in [0.5, 1e16, f64::NAN, f64::INFINITY] {
            let row = number.to_le_bytes();
            assert!(Numbers::new(&row).unwrap().optional().is_err(), "{number}");
        }
        let row = (-1.0f64).to_le_bytes();
        assert_eq!(Numbers::new(&row).unwrap().optional(), Ok(None));
        assert!(Numbers::new(&row).unwrap().number().is_err());
        assert!(Numbers::new(&row[1..]).is_err());
    }
}
