//! Acknowledgements: the effects of a SACK on the sending half (RFC 9260 §6.2.1, §6.3.2, §7.2.4).

use super::Sender;
use crate::association::context::Context;
use crate::association::event::CloseReason;
use crate::association::sender::tail::{expected, trip_counts};
use crate::path;
use crate::policy::{AckInfo, LossTrigger, PathId, Signal};
use crate::time::{Duration, Instant};
use crate::tx::{AckOutcome, ChunkState, PathAck};
use crate::wire::Cause;
use crate::wire::chunk::{Sack, SackHeader};
use crate::wire::serial::Tsn;

impl Sender {
    /// Handles a SACK that arrived on `on`.
    pub fn on_sack(&mut self, cx: &mut Context, now: Instant, sack: &Sack, on: PathId) {
        self.settle_due(cx, now);
        self.take_ack(cx, now, sack, on, true);
        self.arrivals.forget();
    }

    /// Handles the cumulative TSN of a SHUTDOWN. A SHUTDOWN carries neither gap blocks nor a window.
    pub fn on_cumulative_ack(&mut self, cx: &mut Context, now: Instant, cum: Tsn, on: PathId) {
        let a_rwnd = u32::try_from(cx.paths.seen().a_rwnd()).unwrap_or(u32::MAX);
        let header = SackHeader { cumulative_tsn_ack: cum, a_rwnd, flags: 0 };
        self.take_ack(cx, now, &Sack::new(header, &[], &[]), on, false);
    }

    fn take_ack(&mut self, cx: &mut Context, now: Instant, sack: &Sack, on: PathId, whole: bool) {
        let cum_before = self.rq.cum_acked();
        let highest_sent = self.rq.next_tsn() - 1;
        if sack.header.cumulative_tsn_ack.is_before(cum_before) {
            cx.stats.old_sacks += 1;
            return;
        }
        if sack.header.cumulative_tsn_ack.is_after(highest_sent) {
            cx.stats.bad_chunks += 1;
            if !whole {
                return;
            }
            // The peer has data that this side never sent, and takes new data for duplicates: only a new association
            // helps.
            let text = format!("an acknowledgement beyond TSN {highest_sent}, the last that was sent");
            cx.abort_with(Cause::ProtocolViolation(text.clone().into()), CloseReason::Protocol(text));
            return;
        }
        let mut acked = self.rq.acknowledge(cx.paths.seen_mut(), now, sack, on, &self.arrivals);
        self.account_for_delay(cx, now, sack, on, &mut acked);
        self.delivered(cx, &acked);
        self.symbols_arrived(cx, now, &acked);
        self.learn_reordering(cx, now, &mut acked);
        self.take_outcome(cx, now, sack, on, whole, &acked);
        self.abandon_spent(cx, now);
        self.rq.recycle(acked);
    }

    fn delivered(&mut self, cx: &mut Context, acked: &AckOutcome) {
        cx.stats.messages_acked += acked.messages;
        cx.stats.spurious += acked.spurious;
        cx.stats.redundancy_sent += acked.needless;
        self.buffer.delivered(acked.delivered);
        if acked.chunks > 0 {
            self.room_may_return(cx);
        }
    }

    /// Advances the sender's forward point (RFC 3758 §3.5 C1–C5).
    pub(super) fn advance_forward(&mut self, cx: &Context, now: Instant, cum: Tsn) {
        let rto = cx.paths.view(cx.paths.seen().control_path().index()).rto;
        let keeps = cx.config.forward_past_acked || cx.peer.coding_out.is_some();
        self.forward.advance(now, &self.rq, cum, rto, keeps);
    }

    fn take_outcome(
        &mut self,
        cx: &mut Context,
        now: Instant,
        sack: &Sack,
        on: PathId,
        whole: bool,
        acked: &AckOutcome,
    ) {
        if whole {
            self.rq.remember(sack);
            cx.paths.seen_mut().set_a_rwnd(u64::from(sack.header.a_rwnd));
            self.probing_zero_window &= sack.header.a_rwnd == 0;
            if sack.header.a_rwnd == 0 {
                self.zero_window_answered.insert(on);
            }
        }
        cx.driver.wake();
        self.finish(cx, now, acked);
        if self.buffer.refused() && cx.config.buffer_limit.is_some() {
            self.fit_buffer(cx, now);
            self.room_may_return(cx);
        }
        self.count_misses(cx, now, acked);
        self.tail_answered(cx, now, sack);
        self.advance_forward(cx, now, sack.header.cumulative_tsn_ack);
        refill_bursts(cx, now, acked);
        self.keep_a_timer(cx, now);
        if let Some(path) = acked.paths.iter().find(|a| a.alive).map(|a| a.info.path) {
            let trip = cx.paths.view(path.index()).min_rtt.unwrap_or_default();
            self.resume(cx, now, path, now - trip);
        }
    }

    /// Completes the handling of a SACK after all chunks are credited to paths. The method updates round-trip times,
    /// error counts and timers, and sends `Acked` signals.
    fn finish(&mut self, cx: &mut Context, now: Instant, acked: &AckOutcome) {
        for a in &acked.paths {
            let path = a.info.path;
            cx.paths[path.index()].stats.payload_acked += a.payload;
            let back = a.info.return_path;
            if let Some((rtt, measured)) = a.info.rtt.zip(a.measured)
                && trip_counts(cx, now, back, path, measured)
            {
                let view = cx.paths.view_mut(path.index());
                path::sample_held(view, &cx.config, rtt.max(Duration::from_nanos(1)), measured);
            }
            if a.alive {
                cx.path_answered(now, path);
            }
            if let Some(discovery) =
                cx.paths[path.index()].discovery.as_mut().filter(|_| a.info.newly_acked > 0)
            {
                discovery.data_acked();
            }
            // While a probe is in flight, a chunk that may have arrived by another path proves nothing about this one.
            let certain = a.info.newly_acked > 0 || a.info.all_acked;
            if certain || !cx.paths[path.index()].tail.spent {
                self.update_t3(cx, now, a);
            }
            if certain {
                self.restart_tail(cx, now, path, a.info.newest_sent);
            }
            if let Some(late) = a.late {
                self.undo_timeout(cx, now, path, late);
            }
        }
        if acked.paths.iter().any(|a| a.info.newly_acked > 0) {
            // RFC 9260 §8.1: the peer answers, whatever the path.
            cx.errors = 0;
        }
        self.tell_delivered(cx, now, acked, None);
        for a in acked.paths.iter().filter(|a| a.info.newly_acked > 0) {
            self.tell_delivered(cx, now, acked, Some(a.info.path));
            cx.signal(now, &Signal::Acked(&a.info));
        }
    }

    /// Signals to the scheme which chunks are credited to `path`. `None` stands for chunks that are credited to no
    /// path.
    fn tell_delivered(&self, cx: &mut Context, now: Instant, acked: &AckOutcome, path: Option<PathId>) {
        let deliveries = &acked.deliveries;
        for (_, chunk) in deliveries.settled.iter().filter(|(p, _)| Some(*p) == path) {
            cx.signal(now, &Signal::Delivered { chunk, path });
        }
        for (tsn, _) in deliveries.credited.iter().filter(|(_, p)| *p == path) {
            let here = || self.rq.get(*tsn).map(|c| &c.info);
            if let Some(chunk) = deliveries.popped(*tsn).or_else(here) {
                cx.signal(now, &Signal::Delivered { chunk, path });
            }
        }
    }

    /// Updates T3-rtx for each path by RFC 9260 §6.3.2 R2 and R3. The earliest chunk of the path decides, whether it
    /// was sent once or several times. Progress by gap blocks also counts. A path would otherwise time out while its
    /// chunks wait for a chunk that is missing on another path.
    fn update_t3(&mut self, cx: &mut Context, now: Instant, ack: &PathAck) {
        let path = ack.info.path;
        if ack.info.all_acked {
            cx.paths[path.index()].t3 = None;
            return;
        }
        let gone = |t: Tsn| !self.rq.in_flight_on(t, path) && !self.rq.is_unsettled(t, path);
        if ack.settled_front || ack.earliest.is_some_and(gone) {
            let view = cx.paths.view(path.index());
            let from = expected(cx, now, path, ack.info.newest_sent);
            let least = now + view.srtt.unwrap_or_default().min(view.rto);
            cx.paths[path.index()].t3 = Some((from + view.rto).max(least));
        }
    }

    /// Counts miss indications for the chunks that the SACK does not acknowledge, and declares chunks lost (RFC 9260
    /// §7.2.4).
    fn count_misses(&mut self, cx: &mut Context, now: Instant, acked: &AckOutcome) {
        let mut candidates = core::mem::take(&mut self.scratch);
        for a in &acked.paths {
            // In fast recovery, a SACK that moves the cumulative TSN counts for everything below its highest reported
            // TSN.
            let reported = a.info.cum_advanced.then_some(a.info.highest_reported);
            let Some(highest) = reported.or(a.info.highest_newly_acked) else { break };
            let scope = cx.ask(now, |scheme, view| scheme.loss().miss_scope(view, &a.info));
            candidates.clear();
            self.rq.missing(a.info.path, highest, scope, &mut candidates);
            for &tsn in &candidates {
                self.count_miss(cx, now, tsn, &a.info);
            }
        }
        self.scratch = candidates;
    }

    fn count_miss(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, ack: &AckInfo) {
        if !self.rq.in_flight_on(tsn, ack.path) {
            return;
        }
        let Some(chunk) = self.rq.get(tsn).filter(|c| c.state == ChunkState::InFlight) else { return };
        let misses = cx.ask(now, |scheme, view| scheme.loss().misses(view, ack, &chunk.info));
        if misses == 0 {
            return;
        }
        let threshold = cx.driver.threshold(ack.path);
        if self.rq.count_misses(now, tsn, ack.path, misses, threshold) {
            self.check_overtaken(cx, now, tsn, ack.path);
        }
    }

    pub fn lose_by_misses(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, path: PathId) {
        let before = cx.paths.view(path.index()).limit;
        let Some(cause) = self.lose(cx, now, tsn, path, LossTrigger::FastRetransmit) else { return };
        let highest = self.rq.highest_in_flight(path).unwrap_or(tsn);
        cx.paths[path.index()].stats.lost_fast += 1;
        let begins = self.rq.begin_loss_event(path, tsn, highest);
        let trigger = LossTrigger::FastRetransmit;
        self.rq.note_losses(now, path, 1, begins.then_some(before), trigger);
        if begins {
            self.rq.free_retransmit(path, true);
            cx.signal(now, &Signal::LossEvent { path, trigger, highest, cause });
        }
    }

    /// Records for each path how long the peer may have delayed the SACK after the path's newest packet arrived. If a
    /// report of arrivals accompanies the SACK, the delay is exact. A SACK for [`TransportConfig::sack_frequency`]
    /// packets leaves when the last of these packets arrives. The newest packet of each path therefore waited from its
    /// own expected arrival to that last arrival. Any other SACK was delayed by at most SACK.Delay. The delay of a SACK
    /// is also bounded by the time since the previous SACK on the same path.
    ///
    /// [`TransportConfig::sack_frequency`]: crate::config::TransportConfig::sack_frequency
    fn account_for_delay(
        &self,
        cx: &mut Context,
        now: Instant,
        sack: &Sack,
        on: PathId,
        acked: &mut AckOutcome,
    ) {
        let Some(delay) = cx.config.peer_ack_delay() else { return };
        let before = cx.paths[on.index()].last_sack.replace(now);
        let most = before.map_or(delay, |at| delay.min(now.saturating_since(at)));
        let counted = match cx.paths.seen().peer_reports() {
            true => u32::from(sack.header.flags),
            false => acked.paths.iter().map(|a| a.info.newly_acked_chunks).sum(),
        };
        let arrival = |a: &PathAck| {
            let way = cx.paths.view(a.info.path.index()).srtt.unwrap_or_default() / 2;
            a.info.newest_sent.map(|sent| sent + way)
        };
        let prompt = counted >= cx.config.sack_frequency;
        let last = acked.paths.iter().filter_map(arrival).max().filter(|_| prompt);
        for i in 0..acked.paths.len() {
            let held = last.zip(arrival(&acked.paths[i])).map(|(last, own)| last.saturating_since(own));
            let a = &mut acked.paths[i];
            let exact = self.arrived.held(now, a.info.path);
            let held = exact.or(held).map_or(most, |held| held.min(delay));
            a.info.held = held;
            a.info.rtt = a.measured.map(|rtt| match cx.paths.view(a.info.path.index()).srtt {
                Some(usual) => usual.clamp(rtt.saturating_sub(held), rtt),
                None => rtt,
            });
        }
    }
}

/// Refills Max.Burst for the send opportunity that a SACK gives (RFC 9260 §6.1 D). A SACK that acknowledges a batch
/// replaces several SACKs, each of which acknowledges two packets. A SACK for a batch counts as the number of SACKs
/// that it replaces. Without this count, the data in flight could not grow in slow start.
fn refill_bursts(cx: &mut Context, now: Instant, acked: &AckOutcome) {
    for (i, a) in acked.paths.iter().enumerate() {
        let one = cx.max_burst(&cx.paths.view(i).limit);
        let acked = if cx.config.strict_rfc { 0 } else { a.info.newly_acked_chunks };
        cx.paths[i].burst = one.max(one.saturating_mul(acked) / 2);
        cx.paths.view_mut(i).blocked = cx.paths[i].pace > now;
    }
}

#[cfg(test)]
mod tests;
