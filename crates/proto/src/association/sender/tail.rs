//! Tail probes (RFC 8985 §7, per path): if acknowledgements of data on a path have stopped, a chunk is retransmitted
//! before the path's timer expires, and its acknowledgement reveals the losses
//! ([`crate::config::TransportConfig::tail_probes`]).

use super::Sender;
use crate::association::context::Context;
use crate::policy::{LossCause, LossTrigger, PathId, PathState, PathView, Signal};
use crate::time::{Duration, Instant};
use crate::tx::MANY_GAPS;
use crate::wire::chunk::Sack;
use crate::wire::serial::Tsn;

/// Time without an acknowledgement on a path after which its return path may be dead: acknowledgements that return by
/// other paths then also give round-trip times.
const OWN_TRIP: Duration = Duration::from_secs(1);

impl Sender {
    /// Time that an acknowledgement may take: two round trips, or one and a half if there is another path, and more if
    /// round-trip times vary. The peer's delay is added if the data in flight may be too few for an immediate
    /// acknowledgement (RFC 8985 §7.2).
    fn probe_timeout(&self, cx: &Context, path: PathId) -> Option<Duration> {
        let v = cx.paths.view(path.index());
        let trip = v.srtt.filter(|_| cx.config.tail_probes)?;
        let more = if cx.paths.usable().len() > 1 { trip / 2 } else { trip };
        // Data that fit fewer packets than the peer acknowledges at once may wait for more.
        let waits = v.in_flight <= u64::from(cx.config.sack_frequency.saturating_sub(1)) * v.mtu;
        let delay = if waits { peer_delay(cx) } else { Duration::ZERO };
        Some(trip + more.max(4 * v.rttvar) + delay)
    }

    /// Returns whether the chunk that leaves asks the peer to acknowledge at once (I bit, RFC 7053 §4.1). It does so in
    /// the last packet of a burst, after which no message waits. Otherwise the peer would delay the acknowledgement
    /// because it expects another packet, and a probe would leave in the meantime. A burst has at least the number of
    /// packets that the peer acknowledges at once, and messages waited after each packet but the last. A single packet
    /// does not ask: [`Self::probe_timeout`] includes the peer's delay for it, and in a steady stream the next packet
    /// causes the acknowledgement. `first` is true for the first chunk of a packet.
    pub fn asks_at_once(&mut self, cx: &Context, first: bool) -> bool {
        self.burst = self.burst.saturating_add(u32::from(first));
        if !self.nothing_queued() {
            return false;
        }
        let packets = core::mem::take(&mut self.burst);
        cx.config.tail_probes && packets >= cx.config.sack_frequency
    }

    /// Starts the tail timer after data left on `path`.
    pub fn arm_tail(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        if !cx.config.tail_probes || cx.paths[path.index()].tail.spent {
            return;
        }
        if cx.paths[path.index()].tail.at.is_none() {
            cx.paths[path.index()].tail.at = self.probe_timeout(cx, path).map(|wait| now + wait);
        }
    }

    /// Restarts the tail timer after data on `path` were acknowledged, or after the last data in flight on `path` were
    /// removed. `newest` is the departure time of the newest acknowledged data.
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

    /// Time since which `path` is silent. If there is another path, it is the time at which the next chunk to be
    /// acknowledged left, unless that chunk left before `newest` and may be lost. Otherwise RFC 8985 counts from the
    /// last acknowledgement.
    fn silent_since(&self, cx: &Context, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
        let left = self.rq.front_sent(path);
        let several = cx.paths.usable().len() > 1;
        let left = left.filter(|left| several && newest.is_some_and(|newest| *left >= newest));
        left.unwrap_or_else(|| expected(cx, now, path, newest))
    }

    /// Sends the probe of `path`. The earliest chunk leaves on another path if one works, because this path may be
    /// dead. The latest chunk leaves on this path, or a heartbeat if it is the same chunk. T3-rtx waits for the answer.
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

    /// Returns the quickest other path without a fault.
    fn other_way(&self, cx: &Context, path: PathId) -> Option<PathId> {
        let usable = cx.paths.usable();
        let fine = |v: &&PathView| {
            v.id != path && usable.contains(v.id) && v.error_count == 0 && !cx.paths[v.id.index()].tail.spent
        };
        cx.paths.views().iter().filter(fine).min_by_key(|v| (v.srtt, v.id)).map(|v| v.id)
    }

    /// Handles an expiry of T3-rtx before a probe has left. The probe leaves first, and its answer is awaited. The
    /// answer distinguishes losses from timeouts that a quickly rising round-trip time or a stalled link causes.
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

    /// Handles the move of `path` to other addresses: the acknowledgement of data in flight is awaited no longer than
    /// the answer to a tail probe, because the data or the acknowledgement may have gone to the old addresses.
    pub fn leave_address(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        let wait = self.probe_timeout(cx, path);
        let p = &mut cx.paths[path.index()];
        p.tail.at = None;
        if let (Some(t3), Some(wait)) = (p.t3, wait) {
            p.t3 = Some(t3.min(now + wait));
        }
    }

    /// Handles a SACK that acknowledges a probe. Missing chunks that left well before the probe are lost (RFC 8985
    /// §6.2). The first transmission of the chunk that the probe repeated is also lost, unless the chunk arrived twice
    /// (§7.4).
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

    /// Handles a SACK for a chunk that a timeout of `path` declared lost although it arrived: the timeout was spurious.
    /// The chunks that left after `late` are in flight as before (the conclusion of RFC 5682, without its wait), and
    /// the window returns if [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on.
    /// Otherwise the window does not change.
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

/// Maximum time for which the peer may delay an acknowledgement.
fn peer_delay(cx: &Context) -> Duration {
    cx.config.peer_ack_delay().unwrap_or(cx.config.sack_delay)
}

/// Time from which the wait for the next acknowledgement of `path` counts, after an acknowledgement of a chunk that
/// left at `newest`. It is the time at which that acknowledgement was expected. If it arrived later, earlier
/// acknowledgements were lost, possibly on this path.
pub(super) fn expected(cx: &Context, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
    let trip = cx.paths.view(path.index()).srtt.filter(|_| cx.config.tail_probes);
    newest.zip(trip).map_or(now, |(sent, trip)| now.min(sent + trip))
}

/// Returns whether a round-trip time counts for `path`, and records the last one that returned by the same path. An
/// acknowledgement that returned by another path and took longer than usual does not count, because earlier
/// acknowledgements were lost on this path.
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
