//! Handshakes of other hosts that no datagram has confirmed.

use core::net::SocketAddr;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use super::noise::Noise;
use crate::aead::Cipher;
use crate::identity::Token;
use crate::wire::RouteBytes;

/// Maximum number of half-open handshakes.
pub(crate) const MOST: usize = 256;
/// Time for which a handshake may be half open. An initiator's first datagram arrives a round trip after its
/// message 1, and the initiator waits for an answer for twelve seconds. The table does not have enough places
/// for more: above 17 handshakes per second it is full, and each new handshake replaces another.
pub(super) const LIFETIME: Duration = Duration::from_secs(15);

/// Number of a half-open handshake of one responder. Numbers are not used again.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot(u64);

/// A message 1 that was read and not yet answered.
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
    /// Message 2, for repetitions of message 1.
    Answered(Vec<u8>),
}

struct Entry {
    slot: Slot,
    digest: u64,
    until: Instant,
    /// Source of message 1 and destination of message 2.
    from: SocketAddr,
    /// True if message 2 also went to other addresses.
    elsewhere: bool,
    state: State,
}

/// A table of fixed size. In a full table a new handshake replaces a random one, so no sender can target
/// another sender's handshake.
#[derive(Default)]
pub(super) struct HalfOpen {
    entries: Vec<Entry>,
    given: u64,
    forgotten: Vec<Slot>,
}

impl HalfOpen {
    /// Returns the handshake of the message with this digest, which arrived again from `from`: message 2 goes
    /// there as well.
    pub fn again(&mut self, digest: u64, from: SocketAddr) -> Option<&State> {
        let entry = self.entries.iter_mut().find(|e| e.digest == digest)?;
        entry.elsewhere |= entry.from != from && matches!(entry.state, State::Answered(_));
        Some(&entry.state)
    }

    /// Returns whether message 2 went to `to` and nowhere else.
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

    /// Drops handshakes that have been half open for longer than [`LIFETIME`].
    pub fn expire(&mut self, now: Instant) {
        let forgotten = &mut self.forgotten;
        self.entries.retain(|e| {
            if e.until <= now {
                forgotten.push(e.slot);
            }
            e.until > now
        });
    }

    /// Next deadline of [`HalfOpen::expire`].
    pub fn expires(&self) -> Option<Instant> {
        self.entries.iter().map(|e| e.until).min()
    }

    /// Returns a handshake that was dropped since the last call and not removed by its owner.
    pub fn poll_forgotten(&mut self) -> Option<Slot> {
        self.forgotten.pop()
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}
