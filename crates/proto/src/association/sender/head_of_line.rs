//! Prevention of head-of-line blocking. Some chunks in flight on slow paths keep the cumulative TSN from advancing. A
//! chunk that keeps the cumulative TSN from advancing is also sent on a fast path before the buffers are full. The
//! window of the slow path is then reduced. [`crate::policy::HeadOfLine`] decides whether a chunk is worth a copy. This
//! module selects the chunks to check.
//!
//! The chunk stays in flight on its path. See [`Sender::send_again`].

use super::Sender;
use super::pending_chunk::PendingChunk;
use crate::association::context::Context;
use crate::policy::{
    Blocked, BlockedBy, Holder, LossCause, LossTrigger, PathId, PathSet, PathView, Rules, Signal,
};
use crate::time::Instant;
use crate::wire::Tsn;

/// Maximum number of chunks that are checked at one send opportunity. The other chunks wait for the next opportunity.
const LOOKED_AT: usize = 32;

impl Sender {
    /// Sends the outstanding chunk `tsn` on `path` in addition. No loss is declared. Earlier transmissions of the chunk
    /// stay in flight and in the windows of their paths. The new transmission counts in the window of `path`. The
    /// transmission leaves at the next send opportunity, before lost and new chunks. This method does not check the
    /// window of `path`; the caller may use [`PathView::has_room`]. Nothing is sent if the chunk is acknowledged or
    /// declared lost before that opportunity. From then on, the chunk gives no measurement of a round-trip time. While
    /// the chunk is in flight on several paths, no window grows by it.
    pub fn send_again(&mut self, cx: &mut Context, tsn: Tsn, path: PathId) {
        self.copies.push((tsn, path));
        self.reconsider_but_copies(cx);
    }

    /// Returns the bytes that may still be sent before a buffer is full. The buffer is the peer's receive window, or
    /// this side's buffer for unacknowledged data.
    fn room_left(&self, cx: &Context) -> u64 {
        let send = self.buffer.size().saturating_sub(self.buffer.outstanding()) as u64;
        send.min(cx.paths.seen().rwnd())
    }

    /// Records the chunk that prevents new data from being sent, for policies. `by` is the reason; `None` if no chunk
    /// prevents new data.
    pub fn note_blocked(&mut self, cx: &mut Context, now: Instant, by: Option<BlockedBy>) {
        let front = by.and_then(|by| {
            let info = &self.rq.front()?.info;
            Some((by, info.tsn, info.path()))
        });
        let blocked = front.map(|(by, tsn, path)| {
            let same = cx.paths.seen().blocked().filter(|b| b.tsn == tsn);
            Blocked { by, tsn, path, since: same.map_or(now, |b| b.since) }
        });
        cx.paths.seen_mut().set_blocked(blocked);
    }

    /// Returns a chunk that should also be sent on a fast path. The configuration is
    /// [`crate::config::TransportConfig::head_of_line`].
    pub fn opportunity(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        let config = cx.config.head_of_line?;
        let waits = self.buffer.refused() || !self.buffer.is_empty();
        if !waits || cx.paths.seen().in_flight() == 0 || cx.aggregate_full() {
            return None;
        }
        let fast = self.fastest_with_room(cx)?;
        let tsn = match config.rules {
            Rules::Sooner => self.held_up(cx, now, fast),
            Rules::Linux => self.held_up_now(cx, now, fast),
        }?;
        cx.paths[fast.index()].stats.opportunistic += 1;
        self.send_again(cx, tsn, fast);
        self.pick_copy()
    }

    /// Returns a chunk that is worth a copy. A copy is considered if the free part of a buffer is smaller than the
    /// bytes that path `fast` sends in a round trip. If the copy left only when the buffer is full, the path `fast`
    /// would be idle until the copy is acknowledged.
    fn held_up(&mut self, cx: &mut Context, now: Instant, fast: PathId) -> Option<Tsn> {
        let ahead = cx.paths.view(fast.index()).limit.cwnd;
        let left = self.room_left(cx);
        if left >= ahead { None } else { self.held_up_within(cx, now, fast, ahead - left) }
    }

    /// Returns the first chunk in flight if it is worth a copy on `fast`. The buffer must be full, and the chunk must
    /// never have been sent on `fast`. The path with the chunk in flight is penalised if a penalty is due, even if no
    /// chunk is returned.
    fn held_up_now(&mut self, cx: &mut Context, now: Instant, fast: PathId) -> Option<Tsn> {
        let full = match self.buffer.next_chunk(None, self.max_payload) {
            Some((len, _)) => len as u64 + 16 > cx.paths.seen().rwnd(),
            None => self.buffer.refused(),
        };
        let info = &self.rq.front().filter(|_| full)?.info;
        let (tsn, mut worth, mut due) = (info.tsn, info.on(fast).is_none(), PathSet::default());
        for t in info.transmissions.iter().filter(|t| t.in_flight) {
            let (quick, slow) = (cx.paths.view(fast.index()), cx.paths.view(t.path.index()));
            let holder = Holder { path: slow, sent: t.at };
            worth &= self.head_of_line.resend(now, quick, holder);
            if self.penalises(cx) && self.head_of_line.penalise(now, quick, holder) {
                due.insert(t.path);
            }
        }
        worth &= info.transmissions.iter().any(|t| t.in_flight);
        for path in due.iter() {
            self.penalise(cx, now, path);
        }
        worth.then_some(tsn)
    }

    fn fastest_with_room(&self, cx: &Context) -> Option<PathId> {
        let room = |v: &&PathView| v.has_room() && v.srtt.is_some();
        let fast = cx.paths.views().iter().filter(room).min_by_key(|v| (v.srtt, v.id))?.id;
        cx.paths.usable().contains(fast).then_some(fast)
    }

    /// Returns the first chunk that is worth a copy on `fast`. The chunk must be within `reach` bytes of the cumulative
    /// TSN. The path of the chunk is penalised if a penalty is due.
    fn held_up_within(&mut self, cx: &mut Context, now: Instant, fast: PathId, reach: u64) -> Option<Tsn> {
        let first = self.rq.front()?.info.tsn;
        let outstanding = self.buffer.outstanding() as u64;
        let chunks = reach.saturating_mul(self.rq.len() as u64) / outstanding.max(1);
        let end = first + u32::try_from(chunks).unwrap_or(u32::MAX / 2).min(u32::MAX / 2);
        if self.try_copy(cx, now, first, fast) {
            return Some(first);
        }
        for _ in 0..LOOKED_AT {
            let (tsn, path) = self.rq.next_not_copied(cx.paths.views(), fast)?;
            if tsn.is_after(end) {
                return None;
            }
            self.rq.asked_for_copy(path, tsn);
            if self.try_copy(cx, now, tsn, fast) {
                return Some(tsn);
            }
        }
        None
    }

    /// Returns whether chunk `tsn` is also sent on `fast`. The path with the chunk in flight is penalised if a penalty
    /// is due.
    fn try_copy(&mut self, cx: &mut Context, now: Instant, tsn: Tsn, fast: PathId) -> bool {
        let Some(t) = self.rq.get(tsn).and_then(|c| c.only_in_flight()) else { return false };
        let (quick, slow) = (cx.paths.view(fast.index()), cx.paths.view(t.path.index()));
        let holder = Holder { path: slow, sent: t.at };
        if !self.head_of_line.resend(now, quick, holder) {
            return false;
        }
        let path = t.path;
        if self.penalises(cx) && self.head_of_line.penalise(now, quick, holder) {
            self.penalise(cx, now, path);
        }
        true
    }

    fn penalises(&self, cx: &Context) -> bool {
        cx.config.head_of_line.is_some_and(|config| config.penalty)
    }

    /// Asks the scheduler which path to penalise, if `they_do` is true: data wait. Returns whether a path was
    /// penalised.
    pub fn ask_for_penalty(&mut self, cx: &mut Context, now: Instant, they_do: bool) -> bool {
        let asked = they_do.then(|| cx.ask(now, |scheme, view| scheme.scheduler().penalise(view)));
        let path = asked.flatten().and_then(|path| cx.paths.views().get(path.index()));
        let due = path.filter(|path| self.head_of_line.asked(now, path)).map(|path| path.id);
        due.is_some_and(|path| self.penalise(cx, now, path))
    }

    /// Reduces the window of `path`, if data are in flight on it.
    fn penalise(&mut self, cx: &mut Context, now: Instant, path: PathId) -> bool {
        let Some(highest) = self.rq.highest_in_flight(path) else { return false };
        cx.paths[path.index()].stats.penalties += 1;
        let (trigger, cause) = (LossTrigger::HeadOfLine, LossCause::Congestion);
        cx.signal(now, &Signal::LossEvent { path, trigger, highest, cause });
        true
    }
}
