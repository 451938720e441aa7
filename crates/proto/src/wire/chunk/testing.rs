//! Helpers for the tests of all chunks.

use bytes::Bytes;

use super::{Chunk, ChunkEncode};
use crate::wire::{Header, Packet, PacketWriter, ParseError, VerificationTag};

const HEADER: Header =
    Header { source_port: 5000, destination_port: 5001, verification_tag: VerificationTag(0x0102_0304) };

/// Parses one chunk in a packet. `bytes` is the chunk, assembled by hand and padded.
pub(in crate::wire) fn parse(bytes: &[u8]) -> Result<Chunk, ParseError> {
    let mut fields = Vec::new();
    fields.extend_from_slice(&HEADER.source_port.to_be_bytes());
    fields.extend_from_slice(&HEADER.destination_port.to_be_bytes());
    fields.extend_from_slice(&HEADER.verification_tag.0.to_be_bytes());
    fields.extend_from_slice(&[0; 4]);
    fields.extend_from_slice(bytes);
    let checksum = crc32c::crc32c(&fields);
    fields[8..12].copy_from_slice(&checksum.to_le_bytes());
    let packet = Packet::parse(Bytes::from(fields)).expect("the header is right");
    let mut chunks = packet.chunks();
    let (span, chunk) = chunks.next().expect("there is a chunk")?;
    assert_eq!(span.offset, 12);
    assert!(chunks.next().is_none(), "one chunk only");
    Ok(chunk)
}

/// Returns the bytes that the writer produces for the chunk, including padding.
pub(in crate::wire) fn write(chunk: &Chunk) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, HEADER);
    assert!(writer.chunk(chunk));
    writer.finish();
    assert_eq!(out.len(), 12 + chunk.encoded_len());
    out.split_off(12)
}

/// Checks that `bytes` parse as `chunk`, and that the writer produces `bytes` for `chunk`.
#[track_caller]
pub(in crate::wire) fn check(bytes: &[u8], chunk: impl Into<Chunk>) {
    let chunk = chunk.into();
    assert_eq!(parse(bytes).as_ref(), Ok(&chunk));
    assert_eq!(write(&chunk), bytes);
}
