//! Reordering of packets on a path: the wait for an overtaken chunk before it counts as lost (the reordering window of
//! RFC 8985 §6.2). Losses that turn out to be spurious are reversed (RFC 4015).
//!
//! The window of a path is measured with chunks that arrive late. The window is the time from the first SACK that
//! misses a chunk to the acknowledgement of that chunk. A single miss indication does not prove lateness, because the
//! chunk that arrived may be a copy on another path. If packets keep their order, no chunk is late and the window is
//! zero. The third miss indication then decides as in RFC 9260 §7.2.4. For a chunk of a message with a lifetime, the
//! verdict comes early enough for a retransmission.

use super::Sender;
use crate::association::context::Context;
use crate::policy::{LossTrigger, PathId, Signal};
use crate::time::{Duration, Instant};
use crate::tx::AckOutcome;
use crate::wire::serial::Tsn;

impl Sender {
    /// Returns the reordering window of `path`. The window is at most the path's timeout without its bounds, after
    /// which a chunk counts as lost in any case.
    pub(super) fn reordering_window(&self, cx: &mut Context, now: Instant, path: PathId) -> Duration {
        if !cx.config.reordering {
            return Duration::ZERO;
        }
        let most = cx.paths.view(path.index()).rto_raw().unwrap_or(Duration::MAX);
        cx.paths[path.index()].reordering.window(now).min(most)
    }

    /// Handles the misses of chunk `tsn` on `path` when they reach the threshold. The chunk is declared lost, or its
    /// verdict waits for the reordering window.
    pub(super) fn check_overtaken(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, path: PathId) {
        let window = self.reordering_window(cx, now, path);
        let chunk = self.rq.get(tsn).map(|c| &c.info);
        let overtaken = chunk.and_then(|c| c.on(path)).and_then(|t| t.overtaken);
        let mut due = overtaken.map_or(now, |at| at + window);
        if due > now
            && let Some(left) = chunk.and_then(|c| c.expires).map(|at| at.saturating_since(now))
        {
            let usable = cx.paths.usable();
            let trips = cx.paths.views().iter().filter(|v| usable.contains(v.id)).filter_map(|v| v.srtt);
            let spare = left.saturating_sub(trips.min().unwrap_or_default());
            // A chunk that is late in any case may just as well wait.
            due = if spare.is_zero() { due } else { due.min(now + spare) };
        }
        if due <= now {
            return self.lose_by_misses(cx, now, tsn, path);
        }
        let at = &mut cx.paths[path.index()].reordering.at;
        *at = Some(at.map_or(due, |at| at.min(due)));
    }

    /// Decides on overtaken chunks of `path` whose reordering window has ended.
    pub fn on_reordering(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        let i = path.index();
        cx.paths[i].reordering.at = None;
        let (threshold, flight) = (cx.driver.threshold(path), cx.paths.view(i).in_flight);
        let mut overtaken = core::mem::take(&mut self.scratch);
        overtaken.clear();
        self.rq.overtaken(path, threshold, &mut overtaken);
        for &tsn in &overtaken {
            self.check_overtaken(cx, now, tsn, path);
        }
        self.scratch = overtaken;
        self.rq.prune(path);
        if flight > 0 && cx.paths.view(i).in_flight == 0 {
            cx.paths[i].t3 = None;
            self.restart_tail(cx, now, path, None);
        }
        self.abandon_spent(cx, now);
        self.keep_a_timer(cx, now);
    }

    /// Records arrivals of overtaken chunks and spurious losses, both of which a SACK shows.
    pub(super) fn learn_reordering(&mut self, cx: &mut Context, now: Instant, acked: &mut AckOutcome) {
        if !cx.config.reordering {
            return;
        }
        let least = cx.paths.seen().least_rtt();
        for a in &mut acked.paths {
            let path = a.info.path;
            let view = cx.paths.view(path.index());
            let (trip, rto) = (view.srtt.unwrap_or_default(), view.rto);
            let reordering = &mut cx.paths[path.index()].reordering;
            reordering.measured(least);
            if a.overtaken_for > Duration::ZERO {
                reordering.late_by(now, a.overtaken_for);
            }
            if a.seems_overtaken_for > Duration::ZERO {
                reordering.seems_late_by(now, a.seems_overtaken_for, least);
            }
            if a.needless_again {
                reordering.widen(now, trip);
            }
            // Half of the round-trip time may be jitter. More would leave no measurable queue.
            a.info.lateness = reordering.lateness(now).min(trip / 2);
            if a.spurious.is_empty() {
                continue;
            }
            let chunks = a.spurious.len() as u32;
            cx.paths[path.index()].stats.spurious_losses += u64::from(chunks);
            let mut before = None;
            for declared in a.spurious.drain(..) {
                before = self.rq.take_back(now, path, declared, rto).or(before);
            }
            let trigger = LossTrigger::FastRetransmit;
            cx.signal(now, &Signal::Spurious { path, trigger, chunks, before });
        }
    }

    /// Handles a spurious timeout of `path`. The timeout declared `chunks` chunks lost, and these chunks are in flight
    /// again.
    pub(super) fn take_back_timeout(&mut self, cx: &mut Context, now: Instant, path: PathId, chunks: u32) {
        if cx.config.reordering {
            let before = self.rq.take_back_timeout(path);
            cx.signal(now, &Signal::Spurious { path, trigger: LossTrigger::Timeout, chunks, before });
        }
    }
}
