//! One direction of one path: its key generations, packet numbers and replay window.

use strandcast_proto::time::{Duration, Instant};

use crate::aead::{Cipher, Key};
use crate::generation::{Chain, GENERATION_BITS};
use crate::number::PacketNumber;
use crate::secret::Secret;
use crate::window::Window;
use crate::wire::{ConnectionId, DATA_HEADER, MIN_PLAINTEXT, TAG, data_header};

/// How long a sender stays in a generation.
pub(crate) const GENERATION_TIME: Duration = Duration::from_secs(120);
/// How many generations ahead of the highest authentic one a receiver tries.
pub(crate) const AHEAD: u64 = 4;
/// Generations a receiver has keys of: the one before the highest authentic one, that one, and those ahead.
const KEPT: usize = AHEAD as usize + 2;

/// Why a data datagram was not taken. Each is counted and otherwise without effect.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Discard {
    /// Shorter than any that is sealed.
    Short,
    /// No such path.
    Path,
    /// Its number is taken already, or too old to tell.
    Replayed,
    /// Its key generation is over, or further ahead than is tried.
    Generation,
    /// Not authentic.
    Forged,
    /// So many were not authentic that this key must not be trusted any more.
    Exhausted,
}

/// What is sent on a path.
pub(crate) struct Sender {
    id: ConnectionId,
    chain: Chain,
    key: Key,
    generation: u64,
    /// When the generation's first datagram was sealed.
    since: Option<Instant>,
    /// `None` behind the last number.
    next: Option<PacketNumber>,
}

impl Sender {
    /// A path's sender, whose datagrams carry `id`.
    pub(crate) fn new(id: ConnectionId, cipher: Cipher, secret: Secret) -> Self {
        Sender::starting(id, Chain::new(cipher, secret), PacketNumber::FIRST)
    }

    fn starting(id: ConnectionId, mut chain: Chain, next: PacketNumber) -> Self {
        let key = chain.take_at(next.generation());
        Sender { id, chain, key, generation: next.generation(), since: None, next: Some(next) }
    }

    /// Seals a datagram with [`DATA_HEADER`] bytes of room in front and [`TAG`] bytes behind. `received` is the highest
    /// generation that the peer has sent under.
    ///
    /// Returns its number; `None`, and nothing is sealed, if no number is left or the datagram is shorter than any that is
    /// opened.
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

    /// The number of the next datagram, after the generation was changed if it is due.
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

    /// The generation to be in. A sender follows its peer. It goes ahead after a while, if the peer has followed: so a path
    /// that loses everything for hours does not leave its receiver more than one generation behind (as in RFC 9001 §6.1).
    fn due(&self, now: Instant, received: Option<u64>) -> u64 {
        let Some(received) = received else { return self.generation };
        let old = self.since.is_some_and(|since| now.saturating_since(since) >= GENERATION_TIME);
        received.max(self.generation + u64::from(old && received >= self.generation))
    }

    /// How many numbers are left.
    pub(crate) fn left(&self) -> u64 {
        self.next.map_or(0, |next| PacketNumber::LAST.full() - next.full() + 1)
    }

    /// Goes on at a number that is too far away to seal that many datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn jump(&mut self, full: u64) {
        self.next = PacketNumber::first_of(full >> GENERATION_BITS)
            .and_then(|first| PacketNumber::reconstruct(full as u32, Some(first)));
    }
}

/// What a receiver has of one generation.
struct Generation {
    number: u64,
    key: Key,
    /// The numbers taken, counted from the generation's first; `None`: none. One window for each generation, so that a datagram
    /// late by some milliseconds is still taken after its sender skipped millions of numbers. Nothing that is not authentic
    /// makes one.
    taken: Option<Box<Window>>,
}

/// What is received on a path.
pub(crate) struct Receiver {
    chain: Chain,
    /// The chain from the generation of the highest authentic number on: what is left when the receiver rests.
    current: Chain,
    /// The highest authentic number.
    highest: Option<PacketNumber>,
    /// The highest one when the receiver rested: which of those below were taken is not known any more.
    rested: Option<PacketNumber>,
    /// Generation `g` is at `g % KEPT`.
    generations: [Option<Box<Generation>>; KEPT],
}

impl Receiver {
    /// A path's receiver.
    pub(crate) fn new(cipher: Cipher, secret: Secret) -> Self {
        Receiver::starting(Chain::new(cipher, secret), None)
    }

    /// A path's receiver that begins with `datagram`, whatever its generation: for reading what was recorded. `None` if there
    /// can't be such a datagram. `secret` gives the secret of a generation.
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

    /// What is left of a receiver that makes room for another one.
    pub(crate) fn rest(&self) -> Resting {
        Resting { chain: self.current.clone(), highest: self.highest }
    }

    /// The highest authentic number; `None` before the first.
    pub(crate) fn highest(&self) -> Option<PacketNumber> {
        self.highest
    }

    /// Opens a datagram where it lies: its plaintext is what is between its first [`DATA_HEADER`] and its last [`TAG`] bytes.
    /// Only a datagram that opens changes what this path takes.
    ///
    /// # Errors
    ///
    /// Why it was not taken. The datagram's bytes mean nothing then.
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

    /// A generation that datagrams may be of now; its key is derived once.
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

    /// Takes note of the highest authentic number, and forgets the keys of generations that are over.
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

/// What is left of a receiver that made room for another one: some bytes, and no replay windows.
pub(crate) struct Resting {
    chain: Chain,
    highest: Option<PacketNumber>,
}

impl Resting {
    /// The receiver again. It takes no number up to the highest that it had taken before.
    pub(crate) fn wake(&self) -> Receiver {
        Receiver { rested: self.highest, ..Receiver::starting(self.chain.clone(), self.highest) }
    }

    /// The highest authentic number.
    pub(crate) fn highest(&self) -> Option<PacketNumber> {
        self.highest
    }
}

fn slot(generation: u64) -> usize {
    (generation % KEPT as u64) as usize
}

#[cfg(test)]
mod tests;
