//! Decryption of captures of sealed datagrams.

use std::io::{self, Read, Write};
use std::ops::Range;

use strandcast_proto::wire::packet::checksum;
use strandcast_seal::KeyLog;

use super::read::{PcapError, PcapReader};
use super::write::PcapWriter;

/// Number of leading bytes that are equal in all encrypted datagrams of a path: type and connection id.
const SAME: usize = 9;
/// Size of the shortest encrypted datagram, in bytes.
const SHORTEST: usize = 29;
/// Position of the checksum in an SCTP packet (RFC 9260 §3.1).
const CHECKSUM: Range<usize> = 8..12;

/// Numbers of datagrams of a capture that was decrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decrypted {
    /// Number of SCTP packets that were written.
    pub packets: u64,
    /// Number of control messages of the seal. They contain no SCTP packet and are left out.
    pub control: u64,
    /// Number of datagrams without keys. They are left out.
    pub closed: u64,
    /// Number of packets without a complete UDP datagram. They are left out.
    pub others: u64,
}

/// Reason why a capture was not decrypted to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecryptError {
    /// The capture cannot be read.
    #[error(transparent)]
    Read(#[from] PcapError),
    /// The packets cannot be written.
    #[error(transparent)]
    Write(io::Error),
}

/// Reads a capture of sealed datagrams to its end, and writes the SCTP packets in them to another capture. The packets
/// keep the times and addresses of their datagrams, and get a checksum.
///
/// # Errors
/// Returns an error if the capture is damaged or cannot be read, or if the packets cannot be written.
pub fn decrypt<R: Read, W: Write>(
    sealed: &mut PcapReader<R>,
    keys: &mut KeyLog,
    to: &mut PcapWriter<W>,
) -> Result<Decrypted, DecryptError> {
    let mut done = Decrypted::default();
    while let Some(datagram) = sealed.datagram()? {
        let stride = stride(datagram.payload);
        for one in datagram.payload.chunks_mut(stride) {
            match keys.open(one) {
                Some([]) => done.control += 1,
                Some(packet) => {
                    to.datagram(datagram.at, datagram.from, datagram.to, &checked(packet))
                        .map_err(DecryptError::Write)?;
                    done.packets += 1;
                }
                None => done.closed += 1,
            }
        }
    }
    to.flush().map_err(DecryptError::Write)?;
    done.others = sealed.others();
    Ok(done)
}

/// Returns the size of each datagram except the last, for data that were captured as one packet. A kernel may cut or
/// join datagrams after or before the point of capture. All joined datagrams belong to one path, so that they begin
/// with the same bytes.
fn stride(payload: &[u8]) -> usize {
    let begin = payload.get(..SAME);
    let next = (SHORTEST..=payload.len().saturating_sub(SHORTEST))
        .find(|&at| begin.is_some() && payload.get(at..at + SAME) == begin);
    next.unwrap_or(payload.len()).max(1)
}

/// Returns the packet with its checksum. A packet in an encrypted datagram has no checksum (RFC 9653).
fn checked(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if packet.len() >= CHECKSUM.end {
        // RFC 9260, appendix A, gives the order of the checksum's bytes.
        let sum = checksum(&packet).to_le_bytes();
        packet[CHECKSUM].copy_from_slice(&sum);
    }
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_datagrams_are_told_apart() {
        let datagram = |len: usize, n: u8| {
            let mut bytes = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, n];
            bytes.resize(len, n.wrapping_mul(31));
            bytes
        };
        assert_eq!(stride(&datagram(1372, 1)), 1372);
        let joined = [datagram(1372, 1), datagram(1372, 2), datagram(40, 3)].concat();
        assert_eq!(stride(&joined), 1372);
        for short in [&[][..], &[1], &[1; 20]] {
            assert_eq!(stride(short), short.len().max(1));
        }
    }

    #[test]
    fn checksums_are_those_of_crc32c() {
        // RFC 3720, appendix B.4: 32 bytes of zero have the CRC32c aa 36 91 8a.
        assert_eq!(checked(&[0; 32])[CHECKSUM], [0xaa, 0x36, 0x91, 0x8a]);
        assert_eq!(checked(&[1, 2]), [1, 2]);
    }
}
