//! Counters of a seal.

use crate::handshake::HandshakeCounts;
use crate::keys::Discard;
use crate::number::PacketNumber;

/// Counters of a seal since its creation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SealStats {
    /// Number of sealed datagrams.
    pub sealed: u64,
    /// Number of opened datagrams.
    pub opened: u64,
    /// Number of datagrams that were not authentic: forged, or changed in transit.
    pub failed: u64,
    /// Number of datagrams that arrived twice, or so late that it is unknown whether they did.
    pub replayed: u64,
    /// Number of datagrams whose connection id belongs to no session.
    pub unknown_ids: u64,
    /// Number of datagrams with an unknown layout or version.
    pub malformed: u64,
    /// Number of packets that arrived without a seal.
    pub plain: u64,
    /// Number of messages 1 and 2 of another version.
    pub other_versions: u64,
    /// Number of packets that were not sent. The session of such a packet had no path or no keys, or its unproven
    /// address had received as many bytes as it may.
    pub withheld: u64,
    /// Number of handshake messages dropped because the outbox was full.
    pub crowded: u64,
    /// Number of handshakes that this side began.
    pub begun: u64,
    /// Number of sessions opened by either side.
    pub established: u64,
    /// Number of handshakes that replaced the keys of a session.
    pub renewed: u64,
    /// Number of handshakes answered with "session unknown".
    pub unknown_sessions: u64,
    /// Number of handshakes answered with "no room".
    pub busy: u64,
    /// Number of answered handshakes whose sender was no longer admitted when its first datagram arrived.
    pub refused_late: u64,
    /// Counts of messages 1 that were answered, refused or dropped.
    pub handshakes: HandshakeCounts,
    /// Number of messages 2 that were forged or did not belong to an attempt of this side.
    pub bad_answers: u64,
    /// Number of moves of paths.
    pub moved: u64,
    /// Current number of sessions.
    pub sessions: u64,
}

impl SealStats {
    /// Counts the result of decrypting a datagram. Returns the datagram's packet number if the datagram is authentic.
    pub(crate) fn count(&mut self, opened: Result<PacketNumber, Discard>) -> Option<PacketNumber> {
        match opened {
            Ok(number) => {
                self.opened += 1;
                return Some(number);
            }
            Err(Discard::Replayed) => self.replayed += 1,
            Err(_) => self.failed += 1,
        }
        None
    }
}
