//! The sending half of repair. Source symbols are the messages that are sent. Repair symbols cover messages that may
//! still be missing.
//!
//! A *group* is the set of source symbols that a repair symbol covers. With a sliding window (RFC 8681), there is one
//! group. The group begins with the first source that is not known to have arrived and can still arrive in time. The
//! group ends with the last source that was sent. With blocks, each block is a group. A repair symbol is due at one of
//! these times:
//!
//! | [`RepairWhen`] | window | block |
//! |---|---|---|
//! | `Always` | a source of the group is open, and the ledger allows a symbol | the same, once the block is closed |
//! | `Late` | a source of the group is exposed, the claims of its sources add up to a repair symbol, and the ledger allows a symbol | the same |
//!
//! A source is *open* until it arrives or is given up. A source is *exposed* if it is open and could not be
//! retransmitted in time after a loss ([`risk`](super::risk)). The exposure is assessed when the source is sent, and
//! each time it is declared lost. An exposed source claims a part of a repair symbol in proportion to its bytes
//! ([`Ledger::generosity`]). A lost source claims a whole repair symbol.
//!
//! A block is closed in three cases: it is full, one of its sources was lost and is exposed, or three quarters of the
//! time in which its first source can be repaired have passed.

mod encoder;
mod group;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use bytes::Bytes;
use smallvec::SmallVec;
use strandcast_coding::symbol::{Header, REPAIR_HEADER, SOURCE_HEADER};

use super::config::{RepairCoding, RepairWhen};
use super::covered;
use super::risk;
use super::written::{ARENA, Arena, Written};
use crate::ledger::Ledger;
use crate::policy::{PathId, RepairOffer, Symbol, SymbolKind, View};
use crate::time::{Duration, Instant};
use crate::wire::{Ppid, StreamId};
use encoder::Encoder;
use group::Group;

/// Shape on which both sides agreed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct RepairShape {
    /// Maximum number of source symbols that a repair symbol covers.
    pub sources: u16,
    /// Maximum number of bytes in the payload of a repair symbol. The number is even.
    pub symbol_length: u16,
    /// Number of blocks that are held at once.
    pub blocks: u16,
}

/// A message, or a part of a message, that is sent for the first time.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Leaving<'a> {
    pub stream: StreamId,
    pub ppid: Ppid,
    pub unordered: bool,
    /// True if the chunk is the first of its message; `end` is true if it is the last.
    pub begin: bool,
    pub end: bool,
    pub expires: Option<Instant>,
    pub payload: &'a Bytes,
    pub path: PathId,
}

/// A message that was sent as a source symbol.
#[derive(Copy, Clone, Debug)]
struct Source {
    /// Group of the source: the number of its block, or 0 for a window.
    group: u32,
    path: PathId,
    /// Number of covered bytes: the prefix and the payload.
    len: u16,
    sent: Instant,
    expires: Instant,
    /// True if the source has neither arrived nor been given up.
    open: bool,
    exposed: bool,
}

/// The sending half of repair; see the [module](self).
#[derive(Debug)]
pub(crate) struct RepairSource {
    when: RepairWhen,
    encoder: Encoder,
    shape: RepairShape,
    /// Consecutive sources, each of which belongs to a group.
    sources: VecDeque<Source>,
    /// Number of the first source in `sources`.
    first: u32,
    /// Groups in the order of their sources. A window is a single group.
    groups: VecDeque<Group>,
    /// Number of entries of `sources` whose exposure was assessed.
    assessed: usize,
    /// Sources that were declared lost since the last assessment.
    lost: SmallVec<[u32; 16]>,
    ledger: Ledger,
    /// Time at which the block being filled is closed.
    close_at: Option<Instant>,
    /// Group of the repair symbol that was offered last.
    offered: Option<u32>,
    scratch: Vec<u8>,
    arena: Arena,
}

impl RepairSource {
    pub fn new(config: &RepairCoding, shape: RepairShape) -> Self {
        let most =
            u64::from(saved_at_most(shape.sources)) * (repair_bytes(shape.symbol_length.into()) as u64);
        let encoder = Encoder::new(config.code, shape);
        RepairSource {
            when: config.when,
            encoder,
            shape,
            sources: VecDeque::new(),
            first: 0,
            groups: VecDeque::new(),
            assessed: 0,
            lost: SmallVec::new(),
            ledger: Ledger::new(config.redundancy, most),
            close_at: None,
            offered: None,
            scratch: Vec::new(),
            arena: Arena::default(),
        }
    }

    /// Returns the length in bytes of the longest message that can be covered.
    pub fn longest(&self) -> usize {
        usize::from(self.shape.symbol_length).saturating_sub(covered::LENGTH + covered::PREFIX)
    }

    /// Returns the maximum bytes of the coding header of the next chunk.
    pub fn header_room(&self) -> usize {
        SOURCE_HEADER
    }

    /// Returns the number of bytes by which coding reduces the largest message that fits a packet. The message's repair
    /// symbol also has to fit a packet.
    pub fn overhead(&self) -> usize {
        RepairCoding::OVERHEAD
    }

    /// Returns the time at which [`due`](Self::due) must be called again even if no event occurs.
    pub fn timeout(&self) -> Option<Instant> {
        self.close_at
    }

    /// Handles the end of the wait that [`timeout`](Self::timeout) returned.
    pub fn on_timeout(&mut self) {
        self.close_at = None;
    }

    /// Returns the used heap in bytes.
    pub fn heap(&self) -> usize {
        self.encoder.heap(self.shape)
            + self.sources.capacity() * size_of::<Source>()
            + self.groups.capacity() * size_of::<Group>()
            + self.scratch.capacity()
            + ARENA
    }

    /// Records a chunk that is sent for the first time. Returns the header of the chunk's user data, and the symbol
    /// that the chunk carries, if any. Repair covers unordered messages that have a lifetime and fit one chunk.
    pub fn on_source_sent(
        &mut self,
        now: Instant,
        leaving: &Leaving<'_>,
    ) -> Option<(Header, Option<Symbol>)> {
        let whole = leaving.begin && leaving.end && leaving.payload.len() <= self.longest();
        let Some(expires) = leaving.expires.filter(|_| leaving.unordered && whole) else {
            return leaving.begin.then_some((Header::Plain, None));
        };
        self.make_room();
        covered::write(leaving.stream, leaving.ppid, leaving.payload, &mut self.scratch);
        let header = self.encoder.push(&self.scratch);
        let number = self.first.wrapping_add(self.sources.len() as u32);
        let (group, symbol) = match header {
            Header::Source { block, index, .. } => {
                (block, Symbol { block, sources: index + 1, kind: SymbolKind::Source(index) })
            }
            _ => (0, Symbol { block: number, sources: 1, kind: SymbolKind::Source(0) }),
        };
        let source = Source {
            group,
            path: leaving.path,
            len: self.scratch.len() as u16,
            sent: now,
            expires,
            open: true,
            exposed: false,
        };
        if self.groups.back().is_none_or(|g| g.closed) {
            self.groups.push_back(Group::new(group, number));
        }
        let group = self.groups.back_mut().expect("one is open");
        group.push(&source);
        group.closed = matches!(header, Header::Source { last: true, .. });
        self.sources.push_back(source);
        self.ledger.earn(header.length() + leaving.payload.len());
        Some((header, Some(symbol)))
    }

    /// Makes room for another source.
    fn make_room(&mut self) {
        if self.encoder.slides() {
            if self.sources.len() == usize::from(self.shape.sources) {
                self.drop_first();
            }
        } else if self.groups.len() == usize::from(self.shape.blocks) && self.groups.iter().all(|g| g.closed)
        {
            self.drop_block();
        }
    }

    /// Removes the oldest source from the window.
    fn drop_first(&mut self) {
        let Some(source) = self.sources.pop_front() else { return };
        self.first = self.first.wrapping_add(1);
        self.assessed = self.assessed.saturating_sub(1);
        self.encoder.forget(self.first);
        let group = self.groups.front_mut().expect("sources are in a group");
        group.drop_first(&source, &self.sources);
        if self.sources.is_empty() {
            self.groups.clear();
        }
    }

    /// Removes the oldest block.
    fn drop_block(&mut self) {
        let Some(group) = self.groups.pop_front() else { return };
        let count = usize::from(group.count);
        self.sources.drain(..count);
        self.first = self.first.wrapping_add(count as u32);
        self.assessed = self.assessed.saturating_sub(count);
        if !group.closed {
            self.encoder.close();
        }
        self.encoder.forget(group.block.wrapping_add(1));
    }

    /// Records that the symbol with this `header` arrived. `_path` is the path to which the arrival is credited, if
    /// that path is known.
    pub fn delivered(&mut self, header: &Header, _path: Option<PathId>) {
        self.settle(header);
    }

    /// Records that the symbol with this `header` was given up.
    pub fn abandoned(&mut self, header: &Header) {
        self.settle(header);
    }

    /// Records that the symbol with this `header` is no longer missing: it arrived or was given up.
    fn settle(&mut self, header: &Header) {
        let Some(at) = self.place(header) else { return };
        let source = &mut self.sources[at];
        if !source.open {
            return;
        }
        let (group, settled) = (source.group, *source);
        (source.open, source.exposed) = (false, false);
        if let Some(group) = self.group_mut(group) {
            group.settle(&settled);
        }
    }

    /// Records that a transmission of the symbol with this `header` was lost on `_path`.
    pub fn lost(&mut self, header: &Header, _path: PathId) {
        let Some(at) = self.place(header) else { return };
        if self.sources[at].open && self.when == RepairWhen::Late {
            self.lost.push(self.first.wrapping_add(at as u32));
        }
    }

    /// Returns the index of a source in `sources`.
    fn place(&self, header: &Header) -> Option<usize> {
        let number = match *header {
            Header::WindowSource { number } if self.encoder.slides() => number,
            Header::Source { block, index, .. } if !self.encoder.slides() => {
                self.groups.get(self.group_place(block)?)?.first.wrapping_add(index.into())
            }
            _ => return None,
        };
        let at = number.wrapping_sub(self.first) as usize;
        (at < self.sources.len()).then_some(at)
    }

    fn group_place(&self, block: u32) -> Option<usize> {
        let at = block.wrapping_sub(self.groups.front()?.block) as usize;
        (at < self.groups.len()).then_some(at)
    }

    fn group_mut(&mut self, block: u32) -> Option<&mut Group> {
        let at = self.group_place(block)?;
        self.groups.get_mut(at)
    }

    /// Returns the repair symbol that is due at `view.now`, if there is one. [`write`](Self::write) then creates the
    /// symbol.
    pub fn due(&mut self, view: &View<'_>) -> Option<RepairOffer> {
        self.offered = None;
        let way = risk::way(view)?;
        self.retire(view.now + way);
        self.assess(view, way);
        self.close_at = None;
        let at = (0..self.groups.len()).find(|at| self.is_due(*at, view.now, way))?;
        let group = &self.groups[at];
        self.offered = Some(group.block);
        Some(RepairOffer {
            len: self.size(group) as u64 + 16,
            first: group.first,
            sources: group.count,
            sent_on: group.on.clone(),
            expires: Some((group.first_expires, group.last_expires)),
        })
    }

    /// Drops sources that have arrived, and sources for which a repair at time `arrival` would be late.
    fn retire(&mut self, arrival: Instant) {
        if self.encoder.slides() {
            while self.sources.front().is_some_and(|s| !s.open || s.expires <= arrival) {
                self.drop_first();
            }
        } else {
            let done = |g: &Group| (g.open == 0 && g.closed) || g.last_expires <= arrival;
            while self.groups.front().is_some_and(done) {
                self.drop_block();
            }
        }
    }

    /// Determines which sources are exposed.
    fn assess(&mut self, view: &View<'_>, way: Duration) {
        let assessed = core::mem::replace(&mut self.assessed, self.sources.len());
        let lost = core::mem::take(&mut self.lost);
        if self.when != RepairWhen::Late {
            return;
        }
        let generosity = self.ledger.generosity();
        for at in assessed..self.sources.len() {
            let source = self.sources[at];
            if source.open && risk::late_if_lost(view, source.path, source.sent, source.expires) {
                self.expose(at, generosity, false);
            }
        }
        for number in lost {
            let at = number.wrapping_sub(self.first) as usize;
            let Some(source) = self.sources.get(at).filter(|s| s.open) else { continue };
            let hopeless = source.expires <= view.now + way;
            if !hopeless && risk::late_if_lost_again(view, source.expires) {
                self.expose(at, 1.0, true);
            }
        }
    }

    /// Adds to its group the claim of the source at index `at`: the part `share` of a repair symbol.
    fn expose(&mut self, at: usize, share: f64, lost: bool) {
        let source = &mut self.sources[at];
        let first = !core::mem::replace(&mut source.exposed, true);
        let block = source.group;
        if let Some(group) = self.group_mut(block) {
            group.exposed += u16::from(first);
            group.lost |= lost;
            group.want(share);
        }
    }

    /// Returns whether a repair symbol of the group at index `at` is due. Closes the group's block if its time has
    /// come.
    fn is_due(&mut self, at: usize, now: Instant, way: Duration) -> bool {
        let group = &self.groups[at];
        let size = self.size(group);
        let wanted = match self.when {
            RepairWhen::Always => group.open > 0,
            RepairWhen::Late => group.wants_one(),
        };
        if !wanted || group.spent || !self.ledger.allows(size) {
            return false;
        }
        if self.encoder.slides() {
            return true;
        }
        if !group.closed && !group.lost {
            let close_at = group.close_at(way);
            if now < close_at {
                self.close_at = Some(close_at);
                return false;
            }
        }
        self.close(at);
        self.groups[at].budget > 0 || self.groups[at].lost
    }

    /// Closes the block at index `at`, if it is open. The block may then use all savings so far.
    fn close(&mut self, at: usize) {
        let size = self.size(&self.groups[at]) as u64;
        let group = &mut self.groups[at];
        if !group.closed {
            self.encoder.close();
            group.closed = true;
        }
        if !group.budgeted {
            (group.budgeted, group.budget) = (true, self.ledger.saved() / size);
        }
    }

    /// Returns the maximum bytes of a repair symbol of `group`.
    fn size(&self, group: &Group) -> usize {
        let payload = self.encoder.payload(group.longest()).min(self.shape.symbol_length.into());
        repair_bytes(payload)
    }

    /// Panics if the counters do not agree with the stored sources.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_consistent(&self) {
        let mut at = 0;
        assert_eq!(self.groups.iter().map(|g| usize::from(g.count)).sum::<usize>(), self.sources.len());
        for group in &self.groups {
            assert_eq!(group.first, self.first.wrapping_add(at as u32), "{group:?}");
            let end = at + usize::from(group.count);
            let sources = self.sources.range(at..end);
            let count = |of: fn(&Source) -> bool| sources.clone().filter(|s| of(s)).count();
            assert_eq!(usize::from(group.open), count(|s| s.open), "{group:?}");
            assert_eq!(usize::from(group.exposed), count(|s| s.exposed), "{group:?}");
            assert_eq!(group.on.iter().sum::<u32>(), u32::from(group.open), "{group:?}");
            assert_eq!(group.longest(), sources.clone().map(|s| s.len.into()).max().unwrap_or(0));
            at = end;
        }
        assert!(self.groups.len() <= if self.encoder.slides() { 1 } else { self.shape.blocks.into() });
        assert!(self.groups.iter().all(|g| g.count <= self.shape.sources));
        self.ledger.assert_kept();
    }

    /// Writes the repair symbol that [`due`](Self::due) offered, to be sent on `_path`. Returns `None` if the symbol
    /// can no longer be created.
    pub fn write(&mut self) -> Option<Written> {
        let block = self.offered.take()?;
        let at = self.group_place(block)?;
        self.scratch.clear();
        let longest = self.groups[at].longest();
        let made = self.encoder.write(block, longest, &mut self.scratch);
        let slides = self.encoder.slides();
        let group = &mut self.groups[at];
        group.spent |= !made;
        if !made || !self.ledger.allows(self.scratch.len()) {
            return None;
        }
        group.repaired();
        let block = if slides { group.first } else { group.block };
        let symbol = Symbol { block, sources: group.count, kind: SymbolKind::Repair };
        let expires = Some(group.last_expires);
        self.ledger.spend(self.scratch.len());
        let (header, payload) = self.arena.keep(&self.scratch);
        Some(Written { header, payload, symbol, expires })
    }
}

/// Returns the maximum number of repair symbols that may be saved. The maximum is a quarter of the number of sources
/// that one symbol covers. A burst of losses of this length can then be repaired.
fn saved_at_most(window: u16) -> u16 {
    (window / 4).max(4)
}

/// Returns the bytes on the wire of a repair symbol with `payload` bytes.
fn repair_bytes(payload: usize) -> usize {
    payload + REPAIR_HEADER
}
