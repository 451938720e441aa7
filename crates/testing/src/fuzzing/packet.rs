//! Fuzz target that reads any bytes as a packet.

use bytes::Bytes;

use strandcast_proto::wire::packet::{HEADER_LEN, Packet, checksum, parse_chunk};
use strandcast_proto::wire::{ChunkEncode, PacketWriter, padded};

use super::work::bounded;

/// Parses `data` unchanged, and again with a correct checksum. A packet that was parsed is written and read again. The
/// cost of reading must be proportional to the length.
pub fn packet(data: &[u8]) {
    read(Bytes::copy_from_slice(data));
    if data.len() >= HEADER_LEN {
        let mut sealed = data.to_vec();
        sealed.resize(padded(data.len()), 0);
        seal(&mut sealed);
        read(sealed.into());
    }
}

fn read(bytes: Bytes) {
    let len = bytes.len();
    let parsed = bounded(len, 0, || {
        Packet::parse(bytes).inspect(|packet| assert!(packet.chunks().count() <= len / 4))
    });
    let Ok(packet) = parsed else { return };
    for (count, (span, chunk)) in packet.chunks().flatten().enumerate() {
        assert!(span.offset + span.len <= len && count < len / 4, "{span:?} is in the packet");
        packet.authenticated(span, |_| ());
        let mut out = Vec::new();
        let mut writer = PacketWriter::new(&mut out, packet.header);
        if writer.chunk(&chunk) {
            assert_eq!(writer.packet_len(), HEADER_LEN + chunk.encoded_len(), "{chunk:?}");
            let _ = writer.finish();
            let again = parse_chunk(&Bytes::from(out).slice(HEADER_LEN..));
            assert_eq!(again.as_ref(), Ok(&chunk));
        } else {
            // An error cause or parameter is padded when written.
            assert!(chunk.encoded_len() > usize::from(u16::MAX), "{chunk:?} can be written");
        }
    }
}

/// Writes the right checksum into a packet.
pub(super) fn seal(packet: &mut [u8]) {
    let checksum = checksum(packet);
    packet[8..HEADER_LEN].copy_from_slice(&checksum.to_le_bytes());
}
