//! Handshakes that were begun by others and have not shown yet that they are more than a repetition.

use core::net::SocketAddr;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use super::noise::Noise;
use crate::aead::Cipher;
use crate::identity::Token;

/// Handshakes of the table.
pub(crate) const MOST: usize = 256;
/// How long one may be half open: an initiator's first datagram comes a round trip after its message 1, and it waits for
/// an answer for twelve seconds. The table has no more places for that: above 17 handshakes per second it is full and
/// they make room for each other.
pub(super) const LIFETIME: Duration = Duration::from_secs(15);

/// Names a half-open handshake of one responder. Numbers are not used again.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot(u64);

/// A message 1 that was read and not answered yet.
pub(super) struct Pending {
    pub noise: Noise,
    pub cipher: Cipher,
    pub id: [u8; 8],
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
    /// Where message 1 came from, and message 2 goes to.
    from: SocketAddr,
    /// Whether message 2 went anywhere else as well.
    elsewhere: bool,
    state: State,
}

/// A table of fixed size. In a full one a handshake makes room for the next, by chance: no sender can aim
/// at another's.
#[derive(Default)]
pub(super) struct HalfOpen {
    entries: Vec<Entry>,
    given: u64,
    forgotten: Vec<Slot>,
}

impl HalfOpen {
    /// The handshake of the message with this digest, which came from `from` now: message 2 goes there as well.
    pub fn again(&mut self, digest: u64, from: SocketAddr) -> Option<&State> {
        let entry = self.entries.iter_mut().find(|e| e.digest == digest)?;
        entry.elsewhere |= entry.from != from && matches!(entry.state, State::Answered(_));
        Some(&entry.state)
    }

    /// Whether message 2 went to `to` and nowhere else.
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

    /// Forgets what has been half open for too long.
    pub fn expire(&mut self, now: Instant) {
        let forgotten = &mut self.forgotten;
        self.entries.retain(|e| {
            if e.until <= now {
                forgotten.push(e.slot);
            }
            e.until > now
        });
    }

    /// When [`HalfOpen::expire`] has something to do.
    pub fn expires(&self) -> Option<Instant> {
        self.entries.iter().map(|e| e.until).min()
    }

    /// A handshake that was forgotten since the last call, before its owner had it removed.
    pub fn poll_forgotten(&mut self) -> Option<Slot> {
        self.forgotten.pop()
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}
