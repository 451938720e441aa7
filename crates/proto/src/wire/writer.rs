//! Writer of packets, which appends to a buffer of the caller. Several packets may follow one another in the buffer,
//! for segmentation offload (GSO).

use super::chunk::auth::{self, HmacId};
use super::chunk::data::DataHeader;
use super::chunk::sack::{self, GapBlock, SackHeader};
use super::chunk::{self, ChunkEncode};
use super::packet::{self, Header};
use super::{Tsn, padded};
use crate::path::Envelope;

/// Writer that appends one packet to a buffer. The caller writes the chunks first, and then calls
/// [`finish`](Self::finish).
///
/// If a writer is dropped without `finish`, the packet in the buffer has no checksum.
#[derive(Debug)]
#[must_use = "a packet without finish() has no checksum"]
pub struct PacketWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    envelope: Envelope,
}

/// Place of an AUTH chunk in the packet, whose HMAC is still zero.
#[derive(Debug)]
#[must_use = "an AUTH chunk must be filled in"]
pub struct AuthSlot {
    start: usize,
    hmac_len: usize,
}

impl<'a> PacketWriter<'a> {
    /// Starts a packet at the end of `out`, after any bytes that are already there.
    pub fn new(out: &'a mut Vec<u8>, header: Header) -> Self {
        Self::within(Envelope::NONE, out, header)
    }

    /// Starts a packet that is surrounded by zeros, which leave room for `envelope`. A packet in an envelope has no
    /// checksum (RFC 9653).
    pub fn within(envelope: Envelope, out: &'a mut Vec<u8>, header: Header) -> Self {
        out.resize(out.len() + envelope.front, 0);
        let start = out.len();
        let mut fields = [0; packet::HEADER_LEN];
        fields[0..2].copy_from_slice(&header.source_port.to_be_bytes());
        fields[2..4].copy_from_slice(&header.destination_port.to_be_bytes());
        fields[4..8].copy_from_slice(&header.verification_tag.0.to_be_bytes());
        out.extend_from_slice(&fields);
        Self { out, start, envelope }
    }

    /// Appends a chunk and its padding. Returns false and writes nothing if the chunk exceeds the maximum length of
    /// 65535 bytes.
    pub fn chunk(&mut self, chunk: &impl ChunkEncode) -> bool {
        self.framed(chunk.chunk_type(), chunk.flags(), |out| chunk.write_body(out))
    }

    /// Appends a DATA chunk directly from its header and payload. In other respects this method is equal to
    /// [`chunk`](Self::chunk).
    pub fn data(&mut self, header: &DataHeader, payload: &[u8]) -> bool {
        let len = DataHeader::LEN + payload.len();
        let Ok(length) = u16::try_from(len) else { return false };
        self.out.reserve(padded(len));
        self.out.extend_from_slice(&header.encode(length));
        self.out.extend_from_slice(payload);
        self.pad();
        true
    }

    /// Appends a DATA chunk whose user data have two parts: `before` bytes that the function `write` appends, and the
    /// payload. In other respects this method is equal to [`chunk`](Self::chunk).
    pub fn data_behind(
        &mut self,
        header: &DataHeader,
        before: usize,
        write: impl FnOnce(&mut Vec<u8>),
        payload: &[u8],
    ) -> bool {
        let len = DataHeader::LEN + before + payload.len();
        let Ok(length) = u16::try_from(len) else { return false };
        self.out.reserve(padded(len));
        self.out.extend_from_slice(&header.encode(length));
        let start = self.out.len();
        write(self.out);
        debug_assert_eq!(self.out.len() - start, before, "as many bytes as announced");
        self.out.extend_from_slice(payload);
        self.pad();
        true
    }

    /// Appends a SACK chunk directly from its header and lists. In other respects this method is equal to
    /// [`chunk`](Self::chunk).
    pub fn sack(&mut self, header: &SackHeader, gap_blocks: &[GapBlock], duplicates: &[Tsn]) -> bool {
        self.framed(sack::TYPE, header.flags, |out| {
            sack::write_body(out, header, gap_blocks, duplicates);
        })
    }

    /// Appends an AUTH chunk whose HMAC is zero. AUTH authenticates the chunks written after it.
    /// [`fill_auth`](Self::fill_auth) writes the HMAC.
    pub fn auth_placeholder(&mut self, key_id: u16, hmac_id: HmacId) -> AuthSlot {
        let start = self.out.len();
        self.framed(auth::TYPE, 0, |out| {
            out.extend_from_slice(&key_id.to_be_bytes());
            out.extend_from_slice(&hmac_id.number().to_be_bytes());
            out.resize(out.len() + hmac_id.len(), 0);
        });
        AuthSlot { start, hmac_len: hmac_id.len() }
    }

    /// Writes the HMAC that the function `mac` computes. The HMAC covers the AUTH chunk with an HMAC of zero, and all
    /// chunks after it (RFC 4895 §6.2).
    ///
    /// # Panics
    /// Panics if the HMAC from `mac` does not have the length [`HmacId::len`] of the slot's algorithm. Also panics if
    /// the slot belongs to another packet.
    pub fn fill_auth<M: AsRef<[u8]>>(&mut self, slot: AuthSlot, mac: impl FnOnce(&[u8]) -> M) {
        assert!(slot.start >= self.start, "the slot belongs to this packet");
        let mac = mac(&self.out[slot.start..]);
        let hmac = slot.start + auth::HMAC_OFFSET;
        self.out[hmac..hmac + slot.hmac_len].copy_from_slice(mac.as_ref());
    }

    /// Returns the bytes of the packet so far, without its envelope.
    pub fn packet_len(&self) -> usize {
        self.out.len() - self.start
    }

    /// Returns whether no chunk was written yet.
    pub fn is_empty(&self) -> bool {
        self.packet_len() == packet::HEADER_LEN
    }

    /// Returns the bytes that are left for chunks, with header and padding, in a packet of at most `limit` bytes.
    pub fn remaining(&self, limit: usize) -> usize {
        limit.saturating_sub(self.packet_len())
    }

    /// Writes the checksum, or the second part of the envelope. Returns the packet's length without its envelope. A
    /// packet without chunks is removed, and the result is 0.
    pub fn finish(self) -> usize {
        if self.is_empty() {
            self.out.truncate(self.start - self.envelope.front);
            return 0;
        }
        if !self.envelope.is_empty() {
            let len = self.packet_len();
            self.out.resize(self.out.len() + self.envelope.back, 0);
            return len;
        }
        let packet = &mut self.out[self.start..];
        let checksum = packet::checksum(packet);
        packet[8..12].copy_from_slice(&checksum.to_le_bytes());
        packet.len()
    }

    fn framed(&mut self, chunk_type: u8, flags: u8, body: impl FnOnce(&mut Vec<u8>)) -> bool {
        let start = self.out.len();
        let written = chunk::write_frame(self.out, chunk_type, flags, body);
        if written {
            self.pad();
        } else {
            self.out.truncate(start);
        }
        written
    }

    fn pad(&mut self) {
        let end = self.start + padded(self.packet_len());
        self.out.resize(end, 0);
    }
}
