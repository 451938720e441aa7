//! DATA chunks of a packet in transit, for measurements. The packet is not validated.

/// Fields of the header of a DATA chunk (RFC 9260 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataChunk {
    /// Transmission sequence number.
    pub tsn: u32,
    /// Number of bytes of user data.
    pub bytes: u32,
}

/// A DATA chunk with its user data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPart<'a> {
    /// Fields of the chunk's header.
    pub chunk: DataChunk,
    /// True for the first fragment of a message (the B bit).
    pub begins: bool,
    /// True for the last fragment of a message (the E bit).
    pub ends: bool,
    /// User data of the chunk.
    pub data: &'a [u8],
}

const COMMON_HEADER: usize = 12;
const DATA: u8 = 0;
const DATA_HEADER: usize = 16;
const BEGINS: u8 = 2;
const ENDS: u8 = 1;

/// Returns the DATA chunks of an SCTP packet, in order.
pub fn data_chunks(packet: &[u8]) -> impl Iterator<Item = DataChunk> {
    data_parts(packet).map(|part| part.chunk)
}

/// Returns the DATA chunks of an SCTP packet with their user data, in order.
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

/// Returns the chunk types of an SCTP packet, in order (RFC 9260 §3.2).
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
    fn nonsense_ends() {
        for packet in [&[][..], &[0; 12], &[0; 17], &[0; 100], &[0xff; 40]] {
            assert_eq!(data_chunks(packet).count(), 0);
        }
    }
}
