//! Spontaneous actions of the scheme ([`crate::policy::Policy::act`]): copies of chunks in flight, and declarations of
//! loss.

use super::Sender;
use super::pending_chunk::{ChunkSource, PendingChunk};
use crate::association::context::Context;
use crate::policy::{Act, Flight, LossCause, MOST_ACTS, PathId};
use crate::time::{Duration, Instant};
use crate::tx::ChunkState;
use crate::wire::Tsn;

impl Sender {
    /// Asks the scheme for actions and executes them. The method asks only if anything has happened since the last
    /// question.
    #[inline]
    pub fn act(&mut self, cx: &mut Context, now: Instant) {
        if cx.driver.act_due() && cx.state.is_open() {
            self.act_now(cx, now);
        }
    }

    fn act_now(&mut self, cx: &mut Context, now: Instant) {
        if !self.asked.is_empty() {
            let mut asked = core::mem::take(&mut self.asked);
            asked.retain(|(tsn, to)| self.worth_copy(cx, now, *tsn, *to).is_some());
            self.asked = asked;
        }
        let beside = self.header_room() + 16;
        let mut done = false;
        for _ in 0..MOST_ACTS {
            let flight = Flight::new(&self.rq, self.buffer.waiting(self.max_payload, beside));
            let Some(act) = cx.driver.act(cx.paths.seen_mut(), now, &flight) else { break };
            let possible = match act {
                Act::Copy { tsn, to } => self.copy(cx, now, tsn, to),
                Act::Lose { path, sent_before, cause } => self.lose_sent(cx, now, path, sent_before, cause),
                Act::Drop { group } => self.drop_group(cx, now, group),
            };
            cx.stats.refused_acts += u64::from(!possible);
            done |= possible;
        }
        // The effects of actions are not a reason to ask again.
        cx.driver.acted();
        if done {
            cx.driver.wake();
            self.decide_anew();
        }
    }

    /// Discards the decision on the next chunk. A copy that was about to leave still leaves.
    fn decide_anew(&mut self) {
        if let Some(PendingChunk { path, source: ChunkSource::Copy(tsn), .. }) = self.pending_chunk.take() {
            self.copies.push((tsn, path));
        }
    }

    /// Schedules a copy of chunk `tsn` on path `to`. Returns false if the copy is not possible.
    fn copy(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, to: PathId) -> bool {
        let Some(len) = self.worth_copy(cx, now, tsn, to) else { return false };
        let waits = self.copies.contains(&(tsn, to)) || self.asked.contains(&(tsn, to));
        let room = self.asked.len() < MOST_ACTS && cx.is_open(to) && cx.paths.usable().contains(to);
        if waits || !room || !self.admits_redundancy(now, len) {
            return false;
        }
        self.want_arrivals(cx, now);
        self.asked.push_back((tsn, to));
        true
    }

    /// Returns the bytes of user data of chunk `tsn` if a copy on path `to` is possible. The chunk must be in flight on
    /// another path, and another transmission of the chunk must be permitted.
    fn worth_copy(&self, cx: &Context, now: Instant, tsn: Tsn, to: PathId) -> Option<usize> {
        let chunk = self.rq.get(tsn).filter(|c| c.state == ChunkState::InFlight && !c.never_again())?;
        let late = cx.peer.partial && chunk.info.expires.is_some_and(|e| e <= now);
        let there = chunk.info.transmissions.iter().any(|t| t.path == to && t.in_flight);
        (!late && !there).then(|| chunk.user_data())
    }

    /// Returns the first copy that the scheme requested and whose path has room.
    #[inline]
    pub fn pick_asked(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        if self.asked.is_empty() || cx.aggregate_full() { None } else { self.pick_asked_with_room(cx, now) }
    }

    fn pick_asked_with_room(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        let mut i = 0;
        while let Some(&(tsn, path)) = self.asked.get(i) {
            if !cx.admits_new(path) {
                i += 1;
                continue;
            }
            self.asked.remove(i);
            let worth = self.worth_copy(cx, now, tsn, path);
            if let Some(len) = worth.filter(|len| self.spend_redundancy(cx, now, *len)) {
                return Some(PendingChunk { path, source: ChunkSource::Copy(tsn), len });
            }
        }
        None
    }

    /// Declares all chunks lost that were sent on `path` before `sent_before`. Returns false if no chunk in flight on
    /// `path` is that old. The scheme itself decides on the window, so no loss event follows.
    fn lose_sent(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        sent_before: Instant,
        cause: LossCause,
    ) -> bool {
        if !cx.is_open(path) || sent_before == Instant::ZERO {
            return false;
        }
        let last = sent_before - Duration::from_nanos(1);
        let mut lost = 0;
        for tsn in self.rq.sent_before(path, last) {
            lost += u64::from(self.lose_for(cx, now, tsn, path, cause).is_some());
        }
        for copy in self.rq.take_copies_sent(path, last) {
            Sender::lose_copy_for(cx, now, path, copy, cause);
            lost += 1;
        }
        if lost > 0 {
            cx.paths[path.index()].stats.lost_by_scheme += lost;
            self.rq.prune(path);
            let view = cx.paths.view(path.index());
            cx.paths[path.index()].t3 = (view.in_flight > 0).then_some(now + view.rto);
            self.restart_tail(cx, now, path, None);
            self.abandon_spent(cx, now);
            self.keep_a_timer(cx, now);
        }
        lost > 0
    }
}
