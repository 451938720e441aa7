//! One direction of one path: key generations, packet numbers and replay window.

use strandcast_proto::time::{Duration, Instant};

use crate::aead::{Cipher, Key};
use crate::generation::{Chain, GENERATION_BITS};
use crate::number::PacketNumber;
use crate::secret::Secret;
use crate::window::Window;
use crate::wire::{ConnectionId, DATA_HEADER, MIN_PLAINTEXT, TAG, data_header};

/// Time after which a sender changes to the next key generation.
pub(crate) const GENERATION_TIME: Duration = Duration::from_secs(120);
/// Number of later key generations that a receiver tries. Later generations are counted from the generation of the
/// highest authentic packet number.
pub(crate) const AHEAD: u64 = 4;
/// Number of generations for which a receiver has keys. The receiver has keys for the generation before that of the
/// highest authentic packet number, for that generation itself, and for [`AHEAD`] later generations.
const KEPT: usize = AHEAD as usize + 2;

/// Reason for dropping a data datagram. Each reason has a counter. A dropped datagram has no other effect.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Discard {
    /// The datagram is shorter than any sealed datagram.
    Short,
    /// The path of the datagram is unknown.
    Path,
    /// The packet number was already accepted, or is so old that this is unknown.
    Replayed,
    /// The key generation is past, or is later than the ones that the receiver tries.
    Generation,
    /// The datagram is not authentic.
    Forged,
    /// The number of forged datagrams has reached the limit for this key.
    Exhausted,
}

/// State of the sending side of a path.
pub(crate) struct Sender {
    id: ConnectionId,
    chain: Chain,
    key: Key,
    generation: u64,
    /// Time at which the first datagram of the current generation was sealed.
    since: Option<Instant>,
    /// Next packet number; `None` after the last one.
    next: Option<PacketNumber>,
}

impl Sender {
    /// Returns the sending side of a path. The datagrams of this path carry the connection id `id`.
    pub(crate) fn new(id: ConnectionId, cipher: Cipher, secret: Secret) -> Self {
        Sender::starting(id, Chain::new(cipher, secret), PacketNumber::FIRST)
    }

    fn starting(id: ConnectionId, mut chain: Chain, next: PacketNumber) -> Self {
        let key = chain.take_at(next.generation());
        Sender { id, chain, key, generation: next.generation(), since: None, next: Some(next) }
    }

    /// Encrypts a datagram in place. The datagram has [`DATA_HEADER`] bytes of room before the packet and [`TAG`] bytes
    /// after it. `received` is the highest key generation that the peer has used.
    ///
    /// Returns the datagram's packet number. Returns `None` and does not encrypt the datagram if no packet number is
    /// left, or if the datagram would be too short to be decrypted.
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

    /// Returns the packet number of the next datagram. If a change of key generation is due, the change is made first.
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

    /// Returns the key generation to use for sending. The generation for sending is at least the generation that the
    /// peer uses. After [`GENERATION_TIME`], it is the next generation, but only if the peer has followed the last
    /// change. If a path loses everything for hours, its receiver is therefore at most one generation behind (as in RFC
    /// 9001 §6.1).
    fn due(&self, now: Instant, received: Option<u64>) -> u64 {
        let Some(received) = received else { return self.generation };
        let old = self.since.is_some_and(|since| now.saturating_since(since) >= GENERATION_TIME);
        received.max(self.generation + u64::from(old && received >= self.generation))
    }

    /// Returns the number of packet numbers that are left.
    pub(crate) fn left(&self) -> u64 {
        self.next.map_or(0, |next| PacketNumber::LAST.full() - next.full() + 1)
    }

    /// Continues at a packet number that a test cannot reach by encrypting datagrams.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn jump(&mut self, full: u64) {
        self.next = PacketNumber::first_of(full >> GENERATION_BITS)
            .and_then(|first| PacketNumber::reconstruct(full as u32, Some(first)));
    }
}

/// State of a receiver for one key generation.
struct Generation {
    number: u64,
    key: Key,
    /// Packet numbers that were accepted, counted from the first number of the generation. The value is `None` until
    /// the first one is accepted. Each generation has a separate window. A datagram that arrives some milliseconds late
    /// is therefore still accepted after its sender skipped millions of numbers. Only an authentic datagram creates a
    /// window.
    taken: Option<Box<Window>>,
}

/// State of the receiving side of a path.
pub(crate) struct Receiver {
    chain: Chain,
    /// The chain of secrets. The chain starts at the generation of the highest authentic packet number. A resting
    /// receiver keeps this chain.
    current: Chain,
    /// Highest authentic packet number.
    highest: Option<PacketNumber>,
    /// Highest authentic packet number at the time when the receiver last rested. At that time, the receiver dropped
    /// its record of accepted lower numbers.
    rested: Option<PacketNumber>,
    /// States of generations. Generation `g` is at the index `g % KEPT`.
    generations: [Option<Box<Generation>>; KEPT],
}

impl Receiver {
    /// Returns the receiving side of a path.
    pub(crate) fn new(cipher: Cipher, secret: Secret) -> Self {
        Receiver::starting(Chain::new(cipher, secret), None)
    }

    /// Returns the receiving side of a path for reading recorded datagrams. The receiving side begins with `datagram`,
    /// which may have any generation. The function `secret` returns the secret of a generation. Returns `None` if no
    /// sender can have made such a datagram.
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

    /// Returns the state to keep when this receiver makes room for another one.
    pub(crate) fn rest(&self) -> Resting {
        Resting { chain: self.current.clone(), highest: self.highest }
    }

    /// Returns the highest authentic packet number; `None` before the first one.
    pub(crate) fn highest(&self) -> Option<PacketNumber> {
        self.highest
    }

    /// Decrypts a datagram in place. The plaintext lies between the first [`DATA_HEADER`] and the last [`TAG`] bytes.
    /// Only an authentic datagram changes the state of the path.
    ///
    /// # Errors
    ///
    /// Returns the reason for dropping the datagram, as an error. After an error, the bytes of the datagram are
    /// undefined.
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

    /// Returns the state of the generation to which a packet number belongs, if the receiver may use this generation
    /// now. The key of a generation is derived only once.
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

    /// Records a new highest authentic packet number, and drops the keys of past generations.
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

/// State of a receiver that made room for another one. A receiver that made room keeps a few bytes, and no replay
/// windows.
pub(crate) struct Resting {
    chain: Chain,
    highest: Option<PacketNumber>,
}

impl Resting {
    /// Restores the receiver from this state. The receiver then accepts only packet numbers above the highest that it
    /// had accepted before.
    pub(crate) fn wake(&self) -> Receiver {
        Receiver { rested: self.highest, ..Receiver::starting(self.chain.clone(), self.highest) }
    }

    /// Returns the highest authentic packet number.
    pub(crate) fn highest(&self) -> Option<PacketNumber> {
        self.highest
    }
}

fn slot(generation: u64) -> usize {
    (generation % KEPT as u64) as usize
}

#[cfg(test)]
mod tests;
