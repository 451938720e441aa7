//! The peer's reports of arrivals by its clock (REPORT item ARRIVED, docs/wire-format.md), with complete values. On the
//! wire the clock and the counters have only 32 bits, and paths have wire ids.

use crate::policy::{PathArrivals, PathId, PathSet, PeerArrivals, PeerTime};
use crate::time::{Duration, Instant};
use crate::wire::chunk::report::{ArrivedBy, ArrivedItem};
use crate::wire::serial::Tsn;

/// Minimum time between two requests for other return paths, because a request costs a signed packet.
const BETWEEN_REQUESTS: Duration = Duration::from_millis(100);

/// Origin of the peer's clock for policies. It is large enough that the subtraction of an age of 32 bits never
/// underflows.
const EPOCH: u64 = 1 << 32;

/// State of requests and reports.
#[derive(Debug)]
pub(crate) struct ArrivedReports {
    /// Return paths that were last requested, and time of the request; `None` if there was no request.
    asked: Option<(PathSet, Instant)>,
    /// Time of the last report, and time at which the peer wrote it.
    clock: Option<(Instant, PeerTime)>,
    /// Last report by path slot, with the wire id of the path.
    known: Vec<Option<(u16, PathArrivals)>>,
    /// Last report, kept so that its memory is reused.
    report: PeerArrivals,
}

/// Result of a report.
#[derive(PartialEq, Debug)]
pub(crate) enum ReceivedReport<'a> {
    /// The report is new.
    News(&'a PeerArrivals),
    /// A newer report arrived before this one. The result has the time and the return path of this report, without
    /// paths.
    Old(&'a PeerArrivals),
    /// The report contradicts earlier ones.
    Nonsense,
}

impl ArrivedReports {
    pub fn new() -> Self {
        let report = PeerArrivals { written: PeerTime(0), via: PathId(0), paths: Default::default() };
        ArrivedReports { asked: None, clock: None, known: Vec::new(), report }
    }

    /// Returns whether to request now that the peer sends SACKs by `return_paths`. If so, the request is recorded.
    pub fn ask(&mut self, now: Instant, return_paths: PathSet) -> bool {
        let due = self.asked.is_none_or(|(last, at)| last != return_paths && now - at >= BETWEEN_REQUESTS);
        if due {
            self.asked = Some((return_paths, now));
        }
        due
    }

    /// Returns whether the last request named other return paths.
    pub fn asks_otherwise(&self, return_paths: PathSet) -> bool {
        self.asked.is_some_and(|(last, _)| last != return_paths)
    }

    /// Returns whether reports were requested from the peer.
    pub fn asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns the time for which the peer delayed an acknowledgement after the last packet by `path` arrived, from a
    /// report that arrived with the acknowledgement at `now`.
    pub fn held(&self, now: Instant, path: PathId) -> Option<Duration> {
        let written = self.clock.filter(|(received, _)| *received == now).map(|(_, written)| written)?;
        let news = self.report.paths.iter().find(|p| p.path == path)?;
        Some(written.since(news.at))
    }

    /// Handles a report that arrived by `via`. `path` returns the open path with a wire id. `left` returns the time at
    /// which a TSN left on a path, if it is known.
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

    /// Returns the change of `path` since the earlier report, as `by` reports it; `None` if the time or a counter
    /// decreased.
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

/// Returns the number nearest to `near` whose low 32 bits are `low`.
fn extend(near: u64, low: u32) -> u64 {
    near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

/// Returns a counter that was `before` and whose low 32 bits are now `low`; `None` if it decreased.
fn grown(before: u64, low: u32) -> Option<u64> {
    let by = low.wrapping_sub(before as u32);
    (by < 1 << 31).then(|| before.saturating_add(u64::from(by)))
}

#[cfg(test)]
mod tests;
