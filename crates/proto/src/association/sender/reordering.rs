//! Reordering of packets on a path: how long a chunk that later ones overtook is waited for before it counts as lost (the
//! reordering window of RFC 8985 §6.2), and what is taken back when losses turn out to be spurious (RFC 4015).
//!
//! The window of a path is measured: how much later than the first SACK that missed it a chunk was acknowledged that arrived
//! after all. Where packets keep their order nothing is ever late, the window is zero, and the third miss indication decides as
//! in RFC 9260 §7.2.4. A chunk of a message with a lifetime is waited for at most until a retransmission would come too late.

use super::Sender;
use crate::association::context::Context;
use crate::policy::{PathId, Signal};
use crate::time::{Duration, Instant};
use crate::tx::AckOutcome;
use crate::wire::serial::Tsn;

/// Longest lateness: remembered for one to two of these. LEO handovers come every 15 s.
const MEMORY: Duration = Duration::from_secs(30);
/// Share of the longest lateness that is waited in addition: the next packet may be later than all before.
const MARGIN: u32 = 4;
/// Least step by which a spurious retransmission widens the window.
const LEAST_STEP: Duration = Duration::from_millis(2);

/// What is known of reordering on one path.
#[derive(Debug, Default)]
pub(crate) struct Reordering {
    /// Longest lateness since `since`, and in the period before.
    now: Duration,
    before: Duration,
    since: Instant,
    /// When the verdict on the next overtaken chunk is due.
    pub at: Option<Instant>,
}

impl Reordering {
    fn passes(&mut self, now: Instant) {
        let age = now.saturating_since(self.since);
        if age > MEMORY {
            let before = if age > 2 * MEMORY { Duration::ZERO } else { self.now };
            (self.since, self.before, self.now) = (now, before, Duration::ZERO);
        }
    }

    /// A chunk was acknowledged so long after it was first missed.
    fn late_by(&mut self, now: Instant, lateness: Duration) {
        self.passes(now);
        self.now = self.now.max(lateness);
    }

    /// A chunk was sent again although it arrived, nobody knows how late.
    fn widen(&mut self, now: Instant, round_trip: Duration) {
        self.passes(now);
        self.now = (self.longest() * 2).max(round_trip / 4).max(LEAST_STEP);
    }

    fn longest(&self) -> Duration {
        self.now.max(self.before)
    }

    /// How late overtaken chunks were of late.
    fn lateness(&mut self, now: Instant) -> Duration {
        self.passes(now);
        self.longest()
    }

    /// How long an overtaken chunk is waited for.
    fn window(&mut self, now: Instant) -> Duration {
        let lateness = self.lateness(now);
        lateness + lateness / MARGIN
    }
}

impl Sender {
    /// The reordering window of `path`: at most its timeout without bounds, beyond which a chunk is lost anyway.
    pub(super) fn reordering_window(&self, cx: &mut Context, now: Instant, path: PathId) -> Duration {
        if !cx.config.reordering {
            return Duration::ZERO;
        }
        let most = cx.paths.view(path.index()).rto_raw().unwrap_or(Duration::MAX);
        cx.paths[path.index()].reordering.window(now).min(most)
    }

    /// Misses have reached the threshold of `tsn` on `path`: it is lost, or its verdict waits for the reordering window.
    pub(super) fn judge_overtaken(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, path: PathId) {
        let window = self.reordering_window(cx, now, path);
        let chunk = self.rq.get(tsn).map(|c| &c.info);
        let overtaken = chunk.and_then(|c| c.on(path)).and_then(|t| t.overtaken);
        let mut due = overtaken.map_or(now, |at| at + window);
        if let Some(expires) = chunk.and_then(|c| c.expires) {
            let usable = cx.paths.usable();
            let trips = cx.paths.views().iter().filter(|v| usable.contains(v.id)).filter_map(|v| v.srtt);
            let last = Instant::from_nanos(
                expires.as_nanos().saturating_sub(trips.min().unwrap_or_default().as_nanos() as u64),
            );
            // What is too late in any case may as well be waited for.
            due = if last > now { due.min(last) } else { due };
        }
        if due <= now {
            return self.lose_by_misses(cx, now, tsn, path);
        }
        let at = &mut cx.paths[path.index()].reordering.at;
        *at = Some(at.map_or(due, |at| at.min(due)));
    }

    /// The verdict on overtaken chunks of `path` is due.
    pub fn on_reordering(&mut self, cx: &mut Context, now: Instant, path: PathId) {
        cx.paths[path.index()].reordering.at = None;
        let threshold = cx.driver.threshold(path);
        let mut overtaken = core::mem::take(&mut self.scratch);
        overtaken.clear();
        self.rq.overtaken(path, threshold, &mut overtaken);
        for &tsn in &overtaken {
            self.judge_overtaken(cx, now, tsn, path);
        }
        self.scratch = overtaken;
        self.abandon_spent(cx, now);
        self.keep_a_timer(cx, now);
    }

    /// Takes what a SACK says of overtaken chunks and of losses that were none.
    pub(super) fn learn_reordering(&mut self, cx: &mut Context, now: Instant, acked: &mut AckOutcome) {
        if !cx.config.reordering {
            return;
        }
        for a in &mut acked.paths {
            let path = a.info.path;
            let trip = cx.paths.view(path.index()).srtt.unwrap_or_default();
            let reordering = &mut cx.paths[path.index()].reordering;
            if a.overtaken_for > Duration::ZERO {
                reordering.late_by(now, a.overtaken_for);
            }
            if a.needless_again {
                reordering.widen(now, trip);
            }
            a.info.lateness = reordering.lateness(now);
            if a.spurious > 0 {
                cx.paths[path.index()].stats.spurious_losses += u64::from(a.spurious);
                self.take_back(cx, now, path, a.spurious, false);
            }
        }
    }

    /// `chunks` losses on `path` were spurious; `all`: with them the whole loss event was.
    pub(super) fn take_back(&mut self, cx: &mut Context, now: Instant, path: PathId, chunks: u32, all: bool) {
        if !cx.config.reordering {
            return;
        }
        let before = self.rq.take_back(path, chunks, all);
        cx.signal(now, &Signal::Spurious { path, chunks, before });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_path_that_keeps_order_waits_for_nothing() {
        assert_eq!(Reordering::default().window(Instant::from_millis(5)), Duration::ZERO);
    }

    #[test]
    fn the_longest_lateness_counts_for_a_while_and_a_quarter_more() {
        let mut path = Reordering::default();
        path.late_by(Instant::from_millis(1000), ms(40));
        path.late_by(Instant::from_millis(2000), ms(20));
        assert_eq!(path.window(Instant::from_millis(3000)), ms(50));
        assert_eq!(path.window(Instant::from_millis(33_000)), ms(50), "for one period more");
        path.late_by(Instant::from_millis(40_000), ms(8));
        assert_eq!(path.window(Instant::from_millis(62_000)), ms(50));
        assert_eq!(path.window(Instant::from_millis(64_500)), ms(10));
        assert_eq!(path.window(Instant::from_millis(200_000)), Duration::ZERO);
    }

    #[test]
    fn spurious_retransmissions_of_unknown_lateness_double_the_window() {
        let (mut path, at) = (Reordering::default(), Instant::from_millis(1));
        path.widen(at, ms(100));
        assert_eq!(path.longest(), ms(25));
        path.widen(at, ms(100));
        assert_eq!(path.longest(), ms(50));
    }
}
