//! The transport's view of a seal outside it: the session of each packet, and the length of envelopes.

/// Identifier of a session of an endpoint's seal. Packets of one session never reach an association of another session.
/// Identifiers are not reused.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SealId(pub u64);

impl SealId {
    /// Identifier of packets in the clear.
    pub const CLEAR: SealId = SealId(0);
}

/// Numbers of bytes that a seal adds to each datagram. `poll_output` leaves room for these bytes, and received
/// datagrams still contain them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Envelope {
    /// Bytes before the SCTP packet.
    pub front: usize,
    /// Bytes after the SCTP packet.
    pub back: usize,
}

impl Envelope {
    /// No seal.
    pub const NONE: Envelope = Envelope { front: 0, back: 0 };

    /// Sum of the bytes before and after the packet.
    pub fn len(self) -> usize {
        self.front + self.back
    }

    /// Returns whether there is no envelope.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
