//! Tail probes (RFC 8985 §7), for each path. If acknowledgements on a path have stopped, a chunk is retransmitted
//! before the path's timer expires. The acknowledgement of this retransmission reveals the losses
//! ([`crate::config::TransportConfig::tail_probes`]).

use super::Sender;
use crate::association::context::Context;
use crate::policy::{LossCause, LossTrigger, PathId, PathState, PathView, Signal};
use crate::time::{Duration, Instant};
use crate::tx::MANY_GAPS;
use crate::wire::chunk::Sack;
use crate::wire::serial::Tsn;

/// Time without an acknowledgement on a path after which its return path may be dead. Acknowledgements that return by
/// other paths then also count as round-trip times.
const OWN_TRIP: Duration = Duration::from_secs(1);

impl Sender {
    /// Returns the time that an acknowledgement may take: two round trips, or one and a half if there is another path.
    /// The time is longer if round-trip times vary. The peer's delay is added if there are too few data in flight for
    /// an immediate acknowledgement (RFC 8985 §7.2).
    fn probe_timeout(&self, cx: &Context, path: PathId) -> Option<Duration> {
        let v = cx.paths.view(path.index());
        let trip = v.srtt.filter(|_| cx.config.tail_probes)?;
        let more = if cx.paths.usable().len() > 1 { trip / 2 } else { trip };
        // Data that fit fewer packets than the peer acknowledges at once may wait for more.
        let waits = v.in_flight <= u64::from(cx.config.sack_frequency.saturating_sub(1)) * v.mtu;
        let delay = if waits { peer_delay(cx) } else { Duration::ZERO };
        Some(trip + more.max(4 * v.rttvar) + delay)
    }

    /// Returns whether the chunk to be sent asks the peer for an immediate acknowledgement (I bit, RFC 7053 §4.1). The
    /// chunk asks in the last packet of a burst, after which no message waits. Otherwise the peer would expect another
    /// packet and delay its acknowledgement, and a probe would be sent in the meantime. A burst has at least as many
    /// packets as the peer acknowledges at once. Messages waited after each of these packets except the last. A single
    /// packet does not ask. For a single packet, [`Self::probe_timeout`] includes the peer's delay. In a steady stream,
    /// the next packet causes the acknowledgement. `first` is true for the first chunk of a packet.
    pub fn asks_at_once(&mut self, cx: &Context, first: bool) -> bool {
        self.burst = self.burst.saturating_add(u32::from(first));
        if !self.nothing_queued() {
            return false;
        }
        let packets = core::mem::take(&mut self.burst);
        cx.config.tail_probes && packets >= cx.config.sack_frequency
    }

    /// Starts the tail timer after data were sent on `path`.
    pub fn arm_tail(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        if !cx.config.tail_probes || cx.paths[path.index()].tail.spent {
            return;
        }
        if cx.paths[path.index()].tail.at.is_none() {
            cx.paths[path.index()].tail.at = self.probe_timeout(cx, path).map(|wait| now + wait);
        }
    }

    /// Restarts the tail timer of `path`. The method is called after an acknowledgement of data on this path, or after
    /// the last data in flight on it were removed. `newest` is the time at which the newest acknowledged data were
    /// sent.
    pub fn restart_tail(&mut self, cx: &mut Context, now: Instant, path: PathId, newest: Option<Instant>) {
        let view = cx.paths.view(path.index());
        let wait = if view.in_flight > 0 { self.probe_timeout(cx, path) } else { None };
        // The next chunk takes as long as the newest did: a link that stood still delivers no sooner.
        let next =
            self.rq.front_sent(path).zip(newest).map(|(next, newest)| next + now.saturating_since(newest));
        let least = next.map_or(now, |next| next.max(now)) + view.srtt.unwrap_or_default() / 2;
        let at = wait.map(|wait| (self.silent_since(cx, now, path, newest) + wait).max(least));
        let tail = &mut cx.paths[path.index()].tail;
        (tail.at, tail.spent) = (at, false);
    }

    /// Returns the time since which `path` has been silent. If there is another path, the time counts from the sending
    /// of the next chunk to be acknowledged. A chunk sent before `newest` is excluded, because it may be lost. In all
    /// other cases, the time counts from the last acknowledgement, as in RFC 8985.
    fn silent_since(&self, cx: &Context, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
        let left = self.rq.front_sent(path);
        let several = cx.paths.usable().len() > 1;
        let left = left.filter(|left| several && newest.is_some_and(|newest| *left >= newest));
        left.unwrap_or_else(|| expected(cx, now, path, newest))
    }

    /// Sends the tail probe of `path`. The earliest chunk in flight is sent on another path if one works, because this
    /// path may be dead. The latest chunk in flight is sent on this path. If both are one chunk, a heartbeat is sent
    /// instead. T3-rtx is extended so that the answer can arrive.
    pub fn on_tail(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        let i = path.index();
        cx.paths[i].tail.at = None;
        self.rq.prune(path);
        let (earliest, latest) = (self.rq.earliest_outstanding(path), self.rq.highest_in_flight(path));
        let (Some(earliest), Some(latest)) = (earliest, latest) else { return };
        let once = |tsn: Tsn| self.rq.get(tsn).is_some_and(|c| c.never_again());
        let (earliest, latest) = match (once(earliest), once(latest)) {
            (false, false) => (earliest, latest),
            (true, false) => (latest, latest),
            (false, true) => (earliest, earliest),
            // Chunks that left there are sent only once: T3-rtx reveals their loss.
            (true, true) => return,
        };
        let overrun = self.rq.gaps_reported() > MANY_GAPS;
        if overrun || cx.paths.view(i).state != PathState::Active || cx.paths.seen().a_rwnd() == 0 {
            return;
        }
        cx.paths[i].tail.spent = true;
        cx.paths[i].stats.tail_probes += 1;
        let other = self.other_way(cx, path);
        if let Some(other) = other.filter(|o| !self.rq.in_flight_on(earliest, *o)) {
            self.send_again(cx, earliest, other);
        }
        if other.is_some() && earliest == latest {
            cx.paths[i].heartbeats.want();
        } else if self.rq.in_flight_on(latest, path) {
            cx.paths[i].tail.probe = Some((latest, now));
            self.send_again(cx, latest, path);
        }
        let v = cx.paths.view(i);
        let trip = v.srtt.unwrap_or_default();
        let answer = now + trip + (trip / 4).max(4 * v.rttvar) + peer_delay(cx);
        cx.paths[i].t3 = cx.paths[i].t3.map(|t3| t3.max(answer));
    }

    /// Returns the other path with the least round-trip time that shows no errors.
    fn other_way(&self, cx: &Context, path: PathId) -> Option<PathId> {
        let usable = cx.paths.usable();
        let fine = |v: &&PathView| {
            v.id != path && usable.contains(v.id) && v.error_count == 0 && !cx.paths[v.id.index()].tail.spent
        };
        cx.paths.views().iter().filter(fine).min_by_key(|v| (v.srtt, v.id)).map(|v| v.id)
    }

    /// Handles the case that T3-rtx expires before a tail probe was sent. The probe is sent first, and its answer is
    /// awaited. The answer separates losses from timeouts caused by a quickly rising round-trip time or a stalled link.
    pub fn probes_first(&mut self, cx: &mut Context, now: Instant, path: PathId) -> bool {
        let i = path.index();
        let overrun = self.rq.gaps_reported() > MANY_GAPS;
        if overrun || cx.paths[i].tail.spent || cx.paths.view(i).state != PathState::Active {
            return false;
        }
        if !cx.config.tail_probes || cx.paths.view(i).srtt.is_none() {
            return false;
        }
        cx.paths[i].t3 = Some(now);
        self.on_tail(cx, now, path);
        if !cx.paths[i].tail.spent {
            cx.paths[i].t3 = None;
        }
        cx.paths[i].tail.spent
    }

    /// Handles the move of `path` to other addresses. Data in flight or their acknowledgement may have gone to the old
    /// addresses. The acknowledgement is therefore awaited no longer than the answer to a tail probe.
    pub fn leave_address(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        let wait = self.probe_timeout(cx, path);
        let p = &mut cx.paths[path.index()];
        p.tail.at = None;
        if let (Some(t3), Some(wait)) = (p.t3, wait) {
            p.t3 = Some(t3.min(now + wait));
        }
    }

    /// Handles a SACK that acknowledges a tail probe. Missing chunks that were sent well before the probe are lost (RFC
    /// 8985 §6.2). The probe repeated a chunk. The first transmission of this chunk is also lost, unless the chunk
    /// arrived twice (RFC 8985 §7.4).
    pub fn tail_answered(&mut self, cx: &mut Context, now: Instant, sack: &Sack) {
        for i in 0..cx.paths.len() {
            let path = PathId(i as u8);
            let Some((tsn, sent)) = cx.paths[i].tail.probe else { continue };
            if self.rq.in_flight_on(tsn, path) {
                continue;
            }
            cx.paths[i].tail.probe = None;
            let view = cx.paths.view(i);
            let (least, trip) = (view.min_rtt.unwrap_or_default(), view.srtt.unwrap_or_default());
            let acked = self.rq.get(tsn).is_none_or(|c| c.acked());
            if !acked || now - sent < least {
                continue;
            }
            let window = self.reordering_window(cx, now, path);
            let before = sent - window.max(trip / 4);
            for lost in self.rq.sent_before(path, before) {
                self.lose_by_misses(cx, now, lost, path);
            }
            let twice = sack.duplicates().any(|d| d == tsn);
            let highest = self.rq.highest_in_flight(path).unwrap_or(tsn);
            if !twice && self.rq.begin_loss_event(path, tsn, highest) {
                let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
                cx.signal(now, &Signal::LossEvent { path, trigger, highest, cause });
            }
        }
    }

    /// Handles a SACK for a chunk that arrived although a timeout of `path` had declared it lost: the timeout was
    /// spurious. Chunks sent after `late` are in flight as before the timeout. This handling follows the conclusion of
    /// RFC 5682, without its wait. The window returns to its former size if
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on. If that option is off, the
    /// window does not change.
    pub fn undo_timeout(&mut self, cx: &mut Context, now: Instant, path: PathId, late: Tsn) {
        let i = path.index();
        let Some(undone) = self.rq.undo_timeout(cx.paths.seen_mut(), path, late) else { return };
        let stats = &mut cx.paths[i].stats;
        stats.spurious_timeouts += 1;
        stats.lost_timeout -= undone;
        self.pending_chunk = None;
        self.take_back_timeout(cx, now, path, undone as u32);
        cx.path_answered(now, path);
        if cx.paths.view(i).in_flight > 0 {
            cx.paths[i].t3 = Some(now + cx.paths.view(i).rto);
        }
        self.restart_tail(cx, now, path, None);
    }
}

/// Returns the longest time for which the peer may delay an acknowledgement.
fn peer_delay(cx: &Context) -> Duration {
    cx.config.peer_ack_delay().unwrap_or(cx.config.sack_delay)
}

/// Returns the time from which to measure the wait for the next acknowledgement of `path`. The last acknowledged chunk
/// was sent at `newest`. The time `newest` is the time at which the last acknowledgement was expected. If that
/// acknowledgement arrived later, earlier acknowledgements were lost, possibly on this path.
pub(super) fn expected(cx: &Context, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
    let trip = cx.paths.view(path.index()).srtt.filter(|_| cx.config.tail_probes);
    newest.zip(trip).map_or(now, |(sent, trip)| now.min(sent + trip))
}

/// Returns whether a round-trip time counts for `path`. Also records the last round-trip time whose acknowledgement
/// returned by `path` itself. If an acknowledgement returned by another path and took longer than usual, its round-trip
/// time does not count. In that case earlier acknowledgements were lost on `path`.
pub(super) fn trip_counts(cx: &mut Context, now: Instant, back: PathId, path: PathId, rtt: Duration) -> bool {
    let p = &mut cx.paths[path.index()];
    if back == path {
        p.tail.own_trip = Some(now);
        return true;
    }
    let lately = p.tail.own_trip.is_some_and(|at| now - at < OWN_TRIP);
    let usual = cx.paths.view(path.index()).rto_raw();
    !(cx.config.tail_probes && lately && usual.is_some_and(|usual| rtt > usual))
}
