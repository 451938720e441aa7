//! Tail probes (RFC 8985 §7, per path): when nothing sent on a path is acknowledged any more, something is sent again before
//! its timer expires, so that the acknowledgement tells what was lost ([`crate::config::TransportConfig::tail_probes`]).

use super::Sender;
use crate::association::context::Context;
use crate::policy::{LossCause, LossTrigger, PathId, PathState, PathView, Signal};
use crate::time::{Duration, Instant};
use crate::tx::MANY_GAPS;
use crate::wire::chunk::Sack;
use crate::wire::serial::Tsn;

/// A path that has brought no acknowledgement back for so long may have a dead return path: those that come by others
/// count.
const OWN_TRIP: Duration = Duration::from_secs(1);

impl Sender {
    /// How long an acknowledgement may take: two round trips, one and a half if there is another path to go on by, more if
    /// they vary, and the peer's delay if what is in flight may be too little for it to acknowledge at once (RFC 8985 §7.2).
    fn probe_timeout(&self, cx: &Context, path: PathId) -> Option<Duration> {
        let v = cx.paths.view(path.index());
        let trip = v.srtt.filter(|_| cx.config.tail_probes)?;
        let more = if cx.paths.usable().len() > 1 { trip / 2 } else { trip };
        // What fits fewer packets than the peer acknowledges at once may wait for more.
        let waits = v.in_flight <= u64::from(cx.config.sack_frequency.saturating_sub(1)) * v.mtu;
        let delay = if waits { peer_delay(cx) } else { Duration::ZERO };
        Some(trip + more.max(4 * v.rttvar) + delay)
    }

    /// Returns whether the chunk that leaves asks the peer to acknowledge at once (I bit, RFC 7053 §4.1): the last one of a burst,
    /// after which no message waits. The peer would hold the acknowledgement back for a packet that does not come soon, and a probe
    /// would leave meanwhile. A burst is at least as many packets as the peer acknowledges at once, with messages waiting
    /// after each but the last. A single packet asks for nothing: [`Self::probe_timeout`] counts the peer's delay for it, and
    /// the next packet of a steady stream brings the acknowledgement. `first`: the chunk is the first of its packet.
    pub fn asks_at_once(&mut self, cx: &Context, first: bool) -> bool {
        self.burst += u32::from(first);
        if !self.nothing_queued() {
            return false;
        }
        let packets = core::mem::take(&mut self.burst);
        cx.config.tail_probes && packets >= cx.config.sack_frequency
    }

    /// Data left on `path`.
    pub fn arm_tail(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        if !cx.config.tail_probes || cx.paths[path.index()].tail.spent {
            return;
        }
        if cx.paths[path.index()].tail.at.is_none() {
            cx.paths[path.index()].tail.at = self.probe_timeout(cx, path).map(|wait| now + wait);
        }
    }

    /// Something sent on `path` was acknowledged, the newest at `newest`, or nothing is in flight there any more.
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

    /// From when on `path` is silent. If there is another path to go on by: since the chunk that is to be acknowledged next left,
    /// unless it left before `newest` and may be lost. Else RFC 8985 counts from the last acknowledgement.
    fn silent_since(&self, cx: &Context, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
        let left = self.rq.front_sent(path);
        let several = cx.paths.usable().len() > 1;
        let left = left.filter(|left| several && newest.is_some_and(|newest| *left >= newest));
        left.unwrap_or_else(|| expected(cx, now, path, newest))
    }

    /// The probe of `path` is due. The earliest chunk goes by another path if one works, for it may be this one that does not;
    /// the latest goes here. T3-rtx waits for the answer.
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
            // What left there is sent once only: T3-rtx finds out.
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

    /// The quickest other path on which nothing is amiss.
    fn other_way(&self, cx: &Context, path: PathId) -> Option<PathId> {
        let usable = cx.paths.usable();
        let fine = |v: &&PathView| {
            v.id != path && usable.contains(v.id) && v.error_count == 0 && !cx.paths[v.id.index()].tail.spent
        };
        cx.paths.views().iter().filter(fine).min_by_key(|v| (v.srtt, v.id)).map(|v| v.id)
    }

    /// T3-rtx expired before a probe left: the probe goes first, and its answer is waited for. Timeouts of a round-trip
    /// time that rises quickly, or of a link that stalls, are distinguished from losses by it.
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

    /// `path` goes on at other addresses: what is in flight is awaited for no longer than a tail probe would be, for it, or its
    /// acknowledgement, may have gone to the old ones.
    pub fn leave_address(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        let wait = self.probe_timeout(cx, path);
        let p = &mut cx.paths[path.index()];
        p.tail.at = None;
        if let (Some(t3), Some(wait)) = (p.t3, wait) {
            p.t3 = Some(t3.min(now + wait));
        }
    }

    /// A SACK was read: what left well before a probe that it acknowledges, and is still missing, is lost (RFC 8985 §6.2); so
    /// is what the probe repaired, unless it came twice (§7.4).
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

    /// A SACK acknowledges what a timeout of `path` took for lost although it arrived: the timeout was spurious, and
    /// what left after `late` is under way as before (RFC 5682's conclusion, without its wait), and the window with it where
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on. Else the window stays as the timeout
    /// left it.
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

/// How long the peer may hold an acknowledgement back.
fn peer_delay(cx: &Context) -> Duration {
    cx.config.peer_ack_delay().unwrap_or(cx.config.sack_delay)
}

/// From when on the next acknowledgement of `path` is waited for, after one of what left at `newest`: from when that one
/// was to be expected. If it came later, those before it were lost, and the path may be why.
pub(super) fn expected(cx: &Context, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
    let trip = cx.paths.view(path.index()).srtt.filter(|_| cx.config.tail_probes);
    newest.zip(trip).map_or(now, |(sent, trip)| now.min(sent + trip))
}

/// Whether a round trip of `path` is a measure of it; notes when the last one came back by the path itself. One that came back
/// by another path and took longer than usual is none: acknowledgements that came back by this one were lost before it.
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
