//! What policies see of an association and its paths, and the ledger of bytes in flight.

use super::{BlockView, Blocked, PathId, PathSet, PathView, Symbol, SymbolsInFlight, View};
use crate::time::Instant;

/// The owner of what a [`View`] shows. Bytes enter and leave flights by its methods alone (`tools/check-sources` looks).
#[derive(Debug)]
pub struct PathViews {
    paths: Vec<PathView>,
    /// The peer's last a_rwnd, bytes.
    a_rwnd: u64,
    /// Book bytes that the peer's receive window has to hold: those in flight on all paths, each chunk once for each transmission
    /// that may still arrive first.
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
    /// As policies see it at `now`.
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

    /// All slots, closed ones included.
    pub fn paths(&self) -> &[PathView] {
        &self.paths
    }

    /// The same, to be changed; flights change by [`PathViews::enter`] and its like.
    pub fn paths_mut(&mut self) -> &mut [PathView] {
        &mut self.paths
    }

    /// Puts `view` into its slot: a new one, or one that was closed.
    pub fn put(&mut self, view: PathView) {
        let i = view.id.index();
        if i == self.paths.len() {
            self.paths.reserve_exact(1);
            self.paths.push(view);
        } else {
            self.paths[i] = view;
        }
    }

    /// What the peer's window still admits, bytes.
    pub fn rwnd(&self) -> u64 {
        self.a_rwnd.saturating_sub(self.in_flight)
    }

    /// The peer's last a_rwnd, bytes.
    pub fn a_rwnd(&self) -> u64 {
        self.a_rwnd
    }

    /// Sets the peer's advertised receive window, bytes.
    pub fn set_a_rwnd(&mut self, bytes: u64) {
        self.a_rwnd = bytes;
    }

    /// Book bytes in flight on all paths, copies of acknowledged chunks left out.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// A chunk of `len` chunk bytes, with this symbol, enters the flight of `path`.
    #[inline]
    pub fn enter(&mut self, path: PathId, len: u64, symbol: Option<Symbol>) {
        let view = &mut self.paths[path.index()];
        view.in_flight += len;
        view.in_flight_chunks += 1;
        self.in_flight += len;
        self.count_symbol(path, symbol, 1);
    }

    /// A chunk leaves the flight of `path`.
    #[inline]
    pub fn leave(&mut self, path: PathId, len: u64, symbol: Option<Symbol>) {
        self.count_symbol(path, symbol, -1);
        self.leave_path(path, len);
        self.release(len);
    }

    /// A transmission of `symbol` enters the flight of its block on `path` (`by` 1), or leaves it (-1).
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

    /// The blocks that the receiver does not have yet, oldest first.
    pub fn blocks(&self) -> &[BlockView] {
        &self.blocks
    }

    /// The same, for who keeps them; what is in flight changes as chunks enter and leave flights.
    pub fn blocks_mut(&mut self) -> &mut Vec<BlockView> {
        &mut self.blocks
    }

    /// The block `number`, if the receiver does not have it yet.
    fn block_mut(&mut self, number: u32) -> Option<&mut BlockView> {
        let at = BlockView::find(&self.blocks, number)?;
        self.blocks.get_mut(at)
    }

    /// A copy that was released before leaves the flight of `path`.
    #[inline]
    pub fn leave_path(&mut self, path: PathId, len: u64) {
        let view = &mut self.paths[path.index()];
        view.in_flight -= len;
        view.in_flight_chunks -= 1;
    }

    /// The peer's receive window need not hold a copy any more, since its chunk is acknowledged. It may still be under way on its
    /// path.
    pub fn release(&mut self, len: u64) {
        self.in_flight -= len;
    }

    /// Nothing is in flight any more.
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

    /// New data left on `path`.
    pub fn set_last_path_used(&mut self, path: PathId) {
        self.last_path_used = Some(path);
    }

    /// The peer speaks REPORT.
    pub fn peer_reports(&self) -> bool {
        self.peer_reports
    }

    /// Sets whether the peer speaks REPORT.
    pub fn set_peer_reports(&mut self, reports: bool) {
        self.peer_reports = reports;
    }

    /// The chunk that keeps new data from being sent.
    pub fn blocked(&self) -> Option<Blocked> {
        self.blocked
    }

    /// Sets what keeps new data from being sent.
    pub fn set_blocked(&mut self, blocked: Option<Blocked>) {
        self.blocked = blocked;
    }

    /// See [`View::usable`].
    pub fn usable(&self) -> PathSet {
        self.view(Instant::ZERO).usable()
    }

    /// The best path for control chunks: the primary if usable and without errors, else the usable one with the
    /// fewest.
    pub fn control_path(&self) -> PathId {
        self.control_path_in_turn(0)
    }

    /// The path of try `tries` (from 0) of something that is repeated until answered: the best first, then the others.
    pub fn control_path_in_turn(&self, tries: u32) -> PathId {
        let usable = self.usable();
        let rank = |p: &PathId| (self.paths[p.index()].error_count, *p != self.primary, *p);
        let best = usable.iter().min_by_key(rank);
        let others = usable.iter().filter(|p| Some(*p) != best);
        let nth = tries as usize % usable.len().max(1);
        best.into_iter().chain(others).nth(nth).unwrap_or(self.primary)
    }
}
