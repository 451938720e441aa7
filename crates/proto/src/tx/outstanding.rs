//! Chunks that have a TSN and are not yet cumulatively acknowledged, indexed by TSN.

use std::collections::VecDeque;

use bytes::Bytes;
use strandcast_coding::symbol::Header;

use super::bits::Bits;
use super::needless::Needless;
use crate::policy::{ChunkInfo, LossCause, Transmission};
use crate::rx::{extend, narrow, origin};
use crate::wire::chunk::GapBlock;
use crate::wire::serial::{Ppid, Ssn, Tsn};

/// State of a chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum ChunkState {
    /// At least one transmission is in flight.
    InFlight,
    /// Acknowledged by a gap block.
    GapAcked,
    /// Lost. The chunk waits to be retransmitted.
    Lost(LossCause),
    /// Abandoned (RFC 3758). The chunk counts as acknowledged, but not for the peer's cumulative TSN.
    Abandoned,
}

/// Content of a chunk, which decides whether its payload counts in the send buffer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Carries {
    /// A message of the send buffer, or a part of one.
    Message,
    /// A source symbol of a block, whose messages the coder holds.
    Source,
    /// A repair symbol. If it is lost, it is given up and never sent again.
    Repair,
}

/// A chunk that was sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub info: ChunkInfo,
    pub state: ChunkState,
    /// For a lost chunk: `Some(true)` if the loss policy left the path of the retransmission to the scheduler, and
    /// `None` until the policy has been asked.
    pub requeued: Option<bool>,
    pub carries: Carries,
    /// Header of the chunk's symbol, which precedes the payload.
    pub header: Option<Header>,
    pub payload: Bytes,
    pub needless: Needless,
    /// Number of the message; `u64::MAX` for symbols of the coder, which do not belong to a message.
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

    /// Bytes of user data: the payload, and the symbol's header before it.
    pub fn user_data(&self) -> usize {
        self.header.map_or(0, |h| h.length()) + self.payload.len()
    }

    /// Handles the peer's report of a duplicate. Returns the bytes that turn out to be needless.
    pub fn duplicate(&mut self) -> u64 {
        self.needless.duplicate(self.info.transmissions.len()) * self.user_data() as u64
    }

    /// Returns true if the chunk is sent only once, even if it is lost.
    pub fn never_again(&self) -> bool {
        self.carries == Carries::Repair
    }

    /// Number of bytes that the chunk occupies in the send buffer.
    pub fn buffered(&self) -> usize {
        if self.carries == Carries::Message { self.payload.len() } else { 0 }
    }

    /// Returns the transmission in flight, if there is exactly one.
    pub fn only_in_flight(&self) -> Option<&Transmission> {
        let mut flying = self.info.transmissions.iter().filter(|t| t.in_flight);
        flying.next().filter(|_| flying.next().is_none())
    }
}

/// All outstanding chunks.
#[derive(Debug)]
pub(crate) struct Outstanding {
    /// TSN of the first element.
    base: Tsn,
    /// TSN of the first element, extended to 64 bits.
    number: u64,
    chunks: VecDeque<Outgoing>,
    gap_acked: usize,
    /// Payload bytes of lost chunks that were left to the scheduler.
    requeued: u64,
    /// Chunks that need no check when a gap block covers them: all gap-acknowledged and abandoned ones.
    covered: Bits,
    /// Cumulative TSN and gap blocks of the last SACK, while a chunk is gap-acknowledged.
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

    /// Extends `tsn`, which is near the outstanding TSNs, to 64 bits, so that it is a key in ordinary order.
    pub fn number(&self, tsn: Tsn) -> u64 {
        extend(self.number, tsn)
    }

    /// Returns the TSN that [`Outstanding::number`] extended.
    pub fn tsn(number: u64) -> Tsn {
        narrow(number)
    }

    /// TSN of the next new chunk.
    pub fn next_tsn(&self) -> Tsn {
        self.base + self.chunks.len() as u32
    }

    /// Last TSN that was acknowledged cumulatively.
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

    /// Drops the first chunk, which is acknowledged cumulatively, in place.
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

    /// Sets the state of `tsn`, and counts gap acknowledgements. A decision of the loss policy on the chunk is reset.
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

    /// Returns the first of the outstanding TSNs `from..=to` that no gap block has covered yet. The caller then calls
    /// [`Outstanding::cover`].
    pub fn next_open(&self, from: Tsn, to: Tsn) -> Option<Tsn> {
        self.covered.next_clear(from, to)
    }

    /// Records that a gap block covers `tsn`, which is gap-acknowledged or abandoned.
    pub fn cover(&mut self, tsn: Tsn) {
        self.covered.set(tsn);
    }

    /// Keeps the gap blocks of the last SACK. Chunks that they omit are suspected of reneging. The memory of the
    /// previous gap blocks is returned in `blocks`.
    pub fn remember(&mut self, cum: Tsn, blocks: &mut Vec<GapBlock>) {
        self.last.0 = cum;
        if self.gap_acked > 0 {
            core::mem::swap(&mut self.last.1, blocks);
        } else {
            self.last.1.clear();
        }
    }

    /// Number of gap blocks in the last SACK.
    pub fn gaps_reported(&self) -> usize {
        self.last.1.len()
    }

    /// Gap-acknowledged chunks that the last SACK omitted. With several paths a new SACK may overtake an old one, so
    /// that an omission does not prove that the peer reneged.
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

    /// Payload bytes of lost chunks that wait for the scheduler.
    pub fn requeued(&self) -> u64 {
        self.requeued
    }

    /// Number of chunks acknowledged by gap blocks.
    pub fn gap_acked(&self) -> usize {
        self.gap_acked
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Outgoing> {
        self.chunks.iter()
    }

    /// Releases memory that a burst needed.
    pub fn shrink(&mut self) {
        self.chunks.shrink_to_fit();
        self.covered.shrink();
        self.last.1 = Vec::new();
    }
}

/// Payload bytes of `chunk` that wait for the scheduler.
fn waiting(chunk: &Outgoing) -> u64 {
    if chunk.requeued == Some(true) { chunk.payload.len() as u64 } else { 0 }
}
