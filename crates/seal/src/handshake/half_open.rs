//! Half-open handshakes: other hosts began them, and no datagram has confirmed them yet.

use core::net::SocketAddr;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use super::noise::Noise;
use crate::aead::Cipher;
use crate::identity::Token;
use crate::wire::RouteBytes;

/// Maximum number of half-open handshakes.
pub(crate) const MOST: usize = 256;
/// Longest time for which a handshake may be half open. An initiator's first datagram arrives one round trip after its
/// message 1. The initiator waits up to twelve seconds for an answer. Above 17 handshakes per second, the table of
/// half-open handshakes is full. Each new handshake then replaces another one in the table.
pub(super) const LIFETIME: Duration = Duration::from_secs(15);

/// Identifier of a half-open handshake of one responder. Identifiers are not reused.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot(u64);

/// A message 1 that was read and is not yet answered.
pub(super) struct Pending {
    pub noise: Noise,
    pub cipher: Cipher,
    pub id: [u8; 8],
    /// Route bytes of message 2.
    pub route: RouteBytes,
    pub token: Token,
}

pub(super) enum State {
    Asked(Box<Pending>),
    /// The handshake was answered with this message 2, which is sent again when message 1 is repeated.
    Answered(Vec<u8>),
}

struct Entry {
    slot: Slot,
    digest: u64,
    until: Instant,
    /// Source of message 1, which is the destination of message 2.
    from: SocketAddr,
    /// True if message 2 was also sent to other addresses.
    elsewhere: bool,
    state: State,
}

/// A table of half-open handshakes with a fixed size. If the table is full, a new handshake replaces a random one. No
/// sender can therefore remove the handshake of a chosen other sender.
#[derive(Default)]
pub(super) struct HalfOpen {
    entries: Vec<Entry>,
    given: u64,
    forgotten: Vec<Slot>,
}

impl HalfOpen {
    /// Returns the handshake of a message 1 that arrived again, from `from`. `digest` identifies the message. Message 2
    /// is then also sent to this address.
    pub fn again(&mut self, digest: u64, from: SocketAddr) -> Option<&State> {
        let entry = self.entries.iter_mut().find(|e| e.digest == digest)?;
        entry.elsewhere |= entry.from != from && matches!(entry.state, State::Answered(_));
        Some(&entry.state)
    }

    /// Returns whether message 2 was sent only to `to`.
    pub fn proves(&self, slot: Slot, to: SocketAddr) -> bool {
        let entry = self.entries.iter().find(|e| e.slot == slot);
        entry.is_some_and(|e| e.from == to && !e.elsewhere && matches!(e.state, State::Answered(_)))
    }

    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut State> {
        self.entries.iter_mut().find(|e| e.slot == slot).map(|e| &mut e.state)
    }

    pub fn insert(
        &mut self,
        now: Instant,
        digest: u64,
        from: SocketAddr,
        pending: Box<Pending>,
        random: &mut Random,
    ) -> Slot {
        if self.entries.len() >= MOST {
            let unlucky = self.entries.swap_remove(random.below(self.entries.len() as u64) as usize);
            self.forgotten.push(unlucky.slot);
        }
        self.given += 1;
        let slot = Slot(self.given);
        let (until, state) = (now + LIFETIME, State::Asked(pending));
        self.entries.push(Entry { slot, digest, until, from, elsewhere: false, state });
        slot
    }

    pub fn remove(&mut self, slot: Slot) {
        self.entries.retain(|e| e.slot != slot);
    }

    /// Drops the handshakes that have been half open for longer than [`LIFETIME`].
    pub fn expire(&mut self, now: Instant) {
        let forgotten = &mut self.forgotten;
        self.entries.retain(|e| {
            if e.until <= now {
                forgotten.push(e.slot);
            }
            e.until > now
        });
    }

    /// Returns the next time at which [`HalfOpen::expire`] must be called.
    pub fn expires(&self) -> Option<Instant> {
        self.entries.iter().map(|e| e.until).min()
    }

    /// Returns a handshake that was dropped since the last call. A handshake that its owner removed is not returned.
    pub fn poll_forgotten(&mut self) -> Option<Slot> {
        self.forgotten.pop()
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}
