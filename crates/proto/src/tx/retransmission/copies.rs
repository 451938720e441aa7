//! Copies: TSNs that are in flight on several paths at once.
//!
//! A SACK reports that a TSN arrived, but not which of its copies arrived. Between two Strandcast peers, the sender can
//! ask for the path of each arrival. The receiver then names the path of each arrival together with its SACKs (REPORT
//! items COPIES and ARRIVALS, docs/wire-format.md). If the peer names the path by which a copy arrived, this copy is no
//! longer in flight, and the window of that path may grow. If a copy is lost, SACKs that name later copies on the same
//! path count as miss indications of the lost copy. If the peer does not name paths, the acknowledgement of a TSN with
//! copies on several paths lets no window grow.
//!
//! A TSN may be acknowledged without information about one of its copies. This copy stays in its path's window as
//! *unsettled*, because its packet may still be in a queue of the path. An unsettled copy no longer counts against the
//! peer's receive window.

use smallvec::SmallVec;

use super::RetransmissionQueue;
use crate::policy::{ChunkInfo, PathId, PathView, PathViews, Symbol, Transmission};
use crate::time::{Duration, Instant};
use crate::tx::arrival_reports::ArrivalReports;
use crate::tx::outstanding::{ChunkState, Outgoing};
use crate::tx::path_ack::lower;
use crate::wire::chunk::report::TsnRange;
use crate::wire::serial::{StreamId, Tsn};

/// Number of reported later copies on a path after which an earlier copy on it is lost.
const THRESHOLD: u8 = 3;

/// An unsettled copy: its TSN was acknowledged by another transmission.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Unsettled {
    pub(super) tsn: Tsn,
    /// Counted bytes of the chunk.
    pub(super) len: u64,
    stream: StreamId,
    symbol: Option<Symbol>,
    sent: Transmission,
    /// Time at which the copy counts as arrived, if the peer does not name paths of arrivals.
    due: Instant,
}

impl Unsettled {
    pub fn tsn(&self) -> Tsn {
        self.tsn
    }

    /// Returns the chunk as if this copy were its only transmission.
    fn chunk(self, losses: u8) -> ChunkInfo {
        let Unsettled { tsn, len, stream, symbol, sent, .. } = self;
        ChunkInfo {
            tsn,
            len,
            stream,
            expires: None,
            importance: Default::default(),
            group: None,
            transmissions: smallvec::smallvec![sent],
            losses,
            symbol,
        }
    }
}

/// Information in a SACK about the transmissions of a TSN in flight.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Divided {
    /// All these transmissions are on one path.
    One,
    /// The transmissions that are still marked as in flight arrived.
    Known,
    /// One of the transmissions arrived, but it is unknown which one.
    Unknown,
}

/// Copies on one path about which the peer has reported since the last SACK.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Settled {
    pub bytes: u64,
    pub chunks: u32,
    /// Time at which the newest of these copies was sent.
    pub newest: Option<Instant>,
    /// True if the earliest transmission in flight on the path was among these copies.
    pub front: bool,
}

impl RetransmissionQueue {
    /// Schedules a copy of chunk `tsn` on `path`, which is sent once the path has room.
    pub fn owe(&mut self, path: PathId, tsn: Tsn) {
        self.drop_settled(path);
        self.flights[path.index()].owed.push_back(tsn);
    }

    /// Returns whether copies wait for room on `path`.
    pub fn owes(&self, path: PathId) -> bool {
        !self.flights[path.index()].owed.is_empty()
    }

    /// Returns the earliest copy that waits for room on `path`.
    pub fn take_owed(&mut self, path: PathId) -> Option<&Outgoing> {
        self.drop_settled(path);
        let tsn = self.flights[path.index()].owed.pop_front()?;
        self.outstanding.get(tsn)
    }

    /// Drops all copies that wait for `path`.
    pub fn forget_owed(&mut self, path: PathId) {
        self.flights[path.index()].owed.clear();
    }

    /// Removes the chunks at the front of the list that no longer need a copy on `path`.
    fn drop_settled(&mut self, path: PathId) {
        let (owed, outstanding) = (&mut self.flights[path.index()].owed, &self.outstanding);
        let wanted = |tsn: &Tsn| {
            let chunk = outstanding.get(*tsn).filter(|c| c.state == ChunkState::InFlight);
            chunk.is_some_and(|c| c.info.on(path).is_none_or(|t| !t.in_flight))
        };
        while owed.front().is_some_and(|tsn| !wanted(tsn)) {
            owed.pop_front();
        }
    }

    /// Records that copies on `path` in `range` arrived.
    pub fn settle(&mut self, ledger: &mut PathViews, path: PathId, range: TsnRange) {
        let earliest = self.earliest_on(path);
        let f = &mut self.flights[path.index()];
        let (wanted, arrived) = (self.names_deliveries, &mut self.outcome.deliveries.settled);
        f.unsettled.retain(|copy| {
            let here = range.contains(copy.tsn);
            if here {
                if wanted {
                    arrived.push((path, copy.chunk(0)));
                }
                ledger.leave_path(path, copy.len);
                f.settled.bytes += copy.len;
                f.settled.chunks += 1;
                f.settled.newest = f.settled.newest.max(Some(copy.sent.at));
                f.settled.front |= Some(copy.tsn) == earliest;
            }
            !here
        });
    }

    /// Counts a miss for each copy on `path` that was sent before a copy named in `reports`. Removes the copies that
    /// were missed three times from the list. The caller passes each removed copy to [`Self::lose_copy`].
    pub fn take_missed_copies(
        &mut self,
        now: Instant,
        path: PathId,
        reports: &ArrivalReports,
    ) -> SmallVec<[Unsettled; 4]> {
        let mut lost = SmallVec::new();
        let newest = self.newest_arrival(path, reports).max(self.flights[path.index()].settled.newest);
        let Some(newest) = newest else { return lost };
        let since = reports.since().unwrap_or(now);
        self.flights[path.index()].unsettled.retain_mut(|copy| {
            copy.sent.misses += u8::from(copy.sent.at < newest && copy.sent.at >= since);
            let gone = copy.sent.misses >= THRESHOLD;
            if gone {
                lost.push(*copy);
            }
            !gone
        });
        lost
    }

    /// Removes the first copy on `path` from the list, because the path timed out or is closed. The caller passes this
    /// copy to [`Self::lose_copy`].
    pub fn take_copy(&mut self, path: PathId) -> Option<Unsettled> {
        self.flights[path.index()].unsettled.pop_front()
    }

    /// Removes the copies that were sent on `path` at `last` or earlier from the list. The caller passes each of them
    /// to [`Self::lose_copy`].
    pub fn take_copies_sent(&mut self, path: PathId, last: Instant) -> SmallVec<[Unsettled; 4]> {
        let mut taken = SmallVec::new();
        self.flights[path.index()].unsettled.retain(|copy| {
            let stays = copy.sent.at > last;
            if !stays {
                taken.push(*copy);
            }
            stays
        });
        taken
    }

    /// Removes `copy`, which was already removed from the list, from flight on `path`. Returns the copy in the form for
    /// policies.
    pub fn lose_copy(ledger: &mut PathViews, path: PathId, copy: Unsettled) -> ChunkInfo {
        ledger.leave_path(path, copy.len);
        copy.chunk(1)
    }

    /// Returns the time at which the newest copy that this packet names for `path` was sent. Only copies count that no
    /// SACK has covered yet.
    fn newest_arrival(&self, path: PathId, reports: &ArrivalReports) -> Option<Instant> {
        let newest = reports.on(path).filter_map(|range| {
            let on = self.outstanding.get(range.last)?.info.on(path)?;
            on.in_flight.then_some(on.at)
        });
        newest.max()
    }

    /// Handles copies on `path` about which the peer will not report. The reason is that the peer does not name paths
    /// of arrivals, or does not do so yet. Copies whose path of arrival is not reported count as arrived after some
    /// time. This method removes the first copy that counts as arrived. Returns whether this copy was the earliest
    /// transmission in flight on the path.
    pub fn settle_due(
        &mut self,
        ledger: &mut PathViews,
        now: Instant,
        path: PathId,
        reports: &ArrivalReports,
        earliest: Option<Tsn>,
    ) -> Option<bool> {
        let since = reports.since();
        let over = |c: &Unsettled| c.due <= now && since.is_none_or(|since| c.sent.at < since);
        let unsettled = &mut self.flights[path.index()].unsettled;
        let copy = unsettled.front().copied().filter(over)?;
        unsettled.pop_front();
        ledger.leave_path(path, copy.len);
        Some(earliest == Some(copy.tsn))
    }

    /// Returns whether there are unsettled copies on `path`.
    pub fn any_unsettled(&self, path: PathId) -> bool {
        !self.flights[path.index()].unsettled.is_empty()
    }

    /// Returns whether chunk `tsn` has an unsettled copy on `path`.
    pub fn is_unsettled(&self, tsn: Tsn, path: PathId) -> bool {
        self.flights[path.index()].unsettled.iter().any(|c| c.tsn == tsn)
    }

    /// Returns the lowest TSN in flight on `path`, including unsettled copies.
    pub fn earliest_on(&self, path: PathId) -> Option<Tsn> {
        let copies = self.flights[path.index()].unsettled.iter().map(|c| c.tsn);
        copies.chain(self.earliest_outstanding(path)).reduce(lower)
    }

    /// Handles a SACK that covers chunk `tsn`. Copies whose arrival is uncertain are removed from the chunk. Copies of
    /// uncertain arrival stay in the windows of their paths as unsettled copies.
    pub(super) fn divide(&mut self, ledger: &mut PathViews, tsn: Tsn, reports: &ArrivalReports) -> Divided {
        let Some(chunk) = self.outstanding.get(tsn) else { return Divided::One };
        let sent = chunk.info.transmissions.iter().filter(|t| t.in_flight);
        let sent: SmallVec<[Transmission; 4]> = sent.copied().collect();
        if sent.iter().all(|t| t.path == sent[0].path) {
            return Divided::One;
        }
        let views = ledger.paths();
        let due = |t: &Transmission| t.at + views[t.path.index()].srtt.unwrap_or(Duration::ZERO);
        let named = reports.since().is_some_and(|since| sent.iter().all(|t| t.at >= since));
        let first = sent.iter().map(due).min();
        let arrived =
            |t: &Transmission| if named { reports.names(tsn, t.path) } else { Some(due(t)) == first };
        let stays: SmallVec<[(Transmission, Instant); 4]> =
            sent.iter().filter(|t| !arrived(t)).map(|t| (*t, due(t))).collect();
        for (t, due) in &stays {
            self.leave_unsettled(ledger, tsn, t, *due);
        }
        if named { Divided::Known } else { Divided::Unknown }
    }

    fn leave_unsettled(&mut self, ledger: &mut PathViews, tsn: Tsn, sent: &Transmission, due: Instant) {
        let Some(chunk) = self.outstanding.get_mut(tsn) else { return };
        let same = |t: &&mut Transmission| t.path == sent.path && t.at == sent.at && t.in_flight;
        let Some(t) = chunk.info.transmissions.iter_mut().find(same) else { return };
        t.in_flight = false;
        let (len, stream, symbol) = (chunk.info.len, chunk.info.stream, chunk.info.symbol);
        let f = &mut self.flights[sent.path.index()];
        f.retransmitted.leave(tsn);
        let sent = Transmission { in_flight: false, misses: 0, overtaken: None, lost: None, ..*sent };
        f.unsettled.push_back(Unsettled { tsn, len, stream, symbol, sent, due });
        ledger.release(len);
        ledger.count_symbol(sent.path, symbol, -1);
    }

    /// Returns the next chunk to consider for a copy on `fast`. The returned chunk was first sent on a slower path, is
    /// in flight only there, and was not considered before.
    pub fn next_not_copied(&self, views: &[PathView], fast: PathId) -> Option<(Tsn, PathId)> {
        let cum = self.outstanding.cum_acked();
        let slower = |i: &usize| *i != fast.index() && views[*i].srtt > views[fast.index()].srtt;
        let first = |i: usize| {
            let flight = &self.flights[i];
            let asked = flight.copied.filter(|t| t.is_after(cum));
            let at = asked.map_or(0, |asked| flight.originals.partition_point(|t| !t.is_after(asked)));
            let alone = |t: &&Tsn| {
                self.outstanding
                    .get(**t)
                    .is_some_and(|c| c.only_in_flight().is_some_and(|t| t.path.index() == i))
            };
            flight.originals.range(at..).find(alone).map(|t| (*t, PathId(i as u8)))
        };
        (0..views.len())
            .filter(slower)
            .filter_map(first)
            .reduce(|a, b| if b.0.is_before(a.0) { b } else { a })
    }

    /// Records that chunk `tsn`, which was first sent on `path`, was considered for a copy.
    pub fn asked_for_copy(&mut self, path: PathId, tsn: Tsn) {
        self.flights[path.index()].copied = Some(tsn);
    }
}
