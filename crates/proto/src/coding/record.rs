//! Layout of messages in the stream of bytes from which coded blocks are cut. All numbers of a record are in network
//! byte order.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-----------+-----------------------------------------------+
//! |N|U| 0         | length of the message, at least 1             |
//! +-+-+-----------+---------------+-------------------------------+
//! | stream (if N)                 | payload protocol identifier   |
//! +-------------------------------+-------------------------------+
//! | ... (if N)                    | message                       |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! If the flag N is not set, stream and payload protocol identifier are 0. The flag U is set if the message was
//! submitted as unordered. Records follow each other without gaps, across the boundaries of symbols and blocks.

use smallvec::SmallVec;

use crate::wire::{Ppid, StreamId};

/// Length in bytes of the longest message that a record can hold.
pub(crate) const LONGEST_RECORD: usize = (1 << 24) - 1;
/// Minimum number of bytes of a record.
#[cfg(any(test, feature = "testing"))]
pub(crate) const MIN_RECORD: usize = 5;
/// Flag: the record contains stream and payload protocol identifier.
const NAMED: u32 = 1 << 31;
/// Flag: the message is unordered.
const UNORDERED: u32 = 1 << 30;
/// Number of bytes of stream and payload protocol identifier.
const NAMES: usize = 6;

/// Appends the header of a record for a message of `length` bytes. The range of `length` is 1 to [`LONGEST_RECORD`].
pub(crate) fn write_header(
    (stream, ppid): (StreamId, Ppid),
    unordered: bool,
    length: usize,
    out: &mut impl Extend<u8>,
) {
    debug_assert!((1..=LONGEST_RECORD).contains(&length), "the caller bounds messages");
    let named = (stream, ppid) != (StreamId(0), Ppid(0));
    let flags = if named { NAMED } else { 0 } | if unordered { UNORDERED } else { 0 };
    let word = length as u32 | flags;
    out.extend(word.to_be_bytes());
    if named {
        out.extend(stream.0.to_be_bytes());
        out.extend(ppid.0.to_be_bytes());
    }
}

/// A message that was read from a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub stream: StreamId,
    pub ppid: Ppid,
    pub unordered: bool,
    pub payload: Vec<u8>,
}

/// Fault of a stream of records. The stream cannot be read further.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum BadRecord {
    /// A reserved bit is set, or the message is empty.
    #[error("a record of coded blocks has a header that no sender writes")]
    Header,
    /// The message is longer than the receive buffer.
    #[error("a message of {0} bytes is longer than the receive buffer")]
    TooLong(usize),
}

/// Reader that joins the bytes of blocks into messages.
#[derive(Debug, Default)]
pub(crate) struct RecordReader {
    header: SmallVec<[u8; 4 + NAMES]>,
    stream: StreamId,
    ppid: Ppid,
    unordered: bool,
    /// Message that is being read, and the message's length. The length is 0 while the header is being read.
    message: Vec<u8>,
    length: usize,
}

impl RecordReader {
    /// Reads from `bytes` up to the end of a message. Returns this message. Unread bytes stay in `bytes`.
    ///
    /// # Errors
    /// Returns an error if the bytes are not records, or if a message is longer than `longest`. After an error, no
    /// further record can be read.
    pub fn read(&mut self, bytes: &mut &[u8], longest: usize) -> Result<Option<Record>, BadRecord> {
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
        let payload = core::mem::take(&mut self.message);
        let (stream, ppid, unordered) = (self.stream, self.ppid, self.unordered);
        Ok(Some(Record { stream, ppid, unordered, payload }))
    }

    /// Begins a message once its record's header is complete.
    fn begin(&mut self, longest: usize) -> Result<(), BadRecord> {
        let Some((word, names)) = self.header.split_first_chunk() else { return Ok(()) };
        let word = u32::from_be_bytes(*word);
        let length = (word & !(NAMED | UNORDERED)) as usize;
        if !(1..=LONGEST_RECORD).contains(&length) {
            return Err(BadRecord::Header);
        }
        if length > longest {
            return Err(BadRecord::TooLong(length));
        }
        (self.stream, self.ppid, self.unordered) = (StreamId(0), Ppid(0), word & UNORDERED > 0);
        if word & NAMED > 0 {
            let Ok([a, b, c, d, e, f]) = <[u8; NAMES]>::try_from(names) else { return Ok(()) };
            self.stream = StreamId(u16::from_be_bytes([a, b]));
            self.ppid = Ppid(u32::from_be_bytes([c, d, e, f]));
        }
        self.header.clear();
        self.message.reserve_exact(length);
        self.length = length;
        Ok(())
    }

    /// Returns the number of bytes that are held.
    pub fn heap(&self) -> usize {
        self.message.capacity()
    }
}

/// Streams of records, for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A message with its stream and payload protocol identifier.
    pub type Labelled<'a> = (u16, u32, &'a [u8]);

    pub fn records<'a>(messages: impl IntoIterator<Item = Labelled<'a>>) -> Vec<u8> {
        let mut out = Vec::new();
        for (stream, ppid, message) in messages {
            write_header((StreamId(stream), Ppid(ppid)), false, message.len(), &mut out);
            out.extend_from_slice(message);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Labelled, records};
    use super::*;

    #[test]
    fn the_figure_by_hand() {
        let bytes: [&[u8]; 3] = [
            &[0, 0, 0, 1, b'a'],
            &[0x80, 0, 0, 2, 0, 3, 1, 2, 3, 4, b'b', b'c'],
            &[0x80, 0, 0, 1, 0, 0, 0, 0, 0, 9, b'd'],
        ];
        let mut reader = RecordReader::default();
        for (bytes, expected) in bytes.into_iter().zip([(0, 0, "a"), (3, 0x0102_0304, "bc"), (0, 9, "d")]) {
            let mut rest = bytes;
            let record = reader.read(&mut rest, 1000).expect("a good one").expect("a whole one");
            let found = (record.stream.0, record.ppid.0, &record.payload[..]);
            assert_eq!(found, (expected.0, expected.1, expected.2.as_bytes()));
            assert!(rest.is_empty());
        }
        let written = records([(0, 0, &b"a"[..]), (3, 0x0102_0304, b"bc"), (0, 9, b"d")]);
        assert_eq!(written, bytes.concat());
    }

    #[test]
    fn unordered_messages_say_so() {
        let expected = [0xc0, 0, 0, 1, 0, 3, 0, 0, 0, 0, b'a'];
        let mut written = Vec::new();
        write_header((StreamId(3), Ppid(0)), true, 1, &mut written);
        written.push(b'a');
        assert_eq!(written, expected);
        let record = RecordReader::default().read(&mut &expected[..], 1000).expect("a good one");
        assert!(record.is_some_and(|record| record.unordered && record.stream == StreamId(3)));
    }

    /// The stream may be cut into pieces anywhere.
    #[test]
    fn messages_come_back_from_pieces_of_any_length() {
        let long = vec![7; 1000];
        let messages = [(3, 5, &b"x"[..]), (3, 5, &long[..]), (0, 0, b"yy"), (9, 0, b"z")];
        let written = records(messages);
        for piece in 1..written.len() {
            let mut reader = RecordReader::default();
            let mut found = Vec::new();
            for mut bytes in written.chunks(piece) {
                while let Some(record) = reader.read(&mut bytes, 1000).expect("good records") {
                    found.push(record);
                }
                assert!(bytes.is_empty());
            }
            let record = |(stream, ppid, m): &Labelled<'_>| Record {
                stream: StreamId(*stream),
                ppid: Ppid(*ppid),
                unordered: false,
                payload: m.to_vec(),
            };
            assert_eq!(found, messages.iter().map(record).collect::<Vec<_>>(), "pieces of {piece}");
        }
    }

    #[test]
    fn what_no_sender_writes_ends_the_stream() {
        let read = |mut bytes: &[u8]| RecordReader::default().read(&mut bytes, 1000);
        assert_eq!(read(&[0, 0, 0, 0]), Err(BadRecord::Header), "an empty message");
        assert_eq!(read(&[0x20, 0, 0, 1]), Err(BadRecord::Header), "a reserved bit");
        assert_eq!(read(&[0x81, 0, 0, 1]), Err(BadRecord::Header), "the last of them");
        assert_eq!(read(&[0, 0, 3, 0xe9]), Err(BadRecord::TooLong(1001)));
        assert_eq!(read(&[0, 0, 3, 0xe8]), Ok(None));
    }
}
