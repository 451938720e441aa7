//! Selection of the association for a packet (RFC 9260 §8.5), and handling of packets out of the blue (§8.4).

use super::answer::{Asked, Kind};
use super::state::{AssociationId, Endpoint, Entry};
use crate::path::FourTuple;
use crate::time::Instant;
use crate::wire::chunk::{Abort, ShutdownComplete};
use crate::wire::{Chunk, Packet};

impl Endpoint {
    /// Passes a packet to its association. Returns the association. The caller finishes the batch afterwards.
    pub(super) fn handle_packet(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        packet: &Packet,
    ) -> Option<AssociationId> {
        let header = packet.header;
        if header.destination_port != self.config.port || header.source_port == 0 {
            self.dropped += 1;
            return None;
        }
        if header.verification_tag.0 == 0 {
            self.untagged(now, tuple, packet);
            return None;
        }
        let Some(Ok((_, first))) = packet.chunks().next() else {
            self.dropped += 1;
            return None;
        };
        if let Chunk::CookieEcho(echo) = &first {
            return self.on_cookie_echo(now, tuple, packet, &echo.cookie);
        }
        let by_tag = self.by_tag.get(&header.verification_tag.0).copied();
        let owner = by_tag.filter(|id| {
            let ours = |e: &Entry| e.peer_port == header.source_port && e.sealed == tuple.sealed;
            self.entries.get(id).is_some_and(|e| ours(e))
                && (!t_bit(&first) || self.has_peer_tag(*id, packet))
        });
        match owner.or_else(|| self.reflected(tuple, packet, &first)) {
            Some(id) if !self.answers_shutdown_ack_here(id, &first) => {
                self.allowed(id)?.handle_packet(now, tuple, packet);
                Some(id)
            }
            // RFC 9260 §8.5: the association exists, and the tag is another one's.
            None if self.by_tuple.contains_key(&(tuple, header.source_port)) => {
                self.dropped += 1;
                None
            }
            _ => {
                self.out_of_the_blue(now, tuple, packet);
                None
            }
        }
    }

    /// Finds the association of an ABORT or SHUTDOWN COMPLETE with the T bit. An ABORT or SHUTDOWN COMPLETE with the T
    /// bit carries the peer's verification tag, not the tag of this side (RFC 9260 §8.5.1 B, C).
    fn reflected(&self, tuple: FourTuple, packet: &Packet, first: &Chunk) -> Option<AssociationId> {
        let id = *self.by_tuple.get(&(tuple, packet.header.source_port))?;
        (t_bit(first) && self.has_peer_tag(id, packet)).then_some(id)
    }

    fn has_peer_tag(&self, id: AssociationId, packet: &Packet) -> bool {
        let tag = packet.header.verification_tag;
        self.entries.get(&id).is_some_and(|e| e.association.tags().1 == tag)
    }

    /// Returns whether a SHUTDOWN ACK arrived during the handshake of its association. A SHUTDOWN ACK during the
    /// handshake is handled as out of the blue (RFC 9260 §8.5.1 E).
    fn answers_shutdown_ack_here(&self, id: AssociationId, first: &Chunk) -> bool {
        use crate::association::State::{CookieEchoed, CookieWait};
        let opening = |s| matches!(s, CookieWait | CookieEchoed);
        matches!(first, Chunk::ShutdownAck(_))
            && self.entries.get(&id).is_some_and(|e| opening(e.association.state()))
    }

    /// Handles a packet with tag 0. An INIT must be alone in its packet; other packets get no answer (RFC 9260 §8.5.1
    /// A).
    fn untagged(&mut self, now: Instant, tuple: FourTuple, packet: &Packet) {
        let mut chunks = packet.chunks();
        match (chunks.next(), chunks.next()) {
            (Some(Ok((_, Chunk::Init(init)))), None) => {
                self.on_init(now, &Asked::by(tuple, packet), &init);
            }
            _ => self.dropped += 1,
        }
    }

    /// Handles a packet out of the blue (RFC 9260 §8.4).
    fn out_of_the_blue(&mut self, now: Instant, tuple: FourTuple, packet: &Packet) {
        self.dropped += 1;
        let (asked, tag) = (Asked::by(tuple, packet), packet.header.verification_tag);
        for chunk in packet.chunks() {
            match chunk {
                Ok((
                    _,
                    Chunk::Abort(_) | Chunk::ShutdownComplete(_) | Chunk::CookieAck(_) | Chunk::Error(_),
                )) => return,
                Ok((_, Chunk::Init(_))) | Err(_) => return,
                Ok((_, Chunk::ShutdownAck(_))) => {
                    if self.answers.admit(now, &asked, Kind::OutOfTheBlue) {
                        self.answers.send(&asked, tag, &ShutdownComplete { reflected_tag: true });
                    }
                    return;
                }
                Ok(_) => {}
            }
        }
        if self.answers.admit(now, &asked, Kind::OutOfTheBlue) {
            self.answers.send(&asked, tag, &Abort { reflected_tag: true, causes: Vec::new() });
        }
    }
}

/// Returns whether the T bit is set: the packet carries the verification tag of the sender, not of the receiver.
fn t_bit(first: &Chunk) -> bool {
    match first {
        Chunk::Abort(a) => a.reflected_tag,
        Chunk::ShutdownComplete(s) => s.reflected_tag,
        _ => false,
    }
}
