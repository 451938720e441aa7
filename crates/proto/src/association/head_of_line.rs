//! No head-of-line harm: chunks in flight on slow paths that keep the cumulative TSN back are sent on a fast path, too,
//! before the buffers are full, and the slow path is held back. What is worth it is decided in [`crate::policy::HeadOfLine`]; here is
//! which chunks are asked about.
//!
//! The chunk stays in flight where it is: see [`Association::send_again`].

use super::pick::{Pick, Source};
use super::state::Association;
use crate::policy::{Blocked, BlockedBy, Holder, LossCause, LossTrigger, PathId, PathView, Signal};
use crate::time::Instant;
use crate::wire::Tsn;

/// Chunks looked at for one opportunity: the rest waits for the next.
const LOOKED_AT: usize = 32;

impl Association {
    /// Sends the outstanding `tsn` on `path` as well, or once more, without a loss verdict: its transmissions so far stay in
    /// flight and in their paths' windows, the new one counts in `path`'s. It leaves at the next opportunity whatever the
    /// window says (ask [`PathView::has_room`] if that matters), before lost and new chunks; if the chunk is acknowledged or
    /// declared lost before, nothing is sent. No round trip is timed by the chunk from then on, and no window grows from
    /// it while transmissions on several paths are in flight.
    pub(super) fn send_again(&mut self, tsn: Tsn, path: PathId) {
        self.tx.copies.push((tsn, path));
        if !self.tx.pick.is_some_and(|p| matches!(p.source, Source::Copy(_))) {
            self.tx.pick = None;
        }
    }

    /// Payload bytes that were sent and are not yet acknowledged cumulatively.
    pub(super) fn outstanding_bytes(&self) -> usize {
        self.tx.buffered.saturating_sub(self.tx.queue.bytes())
    }

    /// Bytes that may still be sent before a buffer is full: the peer's receive window, or ours for what waits for its
    /// acknowledgement.
    fn room_left(&self) -> u64 {
        let send = self.tx.size.size.saturating_sub(self.outstanding_bytes()) as u64;
        send.min(self.paths.seen().rwnd())
    }

    /// Notes for policies which chunk keeps new data from being sent; `by`: why, `None`: nothing does.
    pub(super) fn note_blocked(&mut self, now: Instant, by: Option<BlockedBy>) {
        let front = by.and_then(|by| {
            let info = &self.tx.outstanding.front()?.info;
            Some((by, info.tsn, info.path()))
        });
        let blocked = front.map(|(by, tsn, path)| {
            let same = self.paths.seen().blocked().filter(|b| b.tsn == tsn);
            Blocked { by, tsn, path, since: same.map_or(now, |b| b.since) }
        });
        self.paths.seen_mut().set_blocked(blocked);
    }

    /// A chunk to be sent again on a fast path, if less can be sent before a buffer is full than that path sends in a
    /// round trip: a copy that left only once it is full would leave the path idle until it is acknowledged.
    pub(super) fn opportunity(&mut self, now: Instant) -> Option<Pick> {
        let waits = self.tx.was_full || !self.tx.queue.is_empty();
        if !self.config.opportunistic || !waits || self.paths.seen().in_flight() == 0 || self.aggregate_full()
        {
            return None;
        }
        let fast = self.fastest_with_room()?;
        let ahead = self.paths.view(fast.index()).limit.cwnd;
        let left = self.room_left();
        if left >= ahead {
            return None;
        }
        let tsn = self.held_up_by(now, fast, ahead - left)?;
        self.paths[fast.index()].stats.opportunistic += 1;
        self.send_again(tsn, fast);
        self.pick_copy()
    }

    fn fastest_with_room(&self) -> Option<PathId> {
        let room = |v: &&PathView| v.has_room() && v.srtt.is_some();
        let fast = self.paths.views().iter().filter(room).min_by_key(|v| (v.srtt, v.id))?.id;
        self.paths.usable().contains(fast).then_some(fast)
    }

    /// The first chunk within `reach` bytes of the cumulative TSN that is worth a copy on `fast`; its path is penalised if
    /// that is due.
    fn held_up_by(&mut self, now: Instant, fast: PathId, reach: u64) -> Option<Tsn> {
        let first = self.tx.outstanding.front()?.info.tsn;
        let outstanding = self.outstanding_bytes() as u64;
        let chunks = reach.saturating_mul(self.tx.outstanding.len() as u64) / outstanding.max(1);
        let end = first + u32::try_from(chunks).unwrap_or(u32::MAX / 2).min(u32::MAX / 2);
        if self.try_copy(now, first, fast) {
            return Some(first);
        }
        for _ in 0..LOOKED_AT {
            let (tsn, path) = self.next_not_copied(fast)?;
            if tsn.is_after(end) {
                return None;
            }
            self.paths[path.index()].copied = Some(tsn);
            if self.try_copy(now, tsn, fast) {
                return Some(tsn);
            }
        }
        None
    }

    /// Of the chunks first sent on slower paths than `fast`, and in flight there alone, the first that was not asked about.
    fn next_not_copied(&self, fast: PathId) -> Option<(Tsn, PathId)> {
        let cum = self.tx.outstanding.cum_acked();
        let (views, outstanding) = (self.paths.views(), &self.tx.outstanding);
        let slower = |i: &usize| *i != fast.index() && views[*i].srtt > views[fast.index()].srtt;
        let first = |i: usize| {
            let (path, tsns) = (&self.paths[i], &self.paths[i].originals);
            let asked = path.copied.filter(|t| t.is_after(cum));
            let at = asked.map_or(0, |asked| tsns.partition_point(|t| !t.is_after(asked)));
            let alone = |t: &&Tsn| {
                outstanding.get(**t).is_some_and(|c| c.only_in_flight().is_some_and(|t| t.path.index() == i))
            };
            tsns.range(at..).find(alone).map(|t| (*t, PathId(i as u8)))
        };
        (0..views.len())
            .filter(slower)
            .filter_map(first)
            .reduce(|a, b| if b.0.is_before(a.0) { b } else { a })
    }

    /// Whether `tsn` is to be sent on `fast`, too; the path that has it is penalised if that is due.
    fn try_copy(&mut self, now: Instant, tsn: Tsn, fast: PathId) -> bool {
        let Some(t) = self.tx.outstanding.get(tsn).and_then(|c| c.only_in_flight()) else { return false };
        let (quick, slow) = (self.paths.view(fast.index()), self.paths.view(t.path.index()));
        let holder = Holder { path: slow, sent: t.at };
        if !self.tx.head_of_line.resend(now, quick, holder) {
            return false;
        }
        if self.tx.head_of_line.penalise(now, quick, holder) {
            self.penalise(now, t.path);
        }
        true
    }

    fn penalise(&mut self, now: Instant, path: PathId) {
        let Some(highest) = self.highest_in_flight(path) else { return };
        self.paths[path.index()].stats.penalties += 1;
        let (trigger, cause) = (LossTrigger::HeadOfLine, LossCause::Congestion);
        self.driver.signal(self.paths.seen_mut(), now, &Signal::LossEvent { path, trigger, highest, cause });
    }
}
