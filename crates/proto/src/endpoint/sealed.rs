//! What a seal in front of an endpoint decides: envelopes around packets, where paths are, and when sessions end.

use bytes::{Buf as _, Bytes};

use super::state::{AssociationId, Endpoint};
use crate::association::CloseReason;
use crate::path::{Envelope, FourTuple, SealId};
use crate::time::Instant;
use crate::wire::Packet;

impl Endpoint {
    /// The packet of a datagram, out of its envelope if packets are sealed here; `None` if it is none, or sealed where others
    /// are not.
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

    /// The seal says that the path `from` goes on at `to`, where both sides are proven to be. If another path of the
    /// association was there, the two exchange addresses.
    pub fn path_moved(&mut self, now: Instant, from: FourTuple, to: FourTuple) {
        for id in self.ids() {
            let Some(e) = self.entries.get_mut(&id) else { continue };
            if let Some(path) = e.association.path_of(&from) {
                e.association.proven_at(now, path, to);
                self.touch(id);
            }
        }
    }

    /// The session `sealed` is over: its associations close for `reason`, without a word to the peer.
    pub fn close_sealed(&mut self, _now: Instant, sealed: SealId, reason: CloseReason) {
        for id in self.ids() {
            let Some(e) = self.entries.get_mut(&id).filter(|e| e.sealed == sealed) else { continue };
            e.association.cut(reason.clone());
            self.touch(id);
        }
    }

    /// Whether an association of the session `sealed` is open.
    pub fn has_sealed(&self, sealed: SealId) -> bool {
        self.entries.values().any(|e| e.sealed == sealed && !e.association.is_closed())
    }

    /// The sealed session that an association belongs to.
    pub fn sealed(&self, id: AssociationId) -> Option<SealId> {
        self.entries.get(&id).map(|e| e.sealed)
    }
}
