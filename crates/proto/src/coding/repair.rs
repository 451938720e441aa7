//! The sending end of repair beside messages.

use bytes::Bytes;
use strandcast_coding::symbol::{Header, REPAIR_HEADER};

use crate::policy::{PathId, RepairOffer, Symbol, View};
use crate::time::Instant;
use crate::wire::{Ppid, StreamId};

/// A message, or a part of one, that leaves for the first time.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Leaving<'a> {
    pub stream: StreamId,
    pub ppid: Ppid,
    pub unordered: bool,
    /// The first and the last chunk of its message.
    pub begin: bool,
    pub end: bool,
    pub expires: Option<Instant>,
    pub payload: &'a Bytes,
    pub path: PathId,
}

/// A repair symbol to be sent.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RepairSymbol {
    pub header: Header,
    pub payload: Bytes,
    pub symbol: Symbol,
    pub expires: Option<Instant>,
}

/// Messages that left, and what repairs them.
#[derive(Debug)]
pub(crate) struct RepairSource {}

impl RepairSource {
    /// A chunk leaves for the first time: the header of its user data, and the symbol that it carries, if any.
    pub fn on_source_sent(
        &mut self,
        _now: Instant,
        _leaving: &Leaving<'_>,
    ) -> Option<(Header, Option<Symbol>)> {
        None
    }

    /// Bytes of the header that the next chunk gets, at the most.
    pub fn header_room(&self) -> usize {
        REPAIR_HEADER
    }

    /// Bytes by which the largest message of a packet is shorter: its repair symbol has to fit one, too.
    pub fn overhead(&self) -> usize {
        REPAIR_HEADER + 2 + 6
    }

    /// The repair symbol that is due at `view.now`, if one is.
    pub fn due(&mut self, _view: &View<'_>) -> Option<RepairOffer> {
        None
    }

    /// The repair symbol that [`Self::due`] offered, which leaves on `path`.
    pub fn write(&mut self, _now: Instant, _path: PathId) -> Option<RepairSymbol> {
        None
    }

    /// A symbol arrived; `path`: by which it is credited, if that is known.
    pub fn delivered(&mut self, _header: &Header, _path: Option<PathId>) {}

    /// A transmission of a symbol was lost on `path`.
    pub fn lost(&mut self, _header: &Header, _path: PathId) {}

    /// A symbol was given up.
    pub fn abandoned(&mut self, _header: &Header) {}

    /// Heap taken, bytes.
    pub fn heap(&self) -> usize {
        0
    }
}
