//! DATA chunks of a packet on its way, for those who measure: nothing is checked here.

use strandcast_proto::coding::Header;

use crate::net::Framing;

/// What a DATA chunk's header says (RFC 9260 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataChunk {
    /// Transmission sequence number.
    pub tsn: u32,
    /// Bytes of user data.
    pub bytes: u32,
}

/// A DATA chunk with what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPart<'a> {
    /// Its header's numbers.
    pub chunk: DataChunk,
    /// It is the first fragment of its message (the B bit).
    pub begins: bool,
    /// It is the last one (the E bit).
    pub ends: bool,
    /// User data.
    pub data: &'a [u8],
}

const COMMON_HEADER: usize = 12;
const DATA: u8 = 0;
const DATA_HEADER: usize = 16;
const BEGINS: u8 = 2;
const ENDS: u8 = 1;

/// The DATA chunks of an SCTP packet, in order.
pub fn data_chunks(packet: &[u8]) -> impl Iterator<Item = DataChunk> {
    data_parts(packet).map(|part| part.chunk)
}

/// The DATA chunks of an SCTP packet with their contents, in order.
pub fn data_parts(packet: &[u8]) -> impl Iterator<Item = DataPart<'_>> {
    let mut rest = packet.get(COMMON_HEADER..).unwrap_or(&[]);
    core::iter::from_fn(move || {
        while let [kind, flags, high, low, ..] = *rest {
            let len = usize::from(u16::from_be_bytes([high, low]));
            let chunk = rest.get(..len.max(4))?;
            rest = rest.get(len.max(4).next_multiple_of(4)..).unwrap_or(&[]);
            if let (DATA, [_, _, _, _, a, b, c, d, ..]) = (kind, chunk)
                && len > DATA_HEADER
            {
                let tsn = u32::from_be_bytes([*a, *b, *c, *d]);
                return Some(DataPart {
                    chunk: DataChunk { tsn, bytes: (len - DATA_HEADER) as u32 },
                    begins: flags & BEGINS != 0,
                    ends: flags & ENDS != 0,
                    data: &chunk[DATA_HEADER..],
                });
            }
        }
        None
    })
}

/// What a DATA chunk of a packet with this framing carries: the symbol's header, if it begins with one, and what is behind it.
pub fn symbol<'a>(framing: Framing, part: &DataPart<'a>) -> (Option<Header>, &'a [u8]) {
    // Only the first fragment of a long message has one.
    if framing == Framing::Messages || !part.begins {
        return (None, part.data);
    }
    match Header::read(part.data) {
        Ok((header, rest)) => (Some(header), rest),
        Err(_) => (None, part.data),
    }
}

/// The application's bytes in a DATA chunk: a repair symbol beside messages has none, a symbol of blocks all of its payload.
pub fn application_bytes(framing: Framing, part: &DataPart<'_>) -> u32 {
    match (framing, symbol(framing, part)) {
        (Framing::Repair, (Some(Header::Repair { .. } | Header::WindowRepair { .. }), _)) => 0,
        (_, (_, rest)) => rest.len() as u32,
    }
}

/// The chunk types of an SCTP packet, in order (RFC 9260 §3.2).
pub fn chunk_types(packet: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = packet.get(COMMON_HEADER..).unwrap_or(&[]);
    core::iter::from_fn(move || {
        let [kind, _, high, low, ..] = *rest else { return None };
        let len = usize::from(u16::from_be_bytes([high, low])).max(4);
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or(&[]);
        Some(kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_found_behind_others_and_padding() {
        let mut packet = vec![0; COMMON_HEADER];
        packet.extend([3, 0, 0, 16, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
        for (tsn, len) in [(7u8, 1usize), (8, 4)] {
            packet.extend([0, 3, 0, 16 + len as u8, 0, 0, 0, tsn, 0, 0, 0, 0, 0, 0, 0, 0]);
            packet.extend(vec![1; len.next_multiple_of(4)]);
        }
        let found: Vec<_> = data_chunks(&packet).map(|c| (c.tsn, c.bytes)).collect();
        assert_eq!(found, [(7, 1), (8, 4)]);
        assert_eq!(chunk_types(&packet).collect::<Vec<_>>(), [3, 0, 0]);
        let whole = |part: DataPart<'_>| part.begins && part.ends && part.data.iter().all(|b| *b == 1);
        assert!(data_parts(&packet).all(whole));
    }

    #[test]
    fn fragments_say_where_they_belong() {
        for (flags, begins, ends) in [(0, false, false), (1, false, true), (2, true, false), (3, true, true)]
        {
            let mut packet = vec![0; COMMON_HEADER];
            packet.extend([0, flags, 0, 17, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
            let parts: Vec<_> = data_parts(&packet).map(|p| (p.begins, p.ends, p.data)).collect();
            assert_eq!(parts, [(begins, ends, &[9][..])]);
        }
    }

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
        // Without coding the same bytes are a message, and so is what goes on with one.
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
    fn nonsense_ends() {
        for packet in [&[][..], &[0; 12], &[0; 17], &[0; 100], &[0xff; 40]] {
            assert_eq!(data_chunks(packet).count(), 0);
        }
    }
}
