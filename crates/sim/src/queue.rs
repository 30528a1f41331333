//! What happens next: events in the order of their time, and of their making where times are equal.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tollgate_core::units::Nanos;

/// Events that have yet to happen.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    heap: BinaryHeap<Reverse<Slot<E>>>,
    made: u64,
}

#[derive(Debug)]
struct Slot<E> {
    at: Nanos,
    number: u64,
    event: E,
}

impl<E> Queue<E> {
    pub(crate) const fn new() -> Self {
        Self { heap: BinaryHeap::new(), made: 0 }
    }

    pub(crate) fn push(&mut self, at: Nanos, event: E) {
        self.made += 1;
        self.heap.push(Reverse(Slot { at, number: self.made, event }));
    }

    pub(crate) fn pop(&mut self) -> Option<(Nanos, E)> {
        self.heap.pop().map(|Reverse(slot)| (slot.at, slot.event))
    }
}

impl<E> PartialEq for Slot<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Slot<E> {}

impl<E> PartialOrd for Slot<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Slot<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_the_order_of_their_time_and_of_their_making() {
        let mut queue = Queue::new();
        for (at, event) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd')] {
            queue.push(Nanos::new(at), event);
        }
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, "bdac");
    }
}
