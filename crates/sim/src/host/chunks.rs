//! DATA chunks of a packet on its way, for those who measure: nothing is checked here.

/// What a DATA chunk's header says (RFC 9260 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataChunk {
    /// Transmission sequence number.
    pub tsn: u32,
    /// Bytes of user data.
    pub bytes: u32,
}

const COMMON_HEADER: usize = 12;
const DATA: u8 = 0;
const DATA_HEADER: usize = 16;

/// The DATA chunks of an SCTP packet, in order.
pub fn data_chunks(packet: &[u8]) -> impl Iterator<Item = DataChunk> {
    let mut rest = packet.get(COMMON_HEADER..).unwrap_or(&[]);
    core::iter::from_fn(move || {
        while let [kind, _, high, low, ..] = *rest {
            let len = usize::from(u16::from_be_bytes([high, low]));
            let chunk = rest.get(..len.max(4))?;
            rest = rest.get(len.max(4).next_multiple_of(4)..).unwrap_or(&[]);
            if let (DATA, [_, _, _, _, a, b, c, d, ..]) = (kind, chunk)
                && len > DATA_HEADER
            {
                return Some(DataChunk {
                    tsn: u32::from_be_bytes([*a, *b, *c, *d]),
                    bytes: (len - DATA_HEADER) as u32,
                });
            }
        }
        None
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
    }

    #[test]
    fn nonsense_ends() {
        for packet in [&[][..], &[0; 12], &[0; 17], &[0; 100], &[0xff; 40]] {
            assert_eq!(data_chunks(packet).count(), 0);
        }
    }
}
