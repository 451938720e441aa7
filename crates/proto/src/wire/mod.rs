//! The wire format: SCTP packets (RFC 9260 §3 and extensions) are converted to typed chunks and back.
//!
//! Reading copies nothing. [`Packet`] holds the datagram, chunks are parsed one by one on request, and payloads are
//! slices of the datagram. Writing appends to a buffer of the caller, by means of [`PacketWriter`]. No input causes a
//! panic.

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

/// Reason why bytes are not an SCTP packet, or why the next chunk of a packet is invalid. The receiver drops and counts
/// these bytes. Invalid bytes never make the receiver fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The datagram is shorter than the common header, or its length is not a multiple of 4 bytes (RFC 9260 §3).
    #[error("{0} bytes cannot be an SCTP packet")]
    PacketLength(usize),
    /// The CRC32c of the packet does not match (RFC 9260 §6.8).
    #[error("checksum is {found:#010x}, not {expected:#010x}")]
    Checksum {
        /// Checksum computed from the bytes.
        expected: u32,
        /// Checksum found in the packet.
        found: u32,
    },
    /// A chunk is shorter than its header or extends beyond the end of the packet.
    #[error("chunk of type {chunk_type} has an impossible length of {length} bytes")]
    ChunkLength {
        /// Type of the chunk.
        chunk_type: u8,
        /// Value of the Chunk Length field.
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

/// Action for a chunk or parameter of unknown type. The two highest bits of the type select it (RFC 9260 §3.2 and
/// §3.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownAction {
    /// Bits 00: stop processing. For a chunk, processing of the packet stops; for a parameter, processing of the chunk.
    Stop,
    /// Bits 01: stop processing, and report the unknown type.
    StopAndReport,
    /// Bits 10: skip the chunk or parameter.
    Skip,
    /// Bits 11: skip the chunk or parameter, and report its type.
    SkipAndReport,
}

impl UnknownAction {
    /// Returns the action that the two highest bits of `bits` request.
    pub(crate) const fn from_high_bits(bits: u8) -> Self {
        match bits >> 6 {
            0 => Self::Stop,
            1 => Self::StopAndReport,
            2 => Self::Skip,
            _ => Self::SkipAndReport,
        }
    }

    /// Returns whether processing must stop. After an unknown chunk, the rest of the packet is then skipped. After an
    /// unknown parameter, the rest of the chunk is then skipped.
    pub const fn stops(self) -> bool {
        matches!(self, Self::Stop | Self::StopAndReport)
    }

    /// Returns whether the unknown type is reported to the sender.
    pub const fn reports(self) -> bool {
        matches!(self, Self::StopAndReport | Self::SkipAndReport)
    }
}

/// Returns `len` rounded up to a multiple of 4 bytes, to which chunks, parameters and causes are padded.
pub const fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}
