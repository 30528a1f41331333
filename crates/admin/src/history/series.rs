//! One series of numbers, kept ever coarser the older they get.

/// How a number of a series is put together from finer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They add up.
    Sum,
    /// The last one counts.
    Gauge,
}

/// What a series is made of: seconds of a point, and how many points are kept. Five minutes, an hour, six hours, a day and
/// a week.
pub(crate) const RINGS: [(u32, usize); 5] = [(1, 300), (10, 360), (60, 360), (240, 360), (1_800, 336)];

/// A point: since when, and one number for each thing that is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point<'a> {
    /// Seconds since 1970.
    pub(crate) at: u32,
    pub(crate) values: &'a [f32],
}

/// A series: a ring of points for each resolution.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    kinds: &'static [Kind],
    rings: [Ring; RINGS.len()],
}

/// The latest points of a resolution, side by side: thousands of series have thousands of them. There is a place for each from the
/// start, so that neither a ring nor what is saved of it ever changes its size.
#[derive(Clone, Debug)]
struct Ring {
    starts: Box<[u32]>,
    /// As many numbers for each start as there are kinds.
    values: Box<[f32]>,
    /// The place of the next point: that of the oldest, once all are taken.
    next: usize,
}

/// The start of a point that there is not yet.
const NONE: u32 = u32::MAX;

impl Series {
    pub(crate) fn new(kinds: &'static [Kind]) -> Self {
        Self { kinds, rings: RINGS.map(|(_, most)| Ring::new(kinds.len(), most)) }
    }

    /// Adds what happened in the second that starts at `at`.
    pub(crate) fn add(&mut self, at: u32, values: &[f32]) {
        for (ring, (step, _)) in self.rings.iter_mut().zip(RINGS) {
            let start = at - at % step;
            match ring.latest(self.kinds.len()) {
                Some((last, into)) if last == start => merge(self.kinds, into, values),
                // A clock that went back: what is there stays.
                Some((last, _)) if last > start => {}
                _ => ring.push(start, values),
            }
        }
    }

    /// The points of a resolution that are not older than `since`.
    pub(crate) fn points(&self, ring: usize, since: u32) -> impl Iterator<Item = Point<'_>> {
        self.rings[ring].points(self.kinds.len()).filter(move |point| point.at >= since)
    }

    /// What a number adds up to since then, as far as the ring goes.
    pub(crate) fn sum(&self, ring: usize, value: usize, since: u32) -> f64 {
        self.points(ring, since).map(|point| f64::from(point.values[value])).sum()
    }

    /// All but the finest ring, to be kept.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (kept, width) = (&self.rings[1..], self.kinds.len());
        let words: usize = kept.iter().map(|ring| 1 + ring.starts.len() * (1 + width)).sum();
        let mut bytes = Vec::with_capacity(2 + 4 * words);
        bytes.extend([1, u8::try_from(width).unwrap_or(u8::MAX)]);
        for ring in kept {
            bytes.extend(u32::try_from(ring.starts.len()).unwrap_or_default().to_le_bytes());
            for point in ring.places(width) {
                bytes.extend(point.at.to_le_bytes());
                bytes.extend(point.values.iter().flat_map(|value| value.to_le_bytes()));
            }
        }
        bytes
    }

    /// What was kept; none if it is not of this kind.
    pub(crate) fn from_bytes(kinds: &'static [Kind], bytes: &[u8]) -> Option<Self> {
        let (head, mut rest) = bytes.split_at_checked(2)?;
        if head != [1, u8::try_from(kinds.len()).ok()?] {
            return None;
        }
        let mut series = Self::new(kinds);
        let mut values = vec![0.0; kinds.len()];
        for (ring, (_, most)) in series.rings.iter_mut().zip(RINGS).skip(1) {
            let count = usize::try_from(word(&mut rest)?).ok()?;
            if count > most {
                return None;
            }
            for _ in 0..count {
                let start = word(&mut rest)?;
                for value in &mut values {
                    *value = f32::from_bits(word(&mut rest)?);
                }
                if start != NONE {
                    ring.push(start, &values);
                }
            }
        }
        rest.is_empty().then_some(series)
    }
}

impl Ring {
    fn new(width: usize, most: usize) -> Self {
        Self { starts: vec![NONE; most].into(), values: vec![0.0; most * width].into(), next: 0 }
    }

    /// The start and the numbers of the latest point.
    fn latest(&mut self, width: usize) -> Option<(u32, &mut [f32])> {
        let last = self.next.checked_sub(1).unwrap_or(self.starts.len() - 1);
        let start = Some(self.starts[last]).filter(|start| *start != NONE)?;
        Some((start, &mut self.values[last * width..][..width]))
    }

    /// Adds a point, in the place of the oldest where there are as many as are kept.
    fn push(&mut self, start: u32, values: &[f32]) {
        self.starts[self.next] = start;
        self.values[self.next * values.len()..][..values.len()].copy_from_slice(values);
        self.next = (self.next + 1) % self.starts.len();
    }

    /// The place of every point, that of the oldest first.
    fn places(&self, width: usize) -> impl Iterator<Item = Point<'_>> {
        let place = move |index: usize| Point {
            at: self.starts[index],
            values: &self.values[index * width..][..width],
        };
        (self.next..self.starts.len()).chain(0..self.next).map(place)
    }

    /// All points, the oldest first.
    fn points(&self, width: usize) -> impl Iterator<Item = Point<'_>> {
        self.places(width).filter(|point| point.at != NONE)
    }
}

fn merge(kinds: &[Kind], into: &mut [f32], values: &[f32]) {
    for ((kind, sum), value) in kinds.iter().zip(into).zip(values) {
        match kind {
            Kind::Sum => *sum += value,
            Kind::Gauge => *sum = *value,
        }
    }
}

fn word(bytes: &mut &[u8]) -> Option<u32> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: &[Kind] = &[Kind::Sum, Kind::Gauge];

    #[test]
    fn a_week_fits_and_no_more() {
        let mut series = Series::new(KINDS);
        for at in 0..8 * 86_400 {
            series.add(at, &[1.0, 2.0]);
        }
        let lengths: Vec<usize> = (0..RINGS.len()).map(|ring| series.points(ring, 0).count()).collect();
        assert_eq!(lengths, RINGS.map(|(_, most)| most));
        let now = 8 * 86_400;
        assert!((series.sum(1, 0, now - 3_600) - 3_600.0).abs() < 1e-6);
        assert!((series.sum(4, 0, now - 7 * 86_400) - 7.0 * 86_400.0).abs() < 1e-6);
        assert!(series.points(4, 0).all(|point| (point.values[1] - 2.0).abs() < 1e-6));
        for (ring, (step, most)) in RINGS.into_iter().enumerate() {
            let latest = now - step;
            let expected = (0..).map(|index| latest - step * index).take(most);
            assert!(
                series
                    .points(ring, 0)
                    .map(|point| point.at)
                    .eq(expected.collect::<Vec<_>>().into_iter().rev())
            );
        }
        let read = Series::from_bytes(KINDS, &series.to_bytes()).unwrap();
        assert!((1..RINGS.len()).all(|ring| read.points(ring, 0).eq(series.points(ring, 0))));
    }

    #[test]
    fn what_is_saved_never_changes_its_size_and_may_have_been_less() {
        let mut series = Series::new(KINDS);
        let size = series.to_bytes().len();
        series.add(5_000, &[1.0, 2.0]);
        assert_eq!(series.to_bytes().len(), size);
        // Earlier versions saved only the points that there were.
        let (one, none) = ([1, 0, 0, 0], [0; 4]);
        let point = [5_000_u32.to_le_bytes(), 1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat();
        let earlier = [&[1, 2][..], &one, &point, &none, &none, &none].concat();
        let read = Series::from_bytes(KINDS, &earlier).unwrap();
        assert!(read.points(1, 0).eq(series.points(1, 0)));
    }

    #[test]
    fn a_clock_that_goes_back_breaks_nothing() {
        let mut series = Series::new(KINDS);
        series.add(100, &[1.0, 1.0]);
        series.add(50, &[1.0, 1.0]);
        assert_eq!(series.points(0, 0).count(), 1);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_read_back(steps in prop::collection::vec((0..4_000u32, 0..1_000u16), 0..200)) {
            let mut series = Series::new(KINDS);
            let mut at = 0;
            for (pause, value) in steps {
                at += pause;
                series.add(at, &[f32::from(value), 1.0]);
            }
            let read = Series::from_bytes(KINDS, &series.to_bytes()).unwrap();
            for ring in 1..RINGS.len() {
                let points: Vec<Point<'_>> = series.points(ring, 0).collect();
                prop_assert_eq!(read.points(ring, 0).collect::<Vec<_>>(), points);
            }
        }

        #[test]
        fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(series) = Series::from_bytes(KINDS, &bytes) {
                let again = Series::from_bytes(KINDS, &series.to_bytes()).unwrap();
                prop_assert_eq!(again.to_bytes(), series.to_bytes());
            }
        }
    }
}
