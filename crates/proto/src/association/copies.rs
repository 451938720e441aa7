//! TSNs in flight on several paths at once.
//!
//! A SACK says that a TSN arrived, not which of its copies. Between two of ours the receiver, once it was asked, names the
//! path of each arrival beside its SACKs (REPORT items COPIES and ARRIVALS, docs/wire-format.md), so that each copy leaves
//! its own path's flight, lets its own window grow, and is missed there when it is lost. Towards other peers no window grows
//! from such a TSN.
//!
//! A copy whose TSN is acknowledged while nothing is known of itself stays in its path's window as unsettled: the packet may
//! still be in a queue there. It no longer counts in what the peer's receive window holds.

use smallvec::SmallVec;

use super::pick::{Pick, Source};
use super::state::Association;
use crate::policy::{ChunkInfo, LossCause, LossTrigger, PathId, PathSet, Signal, Transmission};
use crate::time::{Duration, Instant};
use crate::tx::ChunkState;
use crate::wire::chunk::report::{KIND_ARRIVALS, KIND_COPIES, TsnRange};
use crate::wire::chunk::{Report as ReportChunk, ReportItem, ReportItemFlavour};
use crate::wire::serial::{StreamId, Tsn};

/// A copy is lost when so many reports told of later ones on its path.
const THRESHOLD: u8 = 3;

/// A copy whose TSN was acknowledged by another one.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Unsettled {
    pub tsn: Tsn,
    /// Book size, bytes.
    pub len: u64,
    stream: StreamId,
    sent: Transmission,
    /// When it counts as arrived if the peer names no paths.
    due: Instant,
}

/// What a SACK says of the transmissions of a TSN that are in flight.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Divided {
    /// They are all on one path.
    One,
    /// Those left in flight arrived.
    Known,
    /// One of them arrived, and nobody knows which.
    Unknown,
}

/// Copies on a path of which the peer told since the last SACK.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Settled {
    pub bytes: u64,
    pub chunks: u32,
    /// When the newest of them was sent.
    pub newest: Option<Instant>,
    /// The earliest in flight on the path was among them.
    pub front: bool,
}

impl Association {
    /// A chunk goes on several paths: from now on the peer should name the path of each arrival.
    fn want_arrivals(&mut self, now: Instant) {
        if !self.paths.seen().peer_reports() || self.tx.several.asked() {
            return;
        }
        let named = |p: &PathId| self.paths[p.index()].wire_id.is_some();
        if let Some(path) = self.paths.usable().iter().find(named) {
            self.tx.several.ask();
            self.say(now, KIND_COPIES, path, None, false);
        }
    }

    /// The scheduler wants `tsn` on `paths` as well: at once where there is room, later elsewhere.
    pub(super) fn add_copies(&mut self, now: Instant, tsn: Tsn, paths: PathSet) {
        if !paths.is_empty() {
            self.want_arrivals(now);
        }
        for path in paths.iter() {
            if self.admits_new(path) {
                self.tx.copies.push((tsn, path));
            } else {
                self.drop_settled(path);
                self.paths[path.index()].owed.push_back(tsn);
            }
        }
    }

    /// Takes away the chunks in front that need no copy on `path` any more.
    fn drop_settled(&mut self, path: PathId) {
        let (owed, outstanding) = (&mut self.paths[path.index()].owed, &self.tx.outstanding);
        let wanted = |tsn: &Tsn| {
            let chunk = outstanding.get(*tsn).filter(|c| c.state == ChunkState::InFlight);
            chunk.is_some_and(|c| c.info.on(path).is_none_or(|t| !t.in_flight))
        };
        while owed.front().is_some_and(|tsn| !wanted(tsn)) {
            owed.pop_front();
        }
    }

    /// The earliest copy that waited for room on its path.
    pub(super) fn pick_owed(&mut self, now: Instant) -> Option<Pick> {
        for i in 0..self.paths.len() {
            let path = PathId(i as u8);
            while !self.paths[i].owed.is_empty() && self.admits_new(path) && !self.aggregate_full() {
                self.drop_settled(path);
                let Some(tsn) = self.paths[i].owed.pop_front() else { break };
                let chunk = self.tx.outstanding.get(tsn).expect("it is in flight");
                if !self.peer_partial || chunk.info.expires.is_none_or(|e| e > now) {
                    return Some(Pick { path, source: Source::Copy(tsn), len: chunk.payload.len() });
                }
            }
        }
        None
    }

    /// `tsn` came by `path`.
    pub(super) fn note_arrival(&mut self, tsn: Tsn, path: PathId) {
        if self.rx.names_arrivals {
            self.paths[path.index()].arrivals.add(tsn, self.stats.sacks_sent);
        }
    }

    /// The items beside a SACK, if the peer wants them.
    pub(super) fn arrival_report(&self) -> Option<ReportChunk> {
        if !self.rx.names_arrivals {
            return None;
        }
        let item = |p: &crate::path::Path| {
            let ranges = p.arrivals.recent(self.stats.sacks_sent);
            let (path, reliability) = (Some(p.wire_id?), ReportItemFlavour::Plain);
            let payload = TsnRange::encode(&ranges);
            (!ranges.is_empty()).then_some(ReportItem { kind: KIND_ARRIVALS, path, reliability, payload })
        };
        let items: SmallVec<_> = self.paths.iter().filter_map(item).collect();
        (!items.is_empty()).then_some(ReportChunk { items })
    }

    /// The peer names arrivals on `path`. Nothing but copies in flight there can be concerned.
    pub(super) fn on_arrivals(&mut self, now: Instant, path: PathId, payload: &[u8]) {
        let Some(ranges) = TsnRange::decode(payload) else {
            self.stats.bad_chunks += 1;
            return;
        };
        self.tx.several.begin(now);
        for range in ranges {
            if !self.tx.several.take(path, range) {
                return;
            }
            self.settle(path, range);
        }
        self.miss_copies(now, path);
    }

    /// Copies on `path` in `range` arrived.
    fn settle(&mut self, path: PathId, range: TsnRange) {
        let earliest = self.earliest_on(path);
        let (p, seen) = self.paths.split(path.index());
        p.unsettled.retain(|copy| {
            let here = range.contains(copy.tsn);
            if here {
                seen.leave_path(path, copy.len);
                p.settled.bytes += copy.len;
                p.settled.chunks += 1;
                p.settled.newest = p.settled.newest.max(Some(copy.sent.at));
                p.settled.front |= Some(copy.tsn) == earliest;
            }
            !here
        });
    }

    /// Copies on `path` that left before one that arrived now: after three reports of such they are lost.
    fn miss_copies(&mut self, now: Instant, path: PathId) {
        let newest = self.newest_arrival(path);
        let Some(newest) = newest.max(self.paths[path.index()].settled.newest) else { return };
        let since = self.tx.several.since().unwrap_or(now);
        let mut lost: SmallVec<[Unsettled; 4]> = SmallVec::new();
        self.paths[path.index()].unsettled.retain_mut(|copy| {
            copy.sent.misses += u8::from(copy.sent.at < newest && copy.sent.at >= since);
            let gone = copy.sent.misses >= THRESHOLD;
            if gone {
                lost.push(*copy);
            }
            !gone
        });
        for copy in lost {
            self.lose_copy(now, path, copy, LossTrigger::FastRetransmit);
            self.paths[path.index()].stats.lost_fast += 1;
            let highest = self.highest_in_flight(path).unwrap_or(copy.tsn);
            let p = &mut self.paths[path.index()];
            if p.recover.is_none_or(|r| copy.tsn.is_after(r)) {
                p.recover = Some(highest);
                let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
                self.driver.signal(
                    self.paths.seen_mut(),
                    now,
                    &Signal::LossEvent { path, trigger, highest, cause },
                );
            }
        }
    }

    /// When the newest copy was sent that the peer named for `path` in this packet and that a SACK did not cover yet.
    fn newest_arrival(&self, path: PathId) -> Option<Instant> {
        let newest = self.tx.several.on(path).filter_map(|range| {
            let on = self.tx.outstanding.get(range.last)?.info.on(path)?;
            on.in_flight.then_some(on.at)
        });
        newest.max()
    }

    /// Takes `copy`, which is in no list any more, out of its path's window; the verdict on its loss.
    fn lose_copy(&mut self, now: Instant, path: PathId, copy: Unsettled, trigger: LossTrigger) -> LossCause {
        self.paths.seen_mut().leave_path(path, copy.len);
        let transmissions = smallvec::smallvec![copy.sent];
        let Unsettled { tsn, len, stream, .. } = copy;
        let info = ChunkInfo { tsn, len, stream, expires: None, transmissions, losses: 1 };
        let cause =
            self.driver.ask(self.paths.seen(), now, |scheme, view| scheme.classify(view, &info, trigger));
        self.driver.signal(self.paths.seen_mut(), now, &Signal::Lost(&info, cause));
        cause
    }

    /// All copies on `path` are lost: it timed out, or was closed.
    pub(super) fn lose_copies(
        &mut self,
        now: Instant,
        path: PathId,
        trigger: LossTrigger,
    ) -> Option<LossCause> {
        let mut first = None;
        while let Some(copy) = self.paths[path.index()].unsettled.pop_front() {
            let cause = self.lose_copy(now, path, copy, trigger);
            self.paths[path.index()].stats.lost_timeout += 1;
            first = first.or(Some(cause));
        }
        first
    }

    /// Copies of which the peer will tell nothing, since it names no paths or did not yet, have arrived by now.
    pub(super) fn settle_due(&mut self, now: Instant) {
        let (since, mut idle) = (self.tx.several.since(), false);
        for i in 0..self.paths.len() {
            let earliest =
                if self.paths[i].unsettled.is_empty() { None } else { self.earliest_on(PathId(i as u8)) };
            let (p, seen) = self.paths.split(i);
            let over = |c: &Unsettled| c.due <= now && since.is_none_or(|since| c.sent.at < since);
            while let Some(copy) = p.unsettled.front().copied().filter(over) {
                p.unsettled.pop_front();
                seen.leave_path(PathId(i as u8), copy.len);
                let view = &seen.paths()[i];
                if view.in_flight == 0 {
                    (p.t3, p.tail.at, idle) = (None, None, true);
                } else if earliest == Some(copy.tsn) {
                    p.t3 = Some(now + view.rto);
                }
            }
        }
        if idle {
            self.keep_a_timer(now);
        }
    }

    /// A SACK covers `tsn`. Copies that did not arrive for certain leave it and stay in their paths' windows.
    pub(super) fn divide(&mut self, tsn: Tsn) -> Divided {
        let Some(chunk) = self.tx.outstanding.get(tsn) else { return Divided::One };
        let sent = chunk.info.transmissions.iter().filter(|t| t.in_flight);
        let sent: SmallVec<[Transmission; 4]> = sent.copied().collect();
        if sent.iter().all(|t| t.path == sent[0].path) {
            return Divided::One;
        }
        let due = |t: &Transmission| t.at + self.paths.view(t.path.index()).srtt.unwrap_or(Duration::ZERO);
        let named = self.tx.several.since().is_some_and(|since| sent.iter().all(|t| t.at >= since));
        let first = sent.iter().map(due).min();
        let arrived =
            |t: &Transmission| if named { self.tx.several.names(tsn, t.path) } else { Some(due(t)) == first };
        let stays: SmallVec<[(Transmission, Instant); 4]> =
            sent.iter().filter(|t| !arrived(t)).map(|t| (*t, due(t))).collect();
        for (t, due) in &stays {
            self.leave_unsettled(tsn, t, *due);
        }
        if named { Divided::Known } else { Divided::Unknown }
    }

    fn leave_unsettled(&mut self, tsn: Tsn, sent: &Transmission, due: Instant) {
        let Some(chunk) = self.tx.outstanding.get_mut(tsn) else { return };
        let same = |t: &&mut Transmission| t.path == sent.path && t.at == sent.at && t.in_flight;
        let Some(t) = chunk.info.transmissions.iter_mut().find(same) else { return };
        t.in_flight = false;
        let (len, stream) = (chunk.info.len, chunk.info.stream);
        let p = &mut self.paths[sent.path.index()];
        p.retransmitted.leave(tsn);
        let sent = Transmission { in_flight: false, misses: 0, ..*sent };
        p.unsettled.push_back(Unsettled { tsn, len, stream, sent, due });
        self.paths.seen_mut().release(len);
    }

    /// The SACK of this packet was read: what its reports named is used up.
    pub(super) fn forget_arrivals(&mut self) {
        self.tx.several.forget();
    }

    /// Whether a copy of `tsn` on `path` is not settled.
    pub(super) fn is_unsettled(&self, tsn: Tsn, path: PathId) -> bool {
        self.paths[path.index()].unsettled.iter().any(|c| c.tsn == tsn)
    }

    /// The lowest TSN in flight on `path`, copies that are not settled included.
    pub(super) fn earliest_on(&self, path: PathId) -> Option<Tsn> {
        let copies = self.paths[path.index()].unsettled.iter().map(|c| c.tsn);
        let lower = |a: Tsn, b: Tsn| if a.is_before(b) { a } else { b };
        copies.chain(self.earliest_outstanding(path)).reduce(lower)
    }
}
