//! Effects of a seal outside the endpoint: envelopes of packets, moves of paths, and ends of sessions.

use bytes::{Buf as _, Bytes};

use super::state::{AssociationId, Endpoint};
use crate::association::CloseReason;
use crate::path::{Envelope, FourTuple, SealId};
use crate::time::Instant;
use crate::wire::Packet;

impl Endpoint {
    /// Returns the packet in a datagram. If packets on this 4-tuple are sealed, the envelope is removed. Returns `None`
    /// if the datagram contains no packet. Also returns `None` if the datagram is sealed and packets on this 4-tuple
    /// are not, or the reverse.
    pub(super) fn packet_in(&self, tuple: &FourTuple, mut datagram: Bytes) -> Option<Packet> {
        let envelope = self.config.transport.envelope;
        match (tuple.sealed == SealId::CLEAR, envelope.is_empty()) {
            (true, true) => Packet::parse(datagram).ok(),
            (false, false) => {
                let Envelope { front, back } = envelope;
                datagram.truncate(datagram.len().checked_sub(back)?);
                (datagram.len() >= front).then(|| datagram.advance(front))?;
                Packet::authentic(datagram).ok()
            }
            _ => None,
        }
    }

    /// Moves the path with the addresses `from` to the addresses `to`, which the seal has proven. If another path of
    /// the association has the addresses `to`, the two paths exchange addresses.
    pub fn path_moved(&mut self, now: Instant, from: FourTuple, to: FourTuple) {
        for id in self.ids() {
            let Some(e) = self.entries.get_mut(&id) else { continue };
            if let Some(path) = e.association.path_of(&from) {
                e.association.proven_at(now, path, to);
                self.touch(id);
            }
        }
    }

    /// Ends the session `sealed`. The associations of the session close for `reason`, and the peer is not notified.
    pub fn close_sealed(&mut self, _now: Instant, sealed: SealId, reason: CloseReason) {
        for id in self.ids() {
            let Some(e) = self.entries.get_mut(&id).filter(|e| e.sealed == sealed) else { continue };
            e.association.cut(reason.clone());
            self.touch(id);
        }
    }

    /// Returns whether an association of the session `sealed` is open.
    pub fn has_sealed(&self, sealed: SealId) -> bool {
        self.entries.values().any(|e| e.sealed == sealed && !e.association.is_closed())
    }

    /// Returns the identifier of an association's sealed session.
    pub fn sealed(&self, id: AssociationId) -> Option<SealId> {
        self.entries.get(&id).map(|e| e.sealed)
    }
}
