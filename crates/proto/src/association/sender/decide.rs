//! Choice of the next chunk and its path. Copies come first, then lost chunks on paths that the loss policy chooses,
//! then new chunks on paths that the scheduler assigns.

use super::Sender;
use super::pending_chunk::{ChunkSource, PendingChunk};
use crate::association::context::Context;
use crate::association::dropped::DropCause;
use crate::policy::{Assignment, Backlog, BlockedBy, GiveUp, Importance, PathId, PathSet, Retransmit};
use crate::time::Instant;
use crate::tx::ChunkState;
use crate::wire::Tsn;

/// Maximum number of lost chunks about which the loss policy is asked at one send opportunity. The other lost chunks
/// wait.
const LOST_LOOKED_AT: usize = 64;

/// Chunk about which the scheduler is asked.
#[derive(Copy, Clone, Debug)]
enum Next {
    /// The next chunk of the queue of messages, with this number of counted bytes.
    New { chunk_bytes: u64 },
    /// A lost chunk whose path the loss policy leaves to the scheduler.
    Lost(Tsn),
}

/// Answer of the scheduler to a question about one chunk.
#[derive(Copy, Clone, Debug)]
enum Offer {
    /// Send the chunk on the first path, and copies of it on the others.
    On(PathId, PathSet),
    /// Send the chunk on no path, neither now nor later.
    Nowhere(Hopeless),
    /// Send nothing now.
    None,
}

/// A message that the scheduler gives up: the first message of this importance, or the oldest message for `None`.
#[derive(Copy, Clone, Debug)]
pub(super) struct Hopeless {
    pub importance: Option<Importance>,
    pub why: GiveUp,
}

impl Sender {
    /// Returns the next chunk and its path. The decision is kept until the chunk is sent, or until an event may change
    /// the decision.
    pub fn decide(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        self.follow_paths(cx);
        if self.pending_chunk.is_none() {
            let asked = self.pick_copy().or_else(|| self.pick_asked(cx, now));
            let again = asked.or_else(|| self.pick_lost(cx, now)).or_else(|| self.pick_owed(cx, now));
            self.pending_chunk = again.or_else(|| self.pick_new(cx, now));
        }
        self.pending_chunk
    }

    pub(super) fn pick_copy(&mut self) -> Option<PendingChunk> {
        while let Some((tsn, path)) = self.copies.pop() {
            if let Some(c) = self.rq.get(tsn).filter(|c| c.state == ChunkState::InFlight && !c.never_again())
            {
                return Some(PendingChunk { path, source: ChunkSource::Copy(tsn), len: c.user_data() });
            }
        }
        None
    }

    fn pick_lost(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        if self.rq.lost().is_empty() || !cx.state.is_open() {
            return None;
        }
        let any_room = cx.paths.views().iter().any(|v| v.has_room());
        if !any_room && !self.rq.any_retransmit_free() {
            return None;
        }
        let mut i = 0;
        while i < self.rq.lost().len().min(LOST_LOOKED_AT) {
            let tsn = self.rq.lost()[i];
            let Some(verdict) = self.verdict(cx, now, tsn) else {
                self.rq.forget_lost(i);
                continue;
            };
            let chunk = self.rq.get(tsn).expect("it is lost");
            let spent = self.is_spent(chunk);
            let (len, expires) = (chunk.user_data(), chunk.info.expires);
            match verdict {
                Retransmit::On(path) if self.admits_again(cx, path) => {
                    return Some(PendingChunk {
                        path,
                        source: ChunkSource::Lost(tsn, PathSet::default()),
                        len,
                    });
                }
                Retransmit::Abandon if cx.peer.partial && (expires.is_some() || spent) => {
                    let late = expires.is_some_and(|e| e <= now);
                    let cause = if late { DropCause::Expired } else { DropCause::LossPolicy };
                    self.abandon(cx, now, tsn, cause);
                    continue;
                }
                Retransmit::Requeue => match self.offered_again(cx, now, tsn) {
                    Offer::On(path, copies) => {
                        return Some(PendingChunk { path, source: ChunkSource::Lost(tsn, copies), len });
                    }
                    Offer::Nowhere(hopeless) if cx.peer.partial && expires.is_some() => {
                        self.abandon(cx, now, tsn, DropCause::Scheduler(hopeless.why));
                        continue;
                    }
                    Offer::Nowhere(_) => cx.refuse_assignment(),
                    Offer::None => {}
                },
                Retransmit::Abandon => cx.stats.refused_assignments += 1,
                Retransmit::On(_) | Retransmit::Hold => {}
            }
            i += 1;
        }
        None
    }

    /// Asks the loss policy for the path of a lost chunk. Returns `None` if the chunk is no longer lost.
    fn verdict(&mut self, cx: &mut Context, now: Instant, tsn: Tsn) -> Option<Retransmit> {
        let chunk = self.rq.get(tsn)?;
        let ChunkState::Lost(cause) = chunk.state else { return None };
        let expired = chunk.info.expires.is_some_and(|e| e <= now) || self.is_spent(chunk);
        let verdict = if cx.peer.partial && expired {
            Retransmit::Abandon
        } else {
            cx.ask(now, |scheme, view| scheme.loss().retransmit(view, &chunk.info, cause))
        };
        self.rq.set_requeued(tsn, verdict == Retransmit::Requeue);
        Some(verdict)
    }

    /// Asks the scheduler for the path of the lost chunk `tsn`, and for paths that get a copy. The assignment applies
    /// only to this chunk. For the next lost chunk the scheduler is asked again, because that chunk was sent on other
    /// paths.
    fn offered_again(&mut self, cx: &mut Context, now: Instant, tsn: Tsn) -> Offer {
        if cx.aggregate_full() {
            return Offer::None;
        }
        let offer = self.offered(cx, now, Next::Lost(tsn));
        if matches!(offer, Offer::On(..)) {
            self.assignment = None;
        }
        offer
    }

    /// Returns whether a lost chunk may be sent on `path`. The path's window must have room. An exception is the one
    /// packet that a fast retransmit may send at once (RFC 9260 §7.2.4).
    fn admits_again(&self, cx: &Context, path: PathId) -> bool {
        let Some(v) = cx.paths.views().get(path.index()) else { return false };
        if !cx.paths.usable().contains(path) {
            return false;
        }
        self.rq.is_retransmit_free(path) || (v.has_room() && !cx.aggregate_full())
    }

    fn pick_new(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        loop {
            match self.pick_next(cx, now) {
                Ok(pending_chunk) => return pending_chunk,
                Err(hopeless) if self.give_up_next(cx, now, hopeless) => {}
                Err(_) => {
                    cx.refuse_assignment();
                    return None;
                }
            }
        }
    }

    fn pick_next(&mut self, cx: &mut Context, now: Instant) -> Result<Option<PendingChunk>, Hopeless> {
        if !cx.state.is_open() {
            cx.stats.set_blocked(now, false, false);
            cx.paths.seen_mut().set_blocked(None);
            return Ok(None);
        }
        if self.buffer.head_expired(now) {
            self.expire_queued(cx, now);
        }
        if self.codes_blocks() {
            return Ok(self.pick_symbol(cx, now));
        }
        if let Some(repair) = self.pick_repair(cx, now) {
            return Ok(Some(repair));
        }
        if let Some(pending_chunk) = self.opportunity(cx, now) {
            return Ok(Some(pending_chunk));
        }
        let Some((len, _)) = self.buffer.next_chunk(None, self.max_payload) else {
            let refused = self.buffer.refused() && !cx.aggregate_full() && cx.any_admits_new();
            cx.stats.set_blocked(now, false, refused);
            self.note_blocked(cx, now, refused.then_some(BlockedBy::SendBuffer));
            self.ask_for_penalty(cx, now, refused);
            return Ok(None);
        };
        let len = len + self.header_room();
        let chunk_bytes = len as u64 + 16;
        if !self.window_admits(cx, now, chunk_bytes) {
            return Ok(None);
        }
        match self.offered(cx, now, Next::New { chunk_bytes }) {
            Offer::On(path, copies) => Ok(self.new_chunk(cx, path, copies)),
            Offer::Nowhere(hopeless) => Err(hopeless),
            Offer::None => Ok(None),
        }
    }

    /// Returns the chunk of the assignment. Returns `None` if the peer's receive window has no room for the chunk. The
    /// receive window was checked only for the chunk of the oldest message. An assignment may name another message.
    #[inline]
    fn new_chunk(&mut self, cx: &mut Context, path: PathId, copies: PathSet) -> Option<PendingChunk> {
        let importance = self.assignment.as_ref().and_then(|a| a.importance);
        let (len, _) = self.buffer.next_chunk(importance, self.max_payload)?;
        let len = len + self.header_room();
        let seen = cx.paths.seen();
        if importance.is_some() && len as u64 + 16 > seen.rwnd() && seen.in_flight() > 0 {
            self.assignment = None;
            cx.driver.hold();
            return None;
        }
        Some(PendingChunk { path, source: ChunkSource::New(importance, copies), len })
    }

    /// Returns whether the peer's receive window and the scheme's limit over all paths admit a chunk of `chunk_bytes`.
    /// If the window or the limit does not admit the chunk, records the limit that blocks the chunk.
    #[inline]
    pub fn window_admits(&mut self, cx: &mut Context, now: Instant, chunk_bytes: u64) -> bool {
        let window = chunk_bytes <= cx.paths.seen().rwnd() || cx.paths.seen().in_flight() == 0;
        let refused = !window && cx.any_admits_new();
        cx.stats.set_blocked(now, refused, false);
        self.note_blocked(cx, now, refused.then_some(BlockedBy::ReceiveWindow));
        self.ask_for_penalty(cx, now, refused);
        window && !cx.aggregate_full()
    }

    /// Returns the paths of the assignment except `path`.
    fn copies(&self, cx: &Context, path: PathId) -> PathSet {
        let paths = self.assignment.iter().flat_map(|a| a.paths.iter().copied());
        paths.filter(|p| *p != path && cx.paths.usable().contains(*p)).collect()
    }

    /// Returns the first path of the scheduler's assignment on which a chunk may be sent. Asks for a new assignment if
    /// the last assignment is used up or was made for other chunks.
    fn offered(&mut self, cx: &mut Context, now: Instant, next: Next) -> Offer {
        let new = matches!(next, Next::New { .. });
        let waits = |a: &Assignment| self.buffer.next_chunk(a.importance, 1).is_some();
        if let Some(a) = self.assignment.take().filter(|a| a.chunks > 0 && new && waits(a))
            && let Some(path) = a.paths.iter().copied().find(|p| cx.admits_new(*p))
        {
            return self.take_assignment(cx, a, path);
        }
        if cx.driver.held() || !cx.paths.views().iter().any(|v| v.has_room()) {
            return Offer::None;
        }
        let Some(backlog) = self.backlog(cx, now, next) else { return Offer::None };
        let mut answer = cx.driver.next(cx.paths.seen_mut(), now, &backlog);
        if answer.is_none() && self.ask_for_penalty(cx, now, true) {
            // This follows any signal.
            answer = cx.driver.next(cx.paths.seen_mut(), now, &backlog);
        }
        let Some(a) = answer else { return Offer::None };
        if a.paths.is_empty() {
            return Offer::Nowhere(Hopeless { importance: a.importance, why: a.why });
        }
        let can = a.chunks > 0 && (!new || self.buffer.next_chunk(a.importance, 1).is_some());
        match a.paths.iter().copied().find(|p| can && cx.admits_new(*p)) {
            Some(path) => self.take_assignment(cx, a, path),
            None => {
                cx.refuse_assignment();
                Offer::None
            }
        }
    }

    #[inline]
    fn take_assignment(&mut self, cx: &Context, a: Assignment, path: PathId) -> Offer {
        self.assignment = Some(a);
        Offer::On(path, self.copies(cx, path))
    }

    /// Returns the backlog for the scheduler: the next chunk, and all other data that wait for the scheduler's
    /// decision.
    fn backlog(&mut self, cx: &mut Context, now: Instant, next: Next) -> Option<Backlog> {
        if matches!(next, Next::Lost(_)) {
            self.ask_unasked(cx, now);
        }
        let all = Backlog {
            bytes: self.buffer.queued() as u64 + self.rq.requeued(),
            messages: self.buffer.messages(),
            heads: self.buffer.heads(self.max_payload, self.header_room() + 16),
            ..Backlog::default()
        };
        Some(match next {
            Next::New { chunk_bytes } => {
                let (_, oldest) = self.buffer.next_chunk(None, 1)?;
                Backlog {
                    next_len: chunk_bytes,
                    rest: oldest.rest() as u64,
                    begun: oldest.sent > 0,
                    next_expires: oldest.expires,
                    next_importance: oldest.importance,
                    next_group: oldest.group,
                    ..all
                }
            }
            Next::Lost(tsn) => {
                let info = &self.rq.get(tsn)?.info;
                Backlog {
                    next_len: info.len,
                    next_expires: info.expires,
                    next_importance: info.importance,
                    next_group: info.group,
                    retransmission: true,
                    tried: info.transmissions.iter().map(|t| t.path).collect(),
                    ..all
                }
            }
        })
    }

    /// Asks the loss policy about chunks that were lost since the last question. [`Backlog::bytes`] then includes all
    /// chunks that this policy leaves to the scheduler. Policies that never leave chunks to the scheduler are not asked
    /// here.
    fn ask_unasked(&mut self, cx: &mut Context, now: Instant) {
        if !self.rq.take_unasked() {
            return;
        }
        for i in 0..self.rq.lost().len() {
            let tsn = self.rq.lost()[i];
            if self.rq.get(tsn).is_some_and(|c| c.requeued.is_none()) {
                self.verdict(cx, now, tsn);
            }
        }
    }
}
