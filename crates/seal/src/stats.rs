//! Counters of a seal.

use crate::handshake::HandshakeCounts;
use crate::keys::Discard;
use crate::number::PacketNumber;

/// Counters of a seal since its start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SealStats {
    /// Datagrams sealed.
    pub sealed: u64,
    /// Datagrams opened.
    pub opened: u64,
    /// Datagrams that were not authentic: they were changed in transit, or forged.
    pub failed: u64,
    /// Datagrams that arrived twice, or so late that the receiver cannot tell whether they did.
    pub replayed: u64,
    /// Datagrams whose connection id belongs to no session.
    pub unknown_ids: u64,
    /// Datagrams of unknown layout or version.
    pub malformed: u64,
    /// Plain packets.
    pub plain: u64,
    /// Messages 1 and 2 of another version.
    pub other_versions: u64,
    /// Packets that were not sent. Either the session had no path or no keys for them, or an unproven address had
    /// received as much as it may.
    pub withheld: u64,
    /// Handshake messages dropped because the outbox was full.
    pub crowded: u64,
    /// Handshakes that this side began.
    pub begun: u64,
    /// Sessions opened, by either side.
    pub established: u64,
    /// Handshakes that replaced the keys of a session.
    pub renewed: u64,
    /// Handshakes that were answered with "session unknown".
    pub unknown_sessions: u64,
    /// Handshakes that were answered with "no room".
    pub busy: u64,
    /// Answered handshakes whose sender was no longer admitted when its first datagram arrived.
    pub refused_late: u64,
    /// Messages 1 that were answered, refused or dropped.
    pub handshakes: HandshakeCounts,
    /// Messages 2 that were forged or did not belong to the attempt.
    pub bad_answers: u64,
    /// Paths that moved.
    pub moved: u64,
    /// Current number of sessions.
    pub sessions: u64,
}

impl SealStats {
    /// Counts the result of decrypting a datagram. Returns the datagram's number if it is authentic.
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
