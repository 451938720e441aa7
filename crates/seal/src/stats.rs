//! What a seal counted.

use crate::handshake::HandshakeCounts;
use crate::keys::Discard;
use crate::number::PacketNumber;

/// What a seal counted since it began.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SealStats {
    /// Datagrams sealed.
    pub sealed: u64,
    /// Datagrams opened.
    pub opened: u64,
    /// Datagrams that failed to open: changed on the way, or forged.
    pub failed: u64,
    /// Datagrams that came again, or too late to tell.
    pub replayed: u64,
    /// Datagrams with a connection id of no session.
    pub unknown_ids: u64,
    /// Datagrams of no known layout or version.
    pub malformed: u64,
    /// Plain packets.
    pub plain: u64,
    /// Messages 1 and 2 of another version.
    pub other_versions: u64,
    /// Packets that were to be sent where a session knows no path, has no keys, or before an address was proven more than
    /// it may have.
    pub withheld: u64,
    /// Handshake messages that waited for too many others.
    pub crowded: u64,
    /// Handshakes that this side began.
    pub begun: u64,
    /// Sessions opened, by either side.
    pub established: u64,
    /// Handshakes that replaced the keys of a session.
    pub renewed: u64,
    /// Handshakes answered with: that session is not known.
    pub unknown_sessions: u64,
    /// Handshakes answered with: there is no room.
    pub busy: u64,
    /// Handshakes that were answered, and whose sender might not connect any more when its first datagram came.
    pub refused_late: u64,
    /// Messages 1 that were answered, refused or dropped.
    pub handshakes: HandshakeCounts,
    /// Messages 2 that were not this attempt's, or forged.
    pub bad_answers: u64,
    /// Paths that moved.
    pub moved: u64,
    /// Sessions at present.
    pub sessions: u64,
}

impl SealStats {
    /// Counts the outcome of a datagram: its number, if it opened.
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
