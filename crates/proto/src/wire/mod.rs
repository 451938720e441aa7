//! The wire format: conversion of SCTP packets (RFC 9260 §3 and extensions) to typed chunks and back.
//!
//! Reading copies nothing: [`Packet`] holds the datagram, chunks are parsed one by one on request, and payloads are
//! slices of the datagram. Writing appends to a caller's buffer through [`PacketWriter`]. No input panics.

pub mod cause;
pub mod chunk;
mod cursor;
pub mod packet;
pub mod param;
pub mod serial;
mod tlv;
pub mod writer;

#[cfg(test)]
mod tests;

pub use cause::Cause;
pub use chunk::{Chunk, ChunkEncode};
pub use packet::{Header, Packet, Span};
pub use param::Param;
pub use serial::{Fsn, Mid, Ppid, Ssn, StreamId, Tsn, VerificationTag};
pub use writer::{AuthSlot, PacketWriter};

/// Reason why bytes are not an SCTP packet, or why a packet's next chunk is invalid. The bytes are then dropped and
/// counted. Invalid bytes never cause a failure of this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The datagram is shorter than the common header or not a multiple of 4 bytes (RFC 9260 §3).
    #[error("{0} bytes cannot be an SCTP packet")]
    PacketLength(usize),
    /// The CRC32c does not match (RFC 9260 §6.8).
    #[error("checksum is {found:#010x}, not {expected:#010x}")]
    Checksum {
        /// Checksum of the bytes.
        expected: u32,
        /// Checksum that the packet carries.
        found: u32,
    },
    /// A chunk is shorter than its header or extends beyond the end of the packet.
    #[error("chunk of type {chunk_type} has an impossible length of {length} bytes")]
    ChunkLength {
        /// Type of the chunk.
        chunk_type: u8,
        /// Chunk Length field of the chunk.
        length: u16,
    },
    /// A field extends beyond the end of its chunk, parameter or cause.
    #[error("a field runs past the end")]
    Truncated,
    /// Bytes remain after the last field of a fixed layout.
    #[error("bytes are left over")]
    Excess,
    /// A field has a value that its definition forbids.
    #[error("a field holds a forbidden value")]
    Forbidden,
}

/// Action for a chunk or parameter of unknown type: the two highest bits of its type (RFC 9260 §3.2 and §3.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownAction {
    /// 00: stop processing (the packet for a chunk, the chunk for a parameter).
    Stop,
    /// 01: stop processing and report the unknown type.
    StopAndReport,
    /// 10: skip it.
    Skip,
    /// 11: skip it and report it.
    SkipAndReport,
}

impl UnknownAction {
    /// Returns the action that the highest two bits of `bits` request.
    pub(crate) const fn from_high_bits(bits: u8) -> Self {
        match bits >> 6 {
            0 => Self::Stop,
            1 => Self::StopAndReport,
            2 => Self::Skip,
            _ => Self::SkipAndReport,
        }
    }

    /// Returns whether the rest of the packet (chunk) or of the chunk (parameter) must not be processed.
    pub const fn stops(self) -> bool {
        matches!(self, Self::Stop | Self::StopAndReport)
    }

    /// Returns whether the unknown type is reported to the sender.
    pub const fn reports(self) -> bool {
        matches!(self, Self::StopAndReport | Self::SkipAndReport)
    }
}

/// Returns `len` rounded up to the 4 bytes to which chunks, parameters and causes are padded.
pub const fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}
