//! The state of an association and its paths that policies see, and the ledger of bytes in flight.

use super::{BlockView, Blocked, PathId, PathSet, PathView, Symbol, SymbolsInFlight, View};
use crate::time::Instant;

/// Owner of the data in a [`View`]. Bytes enter and leave flights only by its methods (`tools/check-sources` checks
/// this).
#[derive(Debug)]
pub struct PathViews {
    paths: Vec<PathView>,
    /// Last a_rwnd of the peer, in bytes.
    a_rwnd: u64,
    /// Counted bytes for which the peer's receive window needs room. They are the bytes in flight on all paths, where a
    /// chunk counts once for each transmission that may still arrive first.
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
    /// Returns the view of policies at `now`.
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

    /// All slots, including closed ones.
    pub fn paths(&self) -> &[PathView] {
        &self.paths
    }

    /// All slots, for changes. Flights change only by [`PathViews::enter`] and similar methods.
    pub fn paths_mut(&mut self) -> &mut [PathView] {
        &mut self.paths
    }

    /// Puts `view` into its slot: a new slot, or a closed slot.
    pub fn put(&mut self, view: PathView) {
        let i = view.id.index();
        if i == self.paths.len() {
            self.paths.reserve_exact(1);
            self.paths.push(view);
        } else {
            self.paths[i] = view;
        }
    }

    /// Bytes that the peer's window still admits.
    pub fn rwnd(&self) -> u64 {
        self.a_rwnd.saturating_sub(self.in_flight)
    }

    /// Last a_rwnd of the peer, in bytes.
    pub fn a_rwnd(&self) -> u64 {
        self.a_rwnd
    }

    /// Sets the peer's advertised receive window in bytes.
    pub fn set_a_rwnd(&mut self, bytes: u64) {
        self.a_rwnd = bytes;
    }

    /// Counted bytes in flight on all paths, without copies of acknowledged chunks.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Adds a chunk of `len` counted bytes, with this symbol, to the flight of `path`.
    #[inline]
    pub fn enter(&mut self, path: PathId, len: u64, symbol: Option<Symbol>) {
        let view = &mut self.paths[path.index()];
        view.in_flight += len;
        view.in_flight_chunks += 1;
        self.in_flight += len;
        self.count_symbol(path, symbol, 1);
    }

    /// Removes a chunk from the flight of `path`.
    #[inline]
    pub fn leave(&mut self, path: PathId, len: u64, symbol: Option<Symbol>) {
        self.count_symbol(path, symbol, -1);
        self.leave_path(path, len);
        self.release(len);
    }

    /// Adds a transmission of `symbol` to the flight of its block on `path` (`by` 1), or removes it (-1).
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

    /// Blocks that the receiver does not have yet, oldest first.
    pub fn blocks(&self) -> &[BlockView] {
        &self.blocks
    }

    /// Blocks, for changes by their owner. Their data in flight change as chunks enter and leave flights.
    pub fn blocks_mut(&mut self) -> &mut Vec<BlockView> {
        &mut self.blocks
    }

    /// Returns the block `number`, if the receiver does not have it yet.
    fn block_mut(&mut self, number: u32) -> Option<&mut BlockView> {
        let at = BlockView::find(&self.blocks, number)?;
        self.blocks.get_mut(at)
    }

    /// Removes from the flight of `path` a copy for which the receive window was already released.
    #[inline]
    pub fn leave_path(&mut self, path: PathId, len: u64) {
        let view = &mut self.paths[path.index()];
        view.in_flight -= len;
        view.in_flight_chunks -= 1;
    }

    /// Releases the peer's receive window for a copy whose chunk is acknowledged. The copy may still be in flight on
    /// its path.
    pub fn release(&mut self, len: u64) {
        self.in_flight -= len;
    }

    /// Empties all flights.
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

    /// Records that new data left on `path`.
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

    /// The chunk that blocks new data.
    pub fn blocked(&self) -> Option<Blocked> {
        self.blocked
    }

    /// Sets the cause that blocks new data.
    pub fn set_blocked(&mut self, blocked: Option<Blocked>) {
        self.blocked = blocked;
    }

    /// See [`View::usable`].
    pub fn usable(&self) -> PathSet {
        self.view(Instant::ZERO).usable()
    }

    /// Best path for control chunks: the primary if it is usable and has no errors, otherwise the usable path with the
    /// fewest errors.
    pub fn control_path(&self) -> PathId {
        self.control_path_in_turn(0)
    }

    /// Path of attempt `tries` (from 0) of a chunk that is repeated until it is answered: first the best path, then the
    /// others in turn.
    pub fn control_path_in_turn(&self, tries: u32) -> PathId {
        let usable = self.usable();
        let rank = |p: &PathId| (self.paths[p.index()].error_count, *p != self.primary, *p);
        let best = usable.iter().min_by_key(rank);
        let others = usable.iter().filter(|p| Some(*p) != best);
        let nth = tries as usize % usable.len().max(1);
        best.into_iter().chain(others).nth(nth).unwrap_or(self.primary)
    }
}
