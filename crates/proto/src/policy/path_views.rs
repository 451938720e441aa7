//! The ledger of bytes in flight, and the state of an association and its paths that policies see.

use super::{BlockView, Blocked, PathId, PathSet, PathView, Symbol, SymbolsInFlight, View};
use crate::time::{Duration, Instant};

/// Owner of the data that a [`View`] shows. The bytes in flight change only by its methods, which `tools/check-sources`
/// verifies.
#[derive(Debug)]
pub struct PathViews {
    paths: Vec<PathView>,
    /// Last receive window (a_rwnd) that the peer advertised, in bytes.
    a_rwnd: u64,
    /// Counted bytes for which the peer's receive window must have room. The counted bytes are the bytes in flight on
    /// all paths. A chunk counts once for each transmission that may still arrive first.
    in_flight: u64,
    last_path_used: Option<PathId>,
    primary: PathId,
    peer_reports: bool,
    blocked: Option<Blocked>,
    blocks: Vec<BlockView>,
}

impl Default for PathViews {
    fn default() -> Self {
        PathViews {
            paths: Vec::new(),
            a_rwnd: 0,
            in_flight: 0,
            last_path_used: None,
            primary: PathId(0),
            peer_reports: false,
            blocked: None,
            blocks: Vec::new(),
        }
    }
}

impl PathViews {
    /// Returns the view for policies at `now`.
    pub fn view(&self, now: Instant) -> View<'_> {
        View {
            now,
            paths: &self.paths,
            rwnd: self.rwnd(),
            in_flight: self.in_flight,
            last_path_used: self.last_path_used,
            primary: self.primary,
            peer_reports: self.peer_reports,
            blocked: self.blocked,
            blocks: &self.blocks,
        }
    }

    /// Returns the views of all slots, including the slots of closed paths.
    pub fn paths(&self) -> &[PathView] {
        &self.paths
    }

    /// Returns the views of all slots, to be changed. Bytes in flight must only be changed by [`PathViews::enter`] and
    /// similar methods.
    pub fn paths_mut(&mut self) -> &mut [PathView] {
        &mut self.paths
    }

    /// Puts `view` into its slot, which is new or belongs to a closed path.
    pub fn put(&mut self, view: PathView) {
        let i = view.id.index();
        if i == self.paths.len() {
            self.paths.reserve_exact(1);
            self.paths.push(view);
        } else {
            self.paths[i] = view;
        }
    }

    /// Returns the bytes that the peer's receive window still admits.
    pub fn rwnd(&self) -> u64 {
        self.a_rwnd.saturating_sub(self.in_flight)
    }

    /// Returns the receive window (a_rwnd) in bytes that the peer last advertised.
    pub fn a_rwnd(&self) -> u64 {
        self.a_rwnd
    }

    /// Sets the peer's advertised receive window in bytes.
    pub fn set_a_rwnd(&mut self, bytes: u64) {
        self.a_rwnd = bytes;
    }

    /// Returns the counted bytes in flight on all paths. Copies of acknowledged chunks are not included.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Adds a chunk of `len` counted bytes to the data in flight on `path`. `symbol` is the symbol in the chunk.
    #[inline]
    pub fn enter(&mut self, path: PathId, len: u64, symbol: Option<Symbol>) {
        let view = &mut self.paths[path.index()];
        view.in_flight += len;
        view.in_flight_chunks += 1;
        self.in_flight += len;
        self.count_symbol(path, symbol, 1);
    }

    /// Removes a chunk from the data in flight on `path`.
    #[inline]
    pub fn leave(&mut self, path: PathId, len: u64, symbol: Option<Symbol>) {
        self.count_symbol(path, symbol, -1);
        self.leave_path(path, len);
        self.release(len);
    }

    /// Changes the number of transmissions of `symbol` in flight on `path`, in the symbol's block. `by` is 1 for an
    /// added transmission and -1 for a removed one.
    #[inline]
    pub fn count_symbol(&mut self, path: PathId, symbol: Option<Symbol>, by: i32) {
        if let Some(symbol) = symbol {
            self.count_in_block(path, symbol, by);
        }
    }

    fn count_in_block(&mut self, path: PathId, symbol: Symbol, by: i32) {
        let Some(block) = self.block_mut(symbol.block) else { return };
        let i = path.index();
        if block.in_flight.len() <= i {
            block.in_flight.resize(i + 1, SymbolsInFlight::default());
        }
        block.in_flight[i].count(symbol.kind, by);
    }

    /// Returns the coded blocks that the receiver does not have yet, oldest first.
    pub fn blocks(&self) -> &[BlockView] {
        &self.blocks
    }

    /// Returns the coded blocks, to be changed by their owner. The numbers of symbols in flight of these blocks change
    /// with the chunks in flight.
    pub fn blocks_mut(&mut self) -> &mut Vec<BlockView> {
        &mut self.blocks
    }

    /// Returns the block with this number, if the receiver does not have it yet.
    fn block_mut(&mut self, number: u32) -> Option<&mut BlockView> {
        let at = BlockView::find(&self.blocks, number)?;
        self.blocks.get_mut(at)
    }

    /// Removes a copy from the data in flight on `path`. The copy no longer occupied the receive window.
    #[inline]
    pub fn leave_path(&mut self, path: PathId, len: u64) {
        let view = &mut self.paths[path.index()];
        view.in_flight -= len;
        view.in_flight_chunks -= 1;
    }

    /// Releases the room that a copy occupied in the peer's receive window, because its chunk is acknowledged. The copy
    /// may still be in flight on its own path.
    pub fn release(&mut self, len: u64) {
        self.in_flight -= len;
    }

    /// Sets the data in flight on all paths to zero.
    pub fn clear_flights(&mut self) {
        self.in_flight = 0;
        for v in &mut self.paths {
            (v.in_flight, v.in_flight_chunks) = (0, 0);
        }
        self.blocks.clear();
    }

    /// See [`View::primary`].
    pub fn primary(&self) -> PathId {
        self.primary
    }

    /// Sets the primary path.
    pub fn set_primary(&mut self, path: PathId) {
        self.primary = path;
    }

    /// Records that new data were sent on `path`.
    pub fn set_last_path_used(&mut self, path: PathId) {
        self.last_path_used = Some(path);
    }

    /// Returns whether the peer supports REPORT.
    pub fn peer_reports(&self) -> bool {
        self.peer_reports
    }

    /// Sets whether the peer supports REPORT.
    pub fn set_peer_reports(&mut self, reports: bool) {
        self.peer_reports = reports;
    }

    /// Returns the chunk that prevents new data from being sent, if there is one.
    pub fn blocked(&self) -> Option<Blocked> {
        self.blocked
    }

    /// Sets the chunk that prevents new data from being sent.
    pub fn set_blocked(&mut self, blocked: Option<Blocked>) {
        self.blocked = blocked;
    }

    /// Returns the least round-trip time of all paths. Returns zero if none is measured.
    pub fn least_rtt(&self) -> Duration {
        self.paths.iter().filter_map(|path| path.min_rtt).min().unwrap_or_default()
    }

    /// See [`View::usable`].
    pub fn usable(&self) -> PathSet {
        self.view(Instant::ZERO).usable()
    }

    /// Returns the best path for control chunks. The returned path is the primary path if that is usable and has no
    /// errors, otherwise the usable path with the fewest errors.
    pub fn control_path(&self) -> PathId {
        self.control_path_in_turn(0)
    }

    /// Returns the path for attempt `tries` (from 0) of a chunk that is repeated until the peer answers it. The first
    /// attempt uses the best path, and later attempts use the others in turn.
    pub fn control_path_in_turn(&self, tries: u32) -> PathId {
        let usable = self.usable();
        let rank = |p: &PathId| (self.paths[p.index()].error_count, *p != self.primary, *p);
        let best = usable.iter().min_by_key(rank);
        let others = usable.iter().filter(|p| Some(*p) != best);
        let nth = tries as usize % usable.len().max(1);
        best.into_iter().chain(others).nth(nth).unwrap_or(self.primary)
    }
}
