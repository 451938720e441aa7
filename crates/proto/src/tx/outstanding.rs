//! Chunks that have a TSN and are not yet acknowledged cumulatively, by TSN.

use std::collections::VecDeque;

use bytes::Bytes;
use strandcast_coding::symbol::Header;

use super::bits::Bits;
use super::needless::Needless;
use crate::policy::{ChunkInfo, LossCause, Transmission};
use crate::rx::{extend, narrow, origin};
use crate::wire::chunk::GapBlock;
use crate::wire::serial::{Ppid, Ssn, Tsn};

/// State of an outstanding chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum ChunkState {
    /// At least one transmission of the chunk is in flight.
    InFlight,
    /// A gap block acknowledged the chunk.
    GapAcked,
    /// The chunk is lost. A lost chunk waits for retransmission.
    Lost(LossCause),
    /// The sender abandoned the chunk (RFC 3758). An abandoned chunk counts as acknowledged, but not for the peer's
    /// cumulative TSN.
    Abandoned,
}

/// Content of a chunk. A chunk's content decides whether the payload counts in the send buffer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Carries {
    /// A message of the send buffer, or a part of such a message.
    Message,
    /// A source symbol of a coded block. The coder holds the block's messages.
    Source,
    /// A repair symbol. A lost repair symbol is given up and never sent again.
    Repair,
}

/// An outstanding chunk with its content and state.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub info: ChunkInfo,
    pub state: ChunkState,
    /// For a lost chunk, `Some(true)` if the loss policy left the path of the retransmission to the scheduler. `None`
    /// until the policy is asked.
    pub requeued: Option<bool>,
    pub carries: Carries,
    /// Header of the chunk's symbol, which precedes the payload.
    pub header: Option<Header>,
    pub payload: Bytes,
    pub needless: Needless,
    /// Number of the chunk's message. The number is `u64::MAX` for symbols of the coder, which belong to no message.
    pub message: u64,
    pub ssn: Ssn,
    pub ppid: Ppid,
    pub unordered: bool,
    pub begin: bool,
    pub end: bool,
}

impl Outgoing {
    pub fn acked(&self) -> bool {
        self.state == ChunkState::GapAcked
    }

    /// Returns the bytes of user data: the payload, and the symbol's header before it.
    pub fn user_data(&self) -> usize {
        self.header.map_or(0, |h| h.length()) + self.payload.len()
    }

    /// Handles a report by the peer that the chunk is a duplicate. Returns the bytes that are now known to be needless.
    pub fn duplicate(&mut self) -> u64 {
        self.needless.duplicate(self.info.transmissions.len()) * self.user_data() as u64
    }

    /// Returns true if the chunk is never retransmitted, even if it is lost.
    pub fn never_again(&self) -> bool {
        self.carries == Carries::Repair
    }

    /// Returns the number of bytes that the chunk occupies in the send buffer.
    pub fn buffered(&self) -> usize {
        if self.carries == Carries::Message { self.payload.len() } else { 0 }
    }

    /// Returns the chunk's transmission in flight, if there is exactly one.
    pub fn only_in_flight(&self) -> Option<&Transmission> {
        let mut flying = self.info.transmissions.iter().filter(|t| t.in_flight);
        flying.next().filter(|_| flying.next().is_none())
    }
}

/// All outstanding chunks.
#[derive(Debug)]
pub(crate) struct Outstanding {
    /// TSN of the first chunk.
    base: Tsn,
    /// TSN of the first chunk, extended to 64 bits.
    number: u64,
    chunks: VecDeque<Outgoing>,
    gap_acked: usize,
    /// Payload bytes of lost chunks that the loss policy left to the scheduler.
    requeued: u64,
    /// Chunks for which a gap block needs no check: all gap-acknowledged and abandoned chunks.
    covered: Bits,
    /// Cumulative TSN and gap blocks of the last SACK. The last SACK's TSN and blocks are kept while a chunk is
    /// gap-acknowledged.
    last: (Tsn, Vec<GapBlock>),
}

impl Outstanding {
    pub fn new(initial_tsn: Tsn) -> Self {
        Outstanding {
            base: initial_tsn,
            number: origin(initial_tsn),
            chunks: VecDeque::new(),
            gap_acked: 0,
            requeued: 0,
            covered: Bits::new(initial_tsn),
            last: (initial_tsn - 1, Vec::new()),
        }
    }

    /// Returns `tsn` extended to 64 bits, which makes it a key in numerical order. `tsn` must be near the outstanding
    /// TSNs.
    pub fn number(&self, tsn: Tsn) -> u64 {
        extend(self.number, tsn)
    }

    /// Returns the TSN of a number from [`Outstanding::number`].
    pub fn tsn(number: u64) -> Tsn {
        narrow(number)
    }

    /// Returns the TSN of the next new chunk.
    pub fn next_tsn(&self) -> Tsn {
        self.base + self.chunks.len() as u32
    }

    /// Returns the last TSN that was acknowledged cumulatively.
    pub fn cum_acked(&self) -> Tsn {
        self.base - 1
    }

    pub fn push(&mut self, chunk: Outgoing) {
        debug_assert_eq!(chunk.info.tsn, self.next_tsn(), "TSNs are assigned in order");
        self.covered.push(chunk.info.tsn);
        self.chunks.push_back(chunk);
    }

    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn front(&self) -> Option<&Outgoing> {
        self.chunks.front()
    }

    /// Drops the first chunk, because it is acknowledged cumulatively.
    #[inline]
    pub fn drop_front(&mut self) {
        let Some(chunk) = self.chunks.front() else { return };
        self.gap_acked -= usize::from(chunk.acked());
        self.requeued -= waiting(chunk);
        self.chunks.pop_front();
        self.base += 1;
        self.number += 1;
        self.covered.pass(self.base);
    }

    pub fn get(&self, tsn: Tsn) -> Option<&Outgoing> {
        self.chunks.get(tsn.0.wrapping_sub(self.base.0) as usize)
    }

    pub fn get_mut(&mut self, tsn: Tsn) -> Option<&mut Outgoing> {
        self.chunks.get_mut(tsn.0.wrapping_sub(self.base.0) as usize)
    }

    /// Sets the state of chunk `tsn`, and updates the number of gap-acknowledged chunks. A decision of the loss policy
    /// about the chunk is reset.
    pub fn set_state(&mut self, tsn: Tsn, state: ChunkState) {
        let Some(chunk) = self.chunks.get_mut(tsn.0.wrapping_sub(self.base.0) as usize) else { return };
        let was = chunk.acked();
        self.requeued -= waiting(chunk);
        (chunk.state, chunk.requeued) = (state, None);
        let is = chunk.acked();
        self.gap_acked = self.gap_acked + usize::from(is) - usize::from(was);
        if is {
            self.covered.set(tsn);
        } else if was && state != ChunkState::Abandoned {
            self.covered.clear(tsn);
        }
    }

    /// Returns the first of the outstanding TSNs `from..=to` that no gap block has covered so far. The caller then
    /// calls [`Outstanding::cover`] for this TSN.
    pub fn next_open(&self, from: Tsn, to: Tsn) -> Option<Tsn> {
        self.covered.next_clear(from, to)
    }

    /// Records that a gap block covers `tsn`. The chunk is gap-acknowledged or abandoned.
    pub fn cover(&mut self, tsn: Tsn) {
        self.covered.set(tsn);
    }

    /// Stores the gap blocks of the last SACK. If a later SACK omits one of their chunks, the peer is suspected of
    /// reneging. The caller gets the memory of the previous gap blocks back in `blocks`.
    pub fn remember(&mut self, cum: Tsn, blocks: &mut Vec<GapBlock>) {
        self.last.0 = cum;
        if self.gap_acked > 0 {
            core::mem::swap(&mut self.last.1, blocks);
        } else {
            self.last.1.clear();
        }
    }

    /// Returns the number of gap blocks in the last SACK.
    pub fn gaps_reported(&self) -> usize {
        self.last.1.len()
    }

    /// Returns the gap-acknowledged chunks that the last SACK omitted. With several paths, a new SACK may overtake an
    /// old one. An omission therefore does not prove that the peer reneged.
    pub fn reneging_suspects(&self) -> impl Iterator<Item = &Outgoing> {
        let (cum, blocks) = (self.last.0, &self.last.1);
        let mut blocks = blocks.iter().peekable();
        self.chunks.iter().filter(|c| c.acked()).filter(move |c| {
            let offset = c.info.tsn - cum;
            while blocks.next_if(|b| i32::from(b.end) < offset).is_some() {}
            blocks.peek().is_none_or(|b| offset < i32::from(b.start))
        })
    }

    /// Records whether the loss policy left the lost chunk `tsn` to the scheduler.
    pub fn set_requeued(&mut self, tsn: Tsn, requeued: bool) {
        let Some(chunk) = self.chunks.get_mut(tsn.0.wrapping_sub(self.base.0) as usize) else { return };
        self.requeued -= waiting(chunk);
        chunk.requeued = Some(requeued);
        self.requeued += waiting(chunk);
    }

    /// Returns the payload bytes of lost chunks that wait for the scheduler.
    pub fn requeued(&self) -> u64 {
        self.requeued
    }

    /// Returns the number of chunks acknowledged by gap blocks.
    pub fn gap_acked(&self) -> usize {
        self.gap_acked
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Outgoing> {
        self.chunks.iter()
    }

    /// Releases memory that was needed only for a burst.
    pub fn shrink(&mut self) {
        self.chunks.shrink_to_fit();
        self.covered.shrink();
        self.last.1 = Vec::new();
    }
}

/// Returns the payload bytes of `chunk` that wait for the scheduler.
fn waiting(chunk: &Outgoing) -> u64 {
    if chunk.requeued == Some(true) { chunk.payload.len() as u64 } else { 0 }
}
