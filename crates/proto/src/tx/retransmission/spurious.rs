//! Losses that may turn out to be spurious: loss events of a path, and the chunks of these events that arrived (RFC
//! 4015).
//!
//! `ASSUMED`: the number of loss events that are recorded, and the time for which they are recorded. RFC 4015 records
//! one event.

use smallvec::SmallVec;

use super::RetransmissionQueue;
use super::ack::SackContext;
use crate::policy::{ChunkInfo, DeclaredLost, Limit, LossTrigger, PathId, PathViews, Transmission};
use crate::time::{Duration, Instant};
use crate::tx::outstanding::ChunkState;
use crate::wire::serial::Tsn;

/// Number of loss events of a path that are recorded. The proof that an event was spurious arrives a round trip later.
/// By then the next event may have begun.
const EVENTS: usize = 4;

/// Number of retransmission timeouts after which a loss event can no longer prove to be spurious.
const PROOF_TIMEOUTS: u32 = 2;

/// Losses of one window of data, or of consecutive timeouts.
#[derive(Copy, Clone, Debug)]
struct LossEvent {
    /// Time of the first loss; `last` is the time of the last loss.
    began: Instant,
    last: Instant,
    /// Number of chunks declared lost; `spurious` is the number of these chunks that arrived.
    lost: u32,
    spurious: u32,
    /// Trigger of the losses.
    by: LossTrigger,
    /// Limits of the path before the loss event.
    before: Limit,
}

/// The last loss events of a path, oldest first.
#[derive(Debug, Default)]
pub(super) struct LossEvents(SmallVec<[LossEvent; EVENTS]>);

impl LossEvents {
    /// Records that `lost` chunks were declared lost. `begins` has the path's former limits if these losses begin a
    /// loss event.
    fn note(&mut self, now: Instant, lost: u32, begins: Option<Limit>, by: LossTrigger) {
        match (begins, self.0.iter_mut().rfind(|e| e.by == by)) {
            (Some(before), _) => {
                if self.0.len() == EVENTS {
                    self.0.remove(0);
                }
                self.0.push(LossEvent { began: now, last: now, lost, spurious: 0, by, before });
            }
            (None, Some(event)) => (event.last, event.lost) = (now, event.lost.saturating_add(lost)),
            (None, None) => {}
        }
    }

    /// Records that a chunk with the declaration of loss `declared` has arrived. Returns the limits to restore, if this
    /// arrival shows that the whole event was spurious.
    fn arrived(&mut self, now: Instant, declared: DeclaredLost, rto: Duration) -> Option<Limit> {
        self.forget(now, rto);
        let of = |e: &LossEvent| Some(e.by) == declared.by && e.began <= declared.at;
        let at = self.0.iter().rposition(of)?;
        self.0[at].spurious += 1;
        if self.0[at].spurious >= self.0[at].lost { self.undo(at) } else { None }
    }

    /// Handles a timeout of which all losses were spurious.
    fn undo_timeout(&mut self) -> Option<Limit> {
        let at = self.0.iter().rposition(|e| e.by == LossTrigger::Timeout)?;
        self.undo(at)
    }

    /// Handles the loss event at index `at`, which was spurious. The limits before this event are restored once no
    /// later event may turn out to be spurious. The reason for this wait is that a later event may have begun with the
    /// reduced limits of this event.
    fn undo(&mut self, at: usize) -> Option<Limit> {
        let event = self.0.remove(at);
        let Some(later) = self.0.get_mut(at) else { return Some(event.before) };
        later.before.cwnd = later.before.cwnd.max(event.before.cwnd);
        later.before.ssthresh = later.before.ssthresh.zip(event.before.ssthresh).map(|(a, b)| a.max(b));
        None
    }

    fn forget(&mut self, now: Instant, rto: Duration) {
        self.0.retain(|e| now.saturating_since(e.last) <= PROOF_TIMEOUTS * rto);
    }
}

impl RetransmissionQueue {
    /// Appends the chunks in flight on `path` whose misses reached `threshold` to `into`.
    pub fn overtaken(&self, path: PathId, threshold: u8, into: &mut Vec<Tsn>) {
        let missed = |i: &&ChunkInfo| i.on(path).is_some_and(|t| t.in_flight && t.misses >= threshold);
        into.extend(self.flight(path).filter(missed).map(|i| i.tsn));
    }

    /// Records that `lost` chunks of `path` were declared lost. The trigger `by` is miss indications or a timeout.
    /// `begins` has the path's limits before the losses, if these losses begin a loss event.
    pub fn note_losses(
        &mut self,
        now: Instant,
        path: PathId,
        lost: u32,
        begins: Option<Limit>,
        by: LossTrigger,
    ) {
        if lost > 0 {
            self.flights[path.index()].events.note(now, lost, begins, by);
        }
    }

    /// Handles the arrival of a chunk whose loss on `path` was `declared`. Returns the limits to restore, if all chunks
    /// of this loss event have now arrived.
    pub fn take_back(
        &mut self,
        now: Instant,
        path: PathId,
        declared: DeclaredLost,
        rto: Duration,
    ) -> Option<Limit> {
        let flight = &mut self.flights[path.index()];
        let before = flight.events.arrived(now, declared, rto);
        flight.recover = flight.recover.filter(|_| before.is_none());
        before
    }

    /// Handles the last timeout of `path`, which was spurious. Returns the limits to restore.
    pub fn take_back_timeout(&mut self, path: PathId) -> Option<Limit> {
        let flight = &mut self.flights[path.index()];
        let before = flight.events.undo_timeout();
        flight.recover = flight.recover.filter(|_| before.is_none());
        before
    }

    /// Reverses a timeout of `path`. The acknowledgement of chunk `late` shows that this timeout was spurious. Chunks
    /// that the timeout declared lost are in flight again if they were sent after `late`. Returns the number of these
    /// chunks; `None` if there is no timeout to reverse.
    pub fn undo_timeout(&mut self, ledger: &mut PathViews, path: PathId, late: Tsn) -> Option<u64> {
        let i = path.index();
        let at = self.flights[i].timeout.take()?;
        let by_timeout = |tsn: &Tsn| {
            let chunk = self.outstanding.get(*tsn).filter(|c| matches!(c.state, ChunkState::Lost(_)));
            let once =
                chunk.filter(|c| c.info.sent_once() && c.info.losses > 0).map(|c| &c.info.transmissions[0]);
            let by = Some(LossTrigger::Timeout);
            let left = |t: &Transmission| t.path == path && t.at <= at && t.lost.is_some_and(|l| l.by == by);
            tsn.is_after(late) && once.is_some_and(left)
        };
        let back: Vec<Tsn> = self.lost.iter().copied().filter(by_timeout).collect();
        let mut undone = 0;
        for &tsn in back.iter().rev() {
            if self.flights[i].originals.front().is_some_and(|f| !tsn.is_before(*f)) {
                continue;
            }
            self.flights[i].originals.push_front(tsn);
            self.outstanding.set_state(tsn, ChunkState::InFlight);
            let Some(chunk) = self.outstanding.get_mut(tsn) else { continue };
            (chunk.info.transmissions[0].in_flight, chunk.info.transmissions[0].lost) = (true, None);
            chunk.info.losses = chunk.info.losses.saturating_sub(1);
            ledger.enter(path, chunk.info.len, chunk.info.symbol);
            undone += 1;
        }
        self.forget_found();
        Some(undone)
    }

    /// Handles the acknowledgement of chunk `tsn`. If the chunk was overtaken, its lateness is recorded. If the chunk
    /// was declared lost, it is decided whether this loss was spurious. If the chunk is acknowledged within half of the
    /// minimum round-trip time after a retransmission, its previous transmission arrived. One half is used because the
    /// true minimum is rarely measured. The answer to a retransmission may therefore come a little before the measured
    /// minimum has passed.
    pub(super) fn note_overtaken(&mut self, r: &mut SackContext<'_>, tsn: Tsn) {
        let Some(chunk) = self.outstanding.get_mut(tsn) else { return };
        let waits = matches!(chunk.state, ChunkState::Lost(_));
        let [before @ .., last] = &mut chunk.info.transmissions[..] else { return };
        let (arrived, proven) = match before {
            _ if waits => (last, true),
            [] => (last, true),
            [first] if 2 * r.now.saturating_since(last.at) < r.ledger.least_rtt() => (first, false),
            _ => return,
        };
        let declared = arrived.lost.take().filter(|j| j.by.is_some());
        let missed = declared.is_none_or(|j| j.by == Some(LossTrigger::FastRetransmit));
        let late = arrived.overtaken.filter(|_| missed && arrived.misses > 1);
        let ack = &mut r.outcome.paths[arrived.path.index()];
        if let Some(at) = late {
            let longest = if proven { &mut ack.overtaken_for } else { &mut ack.seems_overtaken_for };
            *longest = (*longest).max(r.now.saturating_since(at));
        }
        ack.spurious.extend(declared.filter(|j| j.by == Some(LossTrigger::FastRetransmit)));
    }

    /// Handles a chunk that the peer received twice. Both transmissions arrived. The chunk had been retransmitted
    /// because its transmission `first` was declared lost.
    pub(super) fn note_needless(r: &mut crate::tx::AckOutcome, first: Transmission) {
        let Some(declared) = first.lost.filter(|j| j.by == Some(LossTrigger::FastRetransmit)) else { return };
        let path = &mut r.paths[first.path.index()];
        path.spurious.push(declared);
        path.needless_again = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn limit(cwnd: u64) -> Limit {
        Limit { cwnd, ssthresh: Some(2 * cwnd), pacing: None }
    }

    fn missed(ms: u64) -> DeclaredLost {
        DeclaredLost { at: at(ms), by: Some(MISSED) }
    }

    const MISSED: LossTrigger = LossTrigger::FastRetransmit;
    const RTO: Duration = Duration::from_millis(200);

    #[test]
    fn an_event_is_spurious_with_the_last_of_its_chunks() {
        let mut events = LossEvents::default();
        events.note(at(100), 1, Some(limit(1000)), MISSED);
        events.note(at(110), 1, None, MISSED);
        assert_eq!(events.arrived(at(150), missed(100), RTO), None);
        assert_eq!(events.arrived(at(160), missed(110), RTO), Some(limit(1000)));
        assert_eq!(events.arrived(at(170), missed(110), RTO), None, "once");
    }

    /// Two loss events follow each other. Once both are known to be spurious, the window returns to its value before
    /// the first event.
    #[test]
    fn the_next_event_waits_for_its_own_proof() {
        let mut events = LossEvents::default();
        events.note(at(100), 1, Some(limit(1000)), MISSED);
        events.note(at(150), 1, Some(limit(500)), MISSED);
        assert_eq!(events.arrived(at(160), missed(100), RTO), None);
        assert_eq!(events.arrived(at(170), missed(150), RTO), Some(limit(1000)));
        events.note(at(200), 1, Some(limit(1000)), MISSED);
        events.note(at(250), 1, Some(limit(500)), MISSED);
        assert_eq!(events.arrived(at(260), missed(250), RTO), Some(limit(500)), "the first was real");
    }

    #[test]
    fn no_proof_comes_later_than_two_timeouts() {
        let mut events = LossEvents::default();
        events.note(at(100), 1, Some(limit(1000)), MISSED);
        assert_eq!(events.arrived(at(501), missed(100), RTO), None);
    }

    /// A spurious timeout reverses its own reduction of the window, and not the reductions of earlier losses.
    #[test]
    fn a_timeout_is_an_event_of_its_own() {
        let mut events = LossEvents::default();
        events.note(at(100), 3, Some(limit(1000)), MISSED);
        events.note(at(300), 9, Some(limit(500)), LossTrigger::Timeout);
        events.note(at(700), 1, None, LossTrigger::Timeout);
        assert_eq!(events.undo_timeout(), Some(limit(500)));
        assert_eq!(events.undo_timeout(), None);
    }
}
