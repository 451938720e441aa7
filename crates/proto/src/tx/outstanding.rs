//! Chunks that have a TSN and are not yet cumulatively acknowledged, indexed by TSN.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::policy::{ChunkInfo, LossCause};
use crate::wire::serial::{Ppid, Ssn, Tsn};

/// Where a chunk stands.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum ChunkState {
    /// At least one transmission is in flight.
    InFlight,
    /// Acknowledged by a gap block. `doubted`: a later SACK did not repeat it (reordered, or the peer reneged).
    GapAcked { doubted: bool },
    /// Lost, waits to be sent again.
    Lost(LossCause),
    /// Given up (RFC 3758): acknowledged for all purposes but the peer's cumulative TSN.
    Abandoned,
}

/// A chunk that was sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub info: ChunkInfo,
    pub state: ChunkState,
    /// While it is lost: whether the loss policy left it to the scheduler; `None`: it was not asked yet.
    pub requeued: Option<bool>,
    pub payload: Bytes,
    pub message: u64,
    pub ssn: Ssn,
    pub ppid: Ppid,
    pub unordered: bool,
    pub begin: bool,
    pub end: bool,
}

impl Outgoing {
    pub fn acked(&self) -> bool {
        matches!(self.state, ChunkState::GapAcked { .. })
    }
}

/// All outstanding chunks.
#[derive(Debug)]
pub(crate) struct Outstanding {
    /// TSN of the first element.
    base: Tsn,
    chunks: VecDeque<Outgoing>,
    gap_acked: usize,
    /// Payload bytes of chunks that were left to the scheduler.
    requeued: u64,
}

impl Outstanding {
    pub fn new(initial_tsn: Tsn) -> Self {
        Outstanding { base: initial_tsn, chunks: VecDeque::new(), gap_acked: 0, requeued: 0 }
    }

    /// The TSN the next new chunk gets.
    pub fn next_tsn(&self) -> Tsn {
        self.base + self.chunks.len() as u32
    }

    /// The last TSN acknowledged cumulatively.
    pub fn cum_acked(&self) -> Tsn {
        self.base - 1
    }

    pub fn push(&mut self, chunk: Outgoing) {
        debug_assert_eq!(chunk.info.tsn, self.next_tsn(), "TSNs are assigned in order");
        self.chunks.push_back(chunk);
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn front(&self) -> Option<&Outgoing> {
        self.chunks.front()
    }

    /// Drops the first chunk, which is cumulatively acknowledged.
    pub fn pop(&mut self) -> Option<Outgoing> {
        let chunk = self.chunks.pop_front()?;
        self.gap_acked -= usize::from(chunk.acked());
        self.requeued -= waiting(&chunk);
        self.base += 1;
        Some(chunk)
    }

    pub fn get(&self, tsn: Tsn) -> Option<&Outgoing> {
        self.chunks.get(tsn.0.wrapping_sub(self.base.0) as usize)
    }

    pub fn get_mut(&mut self, tsn: Tsn) -> Option<&mut Outgoing> {
        self.chunks.get_mut(tsn.0.wrapping_sub(self.base.0) as usize)
    }

    /// Moves `tsn` to `state`, counting gap acknowledgements; the loss policy has said nothing of it then.
    pub fn set_state(&mut self, tsn: Tsn, state: ChunkState) {
        let Some(chunk) = self.chunks.get_mut(tsn.0.wrapping_sub(self.base.0) as usize) else { return };
        let was = chunk.acked();
        self.requeued -= waiting(chunk);
        (chunk.state, chunk.requeued) = (state, None);
        let is = chunk.acked();
        self.gap_acked = self.gap_acked + usize::from(is) - usize::from(was);
    }

    /// Notes whether the loss policy left the lost chunk `tsn` to the scheduler.
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

    /// Chunks acknowledged by gap blocks.
    pub fn gap_acked(&self) -> usize {
        self.gap_acked
    }

    pub fn iter(&self) -> impl Iterator<Item = &Outgoing> {
        self.chunks.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Outgoing> {
        self.chunks.iter_mut()
    }

    /// Gives memory back that a burst needed.
    pub fn shrink(&mut self) {
        self.chunks.shrink_to_fit();
    }
}

/// Payload bytes of `chunk` that wait for the scheduler.
fn waiting(chunk: &Outgoing) -> u64 {
    if chunk.requeued == Some(true) { chunk.payload.len() as u64 } else { 0 }
}
