//! The retransmission queue: chunks that were sent and are not yet acknowledged cumulatively, and on which paths they are in
//! flight.
//!
//! It takes SACKs and returns what they mean ([`RetransmissionQueue::acknowledge`]). Bytes enter and leave the flights of
//! paths here alone, in the ledger of [`PathViews`]. It runs no timers, and knows no scheme and no state of the
//! association.

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
use crate::wire::serial::Tsn;
use crate::work;
use copies::Settled;
use spurious::LossEvents;

pub(crate) use ack::MANY_GAPS;
pub(crate) use copies::Unsettled;

/// What was sent on one path and is not settled yet.
#[derive(Debug, Default)]
struct Flight {
    /// TSNs first sent here and in flight, ascending; acknowledged ones are dropped from the front lazily.
    originals: VecDeque<Tsn>,
    /// TSNs sent again here and in flight.
    retransmitted: Resent,
    /// Copies sent here whose TSN was acknowledged by another one, in the order of that.
    unsettled: VecDeque<Unsettled>,
    settled: Settled,
    /// Chunks in flight elsewhere of which a copy leaves here as soon as there is room.
    owed: VecDeque<Tsn>,
    /// Of `originals` those up to here were considered for a copy on a faster path.
    copied: Option<Tsn>,
    /// The TSN whose round trip is being timed.
    timed: Option<Tsn>,
    /// When T3-rtx last expired, until the timeout is known to have been right.
    timeout: Option<Instant>,
    /// Losses up to here belong to a window already reported.
    recover: Option<Tsn>,
    /// The last loss events, as long as they may turn out to be spurious.
    events: LossEvents,
    /// One retransmission may leave regardless of the window (RFC 9260 §7.2.4, rule 3).
    free_retransmit: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct RetransmissionQueue {
    outstanding: Outstanding,
    /// Lost chunks waiting to be sent again, ascending; entries that are no longer lost are skipped.
    lost: VecDeque<Tsn>,
    /// Some chunk was lost since the loss policy was last asked about all of them.
    unasked: bool,
    /// By path slot.
    flights: Vec<Flight>,
    /// Whether the scheme wants to know which chunks arrive.
    names_deliveries: bool,
    /// Chunks acknowledged lately that were sent several times.
    past: PastChunks,
    /// Kept for its memory between SACKs.
    outcome: AckOutcome,
}

impl RetransmissionQueue {
    /// `names_deliveries`: acknowledgements name the chunks, too.
    pub fn new(initial_tsn: Tsn, names_deliveries: bool) -> Self {
        RetransmissionQueue {
            outstanding: Outstanding::new(initial_tsn),
            lost: VecDeque::new(),
            unasked: false,
            flights: Vec::new(),
            names_deliveries,
            past: PastChunks::default(),
            outcome: AckOutcome::default(),
        }
    }

    /// A path takes slot `path`, new or closed before.
    pub fn open(&mut self, path: PathId) {
        let i = path.index();
        if self.flights.len() <= i {
            self.flights.resize_with(i + 1, Flight::default);
        }
        self.flights[i] = Flight::default();
        self.outcome.deliveries.settled.retain(|(p, _)| *p != path);
    }

    /// Forgets everything; TSNs go on where they were.
    pub fn clear(&mut self, ledger: &mut PathViews) {
        ledger.clear_flights();
        self.outstanding = Outstanding::new(self.next_tsn());
        self.lost.clear();
        self.past.clear();
        self.outcome.deliveries.clear();
        self.flights.iter_mut().for_each(|f| *f = Flight::default());
    }

    /// Gives memory back that a burst needed.
    pub fn shrink(&mut self) {
        self.outstanding.shrink();
        self.lost.shrink_to_fit();
        self.past.clear();
        self.outcome = AckOutcome::default();
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

    /// The first that is not acknowledged cumulatively.
    pub fn front(&self) -> Option<&Outgoing> {
        self.outstanding.front()
    }

    /// In the order of TSNs.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Outgoing> {
        self.outstanding.iter()
    }

    pub fn next_tsn(&self) -> Tsn {
        self.outstanding.next_tsn()
    }

    pub fn cum_acked(&self) -> Tsn {
        self.outstanding.cum_acked()
    }

    /// Gap blocks of the last SACK.
    pub fn gaps_reported(&self) -> usize {
        self.outstanding.gaps_reported()
    }

    /// Payload of lost chunks that the loss policy leaves to the scheduler, bytes.
    pub fn requeued(&self) -> u64 {
        self.outstanding.requeued()
    }

    /// A new chunk leaves: its transmission is the first. An abandoned one has none.
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

    /// The lost chunk `tsn` leaves again.
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

    /// A copy of `tsn`, which is in flight, leaves; whether it counts as sent again.
    pub fn push_copy(&mut self, ledger: &mut PathViews, tsn: Tsn, sent: Transmission) -> Option<bool> {
        let chunk = self.outstanding.get_mut(tsn).filter(|c| c.state == ChunkState::InFlight)?;
        let flight = &mut self.flights[sent.path.index()];
        // `originals` are in the order of TSNs: what was new before belongs elsewhere.
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

    /// Times the round trip of `tsn`, which left on `path` alone, unless another one is being timed.
    pub fn time(&mut self, path: PathId, tsn: Tsn) {
        self.flights[path.index()].timed.get_or_insert(tsn);
    }

    /// Whether a round trip of `path` is being timed.
    pub fn times(&self, path: PathId) -> bool {
        self.flights[path.index()].timed.is_some()
    }

    fn forget_timed(&mut self, tsn: Tsn) {
        for f in &mut self.flights {
            f.timed = f.timed.filter(|t| *t != tsn);
        }
    }

    /// Takes one transmission of `tsn` on `path` out of flight, as lost; the chunk as it is then.
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

    /// What [`Self::lose`] took out was lost by `cause`: the chunk is lost when no other transmission of it is under way.
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

    /// Enters `tsn` among the lost, in order.
    fn mark_lost(&mut self, tsn: Tsn) {
        let at = self.lost.partition_point(|t| t.is_before(tsn));
        if self.lost.get(at) != Some(&tsn) {
            work::count(at.min(self.lost.len() - at));
            self.lost.insert(at, tsn);
        }
        self.unasked = true;
    }

    /// Chunks that wait to be sent again, and some that no longer do.
    pub fn lost(&self) -> &VecDeque<Tsn> {
        &self.lost
    }

    /// The entry `i` of [`Self::lost`] is lost no longer.
    pub fn forget_lost(&mut self, i: usize) {
        work::count(i.min(self.lost.len() - i));
        self.lost.remove(i);
    }

    /// Takes entries of [`Self::lost`] away that are lost no longer.
    pub fn forget_found(&mut self) {
        let outstanding = &self.outstanding;
        work::count(self.lost.len());
        self.lost.retain(|t| outstanding.get(*t).is_some_and(|c| matches!(c.state, ChunkState::Lost(_))));
    }

    /// Whether chunks were lost since this was last asked.
    pub fn take_unasked(&mut self) -> bool {
        core::mem::take(&mut self.unasked)
    }

    /// The loss policy leaves the lost chunk `tsn` to the scheduler, or does not.
    pub fn set_requeued(&mut self, tsn: Tsn, requeued: bool) {
        self.outstanding.set_requeued(tsn, requeued);
    }

    /// Empties the lists of `path`, which timed out or is closed: TSNs in flight there, which the caller declares lost one by
    /// one.
    pub fn take_flight(&mut self, path: PathId, into: &mut Vec<Tsn>) {
        let f = &mut self.flights[path.index()];
        into.clear();
        into.extend(f.originals.drain(..));
        into.extend(f.retransmitted.iter().map(|(number, _)| Outstanding::tsn(number)));
        f.retransmitted.clear();
        f.timed = None;
    }

    /// Chunks that a SACK once covered and a later one did not: after a timeout they count as never acknowledged
    /// (RFC 9260 §6.2.1 D iii). `stalled`: nothing else is left to send, and any gap-acknowledged chunk does, so that a peer
    /// can't stall us with a gap it never closes.
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

    /// Chunks that a SACK once covered and the last one left out.
    #[cfg(test)]
    pub fn reneging_suspects(&self) -> impl Iterator<Item = &Outgoing> {
        self.outstanding.reneging_suspects()
    }

    /// Gives `tsn` up (RFC 3758 §3.5 A3).
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

    /// Counts misses of the transmission of `tsn` on `path`; whether they reach `threshold`.
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

    /// The chunks in flight on `path`: those first sent there in the order of TSNs, then those sent there again.
    pub fn flight(&self, path: PathId) -> impl Iterator<Item = &ChunkInfo> {
        let f = self.flights.get(path.index());
        let first = f.into_iter().flat_map(|f| f.originals.iter().copied());
        let again = f.into_iter().flat_map(|f| f.retransmitted.iter().map(|(n, _)| Outstanding::tsn(n)));
        let first = first.filter(move |t| self.first_in_flight_on(*t, path));
        let chunks = first.chain(again).filter_map(|tsn| self.outstanding.get(tsn));
        chunks.map(|c| &c.info).filter(move |i| i.transmissions.iter().any(|t| t.path == path && t.in_flight))
    }

    /// When `tsn` left on `path`, if it is outstanding and left there once.
    pub fn left_once(&self, tsn: Tsn, path: PathId) -> Option<Instant> {
        let mut here = self.outstanding.get(tsn)?.info.transmissions.iter().filter(|t| t.path == path);
        here.next().filter(|_| here.next().is_none()).map(|t| t.at)
    }

    /// Whether the first transmission of `tsn` on `path` is in flight: what `originals` lists.
    fn first_in_flight_on(&self, tsn: Tsn, path: PathId) -> bool {
        let first =
            self.outstanding.get(tsn).and_then(|c| c.info.transmissions.iter().find(|t| t.path == path));
        first.is_some_and(|t| t.in_flight)
    }

    /// Drops from a path's lists what is no longer in flight there.
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

    /// The lowest TSN in flight on `path`; the lists are pruned.
    pub fn earliest_outstanding(&self, path: PathId) -> Option<Tsn> {
        let f = &self.flights[path.index()];
        let again = f.retransmitted.lowest().map(Outstanding::tsn);
        again.into_iter().chain(f.originals.front().copied()).reduce(lower)
    }

    /// The highest TSN in flight on `path`, copies that are not settled included.
    pub fn highest_in_flight(&self, path: PathId) -> Option<Tsn> {
        let f = &self.flights[path.index()];
        let again = f.retransmitted.highest().map(Outstanding::tsn);
        let copies = f.unsettled.iter().map(|c| c.tsn);
        again.into_iter().chain(f.originals.back().copied()).chain(copies).reduce(higher)
    }

    /// When the earliest chunk first sent on `path` left there, if it is in flight.
    pub fn front_sent(&self, path: PathId) -> Option<Instant> {
        let chunk = self.outstanding.get(*self.flights[path.index()].originals.front()?)?;
        chunk.info.transmissions.iter().find(|t| t.path == path).map(|t| t.at)
    }

    /// What is in flight on `path` since `sent` or before, in the order of TSNs of first transmissions, then the others.
    pub fn sent_before(&self, path: PathId, sent: Instant) -> Vec<Tsn> {
        let f = &self.flights[path.index()];
        let again = f.retransmitted.iter().map(|(number, _)| Outstanding::tsn(number));
        let left = |t: &Transmission| t.path == path && t.in_flight;
        let old = |tsn: &Tsn| {
            let chunk = self.outstanding.get(*tsn);
            // Of several transmissions here the last one counts.
            let last = chunk.and_then(|c| c.info.transmissions.iter().rfind(|t| left(t)));
            last.is_some_and(|t| t.at <= sent)
        };
        f.originals.iter().copied().chain(again).filter(old).collect()
    }

    /// TSNs below `highest` that are missing on `path`, as far as `scope` says; appended to `into`.
    pub fn missing(&self, path: PathId, highest: Tsn, scope: crate::policy::MissScope, into: &mut Vec<Tsn>) {
        let f = &self.flights[path.index()];
        let original = |t: &&Tsn| self.first_in_flight_on(**t, path);
        let missing = |t: &&Tsn| {
            work::count(1);
            t.is_before(highest) && scope.first.admits(**t)
        };
        into.extend(f.originals.iter().take_while(missing).filter(original));
        // Each left at or after those in front of it.
        let again = f.retransmitted.iter().inspect(|_| work::count(1));
        let again = again.take_while(|(_, next)| scope.again.admits(*next - 1));
        into.extend(again.map(|(n, _)| Outstanding::tsn(n)).filter(|t| t.is_before(highest)));
    }

    /// A loss of `tsn` on `path` is the first of a window; those up to `highest` are of the same one from now on.
    pub fn begin_loss_event(&mut self, path: PathId, tsn: Tsn, highest: Tsn) -> bool {
        let recover = &mut self.flights[path.index()].recover;
        let new = recover.is_none_or(|r| tsn.is_after(r));
        if new {
            *recover = Some(highest);
        }
        new
    }

    /// Losses on `path` up to `highest` are of one window.
    pub fn set_recover(&mut self, path: PathId, highest: Tsn) {
        self.flights[path.index()].recover = Some(highest);
    }

    /// One retransmission may leave on `path` regardless of the window, or may not.
    pub fn free_retransmit(&mut self, path: PathId, free: bool) {
        self.flights[path.index()].free_retransmit = free;
    }

    /// Whether one may.
    pub fn is_retransmit_free(&self, path: PathId) -> bool {
        self.flights.get(path.index()).is_some_and(|f| f.free_retransmit)
    }

    /// Whether one may on any path.
    pub fn any_retransmit_free(&self) -> bool {
        self.flights.iter().any(|f| f.free_retransmit)
    }

    /// T3-rtx of `path` expired; `None`: whether it was right does not matter any more.
    pub fn set_timeout(&mut self, path: PathId, at: Option<Instant>) {
        self.flights[path.index()].timeout = at;
    }
}
