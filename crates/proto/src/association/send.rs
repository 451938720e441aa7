//! What the application hands in, and which chunk goes next on which path.

use bytes::Bytes;
use smallvec::{SmallVec, smallvec};

use super::pick::{Pick, Source};
use super::state::{Association, Sending, State};
use crate::policy::{Backlog, BlockedBy, ChunkInfo, PathId, PathSet, Retransmit, Signal, Transmission};
use crate::time::{Duration, Instant};
use crate::tx::{ChunkState, Outgoing, QueuedMessage};
use crate::wire::{Ppid, Ssn, StreamId, Tsn};

/// Lost chunks asked about at one opportunity: the rest waits behind them.
const LOST_LOOKED_AT: usize = 64;

/// How a message is sent.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct SendOptions {
    /// Which stream.
    pub stream: u16,
    /// Payload protocol identifier, the application's own business.
    pub ppid: u32,
    /// Deliver as soon as complete, whatever came before.
    pub unordered: bool,
    /// Give the message up when this time has passed; sent reliably if the peer has no RFC 3758, once it was begun.
    pub lifetime: Option<Duration>,
}

/// Why a message was not taken.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// There is no such association, or it is closing.
    #[error("the association is closed or closing")]
    Closed,
    /// More than the send buffer holds waits ([`crate::config::TransportConfig::send_buffer`]); `Event::Writable` follows.
    #[error("the send buffer is full")]
    Full,
    /// The stream was not opened.
    #[error("stream {0} was not opened")]
    NoSuchStream(u16),
    /// SCTP has no empty messages.
    #[error("a message needs at least one byte")]
    Empty,
}

/// What the scheduler is asked about.
#[derive(Copy, Clone, Debug)]
enum Next {
    /// The next chunk of the queue, of this book size.
    New { book: u64 },
    /// A lost chunk that the loss policy left to the scheduler.
    Lost(Tsn),
}

impl Sending {
    /// Enters `tsn` among the lost, in order.
    pub fn mark_lost(&mut self, tsn: Tsn) {
        let at = self.lost.partition_point(|t| t.is_before(tsn));
        if self.lost.get(at) != Some(&tsn) {
            self.lost.insert(at, tsn);
        }
        self.unasked = true;
    }
}

impl Association {
    /// Queues a message; its number.
    ///
    /// # Errors
    /// [`SendError`]; the message is not taken then.
    pub fn send(&mut self, now: Instant, payload: Bytes, options: SendOptions) -> Result<u64, SendError> {
        if !matches!(self.state, State::CookieWait | State::CookieEchoed | State::Established) {
            return Err(SendError::Closed);
        }
        if payload.is_empty() {
            return Err(SendError::Empty);
        }
        if usize::from(options.stream) >= self.tx.next_ssn.len() {
            return Err(SendError::NoSuchStream(options.stream));
        }
        let expires = options.lifetime.is_some();
        if self.full_for(payload.len(), expires) {
            self.expire_queued(now);
            self.fit_send_buffer(now);
        }
        if self.full_for(payload.len(), expires) {
            self.tx.was_full = true;
            return Err(SendError::Full);
        }
        let id = self.tx.next_message;
        self.tx.next_message += 1;
        self.stats.messages_sent += 1;
        self.stats.bytes_sent += payload.len() as u64;
        self.tx.buffered += payload.len();
        self.tx.size.most = self.tx.size.most.max(self.tx.buffered);
        let idle = self.tx.queue.is_empty();
        self.tx.queue.push(QueuedMessage {
            id,
            stream: StreamId(options.stream),
            ssn: None,
            ppid: Ppid(options.ppid),
            unordered: options.unordered,
            expires: options.lifetime.map(|l| now + l),
            payload,
            sent: 0,
        });
        if idle {
            self.driver.signal(self.paths.seen_mut(), now, &Signal::Queued);
        }
        self.offer_burst(now);
        Ok(id)
    }

    fn full_for(&self, len: usize, expires: bool) -> bool {
        let beyond = || {
            let one = size_of::<QueuedMessage>() + size_of::<Outgoing>();
            self.tx.buffered + len > self.send_room(expires) || self.heap() + len + one > self.rx.allowed
        };
        self.tx.buffered > 0 && beyond()
    }

    /// A send opportunity that no SACK gave: Max.Burst packets a path (RFC 9260 §6.1 D).
    pub(super) fn offer_burst(&mut self, now: Instant) {
        for (p, v) in self.paths.rows_mut() {
            p.burst = p.burst.max(self.config.max_burst);
            v.blocked = p.pace > now;
        }
        self.driver.set_held(false);
    }

    /// The next chunk and its path, remembered until it is sent or something happens.
    pub(super) fn pick(&mut self, now: Instant) -> Option<Pick> {
        if self.tx.pick.is_none() {
            let again = self.pick_copy().or_else(|| self.pick_lost(now)).or_else(|| self.pick_owed(now));
            self.tx.pick = again.or_else(|| self.pick_new(now));
        }
        self.tx.pick
    }

    fn may_send_data(&self) -> bool {
        use State::{Established, ShutdownPending, ShutdownReceived};
        matches!(self.state, Established | ShutdownPending | ShutdownReceived)
    }

    pub(super) fn pick_copy(&mut self) -> Option<Pick> {
        while let Some((tsn, path)) = self.tx.copies.pop() {
            if let Some(c) = self.tx.outstanding.get(tsn).filter(|c| c.state == ChunkState::InFlight) {
                return Some(Pick { path, source: Source::Copy(tsn), len: c.payload.len() });
            }
        }
        None
    }

    fn pick_lost(&mut self, now: Instant) -> Option<Pick> {
        if self.tx.lost.is_empty() || !self.may_send_data() {
            return None;
        }
        let any_room = self.paths.views().iter().any(|v| v.has_room());
        if !any_room && !self.paths.iter().any(|p| p.free_retransmit) {
            return None;
        }
        let mut i = 0;
        while i < self.tx.lost.len().min(LOST_LOOKED_AT) {
            let tsn = self.tx.lost[i];
            let Some(verdict) = self.verdict(now, tsn) else {
                self.tx.lost.remove(i);
                continue;
            };
            let chunk = self.tx.outstanding.get(tsn).expect("it is lost");
            let (len, expires) = (chunk.payload.len(), chunk.info.expires);
            match verdict {
                Retransmit::On(path) if self.admits_again(path) => {
                    return Some(Pick { path, source: Source::Lost(tsn, PathSet::default()), len });
                }
                Retransmit::Abandon if self.peer_partial && expires.is_some() => {
                    self.abandon(now, tsn);
                    continue;
                }
                Retransmit::Requeue => {
                    if let Some((path, copies)) = self.assigned_again(now, tsn) {
                        return Some(Pick { path, source: Source::Lost(tsn, copies), len });
                    }
                    if core::mem::take(&mut self.tx.hopeless) {
                        if self.peer_partial && expires.is_some() {
                            self.abandon(now, tsn);
                            continue;
                        }
                        self.stats.refused_assignments += 1;
                        self.driver.set_held(true);
                    }
                }
                Retransmit::Abandon => self.stats.refused_assignments += 1,
                Retransmit::On(_) | Retransmit::Hold => {}
            }
            i += 1;
        }
        None
    }

    /// What becomes of a lost chunk, as the loss policy says now; `None`: it is lost no longer.
    fn verdict(&mut self, now: Instant, tsn: Tsn) -> Option<Retransmit> {
        let chunk = self.tx.outstanding.get(tsn)?;
        let ChunkState::Lost(cause) = chunk.state else { return None };
        let expired = self.peer_partial && chunk.info.expires.is_some_and(|e| e <= now);
        let verdict = if expired {
            Retransmit::Abandon
        } else {
            self.driver
                .ask(self.paths.seen(), now, |scheme, view| scheme.retransmit(view, &chunk.info, cause))
        };
        self.tx.outstanding.set_requeued(tsn, verdict == Retransmit::Requeue);
        Some(verdict)
    }

    /// Where the scheduler sends the lost chunk `tsn`: the first path, and those that get a copy. An assignment is for
    /// this chunk alone: the next one was on other paths, and is asked about by itself.
    fn assigned_again(&mut self, now: Instant, tsn: Tsn) -> Option<(PathId, PathSet)> {
        if self.aggregate_full() {
            return None;
        }
        let path = self.assigned(now, Next::Lost(tsn))?;
        let copies = self.copies(path);
        self.tx.assignment = None;
        Some((path, copies))
    }

    /// Whether a lost chunk may leave on `path`: in its window, or as the one packet that a fast retransmit may send
    /// at once (RFC 9260 §7.2.4).
    fn admits_again(&self, path: PathId) -> bool {
        let Some(v) = self.paths.views().get(path.index()) else { return false };
        if !self.paths.usable().contains(path) {
            return false;
        }
        self.paths[path.index()].free_retransmit || (v.has_room() && !self.aggregate_full())
    }

    pub(super) fn admits_new(&self, path: PathId) -> bool {
        let room = self.paths.views().get(path.index()).is_some_and(|v| v.has_room());
        room && self.paths.usable().contains(path)
    }

    fn any_admits_new(&self) -> bool {
        self.paths.views().iter().any(|v| self.admits_new(v.id))
    }

    pub(super) fn aggregate_full(&self) -> bool {
        self.driver.aggregate_full(self.paths.seen())
    }

    fn pick_new(&mut self, now: Instant) -> Option<Pick> {
        loop {
            let pick = self.pick_next(now);
            if !core::mem::take(&mut self.tx.hopeless) {
                return pick;
            }
            if !self.give_up_next(now) {
                self.stats.refused_assignments += 1;
                self.driver.set_held(true);
                return pick;
            }
        }
    }

    fn pick_next(&mut self, now: Instant) -> Option<Pick> {
        if !self.may_send_data() {
            self.stats.set_blocked(now, false, false);
            self.paths.seen_mut().set_blocked(None);
            return None;
        }
        if self.tx.queue.head_expired(now) {
            self.expire_queued(now);
        }
        if let Some(pick) = self.opportunity(now) {
            return Some(pick);
        }
        let Some((len, _)) = self.tx.queue.next_chunk(self.tx.max_payload) else {
            let refused = self.tx.was_full && !self.aggregate_full() && self.any_admits_new();
            self.stats.set_blocked(now, false, refused);
            self.note_blocked(now, refused.then_some(BlockedBy::SendBuffer));
            return None;
        };
        let book = len as u64 + 16;
        let window = book <= self.paths.seen().rwnd() || self.paths.seen().in_flight() == 0;
        let refused = !window && self.any_admits_new();
        self.stats.set_blocked(now, refused, false);
        self.note_blocked(now, refused.then_some(BlockedBy::ReceiveWindow));
        if !window || self.aggregate_full() {
            return None;
        }
        let path = self.assigned(now, Next::New { book })?;
        Some(Pick { path, source: Source::New(self.copies(path)), len })
    }

    /// The paths of the assignment but `path`.
    fn copies(&self, path: PathId) -> PathSet {
        let paths = self.tx.assignment.iter().flat_map(|a| a.paths.iter().copied());
        paths.filter(|p| *p != path && self.paths.usable().contains(*p)).collect()
    }

    /// The first path of the scheduler's assignment that admits a chunk; asks for a new assignment when the last one
    /// is used up, or was for other chunks.
    fn assigned(&mut self, now: Instant, next: Next) -> Option<PathId> {
        let new = matches!(next, Next::New { .. });
        if let Some(a) = self.tx.assignment.take().filter(|a| a.chunks > 0 && new)
            && let Some(path) = a.paths.iter().copied().find(|p| self.admits_new(*p))
        {
            self.tx.assignment = Some(a);
            return Some(path);
        }
        if self.driver.held() || !self.paths.views().iter().any(|v| v.has_room()) {
            return None;
        }
        let backlog = self.backlog(now, next)?;
        let Some(a) = self.driver.next(self.paths.seen_mut(), now, &backlog) else {
            self.driver.set_held(true);
            return None;
        };
        if a.paths.is_empty() {
            self.tx.hopeless = true;
            return None;
        }
        match a.paths.iter().copied().find(|p| self.admits_new(*p)).filter(|_| a.chunks > 0) {
            Some(path) => {
                self.tx.assignment = Some(a);
                Some(path)
            }
            None => {
                self.stats.refused_assignments += 1;
                self.driver.set_held(true);
                None
            }
        }
    }

    /// What the scheduler is told of the next chunk and of all that waits for its decision.
    fn backlog(&mut self, now: Instant, next: Next) -> Option<Backlog> {
        if matches!(next, Next::Lost(_)) {
            self.ask_unasked(now);
        }
        let (next_len, next_expires, tried) = match next {
            Next::New { book } => {
                (book, self.tx.queue.next_chunk(1).and_then(|(_, e)| e), PathSet::default())
            }
            Next::Lost(tsn) => {
                let info = &self.tx.outstanding.get(tsn)?.info;
                (info.len, info.expires, info.transmissions.iter().map(|t| t.path).collect())
            }
        };
        Some(Backlog {
            bytes: self.tx.queue.bytes() as u64 + self.tx.outstanding.requeued(),
            messages: self.tx.queue.len(),
            next_len,
            next_expires,
            retransmission: matches!(next, Next::Lost(_)),
            tried,
        })
    }

    /// Asks the loss policy about chunks that were lost since it was asked last, so that [`Backlog::bytes`] counts all that
    /// it leaves to the scheduler. Policies that never do are not asked here.
    fn ask_unasked(&mut self, now: Instant) {
        if !core::mem::take(&mut self.tx.unasked) {
            return;
        }
        for i in 0..self.tx.lost.len() {
            let tsn = self.tx.lost[i];
            if self.tx.outstanding.get(tsn).is_some_and(|c| c.requeued.is_none()) {
                self.verdict(now, tsn);
            }
        }
    }

    /// Puts the picked chunk into flight; its TSN.
    pub(super) fn take_pick(&mut self, now: Instant) -> Option<Tsn> {
        let pick = self.tx.pick.take()?;
        let next_tsn = self.tx.outstanding.next_tsn();
        let transmission =
            |next_tsn| Transmission { path: pick.path, at: now, next_tsn, in_flight: true, misses: 0 };
        let tsn = match pick.source {
            Source::Lost(tsn, copies) => {
                self.tx.outstanding.get_mut(tsn)?.info.transmissions.push(transmission(next_tsn));
                self.tx.outstanding.set_state(tsn, ChunkState::InFlight);
                let number = self.tx.outstanding.number(tsn);
                self.paths[pick.path.index()].retransmitted.push(number, next_tsn);
                self.paths[pick.path.index()].stats.retransmissions += 1;
                self.paths[pick.path.index()].free_retransmit = false;
                self.add_copies(now, tsn, copies);
                // RFC 9260 §7.2.4, rule 4: the first outstanding chunk of the path gets a whole RTO again.
                self.prune(pick.path);
                if self.earliest_outstanding(pick.path) == Some(tsn) {
                    self.paths[pick.path.index()].t3 = None;
                }
                tsn
            }
            Source::Copy(tsn) => {
                let chunk = self.tx.outstanding.get_mut(tsn).filter(|c| c.state == ChunkState::InFlight)?;
                let path = &mut self.paths[pick.path.index()];
                // `originals` are in the order of TSNs: what was new before belongs elsewhere.
                let newest = path.originals.back().is_none_or(|last| last.is_before(tsn));
                let again = !newest || chunk.info.transmissions.iter().any(|t| !t.in_flight);
                chunk.info.transmissions.push(transmission(next_tsn));
                let number = self.tx.outstanding.number(tsn);
                if again {
                    path.retransmitted.push(number, next_tsn);
                    path.stats.retransmissions += 1;
                } else {
                    path.originals.push_back(tsn);
                }
                for p in self.paths.iter_mut() {
                    p.timed = p.timed.filter(|t| *t != tsn);
                }
                tsn
            }
            Source::New(others) => {
                let tsn = self.cut_chunk(transmission(next_tsn + 1))?;
                self.paths[pick.path.index()].originals.push_back(tsn);
                self.add_copies(now, tsn, others);
                if let Some(a) = &mut self.tx.assignment {
                    a.chunks -= 1;
                }
                // The opportunity is over; what comes next is decided anew.
                if self.tx.queue.is_empty() {
                    self.tx.assignment = None;
                }
                self.paths.seen_mut().set_last_path_used(pick.path);
                let alone = !self.tx.copies.iter().any(|(copy, _)| *copy == tsn);
                if alone && self.paths[pick.path.index()].timed.is_none() {
                    self.paths[pick.path.index()].timed = Some(tsn);
                }
                tsn
            }
        };
        self.entered_flight(now, pick.path, tsn);
        Some(tsn)
    }

    fn entered_flight(&mut self, now: Instant, path: PathId, tsn: Tsn) {
        let Some(chunk) = self.tx.outstanding.get(tsn) else { return };
        let len = chunk.info.len;
        self.tx.probing_zero_window |= self.paths.seen().rwnd() < len;
        self.paths.seen_mut().enter(path, len);
        let (p, view) = self.paths.row_mut(path.index());
        view.last_sent = Some(now);
        p.t3 = p.t3.or(Some(now + view.rto));
        p.stats.chunks_sent += 1;
        p.stats.payload_sent += chunk.payload.len() as u64;
        self.driver.sent(self.paths.seen(), now, &chunk.info);
        self.arm_tail(now, path);
    }

    /// Cuts the next chunk from the queue and gives it the next TSN.
    fn cut_chunk(&mut self, transmission: Transmission) -> Option<Tsn> {
        let next_ssn = &mut self.tx.next_ssn;
        let cut = self.tx.queue.cut(self.tx.max_payload, |stream| take_ssn(next_ssn, stream))?;
        let tsn = self.tx.outstanding.next_tsn();
        self.tx.outstanding.push(Outgoing {
            info: ChunkInfo {
                tsn,
                len: cut.payload.len() as u64 + 16,
                stream: cut.stream,
                expires: cut.expires,
                transmissions: smallvec![transmission],
                losses: 0,
            },
            state: ChunkState::InFlight,
            requeued: None,
            payload: cut.payload,
            message: cut.message,
            ssn: cut.ssn,
            ppid: cut.ppid,
            unordered: cut.unordered,
            begin: cut.begin,
            end: cut.end,
        });
        Some(tsn)
    }

    /// An abandoned TSN that stands for the rest of `message`.
    pub(super) fn push_placeholder(&mut self, message: QueuedMessage) {
        let tsn = self.tx.outstanding.next_tsn();
        self.tx.outstanding.push(Outgoing {
            info: ChunkInfo {
                tsn,
                len: 16,
                stream: message.stream,
                expires: message.expires,
                transmissions: SmallVec::new(),
                losses: 0,
            },
            state: ChunkState::Abandoned,
            requeued: None,
            payload: Bytes::new(),
            message: message.id,
            ssn: message.ssn.unwrap_or(Ssn(0)),
            ppid: message.ppid,
            unordered: message.unordered,
            begin: false,
            end: true,
        });
    }
}

fn take_ssn(next: &mut [u16], stream: StreamId) -> Ssn {
    let slot = &mut next[usize::from(stream.0)];
    let ssn = Ssn(*slot);
    *slot = slot.wrapping_add(1);
    ssn
}
