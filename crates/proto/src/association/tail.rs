//! Tail probes (RFC 8985 §7, per path): when nothing sent on a path is acknowledged any more, something is sent again before
//! its timer expires, so that the acknowledgement tells what was lost ([`crate::config::TransportConfig::tail_probes`]).

use super::Association;
use crate::policy::{LossCause, LossTrigger, PathId, PathState, Signal, Transmission};
use crate::time::{Duration, Instant};
use crate::tx::{ChunkState, Outstanding};
use crate::wire::chunk::Sack;
use crate::wire::serial::Tsn;

/// A SACK with more gap blocks tells of a queue that was overrun, not of a lost tail or of a timeout that came too early; it has
/// no room for all that arrived.
pub(super) const MANY_GAPS: usize = 64;

/// A path that has brought no acknowledgement back for so long may have a dead way back: those that come by others count.
const OWN_TRIP: Duration = Duration::from_secs(1);

/// The tail probe of a path. One leaves after the last progress at most.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// When it is due.
    pub at: Option<Instant>,
    /// It left, and nothing was acknowledged on the path since.
    pub spent: bool,
    /// What was sent again on this path, and when, until it is answered.
    probe: Option<(Tsn, Instant)>,
    /// When an acknowledgement last came back by this path itself and gave a round trip.
    own_trip: Option<Instant>,
}

impl Association {
    /// How long an acknowledgement may take: two round trips, one and a half if there is another path to go on by, more if
    /// they vary, and the peer's delay if what is in flight may be too little for it to acknowledge at once (RFC 8985 §7.2).
    fn probe_timeout(&self, path: PathId) -> Option<Duration> {
        let v = self.paths.view(path.index());
        let trip = v.srtt.filter(|_| self.config.tail_probes)?;
        let more = if self.paths.usable().len() > 1 { trip / 2 } else { trip };
        // What fits fewer packets than the peer acknowledges at once may wait for more.
        let waits = v.in_flight <= u64::from(self.config.sack_frequency.saturating_sub(1)) * v.mtu;
        let delay = if waits { self.config.sack_delay } else { Duration::ZERO };
        Some(trip + more.max(4 * v.rttvar) + delay)
    }

    /// Data left on `path`.
    pub(super) fn arm_tail(&mut self, now: Instant, path: PathId) {
        if !self.config.tail_probes || self.paths[path.index()].tail.spent {
            return;
        }
        if self.paths[path.index()].tail.at.is_none() {
            self.paths[path.index()].tail.at = self.probe_timeout(path).map(|wait| now + wait);
        }
    }

    /// Something sent on `path` was acknowledged, the newest at `newest`, or nothing is in flight there any more.
    pub(super) fn restart_tail(&mut self, now: Instant, path: PathId, newest: Option<Instant>) {
        let view = self.paths.view(path.index());
        let wait = if view.in_flight > 0 { self.probe_timeout(path) } else { None };
        let least = now + view.srtt.unwrap_or_default() / 2;
        let at = wait.map(|wait| (self.silent_since(now, path, newest) + wait).max(least));
        let tail = &mut self.paths[path.index()].tail;
        (tail.at, tail.spent) = (at, false);
    }

    /// From when on `path` is silent. If there is another path to go on by: since the chunk that is to be acknowledged next left,
    /// unless it left before `newest` and may be lost. Else RFC 8985 counts from the last acknowledgement.
    fn silent_since(&self, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
        let next = self.paths[path.index()].originals.front().and_then(|tsn| self.tx.outstanding.get(*tsn));
        let here = next.and_then(|chunk| chunk.info.transmissions.iter().find(|t| t.path == path));
        let left = here.map(|t| t.at);
        let several = self.paths.usable().len() > 1;
        let left = left.filter(|left| several && newest.is_some_and(|newest| *left >= newest));
        left.unwrap_or_else(|| self.expected(now, path, newest))
    }

    /// From when on the next acknowledgement of `path` is waited for, after one of what left at `newest`: from when that one
    /// was to be expected. If it came later, those before it were lost, and the path may be why.
    pub(super) fn expected(&self, now: Instant, path: PathId, newest: Option<Instant>) -> Instant {
        let trip = self.paths.view(path.index()).srtt.filter(|_| self.config.tail_probes);
        newest.zip(trip).map_or(now, |(sent, trip)| now.min(sent + trip))
    }

    /// Whether a round trip of `path` is a measure of it; notes when the last one came back by the path itself. One that came back
    /// by another path and took longer than usual is none: acknowledgements that came back by this one were lost before it.
    pub(super) fn trip_counts(&mut self, now: Instant, back: PathId, path: PathId, rtt: Duration) -> bool {
        let p = &mut self.paths[path.index()];
        if back == path {
            p.tail.own_trip = Some(now);
            return true;
        }
        let lately = p.tail.own_trip.is_some_and(|at| now - at < OWN_TRIP);
        let usual = self.paths.view(path.index()).rto_raw();
        !(self.config.tail_probes && lately && usual.is_some_and(|usual| rtt > usual))
    }

    /// The probe of `path` is due. The earliest chunk goes by another path if one works, for it may be this one that does not;
    /// the latest goes here. T3-rtx waits for the answer.
    pub(super) fn on_tail(&mut self, now: Instant, path: PathId) {
        let i = path.index();
        self.paths[i].tail.at = None;
        self.prune(path);
        let (earliest, latest) = (self.earliest_outstanding(path), self.highest_in_flight(path));
        let (Some(earliest), Some(latest)) = (earliest, latest) else { return };
        let overrun = self.tx.outstanding.gaps_reported() > MANY_GAPS;
        if overrun || self.paths.view(i).state != PathState::Active || self.paths.seen().a_rwnd() == 0 {
            return;
        }
        self.paths[i].tail.spent = true;
        self.paths[i].stats.tail_probes += 1;
        let other = self.other_way(path);
        if let Some(other) = other.filter(|o| !self.in_flight_on(earliest, *o)) {
            self.send_again(earliest, other);
        }
        if other.is_some() && earliest == latest {
            self.paths[i].heartbeats.want();
        } else if self.in_flight_on(latest, path) {
            self.paths[i].tail.probe = Some((latest, now));
            self.send_again(latest, path);
        }
        let v = self.paths.view(i);
        let trip = v.srtt.unwrap_or_default();
        let answer = now + trip + (trip / 4).max(4 * v.rttvar) + self.config.sack_delay;
        self.paths[i].t3 = self.paths[i].t3.map(|t3| t3.max(answer));
    }

    /// The quickest other path on which nothing is amiss.
    fn other_way(&self, path: PathId) -> Option<PathId> {
        let usable = self.paths.usable();
        let fine = |v: &&crate::policy::PathView| {
            v.id != path
                && usable.contains(v.id)
                && v.error_count == 0
                && !self.paths[v.id.index()].tail.spent
        };
        self.paths.views().iter().filter(fine).min_by_key(|v| (v.srtt, v.id)).map(|v| v.id)
    }

    /// T3-rtx expired before a probe left: the probe goes first, and its answer is waited for. Timeouts of a round-trip
    /// time that rises quickly, or of a link that stalls, are told from losses by it.
    pub(super) fn probes_first(&mut self, now: Instant, path: PathId) -> bool {
        let i = path.index();
        let overrun = self.tx.outstanding.gaps_reported() > MANY_GAPS;
        if overrun || self.paths[i].tail.spent || self.paths.view(i).state != PathState::Active {
            return false;
        }
        if !self.config.tail_probes || self.paths.view(i).srtt.is_none() {
            return false;
        }
        self.paths[i].t3 = Some(now);
        self.on_tail(now, path);
        if !self.paths[i].tail.spent {
            self.paths[i].t3 = None;
        }
        self.paths[i].tail.spent
    }

    /// `path` goes on at other addresses: what is in flight is awaited for no longer than a tail probe would be, for it, or its
    /// acknowledgement, may have gone to the old ones.
    pub(super) fn leave_address(&mut self, now: Instant, path: PathId) {
        let wait = self.probe_timeout(path);
        let p = &mut self.paths[path.index()];
        p.tail.at = None;
        if let (Some(t3), Some(wait)) = (p.t3, wait) {
            p.t3 = Some(t3.min(now + wait));
        }
    }

    /// A SACK was read: what left well before a probe that it acknowledges, and is still missing, is lost (RFC 8985 §6.2); so
    /// is what the probe repaired, unless it came twice (§7.4).
    pub(super) fn tail_answered(&mut self, now: Instant, sack: &Sack) {
        for i in 0..self.paths.len() {
            let path = PathId(i as u8);
            let Some((tsn, sent)) = self.paths[i].tail.probe else { continue };
            if self.in_flight_on(tsn, path) {
                continue;
            }
            self.paths[i].tail.probe = None;
            let view = self.paths.view(i);
            let (least, trip) = (view.min_rtt.unwrap_or_default(), view.srtt.unwrap_or_default());
            let acked = self.tx.outstanding.get(tsn).is_none_or(|c| c.acked());
            if !acked || now - sent < least {
                continue;
            }
            let before = sent - trip / 4;
            for lost in self.sent_before(path, before) {
                // No timeout that is taken back later was the cause.
                let chunk = self.tx.outstanding.get_mut(lost);
                let sent = chunk
                    .and_then(|c| c.info.transmissions.iter_mut().find(|t| t.path == path && t.in_flight));
                sent.into_iter().for_each(|t| t.misses = u8::MAX);
                self.lose_by_misses(now, lost, path);
            }
            let twice = sack.duplicates().any(|d| d == tsn);
            if !twice && self.paths[i].recover.is_none_or(|r| tsn.is_after(r)) {
                let highest = self.highest_in_flight(path).unwrap_or(tsn);
                self.paths[i].recover = Some(highest);
                let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
                self.driver.signal(
                    self.paths.seen_mut(),
                    now,
                    &Signal::LossEvent { path, trigger, highest, cause },
                );
            }
        }
    }

    /// What is in flight on `path` since `sent` or before, in the order of TSNs of first transmissions, then the others.
    pub(super) fn sent_before(&self, path: PathId, sent: Instant) -> Vec<Tsn> {
        let p = &self.paths[path.index()];
        let again = p.retransmitted.iter().map(|(number, _)| Outstanding::tsn(number));
        let left = |t: &Transmission| t.path == path && t.in_flight;
        let old = |tsn: &Tsn| {
            let chunk = self.tx.outstanding.get(*tsn);
            // Of several transmissions here the last one counts.
            let last = chunk.and_then(|c| c.info.transmissions.iter().rfind(|t| left(t)));
            last.is_some_and(|t| t.at <= sent)
        };
        p.originals.iter().copied().chain(again).filter(old).collect()
    }

    /// `tsn` is acknowledged, after it was taken for lost (`was_lost`: and not sent again) or sent again. If a timeout took it for
    /// lost and the answer can only be to its first transmission, the timeout was spurious.
    pub(super) fn note_late(&mut self, now: Instant, tsn: Tsn, was_lost: bool) {
        let Some(chunk) = self.tx.outstanding.get(tsn) else { return };
        let [first, .., last] = &chunk.info.transmissions[..] else {
            // What was acknowledged once before says nothing of the timeout.
            let first = chunk.info.transmissions.first().filter(|_| was_lost && chunk.info.losses > 0);
            let late = first.filter(|t| self.paths[t.path.index()].undo.is_some_and(|at| t.at <= at));
            if let Some(path) = late.map(|t| t.path) {
                self.tx.acks[path.index()].late = Some(tsn);
            }
            return;
        };
        let Some(at) = self.paths[first.path.index()].undo.filter(|at| first.at <= *at) else { return };
        let least = self.paths.views().iter().filter_map(|v| v.min_rtt).min().unwrap_or_default();
        // Whatever was sent again since and could be answered by now may be what this answers.
        let answers = |t: &Transmission| t.at >= at && now - t.at >= least;
        if last.at >= at && !chunk.info.transmissions[1..].iter().any(answers) {
            self.tx.acks[first.path.index()].late = Some(tsn);
        }
    }

    /// A SACK acknowledges what a timeout of `path` took for lost although it arrived: the timeout was spurious, and
    /// what left after `late` is under way as before (RFC 5682's conclusion, without its wait). The window stays as the
    /// timeout left it; it grows as the acknowledgements come in.
    pub(super) fn undo_timeout(&mut self, now: Instant, path: PathId, late: Tsn) {
        let i = path.index();
        let Some(at) = self.paths[i].undo.take() else { return };
        let threshold = self.driver.scheme().threshold(path).max(1);
        let by_timeout = |tsn: &Tsn| {
            let chunk = self.tx.outstanding.get(*tsn).filter(|c| matches!(c.state, ChunkState::Lost(_)));
            let once =
                chunk.filter(|c| c.info.sent_once() && c.info.losses > 0).map(|c| &c.info.transmissions[0]);
            tsn.is_after(late) && once.is_some_and(|t| t.path == path && t.at <= at && t.misses < threshold)
        };
        let back: Vec<Tsn> = self.tx.lost.iter().copied().filter(by_timeout).collect();
        self.paths[i].stats.spurious_timeouts += 1;
        for &tsn in back.iter().rev() {
            if self.paths[i].originals.front().is_some_and(|f| !tsn.is_before(*f)) {
                continue;
            }
            self.paths[i].originals.push_front(tsn);
            self.tx.outstanding.set_state(tsn, ChunkState::InFlight);
            let Some(chunk) = self.tx.outstanding.get_mut(tsn) else { continue };
            chunk.info.transmissions[0].in_flight = true;
            chunk.info.losses = chunk.info.losses.saturating_sub(1);
            let len = chunk.info.len;
            self.paths.seen_mut().enter(path, len);
            self.paths[i].stats.lost_timeout -= 1;
        }
        let outstanding = &self.tx.outstanding;
        let lost = |t: &Tsn| outstanding.get(*t).is_some_and(|c| matches!(c.state, ChunkState::Lost(_)));
        self.tx.lost.retain(lost);
        self.tx.pick = None;
        self.path_answered(now, path);
        if self.paths.view(i).in_flight > 0 {
            self.paths[i].t3 = Some(now + self.paths.view(i).rto);
        }
        self.restart_tail(now, path, None);
    }
}
