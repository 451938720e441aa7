//! The receiving half: what chunks carry, symbols and messages beside them, to messages.

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

/// Makes messages of symbols. It takes memory when the first symbol comes.
pub(crate) struct Decoding {
    agreed: Agreed,
    /// Inbound streams: messages of others are none.
    streams: u16,
    /// The longest message, bytes.
    longest: usize,
    state: State,
    budget: Budget,
    /// The state's work that was paid for.
    paid: u64,
}

enum State {
    Idle,
    Blocks(Box<BlockStream>),
    Repair(Box<Repaired>),
    /// What was decoded was no stream of records.
    Broken,
}

/// Why nothing more can be decoded.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Undecodable {
    /// Not what a sender writes.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// A message on a stream that was not admitted.
    #[error("a message of coded blocks is for stream {0}, which was not admitted")]
    Stream(u16),
    /// A repair symbol was forged: what it gave is no source symbol.
    #[error("a coded block gave no source symbol")]
    Damaged,
}

/// What a symbol is, and what a receiver of symbols said of it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Taken {
    repair: bool,
    innovative: Result<bool, Refusal>,
}

impl Taken {
    /// Counts it. For a symbol of what is coded, whether it brought nothing; `None`: it is none.
    fn count(self, stats: &mut CodingStats) -> Option<bool> {
        let known = match self.innovative {
            Ok(innovative) => !innovative,
            // All that it is about is known, or given up.
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
    /// For messages of at most `longest` bytes, on so many streams; `wanted`: by the application ([`Self::want`]).
    pub fn new(agreed: Agreed, streams: u16, longest: usize, wanted: bool) -> Self {
        let budget = Budget::new(&agreed, wanted);
        Decoding { agreed, streams, longest, state: State::Idle, budget, paid: 0 }
    }

    /// Whether the application wants what comes from now on. As long as it does not, little work is done.
    pub fn want(&mut self, wanted: bool) {
        self.budget.want(wanted);
    }

    /// It is `now`.
    pub fn advance(&mut self, now: Instant) {
        self.budget.advance(now);
    }

    /// Whether what comes has to wait until its work is paid for. Of blocks nothing can be left out, as they are reliable;
    /// beside messages, what cannot be paid for is dropped.
    pub fn waits(&self) -> bool {
        self.agreed.mode == Mode::Blocks && !self.budget.allows() && !matches!(self.state, State::Broken)
    }

    /// Until when what comes waits at the most; `None`: it does not, or until the application wants it.
    pub fn waits_until(&self) -> Option<Instant> {
        self.budget.allows_at().filter(|_| self.waits())
    }

    /// Takes what one chunk, or several, carried; a message that can be handed on at once.
    pub fn take(&mut self, arrived: Message, stats: &mut CodingStats) -> Option<Message> {
        self.budget.advance(arrived.arrived);
        let message = self.decode(arrived, stats);
        self.pay(stats);
        message
    }

    /// Pays for the work since last time.
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

    /// The next message that was decoded: to be asked until there is none, before something else is taken.
    ///
    /// # Errors
    /// If the peer sent what can't be decoded. There is nothing any more then.
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

    /// Heap taken now, bytes; decoders count with all that they may take.
    pub fn heap(&self) -> usize {
        match &self.state {
            State::Blocks(blocks) => blocks.heap(),
            State::Repair(repaired) => repaired.heap(),
            State::Idle | State::Broken => 0,
        }
    }

    /// Heap that the next symbol makes it take beyond [`heap`](Self::heap), bytes: a guess from above.
    pub fn wants(&self) -> usize {
        if matches!(self.state, State::Idle) { self.agreed.kept() } else { 0 }
    }

    /// The most that it takes, whatever arrives, bytes. `None` before it takes any.
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
