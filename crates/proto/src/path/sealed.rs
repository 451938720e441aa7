//! The transport's view of a seal outside it: the session to which each packet belongs, and the length of envelopes.

/// Identifier of a session in the seal of an endpoint. Packets of one session never reach an association of another
/// session. Identifiers of sessions are not reused.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SealId(pub u64);

impl SealId {
    /// Identifier for packets without a seal.
    pub const CLEAR: SealId = SealId(0);
}

/// Numbers of bytes that a seal adds before and after each packet. `poll_output` leaves room for these bytes. Received
/// datagrams still contain them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Envelope {
    /// Number of bytes before the SCTP packet.
    pub front: usize,
    /// Number of bytes after the SCTP packet.
    pub back: usize,
}

impl Envelope {
    /// Envelope without bytes: there is no seal.
    pub const NONE: Envelope = Envelope { front: 0, back: 0 };

    /// Returns the sum of the bytes before and after the packet.
    pub fn len(self) -> usize {
        self.front + self.back
    }

    /// Returns whether there is no envelope.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
