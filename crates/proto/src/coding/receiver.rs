//! The receiving half: chunks with symbols, and messages with repair symbols, become messages.

mod blocks;
mod given;
mod repair;
#[cfg(test)]
mod tests;

use core::fmt;

use blocks::BlockStream;
use repair::Repaired;
use strandcast_coding::Refusal;

use super::agreement::{Agreed, Mode};
use super::budget::Budget;
use super::record::BadRecord;
use super::stats::CodingStats;
use crate::rx::Message;
use crate::time::Instant;

/// Decoder that turns symbols into messages. The decoder allocates memory when the first symbol arrives.
pub(crate) struct Decoding {
    agreed: Agreed,
    /// Number of inbound streams. Messages of other streams are invalid.
    streams: u16,
    /// Maximum length of a message in bytes.
    longest: usize,
    state: State,
    budget: Budget,
    /// Decoding work that was already charged to the budget.
    paid: u64,
}

enum State {
    Idle,
    Blocks(Box<BlockStream>),
    Repair(Box<Repaired>),
    /// The decoded bytes did not form a stream of records.
    Broken,
}

/// Reason for which no more data can be decoded.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Undecodable {
    /// The record has a form that no sender writes.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// The number of the message's stream is beyond the number of streams that the handshake agreed on.
    #[error("the peer sent a message on stream {0}, but agreed to fewer streams; update the peer's program")]
    Stream(u16),
    /// A repair symbol was forged: the restored data are not a source symbol.
    #[error("the data that a repair symbol restored are invalid: the repair symbol was forged")]
    Damaged,
}

/// Kind of a received symbol, and the result of the receiver of symbols.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Taken {
    repair: bool,
    innovative: Result<bool, Refusal>,
}

impl Taken {
    /// Counts the received symbol. Returns whether the symbol was redundant. Returns `None` if it does not belong to
    /// the coded data.
    fn count(self, stats: &mut CodingStats) -> Option<bool> {
        let known = match self.innovative {
            Ok(innovative) => !innovative,
            // All data of the symbol are known, or given up.
            Err(Refusal::Stale) => true,
            Err(_) => {
                stats.symbols_refused += 1;
                return None;
            }
        };
        if self.repair {
            stats.repairs_received += 1;
            stats.repairs_unused += u64::from(known);
        } else {
            stats.sources_received += 1;
        }
        Some(known)
    }
}

impl Decoding {
    /// Creates a decoder for messages of at most `longest` bytes on `streams` streams. `wanted` is true if the
    /// application reads received data ([`Self::want`]).
    pub fn new(agreed: Agreed, streams: u16, longest: usize, wanted: bool) -> Self {
        let budget = Budget::new(&agreed, wanted);
        Decoding { agreed, streams, longest, state: State::Idle, budget, paid: 0 }
    }

    /// Sets whether the application reads received data from now on. While the application does not read, little work
    /// is done.
    pub fn want(&mut self, wanted: bool) {
        self.budget.want(wanted);
    }

    /// Advances the budget's clock to `now`.
    pub fn advance(&mut self, now: Instant) {
        self.budget.advance(now);
    }

    /// Returns whether received data must wait until the budget has room for their work. Blocks are reliable, so none
    /// of their symbols may be dropped. With repair, symbols that exceed the budget are dropped.
    pub fn waits(&self) -> bool {
        self.agreed.mode == Mode::Blocks && !self.budget.allows() && !matches!(self.state, State::Broken)
    }

    /// Returns the latest time until which received data wait. Returns `None` if they do not wait, or if they wait
    /// until the application reads.
    pub fn waits_until(&self) -> Option<Instant> {
        self.budget.allows_at().filter(|_| self.waits())
    }

    /// Processes the content of one or more chunks. Returns a message if one can be delivered at once.
    pub fn take(&mut self, arrived: Message, stats: &mut CodingStats) -> Option<Message> {
        self.budget.advance(arrived.arrived);
        let message = self.decode(arrived, stats);
        self.pay(stats);
        message
    }

    /// Charges the budget for the decoding work since the last call.
    fn pay(&mut self, stats: &mut CodingStats) {
        let done = match &self.state {
            State::Blocks(blocks) => blocks.work(),
            State::Repair(repaired) => repaired.work(),
            State::Idle | State::Broken => self.paid,
        };
        let work = done - core::mem::replace(&mut self.paid, done);
        self.budget.spend(work);
        stats.work += work;
    }

    fn decode(&mut self, arrived: Message, stats: &mut CodingStats) -> Option<Message> {
        if matches!(self.state, State::Idle) {
            self.state = match self.agreed.mode {
                Mode::Blocks => State::Blocks(Box::new(BlockStream::new(&self.agreed, self.streams))),
                Mode::Repair => State::Repair(Box::new(Repaired::new(&self.agreed, self.streams))),
            };
        }
        match &mut self.state {
            State::Blocks(blocks) => {
                self.budget.earn(arrived.payload.len());
                blocks.take(&arrived, stats);
                None
            }
            State::Repair(repaired) => repaired.take(arrived, &mut self.budget, stats),
            State::Idle | State::Broken => None,
        }
    }

    /// Returns the next decoded message. Call this method until it returns `None` before passing further data to the
    /// decoder.
    ///
    /// # Errors
    /// Returns an error if the peer sent data that cannot be decoded. After an error, no further message follows.
    pub fn pop(&mut self, stats: &mut CodingStats) -> Result<Option<Message>, Undecodable> {
        match &mut self.state {
            State::Blocks(blocks) => {
                let popped = blocks.pop(self.longest, stats);
                if popped.is_err() {
                    self.state = State::Broken;
                }
                popped
            }
            State::Repair(repaired) => Ok(repaired.pop(stats)),
            State::Idle | State::Broken => Ok(None),
        }
    }

    /// Returns the heap in bytes that is in use now. Each decoder counts with its maximum.
    pub fn heap(&self) -> usize {
        match &self.state {
            State::Blocks(blocks) => blocks.heap(),
            State::Repair(repaired) => repaired.heap(),
            State::Idle | State::Broken => 0,
        }
    }

    /// Returns an upper estimate of the heap in bytes that the next symbol needs in addition to [`heap`](Self::heap).
    pub fn wants(&self) -> usize {
        if matches!(self.state, State::Idle) { self.agreed.kept() } else { 0 }
    }

    /// Returns the maximum heap in bytes for any arriving data; `None` before any memory is allocated.
    #[cfg(any(test, feature = "testing"))]
    pub fn bound(&self) -> Option<usize> {
        match &self.state {
            State::Blocks(blocks) => Some(blocks.bound(self.longest, self.agreed.symbol_length.into())),
            State::Repair(repaired) => Some(repaired.heap()),
            State::Idle | State::Broken => None,
        }
    }
}

impl fmt::Debug for Decoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoding")
            .field("agreed", &self.agreed)
            .field("heap", &self.heap())
            .finish_non_exhaustive()
    }
}
