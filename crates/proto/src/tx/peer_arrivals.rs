//! The peer's reports of arrivals by its clock, with values of full length (REPORT item ARRIVED, docs/wire-format.md).
//! On the wire, the clock and the counters have only 32 bits, and paths are named by wire ids.

use crate::policy::{PathArrivals, PathId, PathSet, PeerArrivals, PeerTime};
use crate::time::{Duration, Instant};
use crate::wire::chunk::report::{ArrivedBy, ArrivedItem};
use crate::wire::serial::Tsn;

/// Minimum time between two requests that name different return paths. Each request costs a signed packet.
const BETWEEN_REQUESTS: Duration = Duration::from_millis(100);

/// Origin of the peer's clock in signals to policies. The origin is large enough that subtracting an age of 32 bits
/// never underflows.
const EPOCH: u64 = 1 << 32;

/// State of this side's requests for arrivals, and of the peer's reports.
#[derive(Debug)]
pub(crate) struct ArrivedReports {
    /// Return paths of the last request, and the time of this request; `None` if there was no request.
    asked: Option<(PathSet, Instant)>,
    /// Time at which the last report arrived, and the time of the peer's clock at which it was written.
    clock: Option<(Instant, PeerTime)>,
    /// Last report about each path slot, with the wire id of the path.
    known: Vec<Option<(u16, PathArrivals)>>,
    /// Last report. The last report is kept so that its memory is reused.
    report: PeerArrivals,
}

/// Result of processing a report of the peer.
#[derive(PartialEq, Debug)]
pub(crate) enum ReceivedReport<'a> {
    /// The report has new information.
    News(&'a PeerArrivals),
    /// A newer report arrived before this one. The result has the time and the return path of the old report, and no
    /// paths.
    Old(&'a PeerArrivals),
    /// The report contradicts earlier reports.
    Nonsense,
}

impl ArrivedReports {
    pub fn new() -> Self {
        let report = PeerArrivals { written: PeerTime(0), via: PathId(0), paths: Default::default() };
        ArrivedReports { asked: None, clock: None, known: Vec::new(), report }
    }

    /// Returns whether this side must now ask the peer to send SACKs by `return_paths`. If the peer must be asked, the
    /// request is recorded as made.
    pub fn ask(&mut self, now: Instant, return_paths: PathSet) -> bool {
        let due = self.asked.is_none_or(|(last, at)| last != return_paths && now - at >= BETWEEN_REQUESTS);
        if due {
            self.asked = Some((return_paths, now));
        }
        due
    }

    /// Returns whether the last request named return paths other than `return_paths`.
    pub fn asks_otherwise(&self, return_paths: PathSet) -> bool {
        self.asked.is_some_and(|(last, _)| last != return_paths)
    }

    /// Returns whether this side requested reports of arrivals.
    pub fn asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns the time for which the peer delayed an acknowledgement after the last packet by `path` arrived. A report
    /// that arrived with the acknowledgement at `now` shows this time.
    pub fn held(&self, now: Instant, path: PathId) -> Option<Duration> {
        let written = self.clock.filter(|(received, _)| *received == now).map(|(_, written)| written)?;
        let news = self.report.paths.iter().find(|p| p.path == path)?;
        Some(written.since(news.at))
    }

    /// Handles a report of arrivals that returned by `via`. The function `path` returns the open path that has a wire
    /// id. The function `left` returns the time at which a TSN was sent on a path, if that is known.
    pub fn hear(
        &mut self,
        now: Instant,
        via: PathId,
        arrived: ArrivedItem<'_>,
        path: impl Fn(u16) -> Option<PathId>,
        left: impl Fn(Tsn, PathId) -> Option<Instant>,
    ) -> ReceivedReport<'_> {
        let written = match self.clock {
            // The value near the clock's expected one: it wraps every 71 minutes.
            Some((then, last)) => {
                extend(last.0.saturating_add((now - then).as_micros() as u64), arrived.clock)
            }
            None => EPOCH + u64::from(arrived.clock),
        };
        let last = self.clock.map(|(_, last)| last.0);
        self.report.paths.clear();
        (self.report.written, self.report.via) = (PeerTime(written), via);
        if last.is_some_and(|last| written < last) {
            return ReceivedReport::Old(&self.report);
        }
        let mut named = PathSet::default();
        for by in arrived.paths() {
            let Some(path) = path(by.path) else { continue };
            let Some(grown) = self.grown(path, written, &by, &left).filter(|_| !named.contains(path)) else {
                // Two reports that were written at the same time may arrive in reverse order.
                if last != Some(written) {
                    return ReceivedReport::Nonsense;
                }
                self.report.paths.clear();
                return ReceivedReport::Old(&self.report);
            };
            named.insert(path);
            self.remember(path, (by.path, grown));
            self.report.paths.push(grown);
        }
        self.clock = Some((now, PeerTime(written)));
        ReceivedReport::News(&self.report)
    }

    /// Returns the state of `path` by the new report `by`, from its state by the earlier report. Returns `None` if the
    /// time or a counter decreased.
    fn grown(
        &self,
        path: PathId,
        written: u64,
        by: &ArrivedBy,
        left: impl Fn(Tsn, PathId) -> Option<Instant>,
    ) -> Option<PathArrivals> {
        let at = PeerTime(written.saturating_sub(u64::from(by.age)));
        let known = self.known.get(path.index()).copied().flatten();
        let Some((_, before)) = known.filter(|(name, _)| *name == by.path) else {
            let (packets, bytes) = (u64::from(by.packets), u64::from(by.bytes));
            return Some(PathArrivals { path, tsn: by.tsn, at, sent: left(by.tsn, path), packets, bytes });
        };
        let (packets, bytes) = (grown(before.packets, by.packets)?, grown(before.bytes, by.bytes)?);
        let again = packets == before.packets;
        // The packet was named before: the time at which it left is best known from then.
        let sent = if again { before.sent } else { left(by.tsn, path) };
        let fine = if again { by.tsn == before.tsn } else { at >= before.at };
        // An age that is too long for its field gives a time after the right one.
        let at = if again { before.at } else { at };
        fine.then_some(PathArrivals { path, tsn: by.tsn, at, sent, packets, bytes })
    }

    fn remember(&mut self, path: PathId, said: (u16, PathArrivals)) {
        if self.known.len() <= path.index() {
            self.known.resize(path.index() + 1, None);
        }
        self.known[path.index()] = Some(said);
    }
}

/// Returns the number that is nearest to `near` and whose low 32 bits are `low`.
fn extend(near: u64, low: u32) -> u64 {
    near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

/// Returns the new value of a counter whose last value was `before` and whose low 32 bits are now `low`. Returns `None`
/// if the counter decreased.
fn grown(before: u64, low: u32) -> Option<u64> {
    let by = low.wrapping_sub(before as u32);
    (by < 1 << 31).then(|| before.saturating_add(u64::from(by)))
}

#[cfg(test)]
mod tests;
