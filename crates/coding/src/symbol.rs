//! Layout of symbols in packets. A symbol consists of a header of 2, 6 or 10 bytes and a payload. All numbers in the
//! header are in network byte order.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------+-----------------------+-------------------------------+
//! | kind  | index or count        | block or number ...           |
//! +-------+-----------------------+-------------------------------+
//! | ...                           | seed (repair symbols) ...     |
//! +-------------------------------+-------------------------------+
//! | ...                           | payload                       |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! | kind | symbol | index or count | block or number |
//! |---:|---|---|---|
//! | 1 | source symbol of a block | place in the block | block |
//! | 2 | the last source symbol of a block | place in the block | block |
//! | 3 | repair symbol of a block | source symbols of the block | block |
//! | 5 | source symbol of a window | 0 | number of the symbol |
//! | 6 | repair symbol of a window | source symbols it sums | number of the first of them |
//! | 7 | a message that no symbol covers | 0 | absent: the payload follows at once |

use thiserror::Error;

use crate::code::MOST_SOURCES;

/// Length in bytes of the header of a message that no repair symbol covers.
pub const PLAIN_HEADER: usize = 2;
/// Length in bytes of the header of a source symbol.
pub const SOURCE_HEADER: usize = 6;
/// Length in bytes of the header of a repair symbol.
pub const REPAIR_HEADER: usize = 10;

/// Density threshold at which no coefficient is 0 (RFC 8681 §3.6).
pub(crate) const DENSEST: u8 = 15;

const SOURCE: u16 = 1;
const LAST: u16 = 2;
const REPAIR: u16 = 3;
const WINDOW_SOURCE: u16 = 5;
const WINDOW_REPAIR: u16 = 6;
const PLAIN: u16 = 7;
const LOW: u16 = 0x0fff;

/// The header of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// A source symbol of a block, which holds one message.
    Source {
        /// Number of the block.
        block: u32,
        /// Position of the symbol in the block.
        index: u16,
        /// True for the block's last source symbol.
        last: bool,
    },
    /// A repair symbol, which covers all source symbols of a block.
    Repair {
        /// Number of the block.
        block: u32,
        /// Number of source symbols in the block.
        sources: u16,
        /// Seed of the coefficients, or the number of the repair symbol.
        seed: u32,
    },
    /// A source symbol of a stream with a sliding window, which holds one message.
    WindowSource {
        /// Number of the message in the stream.
        number: u32,
    },
    /// A repair symbol that covers consecutive source symbols of a stream.
    WindowRepair {
        /// Number of the first covered source symbol.
        first: u32,
        /// Number of covered source symbols.
        sources: u16,
        /// Repair key and density threshold (RFC 8681 §4.1.3). The threshold begins at bit 16.
        seed: u32,
    },
    /// A message that no repair symbol covers.
    Plain,
}

/// Reason for which bytes are not a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// There are fewer bytes than the header has.
    #[error("{0} bytes are too few for a symbol")]
    Short(usize),
    /// The kind of symbol is unknown.
    #[error("unknown kind of symbol {0}")]
    Kind(u16),
    /// A field has a value that no sender writes.
    #[error("a field has a value that no sender writes")]
    Field,
}

impl Header {
    /// Returns the length of the header in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Header::Plain => PLAIN_HEADER,
            Header::Source { .. } | Header::WindowSource { .. } => SOURCE_HEADER,
            Header::Repair { .. } | Header::WindowRepair { .. } => REPAIR_HEADER,
        }
    }

    /// Appends the header to `out`. Only the lowest 12 bits of positions and counts are written.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (kind, low, number, seed) = match *self {
            Header::Source { block, index, last } => (if last { LAST } else { SOURCE }, index, block, None),
            Header::Repair { block, sources, seed } => (REPAIR, sources, block, Some(seed)),
            Header::WindowSource { number } => (WINDOW_SOURCE, 0, number, None),
            Header::WindowRepair { first, sources, seed } => (WINDOW_REPAIR, sources, first, Some(seed)),
            Header::Plain => return out.extend_from_slice(&(PLAIN << 12).to_be_bytes()),
        };
        out.extend_from_slice(&(kind << 12 | low & LOW).to_be_bytes());
        out.extend_from_slice(&number.to_be_bytes());
        if let Some(seed) = seed {
            out.extend_from_slice(&seed.to_be_bytes());
        }
    }

    /// Reads the header and the payload of a symbol.
    ///
    /// # Errors
    /// Returns an error if [`write`](Self::write) cannot have written `bytes`.
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        let short = Malformed::Short(bytes.len());
        let (word, rest) = bytes.split_first_chunk().ok_or(short)?;
        let word = u16::from_be_bytes(*word);
        let (kind, low) = (word >> 12, word & LOW);
        if kind == PLAIN {
            return if low == 0 { Ok((Header::Plain, rest)) } else { Err(Malformed::Field) };
        }
        let (number, rest) = rest.split_first_chunk().ok_or(short)?;
        let number = u32::from_be_bytes(*number);
        let seed = || {
            let (seed, rest) = rest.split_first_chunk().ok_or(short)?;
            Ok((u32::from_be_bytes(*seed), rest))
        };
        match kind {
            SOURCE | LAST if usize::from(low) < MOST_SOURCES => {
                Ok((Header::Source { block: number, index: low, last: kind == LAST }, rest))
            }
            WINDOW_SOURCE if low == 0 => Ok((Header::WindowSource { number }, rest)),
            REPAIR if low > 0 => {
                let (seed, rest) = seed()?;
                Ok((Header::Repair { block: number, sources: low, seed }, rest))
            }
            WINDOW_REPAIR if low > 0 => match seed()? {
                (seed, rest) if seed >> 16 <= u32::from(DENSEST) => {
                    Ok((Header::WindowRepair { first: number, sources: low, seed }, rest))
                }
                _ => Err(Malformed::Field),
            },
            SOURCE | LAST | REPAIR | WINDOW_SOURCE | WINDOW_REPAIR => Err(Malformed::Field),
            _ => Err(Malformed::Kind(kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(header: Header) -> Vec<u8> {
        let mut out = Vec::new();
        header.write(&mut out);
        out
    }

    #[test]
    fn headers_are_laid_out_as_the_table_says() {
        let source = Header::Source { block: 0x0102_0304, index: 0xabc, last: false };
        assert_eq!(written(source), [0x1a, 0xbc, 1, 2, 3, 4]);
        let last = Header::Source { block: 9, index: 15, last: true };
        assert_eq!(written(last), [0x20, 0x0f, 0, 0, 0, 9]);
        let repair = Header::Repair { block: 9, sources: 16, seed: 0x1122_3344 };
        assert_eq!(written(repair), [0x30, 0x10, 0, 0, 0, 9, 0x11, 0x22, 0x33, 0x44]);
        assert_eq!(written(Header::WindowSource { number: 0xffff_ffff }), [0x50, 0, 255, 255, 255, 255]);
        let repair = Header::WindowRepair { first: 1, sources: 0xfff, seed: 0x000f_0102 };
        assert_eq!(written(repair), [0x6f, 0xff, 0, 0, 0, 1, 0, 0x0f, 1, 2]);
        assert_eq!(written(Header::Plain), [0x70, 0]);
        assert_eq!(Header::read(&[0x70, 0, 9]), Ok((Header::Plain, &[9][..])));
    }

    #[test]
    fn what_no_sender_writes_is_refused() {
        for length in 0..SOURCE_HEADER {
            assert_eq!(Header::read(&[0x10, 0, 0, 0, 0, 0][..length]), Err(Malformed::Short(length)));
        }
        assert_eq!(Header::read(&[0x30, 1, 0, 0, 0, 0, 0, 0, 0]), Err(Malformed::Short(9)));
        for kind in [0u16, 4, 8, 9, 10, 11, 12, 13, 14, 15] {
            assert_eq!(
                Header::read(&[(kind as u8) << 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
                Err(Malformed::Kind(kind))
            );
        }
        // Invalid fields in order: place 4095, no source symbols, a number's low bits, no source symbols,
        // density threshold 16, a plain symbol's low bits.
        for bytes in [
            [0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x2f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x50, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x60, 1, 0, 0, 0, 0, 0, 0x10, 0, 0],
            [0x70, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(Header::read(&bytes), Err(Malformed::Field), "{bytes:?}");
        }
    }
}
