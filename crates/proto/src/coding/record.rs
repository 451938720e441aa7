//! How messages stand in what is coded: as records of a stream of bytes that blocks are cut from, and with their stream and
//! payload protocol identifier where a repair symbol covers them. All numbers are in network byte order.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-------------+-----------------------------------------------+
//! |N| 0           | length of the message, at least 1             |
//! +-+-------------+---------------+-------------------------------+
//! | stream (if N)                 | payload protocol identifier   |
//! +-------------------------------+-------------------------------+
//! | ... (if N)                    | message                       |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! Without N stream and identifier are those of the record before; before the first they are 0.

use crate::wire::{Ppid, StreamId};

/// Longest message of a record, bytes.
pub(crate) const LONGEST_RECORD: usize = (1 << 24) - 1;
/// Bytes of a record's header at the most.
pub(crate) const RECORD_HEADER: usize = 10;
/// Bytes before a message that a repair symbol covers.
pub(crate) const COVERED_HEADER: usize = 6;

const NAMED: u32 = 1 << 31;

/// Whose a message is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Label {
    pub stream: StreamId,
    pub ppid: Ppid,
}

impl Default for Label {
    fn default() -> Self {
        Label { stream: StreamId(0), ppid: Ppid(0) }
    }
}

impl Label {
    fn bytes(self) -> [u8; COVERED_HEADER] {
        let ([a, b], [c, d, e, f]) = (self.stream.0.to_be_bytes(), self.ppid.0.to_be_bytes());
        [a, b, c, d, e, f]
    }

    fn of(bytes: [u8; COVERED_HEADER]) -> Self {
        let [a, b, c, d, e, f] = bytes;
        Label { stream: StreamId(u16::from_be_bytes([a, b])), ppid: Ppid(u32::from_be_bytes([c, d, e, f])) }
    }

    /// Appends the header of a record of `length` bytes, from 1 to [`LONGEST_RECORD`], behind one of `before`.
    pub fn write_record(self, before: Label, length: usize, out: &mut Vec<u8>) {
        debug_assert!((1..=LONGEST_RECORD).contains(&length), "the caller bounds messages");
        let named = self != before;
        let word = length as u32 | if named { NAMED } else { 0 };
        out.extend_from_slice(&word.to_be_bytes());
        if named {
            out.extend_from_slice(&self.bytes());
        }
    }

    /// Writes to `out` what a repair symbol covers of a message, instead of what is there.
    pub fn cover(self, message: &[u8], out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.bytes());
        out.extend_from_slice(message);
    }

    /// The message that [`cover`](Self::cover) wrote; `None` if it wrote no such bytes.
    pub fn uncover(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (label, message) = bytes.split_first_chunk()?;
        (!message.is_empty()).then(|| (Label::of(*label), message))
    }
}

/// What is wrong with a stream of records: it cannot be read on from there.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum BadRecord {
    /// A reserved bit is set, or the message is empty.
    #[error("a record of coded blocks has a header that no sender writes")]
    Header,
    /// Longer than the receive buffer.
    #[error("a message of {0} bytes is longer than the receive buffer")]
    TooLong(usize),
}

/// Joins the bytes of blocks to messages.
#[derive(Debug, Default)]
pub(crate) struct RecordReader {
    header: Vec<u8>,
    label: Label,
    /// The message that is being read, and its length; 0: its header is being read.
    message: Vec<u8>,
    length: usize,
}

impl RecordReader {
    /// Reads on in `bytes`, up to the end of a message, which is then returned; what is not read stays in `bytes`.
    ///
    /// # Errors
    /// If these are no records, or a message is longer than `longest`. Nothing can be read any more then.
    pub fn read(&mut self, bytes: &mut &[u8], longest: usize) -> Result<Option<(Label, Vec<u8>)>, BadRecord> {
        while self.length == 0 {
            let Some(byte) = bytes.split_off_first() else { return Ok(None) };
            self.header.push(*byte);
            self.begin(longest)?;
        }
        let missing = self.length - self.message.len();
        let part = bytes.split_off(..missing.min(bytes.len())).unwrap_or_default();
        self.message.extend_from_slice(part);
        if self.message.len() < self.length {
            return Ok(None);
        }
        self.length = 0;
        Ok(Some((self.label, core::mem::take(&mut self.message))))
    }

    /// Begins a message once its header is whole.
    fn begin(&mut self, longest: usize) -> Result<(), BadRecord> {
        let Some((word, label)) = self.header.split_first_chunk() else { return Ok(()) };
        let word = u32::from_be_bytes(*word);
        let length = (word & !NAMED) as usize;
        if !(1..=LONGEST_RECORD).contains(&length) {
            return Err(BadRecord::Header);
        }
        if length > longest {
            return Err(BadRecord::TooLong(length));
        }
        if word & NAMED > 0 {
            let Ok(label) = label.try_into() else { return Ok(()) };
            self.label = Label::of(label);
        }
        self.header.clear();
        self.message.reserve_exact(length);
        self.length = length;
        Ok(())
    }

    /// Bytes that are held.
    pub fn heap(&self) -> usize {
        self.header.capacity() + self.message.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIDEO: Label = Label { stream: StreamId(3), ppid: Ppid(0x0102_0304) };

    fn records(messages: &[(Label, &[u8])]) -> Vec<u8> {
        let (mut out, mut before) = (Vec::new(), Label::default());
        for (label, message) in messages {
            label.write_record(before, message.len(), &mut out);
            out.extend_from_slice(message);
            before = *label;
        }
        out
    }

    #[test]
    fn records_are_laid_out_as_the_figure_says() {
        let plain = Label::default();
        let written = records(&[(plain, b"a"), (VIDEO, b"bc"), (VIDEO, b"d"), (plain, b"e")]);
        let expected: [&[u8]; 4] = [
            &[0, 0, 0, 1, b'a'],
            &[0x80, 0, 0, 2, 0, 3, 1, 2, 3, 4, b'b', b'c'],
            &[0, 0, 0, 1, b'd'],
            &[0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, b'e'],
        ];
        assert_eq!(written, expected.concat());
    }

    /// However the bytes are cut.
    #[test]
    fn messages_come_back_from_pieces_of_any_length() {
        let long = vec![7; 1000];
        let messages = [(VIDEO, &b"x"[..]), (VIDEO, &long[..]), (Label::default(), b"yy"), (VIDEO, b"z")];
        let written = records(&messages);
        for piece in 1..written.len() {
            let mut reader = RecordReader::default();
            let mut found = Vec::new();
            for mut bytes in written.chunks(piece) {
                while let Some(message) = reader.read(&mut bytes, 1000).expect("good records") {
                    found.push(message);
                }
                assert!(bytes.is_empty());
            }
            let expected: Vec<_> = messages.iter().map(|(l, m)| (*l, m.to_vec())).collect();
            assert_eq!(found, expected, "pieces of {piece}");
        }
    }

    #[test]
    fn what_no_sender_writes_ends_the_stream() {
        let read = |mut bytes: &[u8]| RecordReader::default().read(&mut bytes, 1000);
        assert_eq!(read(&[0, 0, 0, 0]), Err(BadRecord::Header), "an empty message");
        assert_eq!(read(&[0x40, 0, 0, 1]), Err(BadRecord::Header), "a reserved bit");
        assert_eq!(read(&[0x81, 0, 0, 1]), Err(BadRecord::Header), "the last of them");
        assert_eq!(read(&[0, 0, 3, 0xe9]), Err(BadRecord::TooLong(1001)));
        assert_eq!(read(&[0, 0, 3, 0xe8]), Ok(None));
    }

    #[test]
    fn what_repair_symbols_cover_names_its_stream() {
        let mut out = vec![9; 3];
        VIDEO.cover(b"frame", &mut out);
        assert_eq!(out, [&[0, 3, 1, 2, 3, 4][..], b"frame"].concat());
        assert_eq!(Label::uncover(&out), Some((VIDEO, &b"frame"[..])));
        assert_eq!(Label::uncover(&out[..COVERED_HEADER]), None, "no message");
        assert_eq!(Label::uncover(&out[..5]), None);
    }
}
