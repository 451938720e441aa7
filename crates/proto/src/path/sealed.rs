//! What the transport knows of a seal in front of it: whose packets are whose, and how long envelopes are.

/// Names a session of the seal in front of an endpoint: packets of one session never
/// reach an association of another. Numbers are not used again.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SealId(pub u64);

impl SealId {
    /// Packets in the clear.
    pub const CLEAR: SealId = SealId(0);
}

/// Bytes that a seal adds to each datagram, for which `poll_output` leaves room and which received datagrams still have.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Envelope {
    /// In front of the SCTP packet.
    pub front: usize,
    /// Behind it.
    pub back: usize,
}

impl Envelope {
    /// No seal.
    pub const NONE: Envelope = Envelope { front: 0, back: 0 };

    /// Both together.
    pub fn len(self) -> usize {
        self.front + self.back
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
