//! Reassembly of messages from DATA chunks. Fragments are joined, and ordered messages wait for their turn (RFC 9260
//! §6.5, §6.6, §6.9). FORWARD TSN moves streams past messages that the peer abandoned (RFC 3758 §3.6).
//!
//! Each TSN is passed to this module only once, because [`super::TsnTracker`] removes duplicates. The memory in use is
//! proportional to the held bytes. The caller limits the held bytes: it refuses chunks once
//! [`Reassembly::buffered_bytes`] reaches its receive window. No acknowledged chunk is dropped: there is no reneging.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::extend::{extend, narrow, origin};
use crate::time::Instant;
use crate::wire::serial::{Ppid, Ssn, StreamId, Tsn};
use crate::work;

/// Number of bytes that each held chunk counts in addition to its payload: the size of a DATA chunk's header.
pub const CHUNK_OVERHEAD: usize = 16;
/// Heap in bytes of a complete message in addition to its payload and its place in the readable queue. The overhead of
/// the allocator is included.
const MESSAGE_HEAP: usize = 64;
/// Heap in bytes of an entry for a message that waits for its turn. Nodes of the tree of entries may be half empty.
const WAITING_HEAP: usize = 192;
/// Heap in bytes of a piece of a message, in addition to the piece's fragments.
const PIECE_HEAP: usize = 160;
/// Heap in bytes of a fragment, in addition to its payload. The list of fragments may have room for twice their number.
const FRAGMENT_HEAP: usize = 96;
/// Number of messages for which memory stays allocated after all messages are read. A steady flow then needs no
/// allocation. The number suffices for a batch of packets with many small messages.
const KEPT_MESSAGES: usize = 1024;

/// A DATA chunk (RFC 9260 §3.3.1) for reassembly.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// TSN of the chunk.
    pub tsn: Tsn,
    /// Stream to which the chunk belongs. The caller checks that the stream is below the number of inbound streams.
    pub stream: StreamId,
    /// Stream sequence number. The stream sequence number has no meaning for an unordered message.
    pub ssn: Ssn,
    /// Payload protocol identifier.
    pub ppid: Ppid,
    /// U bit: the message is unordered.
    pub unordered: bool,
    /// B bit: the first fragment of a message.
    pub begin: bool,
    /// E bit: the last fragment of a message.
    pub end: bool,
    /// User data of the chunk. The caller checks that there are user data.
    pub payload: Bytes,
}

/// A complete message for the application.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Message {
    /// Stream of the message.
    pub stream: StreamId,
    /// Stream sequence number. The stream sequence number has no meaning for an unordered message.
    pub ssn: Ssn,
    /// Payload protocol identifier of the first fragment.
    pub ppid: Ppid,
    /// True if the message is delivered regardless of the order of its stream.
    pub unordered: bool,
    /// Data of the peer's application. If the message arrived in one chunk, they are a slice of the datagram.
    pub payload: Bytes,
    /// TSN of the message's first fragment.
    pub first_tsn: Tsn,
    /// Time at which the last missing chunk of the message arrived. The application may receive the message later,
    /// because earlier messages of the stream come first.
    pub arrived: Instant,
}

/// Contradiction between chunks of the peer. A contradiction between chunks ends the association with an ABORT (RFC
/// 9260 §3.3.10.13).
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A message begins although fragments of the previous message are missing.
    #[error("TSN {0}: first fragment inside a message")]
    UnexpectedBegin(Tsn),
    /// A fragment continues a message that already ended.
    #[error("TSN {0}: fragment outside of a message")]
    UnexpectedContinuation(Tsn),
    /// Neighbouring fragments of one message differ in stream, stream sequence number or U bit.
    #[error("TSN {0}: fragments of one message differ")]
    Mismatch(Tsn),
    /// Two ordered messages of one stream have equal stream sequence numbers.
    #[error("TSN {0}: stream sequence number used twice")]
    SsnReused(Tsn),
}

/// Queues for reassembly and reordering, for all inbound streams of one association.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// Highest TSN that was pushed or skipped. Other TSNs are extended to 64 bits near it.
    near: u64,
    /// Last abandoned TSN; 0 before the first FORWARD TSN. The last abandoned TSN is the TSN of the last FORWARD TSN,
    /// or of a later fragment of an abandoned message.
    given_up: u64,
    /// SSN of the next ordered message of each stream, extended to 64 bits.
    next_ssn: Vec<u64>,
    /// Incomplete messages in contiguous pieces. The key is the extended TSN of the piece's first fragment.
    pieces: BTreeMap<u64, Piece>,
    /// Complete ordered messages that wait for their turn, by stream and extended SSN.
    waiting: BTreeMap<(u16, u64), Message>,
    ready: VecDeque<Message>,
    buffered_bytes: usize,
    /// Heap in bytes of payloads, fragments and complete messages.
    heap: usize,
    /// Payload bytes of all held fragments. When a message is complete, its fragments are copied into one buffer.
    fragments: usize,
}

/// Adjacent fragments of one incomplete message.
#[derive(Clone, Debug)]
struct Piece {
    stream: StreamId,
    ssn: Ssn,
    unordered: bool,
    /// Payload protocol identifier of the first held fragment.
    ppid: Ppid,
    begin: bool,
    end: bool,
    payloads: VecDeque<Bytes>,
}

/// Pieces to which a fragment is adjacent.
#[derive(Copy, Clone, Debug)]
struct Neighbours {
    /// Key of the piece that ends directly before the fragment.
    before: Option<u64>,
    /// True if the piece directly after the fragment continues the fragment's message.
    after: bool,
}

impl Reassembly {
    /// Creates empty queues for a peer whose first TSN is `peer_initial_tsn`. Every stream starts at SSN 0 (RFC 9260
    /// §6.5).
    pub fn new(peer_initial_tsn: Tsn) -> Self {
        Reassembly {
            near: origin(peer_initial_tsn),
            given_up: 0,
            next_ssn: Vec::new(),
            pieces: BTreeMap::new(),
            waiting: BTreeMap::new(),
            ready: VecDeque::new(),
            buffered_bytes: 0,
            heap: 0,
            fragments: 0,
        }
    }

    /// Adds a chunk whose TSN is new. After an error, the caller must abort the association.
    pub fn push(&mut self, fragment: Fragment, now: Instant) -> Result<(), Violation> {
        let tsn = extend(self.near, fragment.tsn);
        self.near = self.near.max(tsn);
        if !fragment.begin && tsn == self.given_up + 1 {
            self.give_up(tsn);
            return Ok(());
        }
        if self.pieces.is_empty() {
            return self.place(tsn, fragment, Neighbours { before: None, after: false }, now);
        }
        match self.neighbours(tsn, &fragment)? {
            Some(neighbours) => self.place(tsn, fragment, neighbours, now),
            None => Ok(()),
        }
    }

    /// Returns the next message for the application.
    pub fn pop(&mut self) -> Option<Message> {
        let message = self.ready.pop_front()?;
        self.buffered_bytes -= message.payload.len() + CHUNK_OVERHEAD;
        self.heap -= message.payload.len() + MESSAGE_HEAP;
        if self.ready.is_empty() && self.ready.capacity() > KEPT_MESSAGES {
            self.ready.shrink_to(KEPT_MESSAGES);
        }
        Some(message)
    }

    /// Releases memory that is empty.
    pub fn shrink(&mut self) {
        self.ready.shrink_to_fit();
        if self.pieces.is_empty() {
            self.pieces = BTreeMap::new();
        }
        if self.waiting.is_empty() {
            self.waiting = BTreeMap::new();
        }
    }

    /// Returns whether [`Reassembly::pop`] would return a message.
    pub fn readable(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Returns the number of payload bytes held, including unread messages. Each chunk adds [`CHUNK_OVERHEAD`], and
    /// each complete message adds it once.
    pub fn buffered_bytes(&self) -> usize {
        self.buffered_bytes
    }

    /// Returns the heap in bytes of all queues. The returned heap includes bookkeeping and the final copy of a
    /// fragmented message. The value is an upper bound if payloads are copies, or if they are slices of memory that is
    /// counted elsewhere.
    pub fn heap(&self) -> usize {
        let room = self.ready.capacity() * size_of::<Message>();
        self.heap_by_content() + room + self.next_ssn.capacity() * size_of::<u64>()
    }

    /// Returns [`Reassembly::heap`] without the memory that is kept for further messages.
    pub fn heap_by_content(&self) -> usize {
        self.heap + self.fragments + self.pieces.len() * PIECE_HEAP + self.waiting.len() * WAITING_HEAP
    }

    /// Returns the maximum heap in bytes that a further chunk adds. The chunk has `len` payload bytes and belongs to
    /// `stream`. `whole` is true if the chunk is a complete message.
    pub fn heap_of(&self, stream: StreamId, len: usize, whole: bool) -> usize {
        let most = MESSAGE_HEAP + WAITING_HEAP + PIECE_HEAP + FRAGMENT_HEAP;
        // A full list moves to one of twice the length.
        let (ready, streams, needed) =
            (self.ready.capacity(), self.next_ssn.capacity(), usize::from(stream.0) + 1);
        let places = if self.ready.len() < ready { 0 } else { 2 * ready * size_of::<Message>() };
        let numbers = if needed <= streams { 0 } else { needed.max(2 * streams) * size_of::<u64>() };
        most + places + numbers + if whole { len } else { 2 * len }
    }

    /// Handles a FORWARD TSN (RFC 3758 §3.6). `new_cum` is the TSN in it, which must be ahead of the tracker's
    /// cumulative TSN. Incomplete messages that start at or before `new_cum` are dropped. Later fragments of them are
    /// dropped when they arrive. Ordered messages up to the SSN of each stream in `skipped` are no longer awaited.
    /// Complete messages that waited for them become readable. The caller checks stream ids as for [`Fragment`].
    pub fn forward(&mut self, new_cum: Tsn, skipped: &[(StreamId, Ssn)]) {
        let new_cum = extend(self.near, new_cum);
        self.near = self.near.max(new_cum);
        self.give_up(new_cum);
        for &(stream, ssn) in skipped {
            self.skip(stream, ssn);
        }
    }

    /// Returns the pieces adjacent to `fragment`; `None` if its TSN is already held.
    fn neighbours(&self, tsn: u64, fragment: &Fragment) -> Result<Option<Neighbours>, Violation> {
        let mut before = None;
        if let Some((&first, piece)) = self.pieces.range(..=tsn).next_back() {
            let next = first + piece.payloads.len() as u64;
            if tsn < next {
                return Ok(None);
            }
            if tsn == next && piece.is_continued_by(fragment)? {
                before = Some(first);
            }
        }
        let after = match self.pieces.get(&(tsn + 1)) {
            Some(piece) => piece.continues(fragment)?,
            None => false,
        };
        Ok(Some(Neighbours { before, after }))
    }

    /// Joins `fragment` to the adjacent pieces. If the message is then complete, it is delivered.
    fn place(
        &mut self,
        tsn: u64,
        fragment: Fragment,
        with: Neighbours,
        now: Instant,
    ) -> Result<(), Violation> {
        let len = fragment.payload.len();
        self.buffered_bytes += len + CHUNK_OVERHEAD;
        if fragment.begin && fragment.end {
            self.heap += len + MESSAGE_HEAP;
            return self.deliver(Message::from_fragment(fragment, now));
        }
        self.heap += len + FRAGMENT_HEAP;
        self.fragments += len;
        let after = if with.after { self.pieces.remove(&(tsn + 1)) } else { None };
        let first = with.before.unwrap_or(tsn);
        let mut piece = match with.before.and_then(|first| self.pieces.remove(&first)) {
            Some(mut before) => {
                before.append(fragment);
                before
            }
            None => Piece::new(fragment),
        };
        if let Some(after) = after {
            piece.join(after);
        }
        if piece.begin && piece.end {
            self.buffered_bytes -= CHUNK_OVERHEAD * (piece.payloads.len() - 1);
            let fragments = piece.payloads.len();
            let message = piece.into_message(narrow(first), now);
            self.heap = self.heap + MESSAGE_HEAP - FRAGMENT_HEAP * fragments;
            self.fragments -= message.payload.len();
            return self.deliver(message);
        }
        self.pieces.insert(first, piece);
        Ok(())
    }

    /// Makes a complete message readable, or stores it until its turn.
    fn deliver(&mut self, message: Message) -> Result<(), Violation> {
        if message.unordered {
            self.ready.push_back(message);
            return Ok(());
        }
        let stream = message.stream;
        let next = self.next_ssn(stream);
        // All 2^16 values count as ahead: nothing new can be in the past, and a deep queue of small messages has all
        // numbers.
        let ssn = *next + u64::from(message.ssn.distance_from(Ssn(*next as u16)));
        if ssn == *next {
            *next += 1;
            self.ready.push_back(message);
            self.release(stream);
            return Ok(());
        }
        let tsn = message.first_tsn;
        match self.waiting.insert((stream.0, ssn), message) {
            Some(_) => Err(Violation::SsnReused(tsn)),
            None => Ok(()),
        }
    }

    /// Makes those waiting messages of `stream` readable whose turn has come.
    fn release(&mut self, stream: StreamId) {
        if self.waiting.is_empty() {
            return;
        }
        let mut next = *self.next_ssn(stream);
        while let Some(message) = self.waiting.remove(&(stream.0, next)) {
            self.ready.push_back(message);
            next += 1;
        }
        *self.next_ssn(stream) = next;
    }

    /// Drops the fragments of messages that cannot be completed because all TSNs up to `last` are abandoned.
    fn give_up(&mut self, last: u64) {
        self.given_up = self.given_up.max(last);
        while let Some(entry) = self.pieces.first_entry() {
            let (first, piece) = (*entry.key(), entry.get());
            if first > self.given_up + 1 || (first == self.given_up + 1 && piece.begin) {
                break;
            }
            let piece = entry.remove();
            self.given_up = self.given_up.max(first + piece.payloads.len() as u64 - 1);
            let payload: usize = piece.payloads.iter().map(Bytes::len).sum();
            self.buffered_bytes -= payload + CHUNK_OVERHEAD * piece.payloads.len();
            self.heap -= payload + FRAGMENT_HEAP * piece.payloads.len();
            self.fragments -= payload;
        }
    }

    /// Moves `stream` past `ssn`. Waiting messages up to `ssn` become readable, and missing ones are given up.
    fn skip(&mut self, stream: StreamId, ssn: Ssn) {
        let next = *self.next_ssn(stream);
        let ahead = ssn - Ssn(next as u16);
        let Ok(ahead) = u64::try_from(ahead) else {
            return; // The stream is beyond it already.
        };
        let last = next + ahead;
        while let Some((&key, _)) = self.waiting.range((stream.0, next)..=(stream.0, last)).next() {
            self.ready.extend(self.waiting.remove(&key));
        }
        *self.next_ssn(stream) = last + 1;
        self.release(stream);
    }

    fn next_ssn(&mut self, stream: StreamId) -> &mut u64 {
        let i = usize::from(stream.0);
        if i >= self.next_ssn.len() {
            self.next_ssn.resize(i + 1, 0);
        }
        &mut self.next_ssn[i]
    }
}

impl Piece {
    fn new(fragment: Fragment) -> Self {
        let mut payloads = VecDeque::with_capacity(1);
        payloads.push_back(fragment.payload);
        Piece {
            stream: fragment.stream,
            ssn: fragment.ssn,
            unordered: fragment.unordered,
            ppid: fragment.ppid,
            begin: fragment.begin,
            end: fragment.end,
            payloads,
        }
    }

    /// Returns whether `fragment`, which directly follows this piece, belongs to the same message.
    fn is_continued_by(&self, fragment: &Fragment) -> Result<bool, Violation> {
        self.shares_message(fragment, self.end, fragment.begin, fragment.tsn)
    }

    /// Returns whether `fragment`, which directly precedes this piece, belongs to the same message.
    fn continues(&self, fragment: &Fragment) -> Result<bool, Violation> {
        self.shares_message(fragment, fragment.end, self.begin, fragment.tsn.next())
    }

    /// Returns whether two adjacent fragments belong to one message. The earlier fragment has the E bit `end`. The
    /// later fragment has TSN `later` and the B bit `begin`. Fragments of one message have equal stream, U bit and SSN
    /// (RFC 9260 §6.9). The SSN of unordered fragments has no meaning (RFC 9260 §6.6).
    fn shares_message(
        &self,
        fragment: &Fragment,
        end: bool,
        begin: bool,
        later: Tsn,
    ) -> Result<bool, Violation> {
        match (end, begin) {
            (true, true) => return Ok(false),
            (false, true) => return Err(Violation::UnexpectedBegin(later)),
            (true, false) => return Err(Violation::UnexpectedContinuation(later)),
            (false, false) => {}
        }
        let same = self.stream == fragment.stream
            && self.unordered == fragment.unordered
            && (self.unordered || self.ssn == fragment.ssn);
        if same { Ok(true) } else { Err(Violation::Mismatch(later)) }
    }

    fn append(&mut self, fragment: Fragment) {
        self.end = fragment.end;
        self.payloads.push_back(fragment.payload);
    }

    /// Joins the piece `after` to this piece. The shorter of the two pieces is moved. Joining n fragments in any order
    /// therefore costs O(n log n).
    fn join(&mut self, mut after: Piece) {
        self.end = after.end;
        work::count(self.payloads.len().min(after.payloads.len()));
        if self.payloads.len() < after.payloads.len() {
            while let Some(payload) = self.payloads.pop_back() {
                after.payloads.push_front(payload);
            }
            self.payloads = after.payloads;
        } else {
            self.payloads.append(&mut after.payloads);
        }
    }

    fn into_message(self, first_tsn: Tsn, arrived: Instant) -> Message {
        let mut payload = Vec::with_capacity(self.payloads.iter().map(Bytes::len).sum());
        for part in &self.payloads {
            payload.extend_from_slice(part);
        }
        Message {
            stream: self.stream,
            ssn: self.ssn,
            ppid: self.ppid,
            unordered: self.unordered,
            payload: payload.into(),
            first_tsn,
            arrived,
        }
    }
}

impl Message {
    fn from_fragment(fragment: Fragment, arrived: Instant) -> Self {
        Message {
            stream: fragment.stream,
            ssn: fragment.ssn,
            ppid: fragment.ppid,
            unordered: fragment.unordered,
            payload: fragment.payload,
            first_tsn: fragment.tsn,
            arrived,
        }
    }
}

#[cfg(test)]
mod tests;
