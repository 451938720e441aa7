//! Times at which messages have arrived in order.

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

/// Greatest number of messages that wait for an earlier one. With more, the earliest message counts as lost.
const MOST_WAITING: u64 = 65_536;

/// A delivered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub number: u64,
    pub bytes: u32,
    pub submitted: Instant,
}

/// Holds messages that were delivered before earlier ones, until the earlier ones are also delivered or given up.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    /// Number of the first message that is neither delivered in order nor given up.
    next: u64,
    /// Messages from `next` on; `None` for a message that has not arrived.
    waiting: VecDeque<Option<Message>>,
}

impl InOrder {
    /// Takes a delivered message, and calls `each` for every message that is now in order, ascending. `settled` is true
    /// if earlier messages that have not arrived will never arrive.
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
}
