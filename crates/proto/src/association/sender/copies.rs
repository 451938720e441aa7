//! Copies of chunks in flight: requests, arrivals and losses of copies. See [`crate::tx::RetransmissionQueue`].

use super::Sender;
use super::pending_chunk::{ChunkSource, PendingChunk};
use crate::association::context::Context;
use crate::policy::{LossCause, LossTrigger, PathId, PathSet, Signal};
use crate::time::Instant;
use crate::tx::{RetransmissionQueue, Unsettled};
use crate::wire::Tsn;
use crate::wire::chunk::report::{KIND_COPIES, TsnRange};

impl Sender {
    /// Asks the peer to report the path of each arrival, because a chunk is sent on several paths.
    pub fn want_arrivals(&mut self, cx: &mut Context, now: Instant) {
        if !cx.paths.seen().peer_reports() || self.arrivals.asked() {
            return;
        }
        let named = |p: &PathId| cx.paths[p.index()].wire_id.is_some();
        if let Some(path) = cx.paths.usable().iter().find(named) {
            self.arrivals.ask();
            cx.say(now, KIND_COPIES, path, None, false);
        }
    }

    /// Schedules copies of chunk `tsn` on `paths`, as the scheme requested. A copy leaves at once if its path has room.
    /// If its path has no room, a copy leaves later, provided that the cap on redundancy then permits the copy.
    pub fn add_copies(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, paths: PathSet) {
        if !paths.is_empty() {
            self.want_arrivals(cx, now);
        }
        let bytes = self.rq.get(tsn).map_or(0, |c| c.user_data());
        for path in paths.iter() {
            if !cx.admits_new(path) {
                self.rq.owe(path, tsn);
            } else if self.spend_redundancy(cx, now, bytes) {
                self.copies.push((tsn, path));
            }
        }
    }

    /// Returns the earliest copy that waited for room on its path and now has it.
    pub fn pick_owed(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        for i in 0..cx.paths.len() {
            let path = PathId(i as u8);
            while self.rq.owes(path) && cx.admits_new(path) && !cx.aggregate_full() {
                let Some(chunk) = self.rq.take_owed(path) else { break };
                let (tsn, len) = (chunk.info.tsn, chunk.user_data());
                let in_time = !cx.peer.partial || chunk.info.expires.is_none_or(|e| e > now);
                if !chunk.never_again() && in_time && self.spend_redundancy(cx, now, len) {
                    return Some(PendingChunk { path, source: ChunkSource::Copy(tsn), len });
                }
            }
        }
        None
    }

    /// Handles the peer's list of arrivals on `path`. The list affects only copies in flight on this path.
    pub fn on_arrivals(&mut self, cx: &mut Context, now: Instant, path: PathId, payload: &[u8]) {
        let Some(ranges) = TsnRange::decode(payload) else {
            cx.stats.bad_chunks += 1;
            return;
        };
        self.arrivals.begin(now);
        for range in ranges {
            if !self.arrivals.take(path, range) {
                return;
            }
            self.rq.settle(cx.paths.seen_mut(), path, range);
        }
        self.miss_copies(cx, now, path);
    }

    /// Counts a miss for each copy on `path` that was sent before another copy that has now arrived. After three misses
    /// a copy counts as lost.
    fn miss_copies(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        for copy in self.rq.take_missed_copies(now, path, &self.arrivals) {
            let tsn = copy.tsn();
            self.lose_copy(cx, now, path, copy, LossTrigger::FastRetransmit);
            cx.paths[path.index()].stats.lost_fast += 1;
            let highest = self.rq.highest_in_flight(path).unwrap_or(tsn);
            if self.rq.begin_loss_event(path, tsn, highest) {
                let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
                cx.signal(now, &Signal::LossEvent { path, trigger, highest, cause });
            }
        }
    }

    /// Removes `copy`, which no list of arrivals contains, from its path's window. Returns the decision on its loss.
    fn lose_copy(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        copy: Unsettled,
        trigger: LossTrigger,
    ) -> LossCause {
        let info = RetransmissionQueue::lose_copy(cx.paths.seen_mut(), path, copy);
        let cause = cx.ask(now, |scheme, view| scheme.loss().classify(view, &info, trigger));
        cx.signal(now, &Signal::Lost { chunk: &info, path, cause });
        cause
    }

    /// Removes `copy` from its path's window after a loss with a known `cause`.
    pub fn lose_copy_for(cx: &mut Context, now: Instant, path: PathId, copy: Unsettled, cause: LossCause) {
        let info = RetransmissionQueue::lose_copy(cx.paths.seen_mut(), path, copy);
        cx.signal(now, &Signal::Lost { chunk: &info, path, cause });
    }

    /// Declares all copies on `path` lost, because the path timed out or was closed.
    pub fn lose_copies(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        trigger: LossTrigger,
    ) -> Option<LossCause> {
        let mut first = None;
        while let Some(copy) = self.rq.take_copy(path) {
            let cause = self.lose_copy(cx, now, path, copy, trigger);
            cx.paths[path.index()].stats.lost_timeout += 1;
            first = first.or(Some(cause));
        }
        first
    }

    /// Counts a copy as arrived after some time if the peer does not report the paths of arrivals, or not yet.
    pub fn settle_due(&mut self, cx: &mut Context, now: Instant) {
        let mut idle = false;
        for i in 0..cx.paths.len() {
            let path = PathId(i as u8);
            let earliest = if self.rq.any_unsettled(path) { self.rq.earliest_on(path) } else { None };
            let (p, seen) = cx.paths.split(i);
            while let Some(front) = self.rq.settle_due(seen, now, path, &self.arrivals, earliest) {
                let view = &seen.paths()[i];
                if view.in_flight == 0 {
                    (p.t3, p.tail.at, idle) = (None, None, true);
                } else if front {
                    p.t3 = Some(now + view.rto);
                }
            }
        }
        if idle {
            self.keep_a_timer(cx, now);
        }
    }
}
