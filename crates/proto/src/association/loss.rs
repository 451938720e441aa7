//! Losses: by miss indications or timeout, what becomes of them, and what partial reliability gives up.

use super::Association;
use super::event::CloseReason;
use crate::path;
use crate::policy::{LossCause, LossTrigger, PathId, PathState, Signal};
use crate::time::Instant;
use crate::tx::{ChunkState, Outgoing, Outstanding};
use crate::wire::Tsn;

impl Association {
    /// Takes one transmission of `tsn` out of flight. The chunk is lost when no other copy is under way.
    pub(super) fn lose(
        &mut self,
        now: Instant,
        tsn: Tsn,
        path: PathId,
        trigger: LossTrigger,
    ) -> Option<LossCause> {
        let chunk = self.tx.outstanding.get_mut(tsn)?;
        let t = chunk.info.transmissions.iter_mut().find(|t| t.path == path && t.in_flight)?;
        t.in_flight = false;
        if !chunk.info.sent_once() {
            self.paths[path.index()].retransmitted.leave(tsn);
        }
        chunk.info.losses = chunk.info.losses.saturating_add(1);
        self.paths.seen_mut().leave(path, chunk.info.len);
        let cause = self
            .driver
            .ask(self.paths.seen(), now, |scheme, view| scheme.classify(view, &chunk.info, trigger));
        if !chunk.info.transmissions.iter().any(|t| t.in_flight) {
            chunk.state = ChunkState::Lost(cause);
            self.tx.mark_lost(tsn);
        }
        let chunk = self.tx.outstanding.get(tsn).expect("just seen");
        self.driver.signal(self.paths.seen_mut(), now, &Signal::Lost(&chunk.info, cause));
        let p = &mut self.paths[path.index()];
        p.timed = p.timed.filter(|t| *t != tsn);
        Some(cause)
    }

    /// T3-rtx expired on `path` (RFC 9260 §6.3.3).
    pub(super) fn on_t3(&mut self, now: Instant, path: PathId) {
        self.paths[path.index()].t3 = None;
        let before = self.paths.view(path.index()).in_flight;
        self.settle_due(now);
        if before > 0 && self.paths.view(path.index()).in_flight == 0 {
            return self.keep_a_timer(now);
        }
        if self.paths[path.index()].t3.is_some() {
            return; // Its earliest copy counts as arrived: what follows has its own time.
        }
        // Copies whose TSN arrived otherwise are no reason to send anything again.
        if self.earliest_outstanding(path).is_some() && self.probes_first(now, path) {
            return;
        }
        let answered_probe = self.tx.probing_zero_window && self.tx.zero_window_answered.contains(path);
        self.tx.zero_window_answered.remove(path);
        if !answered_probe {
            self.paths[path.index()].stats.timeouts += 1;
        }
        path::back_off(self.paths.view_mut(path.index()), &self.config);
        let highest = self.highest_in_flight(path);
        let cause = self.lose_all(now, path, LossTrigger::Timeout);
        self.paths[path.index()].undo = Some(now).filter(|_| self.config.tail_probes);
        self.requeue_doubted();
        // RFC 5681 §3.1: what times out once more since nothing arrived is no further sign of congestion.
        let again = core::mem::replace(&mut self.paths[path.index()].timed_out, true);
        let told = answered_probe || (again && self.config.endured_silence.is_some());
        if let (Some(highest), Some(cause), false) = (highest, cause, told) {
            self.paths[path.index()].recover = Some(highest);
            let trigger = LossTrigger::Timeout;
            self.driver.signal(
                self.paths.seen_mut(),
                now,
                &Signal::LossEvent { path, trigger, highest, cause },
            );
        }
        self.paths[path.index()].burst = self.config.max_burst;
        self.paths.view_mut(path.index()).blocked = false;
        if !answered_probe {
            self.paths[path.index()].heartbeats.excuse();
            self.path_error(now, path);
        }
        self.paths[path.index()].tail.spent = false;
        self.keep_a_timer(now);
    }

    /// Everything in flight on `path` is lost; the first verdict.
    pub(super) fn lose_all(&mut self, now: Instant, path: PathId, trigger: LossTrigger) -> Option<LossCause> {
        let mut gone = core::mem::take(&mut self.tx.scratch);
        gone.clear();
        let p = &mut self.paths[path.index()];
        gone.extend(p.originals.drain(..));
        gone.extend(p.retransmitted.iter().map(|(number, _)| Outstanding::tsn(number)));
        p.retransmitted.clear();
        p.timed = None;
        p.tail.at = None;
        let mut first = None;
        for &tsn in &gone {
            if let Some(cause) = self.lose(now, tsn, path, trigger) {
                self.paths[path.index()].stats.lost_timeout += 1;
                first = first.or(Some(cause));
            }
        }
        self.tx.scratch = gone;
        let copies = self.lose_copies(now, path, trigger);
        first.or(copies)
    }

    /// Chunks that a SACK once covered and a later one did not: after a timeout they count as never acknowledged
    /// (RFC 9260 §6.2.1 D iii). When nothing else is left to send, any gap-acknowledged chunk does, so that a peer
    /// can not stall us with a gap it never closes.
    fn requeue_doubted(&mut self) {
        if self.tx.outstanding.gap_acked() == 0 {
            return;
        }
        let stalled =
            self.paths.seen().in_flight() == 0 && self.tx.lost.is_empty() && self.tx.forward_timer.is_none();
        let tsn = |c: &Outgoing| c.info.tsn;
        let doubted: Vec<Tsn> = match stalled {
            true => self.tx.outstanding.iter().filter(|c| c.acked()).map(tsn).collect(),
            false => self.tx.outstanding.doubted().map(tsn).collect(),
        };
        for tsn in doubted {
            self.tx.outstanding.set_state(tsn, ChunkState::Lost(LossCause::PathFailure));
            self.tx.mark_lost(tsn);
        }
    }

    /// While anything is outstanding some timer must run, or nothing would ever happen again.
    pub(super) fn keep_a_timer(&mut self, now: Instant) {
        let waits =
            !self.tx.outstanding.is_empty() && self.tx.lost.is_empty() && self.tx.forward_timer.is_none();
        if waits && self.paths.seen().in_flight() == 0 && self.paths.iter().all(|p| p.t3.is_none()) {
            let path = self.paths.seen().control_path().index();
            if path < self.paths.len() {
                self.paths[path].t3 = Some(now + self.paths.view(path).rto);
            }
        }
    }

    /// One more error in a row on `path` (RFC 9260 §8.1, §8.2, RFC 7829 §4.2).
    pub(super) fn path_error(&mut self, now: Instant, path: PathId) {
        let carries = self.paths.usable().contains(path);
        let view = self.paths.view_mut(path.index());
        view.error_count += 1;
        let (errors, state) = (view.error_count, view.state);
        // Only paths that carry data count against the association: one that is probed often while it is down must
        // not end an association whose other paths are merely idle.
        if carries && self.association_error(now) {
            return;
        }
        if self.paths.seen().peer_reports() || state == PathState::PotentiallyFailed {
            // It may be a NAT that forgot us: the heartbeat carries our name (see `still_here`).
            self.paths[path.index()].heartbeats.want();
        }
        let (suspect, failed) = self.verdicts(now, path, errors);
        match state {
            PathState::Active | PathState::PotentiallyFailed if failed => {
                self.set_path_state(now, path, PathState::Inactive);
            }
            PathState::Active if suspect => self.set_path_state(now, path, PathState::PotentiallyFailed),
            _ => {}
        }
    }

    /// One more error in a row of the association (RFC 9260 §8.1); whether that was the end of it.
    pub(super) fn association_error(&mut self, now: Instant) -> bool {
        self.tx.errors += 1;
        let dead = !self.silence_begins(now) && self.tx.errors > self.config.association_max_retrans;
        if dead {
            self.abort_for(CloseReason::Unreachable);
        }
        dead
    }

    /// Gives up the message of `tsn`, sent or not (RFC 3758 §3.5).
    pub(super) fn abandon(&mut self, now: Instant, tsn: Tsn) {
        let Some(message) = self.tx.outstanding.get(tsn).map(|c| c.message) else { return };
        let mut first = tsn;
        while self.tx.outstanding.get(first - 1).is_some_and(|c| c.message == message) {
            first = first - 1;
        }
        let mut t = first;
        let mut ended = false;
        while let Some(c) = self.tx.outstanding.get(t).filter(|c| c.message == message) {
            ended = c.end;
            self.abandon_chunk(now, t);
            t += 1;
        }
        if !ended {
            self.abandon_rest(message);
        }
        self.stats.messages_abandoned += 1;
        self.advance_peer_ack(now, self.tx.outstanding.cum_acked());
    }

    fn abandon_chunk(&mut self, now: Instant, tsn: Tsn) {
        let Some(c) = self.tx.outstanding.get_mut(tsn) else { return };
        for t in c.info.transmissions.iter_mut().filter(|t| t.in_flight) {
            t.in_flight = false;
            self.paths[t.path.index()].retransmitted.leave(tsn);
            self.paths.seen_mut().leave(t.path, c.info.len);
        }
        self.tx.outstanding.set_state(tsn, ChunkState::Abandoned);
        for p in self.paths.iter_mut() {
            p.timed = p.timed.filter(|t| *t != tsn);
        }
        let c = self.tx.outstanding.get(tsn).expect("just seen");
        self.driver.signal(self.paths.seen_mut(), now, &Signal::Abandoned(&c.info));
        for i in 0..self.paths.len() {
            self.prune(PathId(i as u8));
            if self.paths.view(i).in_flight == 0 {
                self.paths[i].t3 = None;
                self.paths[i].tail.at = None;
            }
        }
    }

    /// The unsent rest of a message some chunks of which were sent. If the peer has acknowledged all of those, only a
    /// TSN of its own can tell it that the rest never comes: an empty placeholder that is abandoned from the start.
    fn abandon_rest(&mut self, message: u64) {
        if self.tx.queue.partial().is_none_or(|m| m.id != message) {
            return;
        }
        let Some(rest) = self.tx.queue.drop_rest() else { return };
        self.tx.buffered -= rest.payload.len() - rest.sent;
        self.tx.pick = None;
        self.push_placeholder(rest);
    }

    /// Drops queued messages whose lifetime is over; the first may be sent in part.
    pub(super) fn expire_queued(&mut self, now: Instant) {
        let before = self.tx.queue.bytes();
        let expired = self.tx.queue.expire(now);
        if expired > 0 {
            self.stats.messages_expired += expired as u64;
            self.tx.buffered -= before - self.tx.queue.bytes();
            self.tx.pick = None;
            self.room_may_return();
        }
        let late = |m: &&crate::tx::QueuedMessage| m.expires.is_some_and(|e| e <= now);
        if let Some(message) = self.tx.queue.partial().filter(late).map(|m| m.id)
            && self.peer_partial
        {
            self.abandon_begun(now, message);
            self.room_may_return();
        }
    }

    /// Gives up `message`, of which some chunks were sent.
    fn abandon_begun(&mut self, now: Instant, message: u64) {
        let sent = self.tx.outstanding.iter().rev().find(|c| c.message == message).map(|c| c.info.tsn);
        match sent {
            Some(tsn) => self.abandon(now, tsn),
            None => {
                self.abandon_rest(message);
                self.stats.messages_abandoned += 1;
                self.advance_peer_ack(now, self.tx.outstanding.cum_acked());
            }
        }
    }

    /// The next message will not arrive in time, whatever becomes of it: gives it up; `false`: it has no lifetime, or was begun and
    /// the peer has no RFC 3758.
    pub(super) fn give_up_next(&mut self, now: Instant) -> bool {
        if let Some(bytes) = self.tx.queue.give_up() {
            self.stats.messages_expired += 1;
            self.tx.buffered -= bytes;
        } else {
            let begun = self.tx.queue.partial().filter(|m| m.expires.is_some() && self.peer_partial);
            let Some(message) = begun.map(|m| m.id) else { return false };
            self.abandon_begun(now, message);
        }
        self.room_may_return();
        true
    }

    /// A chunk left the outstanding queue for good.
    pub(super) fn chunk_delivered(&mut self, chunk: &Outgoing) {
        self.tx.buffered -= chunk.payload.len();
        if chunk.end && chunk.state != ChunkState::Abandoned {
            self.stats.messages_acked += 1;
        }
        self.room_may_return();
    }

    pub(super) fn room_may_return(&mut self) {
        if self.tx.was_full && self.tx.buffered <= self.tx.size.size / 4 * 3 {
            self.tx.was_full = false;
            self.events.push_back(super::Event::Writable);
        }
    }
}
