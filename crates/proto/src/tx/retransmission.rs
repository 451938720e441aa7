//! The retransmission queue: chunks that were sent and are not yet acknowledged cumulatively. The queue also has the
//! paths on which these chunks are in flight.
//!
//! The queue processes SACKs and returns their results ([`RetransmissionQueue::acknowledge`]). Only this module changes
//! the bytes in flight on paths, which the ledger of [`PathViews`] counts. The queue runs no timers. The queue depends
//! neither on a scheme nor on the state of the association.

mod ack;
#[cfg(any(test, feature = "testing"))]
mod consistent;
mod copies;
mod spurious;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::needless::PastChunks;
use super::outstanding::{ChunkState, Outgoing, Outstanding};
use super::path_ack::{AckOutcome, higher, lower};
use super::resent::Resent;
use crate::policy::{ChunkInfo, DeclaredLost, LossCause, PathId, PathViews, Transmission};
use crate::time::Instant;
use crate::wire::chunk::GapBlock;
use crate::wire::serial::Tsn;
use crate::work;
use copies::Settled;
use spurious::LossEvents;

pub(crate) use ack::MANY_GAPS;
pub(crate) use copies::Unsettled;

/// Transmissions on one path whose fate is not yet known.
#[derive(Debug, Default)]
struct Flight {
    /// TSNs that were first sent on the path and are in flight, in ascending order. An acknowledged TSN is dropped
    /// later, when it is at the front.
    originals: VecDeque<Tsn>,
    /// TSNs that were retransmitted on the path and are in flight.
    retransmitted: Resent,
    /// Copies on the path whose TSN was acknowledged by another transmission, in the order of these acknowledgements.
    unsettled: VecDeque<Unsettled>,
    settled: Settled,
    /// TSNs of chunks that are in flight on other paths and get a copy on this path. The copy is sent as soon as this
    /// path has room.
    owed: VecDeque<Tsn>,
    /// TSN up to which the chunks in `originals` were considered for a copy on a faster path.
    copied: Option<Tsn>,
    /// TSN of the chunk with which the round-trip time is being measured.
    timed: Option<Tsn>,
    /// Time of the last expiry of T3-rtx. The time is kept while the timeout may still be spurious.
    timeout: Option<Instant>,
    /// TSN up to which losses belong to a window of data whose losses were already reported.
    recover: Option<Tsn>,
    /// The last loss events, which may still turn out to be spurious.
    events: LossEvents,
    /// True if one retransmission may be sent regardless of the window (RFC 9260 §7.2.4, rule 3).
    free_retransmit: bool,
}

/// The retransmission queue of an association; see the [module](self).
#[derive(Debug)]
pub(crate) struct RetransmissionQueue {
    outstanding: Outstanding,
    /// TSNs of lost chunks that wait for retransmission, in ascending order. Entries of chunks that are no longer lost
    /// are skipped.
    lost: VecDeque<Tsn>,
    /// True if a chunk was lost since the last question to the loss policy about all lost chunks.
    unasked: bool,
    /// Transmissions on each path, by path slot.
    flights: Vec<Flight>,
    /// True if the scheme requests signals about the chunks that arrive.
    names_deliveries: bool,
    /// Recently acknowledged chunks that were sent several times.
    past: PastChunks,
    /// Result of the last SACK. The result is kept so that its memory is reused.
    outcome: AckOutcome,
    /// Gap blocks of the SACK that is being processed.
    blocks: Vec<GapBlock>,
}

impl RetransmissionQueue {
    /// Creates a queue. If `names_deliveries` is true, the results of SACKs also name the arrived chunks.
    pub fn new(initial_tsn: Tsn, names_deliveries: bool) -> Self {
        RetransmissionQueue {
            outstanding: Outstanding::new(initial_tsn),
            lost: VecDeque::new(),
            unasked: false,
            flights: Vec::new(),
            names_deliveries,
            past: PastChunks::default(),
            outcome: AckOutcome::default(),
            blocks: Vec::new(),
        }
    }

    /// Prepares slot `path` for a path that opens. The slot is new or belonged to a closed path.
    pub fn open(&mut self, path: PathId) {
        let i = path.index();
        if self.flights.len() <= i {
            self.flights.resize_with(i + 1, Flight::default);
        }
        self.flights[i] = Flight::default();
        self.outcome.deliveries.settled.retain(|(p, _)| *p != path);
    }

    /// Drops all chunks of the queue. Later TSNs continue after the last one.
    pub fn clear(&mut self, ledger: &mut PathViews) {
        ledger.clear_flights();
        self.outstanding = Outstanding::new(self.next_tsn());
        self.lost.clear();
        self.past.clear();
        self.outcome.deliveries.clear();
        self.flights.iter_mut().for_each(|f| *f = Flight::default());
    }

    /// Releases memory that was needed only for a burst.
    pub fn shrink(&mut self) {
        self.outstanding.shrink();
        self.lost.shrink_to_fit();
        self.past.clear();
        self.outcome = AckOutcome::default();
        self.blocks = Vec::new();
        for f in &mut self.flights {
            f.originals.shrink_to_fit();
            f.owed.shrink_to_fit();
            f.retransmitted.shrink();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.outstanding.is_empty()
    }

    pub fn len(&self) -> usize {
        self.outstanding.len()
    }

    pub fn get(&self, tsn: Tsn) -> Option<&Outgoing> {
        self.outstanding.get(tsn)
    }

    /// Returns the first chunk that is not acknowledged cumulatively.
    pub fn front(&self) -> Option<&Outgoing> {
        self.outstanding.front()
    }

    /// Returns the chunks in the order of TSNs.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Outgoing> {
        self.outstanding.iter()
    }

    pub fn next_tsn(&self) -> Tsn {
        self.outstanding.next_tsn()
    }

    pub fn cum_acked(&self) -> Tsn {
        self.outstanding.cum_acked()
    }

    /// Returns the number of gap blocks in the last SACK.
    pub fn gaps_reported(&self) -> usize {
        self.outstanding.gaps_reported()
    }

    /// Returns the payload bytes of lost chunks that the loss policy leaves to the scheduler.
    pub fn requeued(&self) -> u64 {
        self.outstanding.requeued()
    }

    /// Adds a new chunk, which is sent for the first time. An abandoned chunk has no transmission.
    #[inline]
    pub fn push(&mut self, ledger: &mut PathViews, chunk: Outgoing) -> Tsn {
        let (tsn, len, symbol) = (chunk.info.tsn, chunk.info.len, chunk.info.symbol);
        if let Some(t) = chunk.info.transmissions.first() {
            self.flights[t.path.index()].originals.push_back(tsn);
            ledger.enter(t.path, len, symbol);
        }
        self.outstanding.push(chunk);
        tsn
    }

    /// Records that the lost chunk `tsn` is retransmitted.
    pub fn push_again(&mut self, ledger: &mut PathViews, tsn: Tsn, sent: Transmission) -> Option<()> {
        let chunk = self.outstanding.get_mut(tsn)?;
        chunk.info.transmissions.push(sent);
        ledger.enter(sent.path, chunk.info.len, chunk.info.symbol);
        self.outstanding.set_state(tsn, ChunkState::InFlight);
        let number = self.outstanding.number(tsn);
        let flight = &mut self.flights[sent.path.index()];
        flight.retransmitted.push(number, sent.next_tsn);
        flight.free_retransmit = false;
        Some(())
    }

    /// Records that a copy of `tsn`, which is in flight, is sent. Returns whether the copy counts as a retransmission.
    pub fn push_copy(&mut self, ledger: &mut PathViews, tsn: Tsn, sent: Transmission) -> Option<bool> {
        let chunk = self.outstanding.get_mut(tsn).filter(|c| c.state == ChunkState::InFlight)?;
        let flight = &mut self.flights[sent.path.index()];
        // `originals` are in the order of TSNs: chunks that were new before belong in another list.
        let newest = flight.originals.back().is_none_or(|last| last.is_before(tsn));
        let again = !newest || chunk.info.transmissions.iter().any(|t| !t.in_flight);
        chunk.info.transmissions.push(sent);
        ledger.enter(sent.path, chunk.info.len, chunk.info.symbol);
        let number = self.outstanding.number(tsn);
        if again {
            flight.retransmitted.push(number, sent.next_tsn);
        } else {
            flight.originals.push_back(tsn);
        }
        self.forget_timed(tsn);
        Some(again)
    }

    /// Starts a measurement of the round-trip time with chunk `tsn`, which was sent only on `path`. If a measurement is
    /// in progress, it continues.
    pub fn time(&mut self, path: PathId, tsn: Tsn) {
        self.flights[path.index()].timed.get_or_insert(tsn);
    }

    /// Returns whether a measurement of the round-trip time of `path` is in progress.
    pub fn times(&self, path: PathId) -> bool {
        self.flights[path.index()].timed.is_some()
    }

    fn forget_timed(&mut self, tsn: Tsn) {
        for f in &mut self.flights {
            f.timed = f.timed.filter(|t| *t != tsn);
        }
    }

    /// Removes one transmission of chunk `tsn` on `path` from flight, because it is lost. Returns the chunk in its new
    /// state.
    pub fn lose(
        &mut self,
        ledger: &mut PathViews,
        tsn: Tsn,
        path: PathId,
        declared: DeclaredLost,
    ) -> Option<&ChunkInfo> {
        let chunk = self.outstanding.get_mut(tsn)?;
        let t = chunk.info.transmissions.iter_mut().find(|t| t.path == path && t.in_flight)?;
        (t.in_flight, t.lost) = (false, Some(declared));
        if !chunk.info.sent_once() {
            self.flights[path.index()].retransmitted.leave(tsn);
        }
        chunk.info.losses = chunk.info.losses.saturating_add(1);
        ledger.leave(path, chunk.info.len, chunk.info.symbol);
        Some(&chunk.info)
    }

    /// Sets the cause of a loss that [`Self::lose`] recorded. The chunk becomes lost if no other transmission of it is
    /// in flight.
    pub fn set_cause(&mut self, tsn: Tsn, path: PathId, cause: LossCause) -> Option<&ChunkInfo> {
        let chunk = self.outstanding.get_mut(tsn)?;
        if !chunk.info.transmissions.iter().any(|t| t.in_flight) {
            chunk.state = ChunkState::Lost(cause);
            self.mark_lost(tsn);
        }
        let timed = &mut self.flights[path.index()].timed;
        *timed = timed.filter(|t| *t != tsn);
        self.outstanding.get(tsn).map(|c| &c.info)
    }

    /// Inserts `tsn` into the list of lost chunks, in order.
    fn mark_lost(&mut self, tsn: Tsn) {
        let at = self.lost.partition_point(|t| t.is_before(tsn));
        if self.lost.get(at) != Some(&tsn) {
            work::count(at.min(self.lost.len() - at));
            self.lost.insert(at, tsn);
        }
        self.unasked = true;
    }

    /// Returns the list of lost chunks that wait for retransmission. Some entries may belong to chunks that are no
    /// longer lost.
    pub fn lost(&self) -> &VecDeque<Tsn> {
        &self.lost
    }

    /// Removes entry `i` of [`Self::lost`], because its chunk is no longer lost.
    pub fn forget_lost(&mut self, i: usize) {
        work::count(i.min(self.lost.len() - i));
        self.lost.remove(i);
    }

    /// Removes the entries of [`Self::lost`] whose chunks are no longer lost.
    pub fn forget_found(&mut self) {
        let outstanding = &self.outstanding;
        work::count(self.lost.len());
        self.lost.retain(|t| outstanding.get(*t).is_some_and(|c| matches!(c.state, ChunkState::Lost(_))));
    }

    /// Returns whether chunks were lost since the last call.
    pub fn take_unasked(&mut self) -> bool {
        core::mem::take(&mut self.unasked)
    }

    /// Sets whether the loss policy leaves the lost chunk `tsn` to the scheduler.
    pub fn set_requeued(&mut self, tsn: Tsn, requeued: bool) {
        self.outstanding.set_requeued(tsn, requeued);
    }

    /// Empties the lists of `path`, because it timed out or is closed. Returns the TSNs that were in flight on the
    /// path. The caller declares them lost one by one.
    pub fn take_flight(&mut self, path: PathId, into: &mut Vec<Tsn>) {
        let f = &mut self.flights[path.index()];
        into.clear();
        into.extend(f.originals.drain(..));
        into.extend(f.retransmitted.iter().map(|(number, _)| Outstanding::tsn(number)));
        f.retransmitted.clear();
        f.timed = None;
    }

    /// Handles chunks that one SACK covered and a later SACK omitted. After a timeout, these chunks count as never
    /// acknowledged (RFC 9260 §6.2.1 D iii). If `stalled` is true, there are no other data to send, and every
    /// gap-acknowledged chunk counts as never acknowledged. Without this rule, a peer could stall the sender with a gap
    /// that it never closes.
    pub fn requeue_suspects(&mut self, stalled: bool) {
        if self.outstanding.gap_acked() == 0 {
            return;
        }
        let tsn = |c: &Outgoing| c.info.tsn;
        let reneging_suspects: Vec<Tsn> = match stalled {
            true => self.outstanding.iter().filter(|c| c.acked()).map(tsn).collect(),
            false => self.outstanding.reneging_suspects().map(tsn).collect(),
        };
        for tsn in reneging_suspects {
            self.outstanding.set_state(tsn, ChunkState::Lost(LossCause::PathFailure));
            self.mark_lost(tsn);
        }
    }

    /// Returns the chunks that an earlier SACK covered and the last SACK omitted.
    #[cfg(test)]
    pub fn reneging_suspects(&self) -> impl Iterator<Item = &Outgoing> {
        self.outstanding.reneging_suspects()
    }

    /// Abandons chunk `tsn` (RFC 3758 §3.5 A3).
    pub fn abandon(&mut self, ledger: &mut PathViews, tsn: Tsn) -> Option<&ChunkInfo> {
        let chunk = self.outstanding.get_mut(tsn)?;
        for t in chunk.info.transmissions.iter_mut().filter(|t| t.in_flight) {
            t.in_flight = false;
            self.flights[t.path.index()].retransmitted.leave(tsn);
            ledger.leave(t.path, chunk.info.len, chunk.info.symbol);
        }
        self.outstanding.set_state(tsn, ChunkState::Abandoned);
        self.forget_timed(tsn);
        self.outstanding.get(tsn).map(|c| &c.info)
    }

    /// Adds miss indications to the transmission of `tsn` on `path`. Returns whether their number reaches `threshold`.
    pub fn count_misses(&mut self, now: Instant, tsn: Tsn, path: PathId, misses: u8, threshold: u8) -> bool {
        let Some(chunk) = self.outstanding.get_mut(tsn) else { return false };
        let Some(t) = chunk.info.transmissions.iter_mut().find(|t| t.path == path && t.in_flight) else {
            return false;
        };
        t.misses = t.misses.saturating_add(misses);
        t.overtaken = t.overtaken.or(Some(now));
        t.misses >= threshold
    }

    pub fn in_flight_on(&self, tsn: Tsn, path: PathId) -> bool {
        let in_flight = |c: &Outgoing| c.info.transmissions.iter().any(|t| t.path == path && t.in_flight);
        self.outstanding.get(tsn).is_some_and(in_flight)
    }

    /// Returns the chunks in flight on `path`. Chunks that were first sent on it come first, in the order of TSNs.
    /// Retransmissions and copies follow.
    pub fn flight(&self, path: PathId) -> impl Iterator<Item = &ChunkInfo> {
        let f = self.flights.get(path.index());
        let first = f.into_iter().flat_map(|f| f.originals.iter().copied());
        let again = f.into_iter().flat_map(|f| f.retransmitted.iter().map(|(n, _)| Outstanding::tsn(n)));
        let first = first.filter(move |t| self.first_in_flight_on(*t, path));
        let chunks = first.chain(again).filter_map(|tsn| self.outstanding.get(tsn));
        chunks.map(|c| &c.info).filter(move |i| i.transmissions.iter().any(|t| t.path == path && t.in_flight))
    }

    /// Returns the time at which chunk `tsn` was sent on `path`, if it is outstanding and was sent on this path once.
    pub fn left_once(&self, tsn: Tsn, path: PathId) -> Option<Instant> {
        let mut here = self.outstanding.get(tsn)?.info.transmissions.iter().filter(|t| t.path == path);
        here.next().filter(|_| here.next().is_none()).map(|t| t.at)
    }

    /// Returns whether a chunk's first transmission was on `path` and is in flight. The chunk has TSN `tsn`. The list
    /// `originals` contains these chunks.
    fn first_in_flight_on(&self, tsn: Tsn, path: PathId) -> bool {
        let first =
            self.outstanding.get(tsn).and_then(|c| c.info.transmissions.iter().find(|t| t.path == path));
        first.is_some_and(|t| t.in_flight)
    }

    /// Removes the chunks that are no longer in flight on `path` from the lists of the path.
    pub fn prune(&mut self, path: PathId) {
        let i = path.index();
        while let Some(&t) = self.flights[i].originals.front() {
            if self.first_in_flight_on(t, path) {
                break;
            }
            self.flights[i].originals.pop_front();
        }
        let left = self.flights[i].retransmitted.take_left();
        for &tsn in &left {
            if !self.in_flight_on(tsn, path) {
                self.flights[i].retransmitted.remove(self.outstanding.number(tsn));
            }
        }
        self.flights[i].retransmitted.keep_left(left);
    }

    /// Returns the lowest TSN in flight on `path`. The method also prunes the lists of the path.
    pub fn earliest_outstanding(&self, path: PathId) -> Option<Tsn> {
        let f = &self.flights[path.index()];
        let again = f.retransmitted.lowest().map(Outstanding::tsn);
        again.into_iter().chain(f.originals.front().copied()).reduce(lower)
    }

    /// Returns the highest TSN in flight on `path`, including unsettled copies.
    pub fn highest_in_flight(&self, path: PathId) -> Option<Tsn> {
        let f = &self.flights[path.index()];
        let again = f.retransmitted.highest().map(Outstanding::tsn);
        let copies = f.unsettled.iter().map(|c| c.tsn);
        again.into_iter().chain(f.originals.back().copied()).chain(copies).reduce(higher)
    }

    /// Returns the time at which the earliest chunk first sent on `path` was sent, if this chunk is in flight.
    pub fn front_sent(&self, path: PathId) -> Option<Instant> {
        let chunk = self.outstanding.get(*self.flights[path.index()].originals.front()?)?;
        chunk.info.transmissions.iter().find(|t| t.path == path).map(|t| t.at)
    }

    /// Returns the chunks in flight on `path` that were sent at `sent` or earlier. First transmissions come first, in
    /// the order of TSNs.
    pub fn sent_before(&self, path: PathId, sent: Instant) -> Vec<Tsn> {
        let f = &self.flights[path.index()];
        let again = f.retransmitted.iter().map(|(number, _)| Outstanding::tsn(number));
        let left = |t: &Transmission| t.path == path && t.in_flight;
        let old = |tsn: &Tsn| {
            let chunk = self.outstanding.get(*tsn);
            // The last one of several transmissions here counts.
            let last = chunk.and_then(|c| c.info.transmissions.iter().rfind(|t| left(t)));
            last.is_some_and(|t| t.at <= sent)
        };
        f.originals.iter().copied().chain(again).filter(old).collect()
    }

    /// Appends the TSNs below `highest` that are missing on `path` to `into`. Only TSNs within `scope` count.
    pub fn missing(&self, path: PathId, highest: Tsn, scope: crate::policy::MissScope, into: &mut Vec<Tsn>) {
        let f = &self.flights[path.index()];
        let original = |t: &&Tsn| self.first_in_flight_on(**t, path);
        let missing = |t: &&Tsn| {
            work::count(1);
            t.is_before(highest) && scope.first.admits(**t)
        };
        into.extend(f.originals.iter().take_while(missing).filter(original));
        // Each left no earlier than those before it.
        let again = f.retransmitted.iter().inspect(|_| work::count(1));
        let again = again.take_while(|(_, next)| scope.again.admits(*next - 1));
        into.extend(again.map(|(n, _)| Outstanding::tsn(n)).filter(|t| t.is_before(highest)));
    }

    /// Records a loss of chunk `tsn` on `path`. Returns whether it is the first loss in a window of data. After a first
    /// loss, later losses up to `highest` belong to the same window.
    pub fn begin_loss_event(&mut self, path: PathId, tsn: Tsn, highest: Tsn) -> bool {
        let recover = &mut self.flights[path.index()].recover;
        let new = recover.is_none_or(|r| tsn.is_after(r));
        if new {
            *recover = Some(highest);
        }
        new
    }

    /// Records that losses on `path` up to TSN `highest` belong to one window of data.
    pub fn set_recover(&mut self, path: PathId, highest: Tsn) {
        self.flights[path.index()].recover = Some(highest);
    }

    /// Sets whether one retransmission may be sent on `path` regardless of the window.
    pub fn free_retransmit(&mut self, path: PathId, free: bool) {
        self.flights[path.index()].free_retransmit = free;
    }

    /// Returns whether a retransmission may be sent on `path` regardless of the window.
    pub fn is_retransmit_free(&self, path: PathId) -> bool {
        self.flights.get(path.index()).is_some_and(|f| f.free_retransmit)
    }

    /// Returns whether a retransmission may be sent on any path regardless of the window.
    pub fn any_retransmit_free(&self) -> bool {
        self.flights.iter().any(|f| f.free_retransmit)
    }

    /// Records the time at which T3-rtx of `path` expired. `None` means that it no longer matters whether the timeout
    /// was spurious.
    pub fn set_timeout(&mut self, path: PathId, at: Option<Instant>) {
        self.flights[path.index()].timeout = at;
    }
}
