//! Messages of each coded block. Symbols do not contain this information.

use std::collections::{BTreeMap, VecDeque};

/// Number of bytes before each message in the stream of a coder. They are the header of a record. Its stream and its
/// payload protocol identifier are 0, as in all flows.
const RECORD: u64 = 4;
/// Number of blocks whose position in the stream is stored.
const MOST: usize = 4096;

/// Messages and blocks of a flow as parts of one stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    handed_in: u64,
    /// Messages that were not delivered. Each has its number, its first byte, and the end of its last byte.
    messages: VecDeque<(u64, u64, u64)>,
    /// Two positions of each block in the stream: its first byte, and the end of its last byte so far.
    extents: BTreeMap<u32, (u64, u64)>,
    /// Sent packets whose messages are not known yet. Each has the block of its first symbol.
    waiting: Vec<(u64, u32)>,
}

impl Blocks {
    /// Records a message that the sender submitted.
    pub fn submit(&mut self, number: u64, bytes: u32) {
        let from = self.handed_in;
        self.handed_in += RECORD + u64::from(bytes);
        self.messages.push_back((number, from, self.handed_in));
    }

    /// Records a message that the receiver delivered. Earlier messages have already been delivered.
    pub fn deliver(&mut self, number: u64) {
        while self.messages.pop_front_if(|(first, ..)| *first <= number).is_some() {}
    }

    /// Records a sent packet with a symbol of `block`.
    pub fn sent(&mut self, packet: u64, block: u32) {
        self.waiting.push((packet, block));
    }

    /// Records that a block now holds `bytes` of the stream. Blocks are reported in the order of their numbers. Only
    /// the last block grows.
    pub fn extend(&mut self, block: u32, bytes: u64) {
        let before = block.checked_sub(1).and_then(|before| self.extents.get(&before));
        let from =
            before.map_or_else(|| self.extents.get(&block).map_or(0, |(from, _)| *from), |(_, to)| *to);
        self.extents.insert(block, (from, from + bytes));
        while self.extents.len() > MOST {
            self.extents.pop_first();
        }
    }

    /// Packets that were sent since the last call. Each has its block, and the messages in that block.
    pub fn resolve(&mut self) -> Vec<(u64, u32, Vec<u64>)> {
        let waiting = core::mem::take(&mut self.waiting);
        waiting.into_iter().map(|(packet, block)| (packet, block, self.messages_in(block))).collect()
    }

    fn messages_in(&self, block: u32) -> Vec<u64> {
        let Some(&(from, to)) = self.extents.get(&block) else { return Vec::new() };
        let first = self.messages.partition_point(|(_, _, end)| *end <= from);
        let inside = self.messages.range(first..).take_while(|(_, begin, _)| *begin < to);
        inside.map(|(number, ..)| *number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 96 bytes are records of 100 bytes. Blocks have 250 bytes.
    #[test]
    fn messages_go_on_from_block_to_block() {
        let mut blocks = Blocks::default();
        (0..6).for_each(|number| blocks.submit(number, 96));
        (0..4).for_each(|packet| blocks.sent(packet, (packet / 2) as u32));
        blocks.extend(0, 250);
        blocks.extend(1, 250);
        let found = blocks.resolve();
        assert_eq!(found[0], (0, 0, vec![0, 1, 2]));
        assert_eq!((&found[1].2, &found[2].2), (&vec![0, 1, 2], &vec![2, 3, 4]));
        assert_eq!(found[3].1, 1);
        assert_eq!(blocks.resolve(), []);
        blocks.deliver(2);
        blocks.sent(4, 0);
        blocks.sent(5, 1);
        assert_eq!(
            blocks.resolve().into_iter().map(|found| found.2).collect::<Vec<_>>(),
            [vec![], vec![3, 4]]
        );
    }

    /// Packets of a block are sent while messages are still added to the block. A block can end before it is full.
    #[test]
    fn a_block_grows_until_the_next_one_begins() {
        let mut blocks = Blocks::default();
        (0..3).for_each(|number| blocks.submit(number, 96));
        blocks.sent(0, 0);
        blocks.extend(0, 100);
        assert_eq!(blocks.resolve(), [(0, 0, vec![0])]);
        blocks.sent(1, 0);
        blocks.sent(2, 1);
        blocks.extend(0, 200);
        blocks.extend(1, 100);
        assert_eq!(blocks.resolve(), [(1, 0, vec![0, 1]), (2, 1, vec![2])]);
        // The sender drops the first block. The next block nevertheless begins where the first one ends.
        blocks.extend(1, 100);
        blocks.submit(3, 96);
        blocks.extend(2, 100);
        blocks.sent(3, 2);
        assert_eq!(blocks.resolve(), [(3, 2, vec![3])]);
    }
}
