//! Losses by miss indications or timeout, and messages that the sender abandons (partial reliability).

use super::Sender;
use super::commit::placeholder;
use super::decide::Hopeless;
use super::dropped::unsent;
use crate::association::context::Context;
use crate::association::dropped::DropCause;
use crate::association::lifecycle::State;
use crate::coding::Coder;
use crate::path;
use crate::policy::{ChunkInfo, DeclaredLost, Importance, LossCause, LossTrigger, PathId, PathState, Signal};
use crate::time::Instant;
use crate::tx::Carries;
use crate::wire::Tsn;

impl Sender {
    /// Removes one transmission of chunk `tsn` from flight. The chunk is lost if no other transmission of it is in
    /// flight.
    pub fn lose(
        &mut self,
        cx: &mut Context,
        now: Instant,
        tsn: Tsn,
        path: PathId,
        trigger: LossTrigger,
    ) -> Option<LossCause> {
        let declared = DeclaredLost { at: now, by: Some(trigger) };
        let info = self.take_lost(cx, declared, tsn, path)?;
        let cause = cx.ask(now, |scheme, view| scheme.loss().classify(view, info, trigger));
        self.lost_by(cx, now, tsn, path, cause)
    }

    /// Removes one transmission of chunk `tsn` from flight, which was lost for a known `cause`.
    pub fn lose_for(
        &mut self,
        cx: &mut Context,
        now: Instant,
        tsn: Tsn,
        path: PathId,
        cause: LossCause,
    ) -> Option<LossCause> {
        self.take_lost(cx, DeclaredLost { at: now, by: None }, tsn, path)?;
        self.lost_by(cx, now, tsn, path, cause)
    }

    /// Removes one transmission of chunk `tsn` from flight. Returns the chunk in its new state.
    fn take_lost(
        &mut self,
        cx: &mut Context,
        declared: DeclaredLost,
        tsn: Tsn,
        path: PathId,
    ) -> Option<&ChunkInfo> {
        if cx.state == State::Closed {
            return None;
        }
        if self.rq.in_flight_on(tsn, path) {
            self.symbol_lost(tsn, path);
        }
        let info = self.rq.lose(cx.paths.seen_mut(), tsn, path, declared)?;
        if let Some(discovery) = &mut cx.paths[path.index()].discovery {
            discovery.data_lost(declared.at);
        }
        Some(info)
    }

    /// Returns the verdict on a transmission of chunk `tsn` on `path` that was removed from flight.
    fn lost_by(
        &mut self,
        cx: &mut Context,
        now: Instant,
        tsn: Tsn,
        path: PathId,
        cause: LossCause,
    ) -> Option<LossCause> {
        let chunk = self.rq.set_cause(tsn, path, cause)?;
        cx.signal(now, &Signal::Lost { chunk, path, cause });
        Some(cause)
    }

    /// Handles the expiry of T3-rtx on `path` (RFC 9260 §6.3.3).
    pub fn on_t3(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        cx.paths[path.index()].t3 = None;
        let view = cx.paths.view(path.index());
        let (before, limit) = (view.in_flight, view.limit);
        self.settle_due(cx, now);
        if before > 0 && cx.paths.view(path.index()).in_flight == 0 {
            return self.keep_a_timer(cx, now);
        }
        if cx.paths[path.index()].t3.is_some() {
            return; // Its earliest copy counts as arrived: later chunks have their own timeout.
        }
        // Copies whose TSN arrived otherwise are not a reason to send anything again.
        if self.rq.earliest_outstanding(path).is_some() && self.probes_first(cx, now, path) {
            return;
        }
        let answered_probe = self.probing_zero_window && self.zero_window_answered.contains(path);
        self.zero_window_answered.remove(path);
        if !answered_probe {
            cx.paths[path.index()].stats.timeouts += 1;
            if let Some(discovery) = &mut cx.paths[path.index()].discovery {
                discovery.suspect(now);
            }
        }
        path::back_off(cx.paths.view_mut(path.index()), &cx.config);
        let highest = self.rq.highest_in_flight(path);
        let lost = cx.paths[path.index()].stats.lost_timeout;
        let cause = self.lose_all(cx, now, path, LossTrigger::Timeout);
        let lost = cx.paths[path.index()].stats.lost_timeout - lost;
        // Consecutive timeouts without an acknowledgement between them are one event.
        let goes_on = cx.paths[path.index()].timed_out;
        self.rq.note_losses(now, path, lost as u32, (!goes_on).then_some(limit), LossTrigger::Timeout);
        self.rq.set_timeout(path, Some(now).filter(|_| cx.config.tail_probes));
        let stalled =
            cx.paths.seen().in_flight() == 0 && self.rq.lost().is_empty() && !self.forward.is_pending();
        self.rq.requeue_suspects(stalled);
        // RFC 5681 §3.1: a repeated timeout without any arrival between is not another sign of congestion.
        let again = core::mem::replace(&mut cx.paths[path.index()].timed_out, true);
        let told = answered_probe || (again && cx.config.silence_timeout.is_some());
        if let (Some(highest), Some(cause), false) = (highest, cause, told) {
            self.rq.set_recover(path, highest);
            let trigger = LossTrigger::Timeout;
            cx.signal(now, &Signal::LossEvent { path, trigger, highest, cause });
        }
        cx.paths[path.index()].burst = cx.max_burst(&cx.paths.view(path.index()).limit);
        cx.paths.view_mut(path.index()).blocked = false;
        if !answered_probe {
            cx.paths[path.index()].heartbeats.excuse();
            cx.path_error(now, path);
        }
        cx.paths[path.index()].tail.spent = false;
        self.abandon_spent(cx, now);
        self.keep_a_timer(cx, now);
    }

    /// Declares all chunks in flight on `path` lost. Returns the verdict on the first of them.
    pub fn lose_all(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        trigger: LossTrigger,
    ) -> Option<LossCause> {
        let mut gone = core::mem::take(&mut self.scratch);
        self.rq.take_flight(path, &mut gone);
        cx.paths[path.index()].tail.at = None;
        let mut first = None;
        for &tsn in &gone {
            if let Some(cause) = self.lose(cx, now, tsn, path, trigger) {
                cx.paths[path.index()].stats.lost_timeout += 1;
                first = first.or(Some(cause));
            }
        }
        self.scratch = gone;
        let copies = self.lose_copies(cx, now, path, trigger);
        first.or(copies)
    }

    /// Starts a timer if data are outstanding and none runs. Without a timer, no later event might occur.
    pub fn keep_a_timer(&mut self, cx: &mut Context, now: Instant) {
        let waits = !self.rq.is_empty() && self.rq.lost().is_empty() && !self.forward.is_pending();
        if waits && cx.paths.seen().in_flight() == 0 && cx.paths.iter().all(|p| p.t3.is_none()) {
            let path = cx.paths.seen().control_path().index();
            if path < cx.paths.len() {
                cx.paths[path].t3 = Some(now + cx.paths.view(path).rto);
            }
        }
    }

    /// Handles the first answer on a path after a total silence. All chunks sent before `sent` are declared lost.
    /// Chunks on other paths would otherwise wait for timers that were backed off. The retransmission timeouts are
    /// again computed from the round-trip time.
    pub fn resume(&mut self, cx: &mut Context, now: Instant, path: PathId, sent: Instant) {
        if !cx.silence.take_ended() {
            return;
        }
        for i in 0..cx.paths.len() {
            let other = PathId(i as u8);
            if !cx.is_open(other) {
                continue;
            }
            path::forget_back_off(cx.paths.view_mut(i), &cx.config);
            self.lose_older(cx, now, other, if other == path { sent } else { now });
            let rto = cx.paths.view(i).rto;
            cx.paths[i].t3 = (cx.paths.view(i).in_flight > 0).then_some(now + rto);
            // This path failed together with the other one. Its own heartbeats show whether it works again.
            let view = cx.paths.view(i);
            if other != path && view.error_count > 0 && view.state == PathState::Active {
                cx.set_path_state(now, other, PathState::PotentiallyFailed);
            }
        }
        self.forward.tell_again(now, cx.paths.view(path.index()).rto);
        self.keep_a_timer(cx, now);
        cx.offer_burst(now);
    }

    /// Declares all chunks lost that were sent on `path` before `sent`. This declaration of losses signals no
    /// congestion.
    fn lose_older(&mut self, cx: &mut Context, now: Instant, path: PathId, sent: Instant) {
        for tsn in self.rq.sent_before(path, sent) {
            if self.lose(cx, now, tsn, path, LossTrigger::Timeout).is_some() {
                cx.paths[path.index()].stats.lost_timeout += 1;
            }
        }
        self.rq.prune(path);
    }

    /// Gives up the message of chunk `tsn` (RFC 3758 §3.5), or only the symbol in it.
    pub fn abandon(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, cause: DropCause) {
        let Some(chunk) = self.rq.get(tsn) else { return };
        if chunk.carries != Carries::Message {
            return self.abandon_symbol(cx, now, tsn);
        }
        cx.note_dropped(self.begun(chunk, cause));
        let message = chunk.message;
        let mut first = tsn;
        while self.rq.get(first - 1).is_some_and(|c| c.message == message) {
            first = first - 1;
        }
        let mut t = first;
        let mut ended = false;
        while let Some(c) = self.rq.get(t).filter(|c| c.message == message) {
            ended = c.end;
            self.abandon_chunk(cx, now, t);
            t += 1;
        }
        if !ended {
            self.abandon_rest(cx, message);
        }
        self.advance_forward(cx, now, self.rq.cum_acked());
    }

    /// Gives up a symbol. The message of the symbol, if any, is not given up.
    pub fn abandon_symbol(&mut self, cx: &mut Context, now: Instant, tsn: Tsn) {
        self.abandon_chunk(cx, now, tsn);
        self.advance_forward(cx, now, self.rq.cum_acked());
    }

    fn abandon_chunk(&mut self, cx: &mut Context, now: Instant, tsn: Tsn) {
        if let (Some(Coder::Repair(repair)), Some(header)) =
            (&mut self.coder, self.rq.get(tsn).and_then(|c| c.header))
        {
            repair.abandoned(&header);
        }
        let Some(info) = self.rq.abandon(cx.paths.seen_mut(), tsn) else { return };
        cx.signal(now, &Signal::Abandoned(info));
        for i in 0..cx.paths.len() {
            self.rq.prune(PathId(i as u8));
            if cx.paths.view(i).in_flight == 0 {
                cx.paths[i].t3 = None;
                cx.paths[i].tail.at = None;
            }
        }
    }

    /// Gives up the unsent rest of a message of which a part was sent. If the peer has acknowledged every sent chunk of
    /// the message, only a further TSN can report that the rest will not arrive. For this report, an empty placeholder
    /// takes a further TSN and is abandoned at once.
    fn abandon_rest(&mut self, cx: &mut Context, message: u64) {
        if let Some(rest) = self.buffer.drop_rest(message) {
            self.pending_chunk = None;
            self.rq.push(cx.paths.seen_mut(), placeholder(self.rq.next_tsn(), rest));
        }
    }

    /// Drops queued messages whose lifetime is over. A part of the first of them may have been sent.
    pub fn expire_queued(&mut self, cx: &mut Context, now: Instant) {
        let mut expired = false;
        self.buffer.expire(now, |m| {
            cx.note_dropped(unsent(m, DropCause::Expired));
            expired = true;
        });
        if expired {
            self.pending_chunk = None;
            self.room_may_return(cx);
        }
        if let Some(message) = self.buffer.begun_and_late(now)
            && cx.peer.partial
        {
            self.abandon_begun(cx, now, message, DropCause::Expired);
            self.room_may_return(cx);
        }
    }

    /// Gives up `message`, of which some chunks were already sent.
    pub(super) fn abandon_begun(&mut self, cx: &mut Context, now: Instant, message: u64, cause: DropCause) {
        let sent = self.rq.iter().rev().find(|c| c.message == message).map(|c| c.info.tsn);
        match sent {
            Some(tsn) => self.abandon(cx, now, tsn, cause),
            None => {
                let begun = self.buffer.begun().filter(|m| m.id == message);
                begun.into_iter().for_each(|m| cx.note_dropped(unsent(m, cause)));
                self.abandon_rest(cx, message);
                self.advance_forward(cx, now, self.rq.cum_acked());
            }
        }
    }

    /// Gives up the first message of an importance, as the scheduler decided. Returns `false` if the message has no
    /// lifetime. Also returns `false` if a part of the message was sent and the peer does not support RFC 3758.
    pub(super) fn give_up_next(&mut self, cx: &mut Context, now: Instant, hopeless: Hopeless) -> bool {
        let Hopeless { importance, why } = hopeless;
        let cause = DropCause::Scheduler(why);
        if let Some(message) = self.buffer.give_up(importance) {
            cx.note_dropped(unsent(&message, cause));
        } else {
            let named = |i: Importance| importance.is_none_or(|named| named == i);
            let begun = self.buffer.begun().filter(|m| m.expires.is_some() && named(m.importance));
            let begun = begun.filter(|_| cx.peer.partial);
            let Some(message) = begun.map(|m| m.id) else { return false };
            self.abandon_begun(cx, now, message, cause);
        }
        self.room_may_return(cx);
        true
    }
}
