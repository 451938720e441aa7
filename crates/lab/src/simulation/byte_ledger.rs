//! Times at which the application submitted the messages of a byte stream.

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

/// Messages of a transport without message boundaries. They are ordered by the position of their last byte.
#[derive(Debug, Default)]
pub(super) struct ByteLedger {
    submitted: u64,
    delivered: u64,
    open: VecDeque<Entry>,
}

#[derive(Debug)]
struct Entry {
    message: u64,
    bytes: u32,
    end: u64,
    at: Instant,
}

/// A message whose last byte was delivered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub message: u64,
    pub bytes: u32,
    pub submitted: Instant,
}

impl ByteLedger {
    /// Records a submitted message.
    pub fn submit(&mut self, now: Instant, message: u64, bytes: u32) {
        self.submitted += u64::from(bytes);
        self.open.push_back(Entry { message, bytes, end: self.submitted, at: now });
    }

    /// Records that further bytes were delivered in order.
    pub fn deliver(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// Returns the next complete message.
    pub fn next_done(&mut self) -> Option<Done> {
        let entry = self.open.pop_front_if(|entry| entry.end <= self.delivered)?;
        Some(Done { message: entry.message, bytes: entry.bytes, submitted: entry.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_done_with_its_last_byte() {
        let mut ledger = ByteLedger::default();
        ledger.submit(Instant::from_millis(1), 0, 100);
        ledger.submit(Instant::from_millis(2), 1, 50);
        ledger.deliver(99);
        assert_eq!(ledger.next_done(), None);
        ledger.deliver(51);
        let first = Done { message: 0, bytes: 100, submitted: Instant::from_millis(1) };
        let second = Done { message: 1, bytes: 50, submitted: Instant::from_millis(2) };
        assert_eq!(
            (ledger.next_done(), ledger.next_done(), ledger.next_done()),
            (Some(first), Some(second), None)
        );
    }
}
