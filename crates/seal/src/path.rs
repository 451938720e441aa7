//! One direction of one path: its key generations, packet numbers and replay window.

use strandcast_proto::time::{Duration, Instant};

use crate::aead::{Cipher, Key};
use crate::generation::{Chain, GENERATION_BITS};
use crate::number::PacketNumber;
use crate::secret::Secret;
use crate::window::Window;
use crate::wire::{ConnectionId, DATA_HEADER, MIN_PLAINTEXT, TAG, data_header};

/// Time after which a sender moves to the next generation.
pub(crate) const GENERATION_TIME: Duration = Duration::from_secs(120);
/// Number of generations beyond the highest authentic one that a receiver tries.
pub(crate) const AHEAD: u64 = 4;
/// A receiver's generations with keys: the one before the highest authentic one, that one, and later ones.
const KEPT: usize = AHEAD as usize + 2;

/// Reason why a data datagram was dropped. Each is counted and has no other effect.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Discard {
    /// The datagram is shorter than any sealed one.
    Short,
    /// The path is unknown.
    Path,
    /// The number was taken before, or is too old to decide.
    Replayed,
    /// The key generation is over, or beyond those that are tried.
    Generation,
    /// The datagram is not authentic.
    Forged,
    /// Forged datagrams have reached the limit of this key.
    Exhausted,
}

/// Sending side of a path.
pub(crate) struct Sender {
    id: ConnectionId,
    chain: Chain,
    key: Key,
    generation: u64,
    /// Time at which the generation's first datagram was sealed.
    since: Option<Instant>,
    /// Next number; `None` after the last one.
    next: Option<PacketNumber>,
}

impl Sender {
    /// Sending side of a path whose datagrams carry `id`.
    pub(crate) fn new(id: ConnectionId, cipher: Cipher, secret: Secret) -> Self {
        Sender::starting(id, Chain::new(cipher, secret), PacketNumber::FIRST)
    }

    fn starting(id: ConnectionId, mut chain: Chain, next: PacketNumber) -> Self {
        let key = chain.take_at(next.generation());
        Sender { id, chain, key, generation: next.generation(), since: None, next: Some(next) }
    }

    /// Seals a datagram with [`DATA_HEADER`] bytes of room before the packet and [`TAG`] bytes after it.
    /// `received` is the highest generation that the peer has used.
    ///
    /// Returns its packet number. Returns `None` and leaves the datagram unsealed if no number is left, or if
    /// the datagram is too short to be opened.
    pub(crate) fn seal(
        &mut self,
        now: Instant,
        received: Option<u64>,
        datagram: &mut [u8],
    ) -> Option<PacketNumber> {
        let (header, body) = datagram.split_first_chunk_mut::<DATA_HEADER>()?;
        if body.len() < MIN_PLAINTEXT + TAG {
            return None;
        }
        let number = self.number(now, received)?;
        *header = data_header(self.id, number.on_wire());
        if !self.key.seal(number.full(), header, body) {
            return None;
        }
        self.next = number.next();
        Some(number)
    }

    /// Number of the next datagram, after a change of generation if one is due.
    fn number(&mut self, now: Instant, received: Option<u64>) -> Option<PacketNumber> {
        let next = self.next?;
        let generation = self.due(now, received).max(next.generation());
        if generation == self.generation {
            self.since.get_or_insert(now);
            return Some(next);
        }
        let next = next.max(PacketNumber::first_of(generation)?);
        self.key = self.chain.take_at(generation);
        self.generation = generation;
        self.since = Some(now);
        Some(next)
    }

    /// Generation to send in. A sender follows its peer. A sender moves ahead of the peer after a while, if the peer
    /// has followed: so a path that loses everything for hours leaves its receiver at most one generation behind (as in
    /// RFC 9001 §6.1).
    fn due(&self, now: Instant, received: Option<u64>) -> u64 {
        let Some(received) = received else { return self.generation };
        let old = self.since.is_some_and(|since| now.saturating_since(since) >= GENERATION_TIME);
        received.max(self.generation + u64::from(old && received >= self.generation))
    }

    /// Number of packet numbers left.
    pub(crate) fn left(&self) -> u64 {
        self.next.map_or(0, |next| PacketNumber::LAST.full() - next.full() + 1)
    }

    /// Continues at a number that a test could not reach by sealing datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn jump(&mut self, full: u64) {
        self.next = PacketNumber::first_of(full >> GENERATION_BITS)
            .and_then(|first| PacketNumber::reconstruct(full as u32, Some(first)));
    }
}

/// A receiver's state of one generation.
struct Generation {
    number: u64,
    key: Key,
    /// Numbers taken, counted from the generation's first; `None` before the first. Each generation has its
    /// own window, so that a datagram late by some milliseconds is still taken after its sender skipped
    /// millions of numbers. Only an authentic datagram creates one.
    taken: Option<Box<Window>>,
}

/// Receiving side of a path.
pub(crate) struct Receiver {
    chain: Chain,
    /// Chain from the generation of the highest authentic number on; a resting receiver keeps it.
    current: Chain,
    /// The highest authentic number.
    highest: Option<PacketNumber>,
    /// Highest number at the time when the receiver rested. The receiver has dropped the numbers taken below it.
    rested: Option<PacketNumber>,
    /// Generations; generation `g` is at `g % KEPT`.
    generations: [Option<Box<Generation>>; KEPT],
}

impl Receiver {
    /// Receiving side of a path.
    pub(crate) fn new(cipher: Cipher, secret: Secret) -> Self {
        Receiver::starting(Chain::new(cipher, secret), None)
    }

    /// Receiving side of a path that begins with `datagram` in any generation, for reading recordings.
    /// Returns `None` if no such datagram can exist. `secret` returns the secret of a generation.
    pub(crate) fn joining(
        cipher: Cipher,
        secret: impl FnOnce(u64) -> Secret,
        datagram: &[u8],
    ) -> Option<Self> {
        let number = datagram.get(DATA_HEADER - 4..DATA_HEADER)?.first_chunk()?;
        let before = PacketNumber::reconstruct(u32::from_be_bytes(*number), None)?;
        let generation = before.generation();
        let chain = Chain::at(cipher, secret(generation), generation);
        Some(Receiver::starting(chain, Some(before)))
    }

    fn starting(chain: Chain, highest: Option<PacketNumber>) -> Self {
        Receiver { current: chain.clone(), chain, highest, rested: None, generations: Default::default() }
    }

    /// State that remains when a receiver makes room for another one.
    pub(crate) fn rest(&self) -> Resting {
        Resting { chain: self.current.clone(), highest: self.highest }
    }

    /// Highest authentic number; `None` before the first.
    pub(crate) fn highest(&self) -> Option<PacketNumber> {
        self.highest
    }

    /// Opens a datagram in place: its plaintext lies between its first [`DATA_HEADER`] and its last [`TAG`]
    /// bytes. Only a datagram that opens changes the state of the path.
    ///
    /// # Errors
    ///
    /// The reason for dropping the datagram. Its bytes are then undefined.
    pub(crate) fn open(&mut self, datagram: &mut [u8]) -> Result<PacketNumber, Discard> {
        let (header, body) = datagram.split_first_chunk_mut::<DATA_HEADER>().ok_or(Discard::Short)?;
        if body.len() < MIN_PLAINTEXT + TAG {
            return Err(Discard::Short);
        }
        let wire = header.last_chunk().map_or(0, |number| u32::from_be_bytes(*number));
        let number = PacketNumber::reconstruct(wire, self.highest).ok_or(Discard::Generation)?;
        if self.rested.is_some_and(|rested| number <= rested) {
            return Err(Discard::Replayed);
        }
        let generation = self.generation(number.generation())?;
        let within = number.full() as u32 & ((1 << GENERATION_BITS) - 1);
        if generation.taken.as_ref().is_some_and(|taken| !taken.is_new(within)) {
            return Err(Discard::Replayed);
        }
        if !generation.key.open(number.full(), header, body) {
            return Err(Discard::Forged);
        }
        generation.taken.get_or_insert_with(|| Box::new(Window::new())).take(within);
        if self.highest < Some(number) {
            self.advance(number);
        }
        Ok(number)
    }

    /// Returns a generation that a datagram may belong to now, and derives its key once.
    fn generation(&mut self, number: u64) -> Result<&mut Generation, Discard> {
        let current = self.highest.map_or(0, PacketNumber::generation);
        if number + 1 < current || number > current + AHEAD {
            return Err(Discard::Generation);
        }
        while self.chain.generation() <= number {
            let derived = self.chain.generation();
            let key = self.chain.take();
            let slot = self.generations.get_mut(slot(derived)).ok_or(Discard::Generation)?;
            *slot = Some(Box::new(Generation { number: derived, key, taken: None }));
        }
        let kept = self.generations.get_mut(slot(number)).and_then(Option::as_deref_mut);
        kept.filter(|kept| kept.number == number).ok_or(Discard::Generation)
    }

    /// Records the highest authentic number, and drops the keys of past generations.
    fn advance(&mut self, number: PacketNumber) {
        let current = number.generation();
        if self.highest.is_none_or(|highest| highest.generation() < current) {
            for slot in &mut self.generations {
                slot.take_if(|kept| kept.number + 1 < current);
            }
            self.current.skip_to(current);
        }
        self.highest = Some(number);
    }
}

/// State of a receiver that made room for another one: a few bytes, without replay windows.
pub(crate) struct Resting {
    chain: Chain,
    highest: Option<PacketNumber>,
}

impl Resting {
    /// Restores the receiver. A restored receiver takes no number up to the highest that it had taken before.
    pub(crate) fn wake(&self) -> Receiver {
        Receiver { rested: self.highest, ..Receiver::starting(self.chain.clone(), self.highest) }
    }

    /// Highest authentic number.
    pub(crate) fn highest(&self) -> Option<PacketNumber> {
        self.highest
    }
}

fn slot(generation: u64) -> usize {
    (generation % KEPT as u64) as usize
}

#[cfg(test)]
mod tests;
