//! Transport packets in RTP (RFC 2250 §2, RFC 3550 §5.1).

use strandcast_media::ts::{PACKET_LEN, SYNC_BYTE};

/// Length of the fixed header in bytes.
const FIXED: usize = 12;

/// Returns the range of the transport packets in a datagram. The datagram must be RTP and contain whole transport
/// packets. The payload type need not be that of MPEG-2 transport streams, because many encoders use another one.
pub(super) fn payload(datagram: &[u8]) -> Option<std::ops::Range<usize>> {
    let (first, fixed) = (*datagram.first()?, datagram.get(..FIXED)?);
    // A transport packet begins with 0x47, which means another version of RTP.
    if first >> 6 != 2 {
        return None;
    }
    let (padded, extended, sources) = (first & 0x20 != 0, first & 0x10 != 0, usize::from(first & 0x0f));
    let mut begin = fixed.len() + 4 * sources;
    if extended {
        let head = datagram.get(begin..begin + 4)?;
        begin += 4 + 4 * usize::from(u16::from_be_bytes([head[2], head[3]]));
    }
    let padding = if padded { usize::from(*datagram.last()?) } else { 0 };
    let end = datagram.len().checked_sub(padding)?;
    let packets = datagram.get(begin..end)?;
    let whole = !packets.is_empty() && packets.len().is_multiple_of(PACKET_LEN);
    let begins = packets.chunks(PACKET_LEN).all(|packet| packet[0] == SYNC_BYTE);
    (whole && begins).then_some(begin..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(n: usize) -> Vec<u8> {
        (0..n).flat_map(|_| [&[SYNC_BYTE][..], &[0x11; PACKET_LEN - 1]].concat()).collect()
    }

    #[test]
    fn headers_of_any_length_are_passed_over_and_padding_is_cut() {
        let media = packets(4);
        for (head, tail) in [
            (vec![0x80, 33, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3], vec![]),
            // This header has two contributing sources, an extension of one word, padding of four bytes and another
            // payload type.
            (
                [&[0xb2, 0xe0][..], &[0; 10], &[9; 8], &[0xbe, 0xde, 0, 1, 1, 2, 3, 4]].concat(),
                vec![0, 0, 0, 4],
            ),
        ] {
            let datagram = [&head[..], &media, &tail].concat();
            assert_eq!(payload(&datagram).map(|range| datagram[range].to_vec()), Some(media.clone()));
        }
    }

    #[test]
    fn anything_else_is_left_as_it_is() {
        let rtp = [&[0x80, 33][..], &[0; 10], &packets(2)].concat();
        for other in
            [&packets(7)[..], &rtp[..rtp.len() - 1], &rtp[..12], &rtp[..11], &[0x80; 300], &[0xbf; 12], &[]]
        {
            assert_eq!(payload(other), None);
        }
        let short_padding = [&[0xa0, 33][..], &[0; 10], &[255]].concat();
        assert_eq!(payload(&short_padding), None);
    }
}
