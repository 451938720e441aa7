//! Record of submitted messages, and checks of their delivery.

use std::collections::{BTreeMap, BTreeSet};

use strandcast_proto::rx::Message;

use crate::endpoints::pattern;

/// A message that was submitted. The number of the message is used as its payload protocol identifier.
#[derive(Debug)]
pub struct Sent {
    pub stream: u16,
    pub unordered: bool,
    pub reliable: bool,
    pub len: usize,
}

/// Record of one direction.
#[derive(Debug, Default)]
pub struct Book {
    pub sent: Vec<Sent>,
    seen: BTreeSet<u32>,
    /// Number of the last ordered message of each stream.
    last: BTreeMap<u16, u32>,
}

impl Book {
    /// Returns the content of message `number`.
    pub fn payload(number: usize, len: usize) -> Vec<u8> {
        pattern(number * 7919, len)
    }

    /// Checks a message that arrived. A message must arrive once, unchanged, and in the order of its stream.
    pub fn arrived(&mut self, m: &Message) {
        let number = m.ppid.0;
        let sent =
            self.sent.get(number as usize).unwrap_or_else(|| panic!("message {number} was never sent"));
        assert!(self.seen.insert(number), "message {number} came twice");
        assert_eq!((m.stream.0, m.unordered), (sent.stream, sent.unordered), "message {number}");
        assert!(m.payload == Book::payload(number as usize, sent.len), "message {number} was changed");
        if !m.unordered {
            let last = self.last.insert(m.stream.0, number);
            assert!(last.is_none_or(|l| l < number), "message {number} came after {last:?}");
        }
    }

    /// Returns the numbers of reliable messages that have not arrived yet.
    pub fn missing(&self) -> Vec<u32> {
        let numbered = (0u32..).zip(&self.sent);
        numbered.filter(|(n, s)| s.reliable && !self.seen.contains(n)).map(|(n, _)| n).collect()
    }
}
