//! Properties over any chunks and any bytes.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use super::strategies::chunk;
use crate::wire::chunk::Chunk;
use crate::wire::packet::checksum;
use crate::wire::{ChunkEncode, Header, Packet, PacketWriter, VerificationTag};

fn write(header: Header, chunks: &[Chunk]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header);
    for chunk in chunks {
        let before = writer.packet_len();
        assert!(writer.chunk(chunk));
        assert_eq!(writer.packet_len() - before, chunk.encoded_len());
    }
    writer.finish();
    out
}

fn seal(bytes: &mut [u8]) {
    if bytes.len() >= 12 {
        let checksum = checksum(bytes);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// Reads everything that can be read. The iterator returns at most one item for each 4 bytes, and each item can be
/// written.
fn read_all(bytes: Vec<u8>) -> Result<(), TestCaseError> {
    let len = bytes.len();
    let Ok(packet) = Packet::parse(Bytes::from(bytes)) else { return Ok(()) };
    let mut failed = false;
    for (count, item) in packet.chunks().enumerate() {
        prop_assert!(count < len / 4 && !failed);
        let Ok((span, chunk)) = item else {
            failed = true;
            continue;
        };
        prop_assert!(span.offset + span.len <= len);
        packet.authenticated(span, |_| ());
        let bytes = write(packet.header, core::slice::from_ref(&chunk));
        let again = Packet::parse(bytes.into()).expect("what is written parses");
        let again: Vec<_> = again.chunks().map(|item| item.expect("what is written parses").1).collect();
        prop_assert_eq!(again, [chunk]);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_chunks_round_trip(ports: (u16, u16), tag: u32, chunks in vec(chunk(), 1..6)) {
        let header =
            Header { source_port: ports.0, destination_port: ports.1, verification_tag: VerificationTag(tag) };
        let packet = Packet::parse(write(header, &chunks).into()).expect("what is written parses");
        prop_assert_eq!(packet.header, header);
        let read: Result<Vec<_>, _> = packet.chunks().map(|item| item.map(|(_, chunk)| chunk)).collect();
        prop_assert_eq!(read, Ok(chunks));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        read_all(bytes)?;
    }

    #[test]
    fn any_sealed_bytes_are_read_or_refused(words in vec(any::<[u8; 4]>(), 3..75)) {
        let mut bytes = words.concat();
        seal(&mut bytes);
        read_all(bytes)?;
    }

    /// Wrong bytes, mainly lengths, in otherwise valid packets with a correct checksum.
    #[test]
    fn mutated_packets_are_read_or_refused(
        chunks in vec(chunk(), 1..4),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        keep in any::<prop::sample::Index>(),
    ) {
        let mut bytes = write(Header::default(), &chunks);
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let mut cut = bytes[..keep.index(bytes.len()) / 4 * 4].to_vec();
        seal(&mut bytes);
        read_all(bytes)?;
        seal(&mut cut);
        read_all(cut)?;
    }
}
