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
/// A receiver tries keys up to this many generations after the generation of the highest authentic number.
pub(crate) const AHEAD: u64 = 4;
/// Number of generations for which a receiver has keys: the generation before that of the highest authentic number,
/// that generation itself, and the later ones.
const KEPT: usize = AHEAD as usize + 2;

/// The reason why a data datagram was dropped. Each reason has a counter. A dropped datagram has no other effect.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Discard {
    /// The datagram is shorter than any sealed one.
    Short,
    /// The path is unknown.
    Path,
    /// The number was already accepted, or it is so old that the receiver can no longer tell.
    Replayed,
    /// The key generation is past, or is later than those that the receiver tries.
    Generation,
    /// The datagram is not authentic.
    Forged,
    /// The number of forged datagrams has reached the limit for this key.
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

    /// Encrypts a datagram. It has [`DATA_HEADER`] bytes of room before the packet and [`TAG`] bytes after it.
    /// `received` is the highest key generation that the peer has used.
    ///
    /// Returns the packet number. Returns `None` and does not encrypt the datagram if no number is left, or if the
    /// datagram is too short to be decrypted.
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

    /// The number of the next datagram. If a change of generation is due, it is made first.
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

    /// The generation to use for sending. A sender uses at least the generation that its peer uses. After a certain
    /// time, it moves to the next generation, but only if the peer has followed the last move. So if a path loses
    /// everything for hours, its receiver is at most one generation behind (as in RFC 9001 §6.1).
    fn due(&self, now: Instant, received: Option<u64>) -> u64 {
        let Some(received) = received else { return self.generation };
        let old = self.since.is_some_and(|since| now.saturating_since(since) >= GENERATION_TIME);
        received.max(self.generation + u64::from(old && received >= self.generation))
    }

    /// Number of packet numbers left.
    pub(crate) fn left(&self) -> u64 {
        self.next.map_or(0, |next| PacketNumber::LAST.full() - next.full() + 1)
    }

    /// For tests: continues at a number that a test could not reach by encrypting datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn jump(&mut self, full: u64) {
        self.next = PacketNumber::first_of(full >> GENERATION_BITS)
            .and_then(|first| PacketNumber::reconstruct(full as u32, Some(first)));
    }
}

/// A receiver's state for one generation.
struct Generation {
    number: u64,
    key: Key,
    /// The numbers that were accepted, counted from the first number of the generation. `None` before the first one.
    /// Each generation has its own window. So a datagram that arrives some milliseconds late is still accepted after
    /// its sender skipped millions of numbers. Only an authentic datagram creates a window.
    taken: Option<Box<Window>>,
}

/// Receiving side of a path.
pub(crate) struct Receiver {
    chain: Chain,
    /// The chain of secrets, starting at the generation of the highest authentic number. A resting receiver keeps it.
    current: Chain,
    /// The highest authentic number.
    highest: Option<PacketNumber>,
    /// The highest number at the time when the receiver last rested. The receiver then dropped its record of the lower
    /// numbers that it had accepted.
    rested: Option<PacketNumber>,
    /// Generations; generation `g` is at `g % KEPT`.
    generations: [Option<Box<Generation>>; KEPT],
}

impl Receiver {
    /// Receiving side of a path.
    pub(crate) fn new(cipher: Cipher, secret: Secret) -> Self {
        Receiver::starting(Chain::new(cipher, secret), None)
    }

    /// The receiving side of a path, for reading recorded datagrams. It begins with `datagram`, in any generation.
    /// `secret` returns the secret of a generation. Returns `None` if no sender can have made such a datagram.
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

    /// Returns the state that is kept when this receiver makes room for another one.
    pub(crate) fn rest(&self) -> Resting {
        Resting { chain: self.current.clone(), highest: self.highest }
    }

    /// Highest authentic number; `None` before the first.
    pub(crate) fn highest(&self) -> Option<PacketNumber> {
        self.highest
    }

    /// Decrypts a datagram in place. The plaintext is between the first [`DATA_HEADER`] and the last [`TAG`] bytes.
    /// Only an authentic datagram changes the state of the path.
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

    /// Returns the generation that a datagram belongs to, if the receiver may use it now. Its key is derived only once.
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

/// The state of a receiver that made room for another one. It has a few bytes and no replay windows.
pub(crate) struct Resting {
    chain: Chain,
    highest: Option<PacketNumber>,
}

impl Resting {
    /// Restores the receiver. It accepts only numbers above the highest one that it had accepted before.
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
