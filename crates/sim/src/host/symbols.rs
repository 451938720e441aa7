//! Coding symbols in DATA chunks in transit, for measurements.

use core::fmt;

use strandcast_proto::coding::Header;

use super::chunks::DataPart;
use crate::net::Framing;

/// Splits the user data of a DATA chunk with this framing into the header of a symbol and the remainder. Returns no
/// header if the user data do not begin with one.
pub fn symbol<'a>(framing: Framing, part: &DataPart<'a>) -> (Option<Header>, &'a [u8]) {
    // Only the first fragment of a long message has a header.
    if framing == Framing::Messages || !part.begins {
        return (None, part.data);
    }
    match Header::read(part.data) {
        Ok((header, rest)) => (Some(header), rest),
        Err(_) => (None, part.data),
    }
}

/// Returns the number of application bytes in a DATA chunk. A repair symbol in addition to messages has no application
/// bytes. For a symbol of blocks, the whole payload counts.
pub fn application_bytes(framing: Framing, part: &DataPart<'_>) -> u32 {
    match (framing, symbol(framing, part)) {
        (Framing::Repair, (Some(Header::Repair { .. } | Header::WindowRepair { .. }), _)) => 0,
        (_, (_, rest)) => rest.len() as u32,
    }
}

/// Short description of a symbol. The description contains no commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolName {
    /// A source symbol of a block, with its position.
    Source {
        /// Number of the block.
        block: u32,
        /// Position of the symbol in the block.
        index: u16,
    },
    /// A repair symbol of a block.
    Repair {
        /// Number of the block.
        block: u32,
    },
    /// A source symbol of a sliding window.
    WindowSource {
        /// Number of the source symbol.
        number: u32,
    },
    /// A repair symbol of a sliding window.
    WindowRepair {
        /// Numbers of the first and the last covered source symbol.
        covers: (u32, u32),
    },
    /// A message that no repair symbol covers.
    Plain,
}

impl SymbolName {
    /// Returns the description of a symbol with this header.
    pub fn of(header: &Header) -> Self {
        match *header {
            Header::Source { block, index, .. } => SymbolName::Source { block, index },
            Header::Repair { block, .. } => SymbolName::Repair { block },
            Header::WindowSource { number } => SymbolName::WindowSource { number },
            Header::WindowRepair { first, sources, .. } => {
                let last = first.wrapping_add(u32::from(sources).saturating_sub(1));
                SymbolName::WindowRepair { covers: (first, last) }
            }
            Header::Plain => SymbolName::Plain,
        }
    }

    /// Returns whether the symbol is a repair symbol.
    pub fn is_repair(&self) -> bool {
        matches!(self, SymbolName::Repair { .. } | SymbolName::WindowRepair { .. })
    }
}

impl fmt::Display for SymbolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SymbolName::Source { block, index } => write!(f, "source {index} of block {block}"),
            SymbolName::Repair { block } => write!(f, "repair of block {block}"),
            SymbolName::WindowSource { number } => write!(f, "source {number}"),
            SymbolName::WindowRepair { covers: (first, last) } => {
                write!(f, "repair of sources {first} to {last}")
            }
            SymbolName::Plain => f.write_str("not covered"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunks::DataChunk;
    use super::*;

    #[test]
    fn symbols_are_told_from_messages() {
        let part =
            |begins, data| DataPart { chunk: DataChunk { tsn: 1, bytes: 9 }, begins, ends: true, data };
        let written = |header: Header| {
            let mut data = Vec::new();
            header.write(&mut data);
            data.extend([7; 20]);
            data
        };
        let source = Header::WindowSource { number: 5 };
        let data = written(source);
        assert_eq!(symbol(Framing::Repair, &part(true, &data)), (Some(source), &[7; 20][..]));
        assert_eq!(application_bytes(Framing::Repair, &part(true, &data)), 20);
        // Without coding these bytes are a message, and so are those of a message that continues.
        assert_eq!(symbol(Framing::Messages, &part(true, &data)), (None, &data[..]));
        assert_eq!(application_bytes(Framing::Repair, &part(false, &data)), 26);
        let window = written(Header::WindowRepair { first: 1, sources: 4, seed: 9 });
        let block = written(Header::Repair { block: 1, sources: 4, seed: 9 });
        for data in [&window, &block] {
            assert_eq!(application_bytes(Framing::Repair, &part(true, data)), 0);
            assert_eq!(application_bytes(Framing::Blocks, &part(true, data)), 20);
        }
        assert_eq!(application_bytes(Framing::Repair, &part(true, &[0xff; 9])), 9, "nonsense");
    }

    #[test]
    fn symbols_have_names() {
        let name = |header| SymbolName::of(&header).to_string();
        assert_eq!(name(Header::Source { block: 17, index: 3, last: true }), "source 3 of block 17");
        assert_eq!(name(Header::Repair { block: 17, sources: 16, seed: 1 }), "repair of block 17");
        assert_eq!(name(Header::WindowSource { number: 9 }), "source 9");
        assert_eq!(
            name(Header::WindowRepair { first: u32::MAX, sources: 3, seed: 1 }),
            "repair of sources 4294967295 to 1"
        );
        assert_eq!(name(Header::Plain), "not covered");
    }
}
