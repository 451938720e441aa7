//! Acknowledgements: what a SACK says of each chunk and path (RFC 9260 §6.2.1, §6.3.2, §7.2.4).

use super::Association;
use super::copies::Divided;
use super::event::CloseReason;
use super::path_ack::{PathAck, higher, lower};
use super::tail::MANY_GAPS;
use crate::path;
use crate::policy::{AckInfo, LossTrigger, PathId, PathSet, PathState, Signal};
use crate::time::{Duration, Instant};
use crate::tx::{ChunkState, Outstanding};
use crate::wire::Cause;
use crate::wire::chunk::{Sack, SackHeader};
use crate::wire::serial::Tsn;

impl Association {
    /// Takes a SACK that arrived on `on`.
    pub(super) fn on_sack(&mut self, now: Instant, sack: &Sack, on: PathId) {
        self.settle_due(now);
        self.take_ack(now, sack, on, true);
        self.forget_arrivals();
    }

    /// The cumulative TSN of a SHUTDOWN: it says nothing of gaps and window.
    pub(super) fn on_cumulative_ack(&mut self, now: Instant, cum: Tsn, on: PathId) {
        let a_rwnd = u32::try_from(self.paths.seen().a_rwnd()).unwrap_or(u32::MAX);
        let header = SackHeader { cumulative_tsn_ack: cum, a_rwnd, flags: 0 };
        self.take_ack(now, &Sack::new(header, &[], &[]), on, false);
    }

    fn take_ack(&mut self, now: Instant, sack: &Sack, on: PathId, whole: bool) {
        let cum_before = self.tx.outstanding.cum_acked();
        let highest_sent = self.tx.outstanding.next_tsn() - 1;
        if sack.header.cumulative_tsn_ack.is_before(cum_before) {
            self.stats.old_sacks += 1;
            return;
        }
        if sack.header.cumulative_tsn_ack.is_after(highest_sent) {
            self.stats.bad_chunks += 1;
            if !whole {
                return;
            }
            // The peer has data we never sent and takes ours for duplicates: only a new association helps.
            let text = format!("an acknowledgement beyond TSN {highest_sent}, the last that was sent");
            self.abort_with(Cause::ProtocolViolation(text.clone().into()), CloseReason::Protocol(text));
            return;
        }
        self.begin(sack, on, cum_before);
        self.acknowledge(now, sack, on);
        if sack.ordered_gap_blocks().nth(MANY_GAPS).is_some() {
            // What such a list has no room for arrived long before it is reported.
            self.tx.acks.iter_mut().for_each(|a| a.late = None);
        }
        if whole {
            self.tx.outstanding.remember(sack);
            self.paths.seen_mut().set_a_rwnd(u64::from(sack.header.a_rwnd));
            self.tx.probing_zero_window &= sack.header.a_rwnd == 0;
            if sack.header.a_rwnd == 0 {
                self.tx.zero_window_answered.insert(on);
            }
        }
        self.driver.set_held(false);
        self.finish(now);
        if self.tx.was_full && self.config.buffer_limit.is_some() {
            self.fit_send_buffer(now);
            self.room_may_return();
        }
        self.count_misses(now);
        self.tail_answered(now, sack);
        self.advance_peer_ack(now, sack.header.cumulative_tsn_ack);
        self.refill_bursts(now);
        self.keep_a_timer(now);
        if let Some(path) = self.tx.acks.iter().find(|a| a.alive).map(|a| a.info.path) {
            let trip = self.paths.view(path.index()).min_rtt.unwrap_or_default();
            self.resume(now, path, now - trip);
        }
    }

    /// Starts the collection: one record a path slot.
    fn begin(&mut self, sack: &Sack, on: PathId, cum_before: Tsn) {
        let last_gap = sack.ordered_gap_blocks().last().map_or(0, |b| b.end);
        let mut acks = core::mem::take(&mut self.tx.acks);
        acks.clear();
        for i in 0..self.paths.len() {
            let path = PathId(i as u8);
            self.prune(path);
            let earliest = self.earliest_on(path);
            let settled = core::mem::take(&mut self.paths[i].settled);
            let (p, view) = (&self.paths[i], self.paths.view(i));
            acks.push(PathAck {
                info: AckInfo {
                    path,
                    return_path: on,
                    cum_tsn: sack.header.cumulative_tsn_ack,
                    cum_advanced: sack.header.cumulative_tsn_ack.is_after(cum_before),
                    pseudo_cum_advanced: settled.front,
                    rtx_pseudo_cum_advanced: false,
                    earliest_outstanding: None,
                    newly_acked: settled.bytes,
                    newly_acked_chunks: settled.chunks,
                    newly_acked_again: 0,
                    flight_before: view.in_flight + settled.bytes,
                    all_acked: false,
                    rtt: None,
                    newest_sent: settled.newest,
                    newly_acked_range: None,
                    highest_newly_acked: None,
                    highest_reported: sack.header.cumulative_tsn_ack + u32::from(last_gap),
                    paths_newly_acked: 0,
                    dac_count: if self.paths.seen().peer_reports() { sack.header.flags.max(1) } else { 1 },
                },
                fronts: (p.originals.front().copied(), p.retransmitted.first().map(Outstanding::tsn)),
                earliest,
                settled_front: settled.front,
                alive: settled.chunks > 0,
                late: None,
            });
        }
        self.tx.acks = acks;
    }

    /// Credits everything the SACK covers and none before it did.
    fn acknowledge(&mut self, now: Instant, sack: &Sack, on: PathId) {
        let cum = sack.header.cumulative_tsn_ack;
        while let Some(first) = self.tx.outstanding.front() {
            let tsn = first.info.tsn;
            if tsn.is_after(cum) {
                break;
            }
            self.credit(now, tsn, on);
            let chunk = self.tx.outstanding.pop().expect("front was there");
            self.chunk_delivered(&chunk);
        }
        let last = self.tx.outstanding.next_tsn() - 1;
        for block in sack.ordered_gap_blocks() {
            let (mut from, to) = (cum + u32::from(block.start), lower(cum + u32::from(block.end), last));
            while let Some(tsn) = self.tx.outstanding.next_open(from, to) {
                self.credit(now, tsn, on);
                self.tx.outstanding.cover(tsn);
                from = tsn + 1;
            }
        }
    }

    /// Takes one acknowledged TSN, by cumulative TSN or gap block, once.
    fn credit(&mut self, now: Instant, tsn: Tsn, on: PathId) {
        let Some(chunk) = self.tx.outstanding.get(tsn) else { return };
        let was_lost = match chunk.state {
            ChunkState::GapAcked | ChunkState::Abandoned => return,
            ChunkState::Lost(_) => true,
            ChunkState::InFlight => false,
        };
        let (len, again) = (chunk.info.len, !chunk.info.sent_once());
        let divided = if again { self.divide(tsn) } else { Divided::One };
        let chunk = self.tx.outstanding.get_mut(tsn).expect("just seen");
        let mut credited = PathSet::default();
        for t in chunk.info.transmissions.iter_mut().filter(|t| t.in_flight) {
            t.in_flight = false;
            if again {
                self.paths[t.path.index()].retransmitted.leave(tsn);
            }
            self.paths.seen_mut().leave(t.path, len);
            let ack = &mut self.tx.acks[t.path.index()];
            if again {
                if divided == Divided::Unknown || credited.contains(t.path) {
                    continue;
                }
                credited.insert(t.path);
            }
            ack.alive |= divided == Divided::Known;
            ack.credit(len);
            if !again || divided == Divided::Known {
                ack.info.newest_sent = ack.info.newest_sent.max(Some(t.at));
            }
        }
        let last = chunk.info.path();
        self.tx.acks[last.index()].info.newly_acked_again += u32::from(chunk.info.losses > 0);
        let one_path = !again || chunk.info.transmissions.iter().all(|t| t.path == last);
        if was_lost {
            self.tx.acks[last.index()].credit(len);
            self.stats.spurious += 1;
        }
        // Whose arrival this proves: the only path it was on, else the one the SACK came back by.
        if one_path {
            self.tx.acks[last.index()].arrived(tsn);
        } else if divided == Divided::Known {
            credited.iter().for_each(|p| self.tx.acks[p.index()].arrived(tsn));
        } else if chunk.info.on(on).is_some() {
            self.tx.acks[on.index()].arrived(tsn);
        }
        let ack = &mut self.tx.acks[last.index()];
        ack.alive |= one_path && !was_lost;
        let path = &mut self.paths[last.index()];
        if !again {
            path.stats.payload_acked += len - 16;
            if path.timed == Some(tsn) {
                path.timed = None;
                ack.info.rtt = Some(now - chunk.info.transmissions[0].at);
            }
        }
        if again || was_lost {
            self.note_late(now, tsn, was_lost);
        }
        self.tx.outstanding.set_state(tsn, ChunkState::GapAcked);
    }

    /// Round-trip times, error counts, timers and `Acked` signals, once everything is credited.
    fn finish(&mut self, now: Instant) {
        let mut acks = core::mem::take(&mut self.tx.acks);
        let highest = acks.iter().filter_map(|a| a.info.newly_acked_range).map(|r| r.1).reduce(higher);
        let newly = acks.iter().filter(|a| a.info.newly_acked > 0).count() as u8;
        for a in &mut acks {
            let path = a.info.path;
            let (front_original, front_again) = a.fronts;
            a.info.pseudo_cum_advanced |= front_original.is_some_and(|t| !self.in_flight_on(t, path));
            a.info.rtx_pseudo_cum_advanced = front_again.is_some_and(|t| !self.in_flight_on(t, path));
            self.prune(path);
            a.info.earliest_outstanding = self.earliest_outstanding(path);
            a.info.all_acked = self.paths.view(path.index()).in_flight == 0;
            a.info.highest_newly_acked = highest;
            a.info.paths_newly_acked = newly;
            if let Some(rtt) = a.info.rtt.filter(|rtt| self.trip_counts(now, a.info.return_path, path, *rtt))
            {
                path::sample(
                    self.paths.view_mut(path.index()),
                    &self.config,
                    rtt.max(Duration::from_nanos(1)),
                );
            }
            if a.alive {
                self.path_answered(now, path);
            }
            // While a probe is out, a chunk that may have arrived by another path says nothing of this one.
            let certain = a.info.newly_acked > 0 || a.info.all_acked;
            if certain || !self.paths[path.index()].tail.spent {
                self.update_t3(now, a);
            }
            if certain {
                self.restart_tail(now, path, a.info.newest_sent);
            }
            if let Some(late) = a.late {
                self.undo_timeout(now, path, late);
            }
        }
        if newly > 0 {
            // RFC 9260 §8.1: whichever way it came, the peer answers.
            self.tx.errors = 0;
        }
        for a in acks.iter().filter(|a| a.info.newly_acked > 0) {
            self.driver.signal(self.paths.seen_mut(), now, &Signal::Acked(&a.info));
        }
        self.tx.acks = acks;
    }

    /// RFC 9260 §6.3.2 R2, R3, for each path by its own earliest chunk, sent once or again: gap-acknowledged progress
    /// counts, else a path behind another path's gap would time out.
    fn update_t3(&mut self, now: Instant, ack: &PathAck) {
        let path = ack.info.path;
        if ack.info.all_acked {
            self.paths[path.index()].t3 = None;
            return;
        }
        let gone = |t: Tsn| !self.in_flight_on(t, path) && !self.is_unsettled(t, path);
        if ack.settled_front || ack.earliest.is_some_and(gone) {
            let view = self.paths.view(path.index());
            let from = self.expected(now, path, ack.info.newest_sent);
            let least = now + view.srtt.unwrap_or_default().min(view.rto);
            self.paths[path.index()].t3 = Some((from + view.rto).max(least));
        }
    }

    /// Miss indications for what the SACK leaves open, and losses from them (RFC 9260 §7.2.4).
    fn count_misses(&mut self, now: Instant) {
        let acks = core::mem::take(&mut self.tx.acks);
        let mut candidates = core::mem::take(&mut self.tx.scratch);
        for a in &acks {
            // In fast recovery a SACK that moves the cumulative TSN speaks of everything below what it reports.
            let reported = a.info.cum_advanced.then_some(a.info.highest_reported);
            let Some(highest) = reported.or(a.info.highest_newly_acked) else { break };
            let scope =
                self.driver.ask(self.paths.seen(), now, |scheme, view| scheme.miss_scope(view, &a.info));
            let path = &self.paths[a.info.path.index()];
            candidates.clear();
            let original = |t: &&Tsn| self.first_in_flight_on(**t, a.info.path);
            let missing = |t: &&Tsn| t.is_before(highest) && scope.first.admits(**t);
            candidates.extend(path.originals.iter().take_while(missing).filter(original));
            // Each left at or after those in front of it.
            let again = path.retransmitted.iter().take_while(|(_, next)| scope.again.admits(*next - 1));
            candidates.extend(again.map(|(n, _)| Outstanding::tsn(n)).filter(|t| t.is_before(highest)));
            for &tsn in &candidates {
                self.count_miss(now, tsn, &a.info);
            }
        }
        self.tx.acks = acks;
        self.tx.scratch = candidates;
    }

    fn count_miss(&mut self, now: Instant, tsn: Tsn, ack: &AckInfo) {
        let Some(chunk) = self.tx.outstanding.get_mut(tsn).filter(|c| c.state == ChunkState::InFlight) else {
            return;
        };
        if !chunk.info.transmissions.iter().any(|t| t.path == ack.path && t.in_flight) {
            return;
        }
        let misses =
            self.driver.ask(self.paths.seen(), now, |scheme, view| scheme.misses(view, ack, &chunk.info));
        if misses == 0 {
            return;
        }
        let threshold = self.driver.scheme().threshold(ack.path).max(1);
        let t = chunk.info.transmissions.iter_mut().find(|t| t.path == ack.path && t.in_flight);
        let t = t.expect("checked above");
        t.misses = t.misses.saturating_add(misses);
        if t.misses >= threshold {
            self.lose_by_misses(now, tsn, ack.path);
        }
    }

    pub(super) fn lose_by_misses(&mut self, now: Instant, tsn: Tsn, path: PathId) {
        let Some(cause) = self.lose(now, tsn, path, LossTrigger::FastRetransmit) else { return };
        let highest = self.highest_in_flight(path).unwrap_or(tsn);
        let p = &mut self.paths[path.index()];
        p.stats.lost_fast += 1;
        if p.recover.is_none_or(|r| tsn.is_after(r)) {
            p.recover = Some(highest);
            p.free_retransmit = true;
            let trigger = LossTrigger::FastRetransmit;
            self.driver.signal(
                self.paths.seen_mut(),
                now,
                &Signal::LossEvent { path, trigger, highest, cause },
            );
        }
    }

    /// Sender side of RFC 3758 §3.5 C1–C5: moves Advanced.Peer.Ack.Point over abandoned chunks.
    pub(super) fn advance_peer_ack(&mut self, now: Instant, cum: Tsn) {
        if self.tx.adv_peer_ack.is_before(cum) {
            self.tx.adv_peer_ack = cum;
        }
        let mut moved = false;
        loop {
            let next = self.tx.adv_peer_ack + 1;
            let passed = |s| matches!(s, ChunkState::Abandoned);
            if !self.tx.outstanding.get(next).is_some_and(|c| passed(c.state)) {
                break;
            }
            self.tx.adv_peer_ack = next;
            moved = true;
        }
        let ahead = self.tx.adv_peer_ack.is_after(self.tx.outstanding.cum_acked());
        self.tx.forward_due |= moved;
        self.tx.forward_tries = if moved { 0 } else { self.tx.forward_tries };
        if !ahead {
            self.tx.forward_due = false;
            self.tx.forward_timer = None;
        } else if moved || self.tx.forward_timer.is_none() {
            let rto = self.paths.view(self.paths.seen().control_path().index()).rto;
            self.tx.forward_timer = Some(now + rto);
        }
    }

    /// Max.Burst for the send opportunity that a SACK is (RFC 9260 §6.1 D). One that acknowledges a batch stands for the
    /// SACKs of every second packet which it replaces: with less, the flight could not grow in slow start.
    fn refill_bursts(&mut self, now: Instant) {
        let one = self.config.max_burst;
        for (i, a) in self.tx.acks.iter().enumerate() {
            let acked = if self.config.strict_rfc { 0 } else { a.info.newly_acked_chunks };
            self.paths[i].burst = one.max(one.saturating_mul(acked) / 2);
            self.paths.view_mut(i).blocked = self.paths[i].pace > now;
        }
    }

    /// Something that was sent on `path` alone arrived: it works.
    pub(super) fn path_answered(&mut self, now: Instant, path: PathId) {
        self.tx.errors = 0;
        let p = &mut self.paths[path.index()];
        (p.timed_out, p.answered) = (false, Some(now));
        if self.config.failed_after.is_some() && self.paths.view(path.index()).error_count > 0 {
            path::forget_back_off(self.paths.view_mut(path.index()), &self.config);
        }
        self.paths.view_mut(path.index()).error_count = 0;
        if matches!(self.paths.view(path.index()).state, PathState::PotentiallyFailed | PathState::Inactive) {
            self.set_path_state(now, path, PathState::Active);
        }
    }

    pub(super) fn in_flight_on(&self, tsn: Tsn, path: PathId) -> bool {
        let in_flight =
            |c: &crate::tx::Outgoing| c.info.transmissions.iter().any(|t| t.path == path && t.in_flight);
        self.tx.outstanding.get(tsn).is_some_and(in_flight)
    }

    /// Whether the first transmission of `tsn` on `path` is in flight: what `Path::originals` lists.
    fn first_in_flight_on(&self, tsn: Tsn, path: PathId) -> bool {
        let first =
            self.tx.outstanding.get(tsn).and_then(|c| c.info.transmissions.iter().find(|t| t.path == path));
        first.is_some_and(|t| t.in_flight)
    }

    /// Drops from the front of a path's lists what is no longer in flight there.
    pub(super) fn prune(&mut self, path: PathId) {
        while let Some(&t) = self.paths[path.index()].originals.front() {
            if self.first_in_flight_on(t, path) {
                break;
            }
            self.paths[path.index()].originals.pop_front();
        }
        let left = self.paths[path.index()].retransmitted.take_left();
        for &tsn in &left {
            if !self.in_flight_on(tsn, path) {
                self.paths[path.index()].retransmitted.remove(self.tx.outstanding.number(tsn));
            }
        }
        self.paths[path.index()].retransmitted.keep_left(left);
    }

    pub(super) fn earliest_outstanding(&self, path: PathId) -> Option<Tsn> {
        let p = &self.paths[path.index()];
        let again = p.retransmitted.lowest().map(Outstanding::tsn);
        again.into_iter().chain(p.originals.front().copied()).reduce(lower)
    }

    pub(super) fn highest_in_flight(&self, path: PathId) -> Option<Tsn> {
        let p = &self.paths[path.index()];
        let again = p.retransmitted.highest().map(Outstanding::tsn);
        let copies = p.unsettled.iter().map(|c| c.tsn);
        again.into_iter().chain(p.originals.back().copied()).chain(copies).reduce(higher)
    }
}

#[cfg(test)]
mod tests;
