//! Times at which messages were first sent, and times at which they have arrived in order.

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

/// Greatest number of messages that wait for an earlier one. If more messages wait, the earliest missing message counts
/// as lost.
const MOST_WAITING: u64 = 65_536;

/// A delivered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub number: u64,
    pub bytes: u32,
    pub submitted: Instant,
}

/// Holds messages that were delivered before earlier messages. It holds them until the earlier ones are also delivered
/// or given up.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    /// Number of the first message that is neither delivered in order nor given up.
    next: u64,
    /// Messages from `next` on. `None` for a message that has not arrived.
    waiting: VecDeque<Option<Message>>,
}

impl InOrder {
    /// Takes a delivered message. Calls `each` for every message that is now in order, in ascending order. `settled` is
    /// true if earlier messages that have not arrived will never arrive.
    pub fn deliver(&mut self, message: Message, settled: bool, mut each: impl FnMut(Message)) {
        if message.number < self.next {
            return each(message);
        }
        let oldest = if settled { message.number } else { message.number.saturating_sub(MOST_WAITING - 1) };
        self.skip_to(oldest, &mut each);
        let place = (message.number - self.next) as usize;
        if self.waiting.len() <= place {
            self.waiting.resize(place + 1, None);
        }
        self.waiting[place] = Some(message);
        while let Some(Some(message)) = self.waiting.front().copied() {
            self.waiting.pop_front();
            self.next += 1;
            each(message);
        }
    }

    fn skip_to(&mut self, number: u64, each: &mut impl FnMut(Message)) {
        while self.next < number {
            let Some(place) = self.waiting.pop_front() else {
                self.next = number;
                return;
            };
            self.next += 1;
            if let Some(message) = place {
                each(message);
            }
        }
    }
}

/// Times of the first transmission of messages that were not delivered yet.
#[derive(Debug, Default)]
pub(super) struct FirstSent {
    /// Messages by number, in ascending order. `None` for messages that were delivered.
    times: VecDeque<(u64, Option<Instant>)>,
    /// All messages before this one were sent, or will never be sent.
    next: u64,
}

impl FirstSent {
    /// Records that a part of a message was sent. Later transmissions of the same message change nothing.
    pub fn add(&mut self, now: Instant, number: u64) {
        if number < self.next {
            return;
        }
        self.next = number + 1;
        self.times.push_back((number, Some(now)));
        // Abandoned messages are never removed by a delivery. The oldest messages are removed to make room.
        while self.times.pop_front_if(|(first, _)| number - *first >= MOST_WAITING).is_some() {}
    }

    /// Removes the time of a message that was delivered. The neighbours of the message may have been delivered before
    /// it or not.
    pub fn take(&mut self, number: u64) -> Option<Instant> {
        let place = self.times.binary_search_by_key(&number, |(sent, _)| *sent).ok()?;
        let at = self.times[place].1.take();
        while self.times.pop_front_if(|(_, at)| at.is_none()).is_some() {}
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &[(u64, bool)]) -> Vec<Vec<u64>> {
        let mut order = InOrder::default();
        let mut step = |&(number, settled): &(u64, bool)| {
            let mut out = Vec::new();
            let message = Message { number, bytes: 1, submitted: Instant::ZERO };
            order.deliver(message, settled, |m| out.push(m.number));
            out
        };
        script.iter().map(&mut step).collect()
    }

    #[test]
    fn messages_wait_for_earlier_ones() {
        let script = [(1, false), (3, false), (0, false), (2, false), (4, false)];
        assert_eq!(run(&script), [vec![], vec![], vec![0, 1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn a_message_in_order_settles_all_before_it() {
        let script = [(2, false), (4, true), (1, false), (5, true)];
        assert_eq!(run(&script), [vec![], vec![2, 4], vec![1], vec![5]]);
    }

    #[test]
    fn a_hole_holds_up_only_so_many() {
        assert_eq!(run(&[(1, false), (MOST_WAITING, false)]), [vec![], vec![1]]);
        assert_eq!(run(&[(1, false), (u64::MAX - 1, false)]), [vec![], vec![1]]);
    }

    #[test]
    fn the_first_sending_is_known_until_delivery_in_any_order() {
        let ms = Instant::from_millis;
        let mut sent = FirstSent::default();
        for (at, number) in [(10, 0), (20, 1), (30, 3), (40, 1), (50, 4)] {
            sent.add(ms(at), number);
        }
        assert_eq!(
            [3, 1, 2, 0, 4, 4].map(|n| sent.take(n)),
            [30, 20, 0, 10, 50, 0].map(|t| (t > 0).then(|| ms(t)))
        );
        assert!(sent.times.is_empty());
    }

    #[test]
    fn abandoned_messages_take_bounded_memory() {
        let mut sent = FirstSent::default();
        (0..3 * MOST_WAITING).for_each(|number| sent.add(Instant::ZERO, number));
        assert_eq!(sent.times.len() as u64, MOST_WAITING);
        assert_eq!(sent.take(2 * MOST_WAITING - 1), None);
        assert_eq!(sent.take(2 * MOST_WAITING), Some(Instant::ZERO));
    }
}
