//! The heap of future events.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

use strandcast_proto::time::Instant;

/// Simulated time, and future events in the order of (time, sequence number). Events with equal times occur in the
/// order in which they were scheduled. Events cannot be cancelled. The receiver of an event that is out of date ignores
/// it. `E` should be small (ids instead of packets), because the heap moves events.
#[derive(Clone, Debug)]
pub struct Engine<E> {
    now: Instant,
    sequence: u64,
    heap: BinaryHeap<Entry<E>>,
}

impl<E> Engine<E> {
    /// Returns an engine at [`Instant::ZERO`] without events.
    pub fn new() -> Self {
        Engine { now: Instant::ZERO, sequence: 0, heap: BinaryHeap::new() }
    }

    /// Returns the simulated time. The simulated time is the time of the last event that was returned.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Schedules `event` for the time `at`, or for now if `at` is in the past.
    pub fn schedule(&mut self, at: Instant, event: E) {
        let at = u128::from(at.max(self.now).as_nanos());
        self.heap.push(Entry { order: at << 64 | u128::from(self.sequence), event });
        self.sequence += 1;
    }

    /// Returns the time of the next event.
    pub fn next_time(&self) -> Option<Instant> {
        self.heap.peek().map(Entry::at)
    }

    /// Returns the next event, and advances the simulated time to it.
    pub fn pop(&mut self) -> Option<E> {
        let entry = self.heap.pop()?;
        self.now = entry.at();
        Some(entry.event)
    }

    /// Returns the next event if its time is at most `end`, and advances the simulated time to it. If there is no such
    /// event, the simulated time advances to `end`.
    pub fn pop_until(&mut self, end: Instant) -> Option<E> {
        match self.next_time() {
            Some(at) if at <= end => self.pop(),
            _ => {
                self.now = self.now.max(end);
                None
            }
        }
    }

    /// Returns the number of future events.
    pub fn pending(&self) -> usize {
        self.heap.len()
    }
}

impl<E> Default for Engine<E> {
    fn default() -> Self {
        Engine::new()
    }
}

#[derive(Clone, Debug)]
struct Entry<E> {
    /// Time in nanoseconds in the high bits, and sequence number in the low bits. One number is compared faster than
    /// two.
    order: u128,
    event: E,
}

impl<E> Entry<E> {
    fn at(&self) -> Instant {
        Instant::from_nanos((self.order >> 64) as u64)
    }
}

// Reversed, because `BinaryHeap` returns the greatest first.
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.order.cmp(&self.order)
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn time_moves_with_events_and_up_to_the_end() {
        let mut engine = Engine::new();
        engine.schedule(Instant::from_millis(10), 'b');
        engine.schedule(Instant::from_millis(5), 'a');
        assert_eq!(engine.pop_until(Instant::from_millis(4)), None);
        assert_eq!(engine.now(), Instant::from_millis(4));
        assert_eq!(engine.pop_until(Instant::from_millis(5)), Some('a'));
        engine.schedule(Instant::ZERO, 'p');
        assert_eq!(engine.pop(), Some('p'));
        assert_eq!(engine.now(), Instant::from_millis(5), "time never goes back");
        assert_eq!(engine.pop(), Some('b'));
        assert_eq!(engine.pop(), None);
        assert_eq!(engine.now(), Instant::from_millis(10));
    }

    proptest! {
        /// The heap sorts by time, and the sort is stable.
        #[test]
        fn events_come_by_time_then_by_scheduling(times in prop::collection::vec(0u64..20, 0..200)) {
            let mut engine = Engine::new();
            for (sequence, &at) in times.iter().enumerate() {
                engine.schedule(Instant::from_nanos(at), sequence);
            }
            let mut expected: Vec<usize> = (0..times.len()).collect();
            expected.sort_by_key(|&sequence| times[sequence]);
            let mut got = Vec::new();
            while let Some(event) = engine.pop() {
                prop_assert_eq!(engine.now().as_nanos(), times[event]);
                got.push(event);
            }
            prop_assert_eq!(got, expected);
        }
    }
}
