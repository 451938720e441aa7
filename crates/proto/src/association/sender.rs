//! The sending half of an association. The sending half decides which chunk leaves next and on which path, puts this
//! chunk in flight, and handles its acknowledgement or loss.
//!
//! *Decide* ([`Sender::decide`]) chooses a chunk and a path. The decision is kept until the chunk leaves, or until an
//! event may change the decision. Another module assembles the packet. *Commit* ([`Sender::commit`]) puts the chunk
//! into flight.

mod ack;
mod act;
mod arrived;
mod buffer;
mod coded;
mod commit;
mod copies;
mod decide;
mod dropped;
mod forward;
mod groups;
mod head_of_line;
mod held;
mod loss;
mod pending_chunk;
mod redundancy;
mod reordering;
mod repair;
mod tail;

use std::collections::VecDeque;

use bytes::Bytes;
use smallvec::SmallVec;

pub use buffer::{SendError, SendOptions};
pub use held::{HeldBack, HeldBy, HeldTimes};
pub(super) use pending_chunk::PendingChunk;

use super::context::Context;
use super::dropped::{DropCause, Dropped};
use super::event::Event;
use super::lifecycle::State;
use crate::coding::{Coder, Coding, LONGEST_RECORD};
use crate::config::TransportConfig;
use crate::policy::{Assignment, HeadOfLine, PathId, PathSet, PathState, Rules, Signal};
use crate::time::Instant;
use crate::tx::{ArrivalReports, ArrivedReports, Outgoing, RetransmissionQueue};
use crate::wire::Tsn;
use buffer::SendBuffer;
use forward::ForwardPoint;
use groups::GivenUp;
use pending_chunk::ChunkSource;
use redundancy::Redundancy;

/// The sending half of an association; see the [module](self).
#[derive(Debug)]
pub(super) struct Sender {
    buffer: SendBuffer,
    /// Coder that turns messages into symbols, after both ends have agreed on coding.
    coder: Option<Coder>,
    coding_seed: u32,
    rq: RetransmissionQueue,
    forward: ForwardPoint,
    given_up: GivenUp,
    redundancy: Redundancy,
    /// Copies that are still to be sent, each with its path ([`Sender::send_again`]).
    copies: SmallVec<[(Tsn, PathId); 4]>,
    /// Copies that actions of the scheme requested. Each copy waits until its path has room.
    asked: VecDeque<(Tsn, PathId)>,
    arrivals: ArrivalReports,
    /// The peer's reports of arrivals, by the peer's clock.
    arrived: ArrivedReports,
    /// Rest of the scheduler's last assignment.
    assignment: Option<Assignment>,
    /// The chunk that is sent next, once it is chosen.
    pending_chunk: Option<PendingChunk>,
    /// Revision of the path states at which `assignment` and `pending_chunk` were decided
    /// ([`super::path_table::PathTable::revision`]). `assignment` and `pending_chunk` hold for this revision only.
    revision: u32,
    /// Maximum payload bytes of a chunk that fits a packet of every path.
    max_payload: usize,
    /// Maximum user data in bytes of a chunk that fits every path. User data are the payload and the coding header
    /// before it.
    max_user_data: usize,
    /// True if one chunk is in flight although the peer's window is closed.
    probing_zero_window: bool,
    /// Number of DATA packets sent since the queue of messages was last empty.
    burst: u32,
    /// Paths on which SACKs with a closed window have arrived since the last timeout. A SACK with a closed window is
    /// the answer to a probe.
    zero_window_answered: PathSet,
    /// Treatment of chunks on slow paths that block other chunks.
    head_of_line: HeadOfLine,
    scratch: Vec<Tsn>,
}

impl Sender {
    /// Creates a sender. `names_deliveries` is true if the scheme needs [`Signal::Delivered`]. `coding_seed` is the
    /// seed of the first repair symbol.
    pub fn new(config: &TransportConfig, initial_tsn: Tsn, names_deliveries: bool, coding_seed: u32) -> Self {
        Sender {
            buffer: SendBuffer::new(config),
            coder: None,
            coding_seed,
            rq: RetransmissionQueue::new(initial_tsn, names_deliveries),
            forward: ForwardPoint::new(initial_tsn),
            given_up: GivenUp::default(),
            redundancy: Redundancy::new(config.redundancy),
            copies: SmallVec::new(),
            asked: VecDeque::new(),
            arrivals: ArrivalReports::default(),
            arrived: ArrivedReports::new(),
            assignment: None,
            pending_chunk: None,
            revision: 0,
            max_payload: 512 - 12 - 16,
            max_user_data: 512 - 12 - 16,
            probing_zero_window: false,
            burst: 0,
            zero_window_answered: PathSet::default(),
            head_of_line: HeadOfLine::new(config.head_of_line.map_or(Rules::Sooner, |c| c.rules)),
            scratch: Vec::new(),
        }
    }

    /// Drops all data, after the association has ended.
    pub fn clear(&mut self, cx: &mut Context) {
        self.note_ended(cx);
        self.buffer.clear();
        self.coder = None;
        self.rq.clear(cx.paths.seen_mut());
        self.forward.clear();
        self.copies.clear();
        self.asked.clear();
        (self.assignment, self.pending_chunk) = (None, None);
    }

    /// Releases memory that bursts and backlogs needed. Queues keep their memory while data flow, so that packets need
    /// no allocation.
    pub fn shrink(&mut self) {
        if self.rq.is_empty() && self.buffer.is_empty() {
            self.rq.shrink();
            self.buffer.shrink();
            self.scratch = Vec::new();
        }
    }

    /// Queues a message. Returns the number of the message. A message of a group that was given up is not queued. A
    /// message that is not queued counts as dropped. `spare` is the heap in bytes that all queued messages together may
    /// take.
    pub fn send(
        &mut self,
        cx: &mut Context,
        now: Instant,
        payload: Bytes,
        options: SendOptions,
        spare: usize,
    ) -> Result<u64, SendError> {
        if !matches!(cx.state, State::CookieWait | State::CookieEchoed | State::Established) {
            return Err(SendError::Closed);
        }
        if payload.is_empty() {
            return Err(SendError::Empty);
        }
        if payload.len() > LONGEST_RECORD && matches!(cx.config.coding, Some(Coding::Blocks(_))) {
            return Err(SendError::TooLong(payload.len()));
        }
        if usize::from(options.stream) >= self.buffer.streams() {
            return Err(SendError::NoSuchStream(options.stream));
        }
        let expires = options.lifetime.is_some();
        if self.full_for(cx, payload.len(), expires, spare) {
            self.expire_queued(cx, now);
            self.fit_buffer(cx, now);
        }
        if self.full_for(cx, payload.len(), expires, spare) {
            self.buffer.refuse();
            return Err(SendError::Full);
        }
        cx.stats.messages_sent += 1;
        cx.stats.bytes_sent += payload.len() as u64;
        cx.stats.messages_with_lifetime += u64::from(expires);
        if self.is_given_up(options.group) {
            let message = self.buffer.pass_over();
            let (unsent, expires) = (payload.len() as u64, options.lifetime.map(|l| now + l));
            cx.note_dropped(Dropped { message, cause: DropCause::Group, begun: false, unsent, expires });
            return Ok(message);
        }
        let idle = !self.anything_waits(cx);
        let id = self.buffer.push(now, payload, options);
        if idle {
            cx.signal(now, &Signal::Queued);
        }
        if cx.state == State::Established {
            self.fill_blocks(cx, now);
        }
        cx.offer_burst(now);
        Ok(id)
    }

    fn full_for(&self, cx: &Context, len: usize, expires: bool, spare: usize) -> bool {
        let room = match cx.config.buffer_limit {
            Some(limit) if expires => limit.max(self.buffer.size()),
            _ => self.buffer.size(),
        };
        let one = size_of::<crate::tx::QueuedMessage>() + size_of::<Outgoing>();
        let beyond = || self.buffer.bytes() + len > room || self.heap() + len + one > spare;
        self.buffer.bytes() > 0 && beyond()
    }

    /// Adapts the send buffer to the congestion windows. A buffer of fixed size stays.
    fn fit_buffer(&mut self, cx: &Context, now: Instant) {
        let Some(limit) = cx.config.buffer_limit else { return };
        let usable = cx.paths.usable();
        let views = || cx.paths.views().iter().filter(|v| usable.contains(v.id));
        let longest = views().filter_map(|v| v.srtt).max().unwrap_or_default().as_secs_f64();
        let carried = views().map(|v| match v.srtt.map(|srtt| srtt.as_secs_f64()) {
            Some(srtt) if srtt > 0.0 => v.limit.cwnd as f64 * longest / srtt,
            _ => v.limit.cwnd as f64,
        });
        let carried = carried.sum::<f64>() as u64;
        let sent = self.buffer.outstanding().saturating_sub(self.unsent_in_blocks());
        let held = (sent as u64).saturating_sub(cx.paths.seen().in_flight());
        let least = cx.config.send_buffer;
        self.buffer.fit(now, 2 * carried.max(held), least, limit.max(least));
    }

    fn room_may_return(&mut self, cx: &mut Context) {
        if self.buffer.room_returns() {
            cx.events.push_back(Event::Writable);
        }
    }

    /// Updates the largest payload that fits one packet on every path, with room for reports.
    pub fn fit_payload(&mut self, cx: &mut Context) {
        let open = cx.paths.views().iter().filter(|v| v.state != PathState::Closed);
        let least = open.map(|v| v.mtu).min().unwrap_or(512);
        self.max_user_data = (least as usize).saturating_sub(16 + cx.driver.overhead()).max(256) & !3;
        let (overhead, longest) =
            self.coder.as_ref().map_or((0, usize::MAX), |c| (c.overhead(), c.longest()));
        self.max_payload = (self.max_user_data - overhead).min(longest);
        self.pending_chunk = None;
    }

    /// Discards the decision on the next chunk after an event that may change it.
    pub fn reconsider(&mut self) {
        self.pending_chunk = None;
    }

    /// Discards the decision on the next chunk. A copy that is due is still sent.
    pub fn reconsider_but_copies(&mut self, cx: &Context) {
        self.follow_paths(cx);
        if !self.pending_chunk.is_some_and(|p| matches!(p.source, ChunkSource::Copy(_))) {
            self.pending_chunk = None;
        }
    }

    /// Drops decisions that are older than the last change of a path's state.
    fn follow_paths(&mut self, cx: &Context) {
        if self.revision != cx.paths.revision() {
            self.revision = cx.paths.revision();
            (self.assignment, self.pending_chunk) = (None, None);
        }
    }

    /// Prepares the state of slot `path` for a path that opens.
    pub fn open_path(&mut self, cx: &mut Context, path: PathId) {
        self.rq.open(path);
        self.fit_payload(cx);
    }

    /// Drops the copies that wait for `path`, because the path closed or moved to other addresses.
    pub fn drop_copies(&mut self, path: PathId) {
        self.copies.retain(|(_, p)| *p != path);
        self.asked.retain(|(_, p)| *p != path);
        self.rq.forget_owed(path);
    }

    /// Prevents late or repeated acknowledgements from putting a chunk back in flight on `path`. No timer would ever
    /// remove that chunk.
    pub fn forget_recovery(&mut self, path: PathId) {
        self.rq.set_timeout(path, None);
        self.rq.free_retransmit(path, false);
    }

    /// Limits the outbound streams to the `streams` that the peer admits.
    pub fn limit_streams(&mut self, streams: u16) {
        self.buffer.limit_streams(streams);
    }

    /// Number of streams that may be used.
    pub fn streams(&self) -> usize {
        self.buffer.streams()
    }

    /// Returns the first stream of a queued message that exceeds the number the peer admits.
    pub fn stream_not_admitted(&self) -> Option<crate::wire::StreamId> {
        self.buffer.first_beyond()
    }

    /// Returns whether all data are delivered.
    pub fn drained(&self) -> bool {
        self.buffer.is_empty() && self.rq.is_empty() && self.coded_all()
    }

    /// Returns whether no message waits to be sent.
    pub fn nothing_queued(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns whether data wait for a path on which sending is possible again.
    pub fn data_wait(&self, cx: &Context) -> bool {
        self.anything_waits(cx) || !self.rq.lost().is_empty()
    }

    /// Returns whether copies wait for room on `path`.
    pub fn owes(&self, path: PathId) -> bool {
        self.rq.owes(path) || self.asked.iter().any(|(_, p)| *p == path)
    }

    /// Returns whether a measurement of the round-trip time of `path` is in progress.
    pub fn times(&self, path: PathId) -> bool {
        self.rq.times(path)
    }

    /// Returns the bytes of messages and their records in each kept block, oldest first. Without blocks the result is
    /// empty.
    pub fn block_extents(&self) -> impl Iterator<Item = (u32, u64)> {
        let blocks = match &self.coder {
            Some(Coder::Blocks(blocks)) => Some(blocks.extents()),
            Some(Coder::Repair(_)) | None => None,
        };
        blocks.into_iter().flatten()
    }

    /// Size in bytes of the largest message that fits one chunk on every path.
    pub fn max_payload(&self) -> usize {
        self.max_payload
    }

    /// Payload bytes queued or not yet acknowledged.
    pub fn buffered(&self) -> usize {
        self.buffer.bytes()
    }

    /// State of the send buffer for applications.
    pub fn buffer(&self) -> super::right_sizing::Buffer {
        self.buffer.describe()
    }

    /// The first TSN that the peer has not acknowledged cumulatively.
    pub fn first_unacknowledged(&self) -> Tsn {
        self.rq.cum_acked() + 1
    }

    /// Heap in bytes of the application's messages.
    #[inline]
    pub fn heap(&self) -> usize {
        let coder = self.coder.as_ref().map_or(0, Coder::heap);
        let symbols = if self.codes_blocks() { self.max_user_data } else { 0 };
        self.buffer.heap() + coder + self.rq.len() * (size_of::<Outgoing>() + symbols)
    }

    /// Number of chunks that are not acknowledged cumulatively.
    #[cfg(any(test, feature = "testing"))]
    pub fn outstanding(&self) -> usize {
        self.rq.len()
    }

    /// Panics if the counts do not agree.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_consistent(&self, cx: &Context) {
        let payload = self.rq.assert_consistent(cx.paths.seen());
        self.redundancy.assert_kept();
        if cx.state != State::Closed {
            let held = match &self.coder {
                Some(Coder::Blocks(blocks)) => blocks.bytes(),
                Some(Coder::Repair(repair)) => {
                    repair.assert_consistent();
                    0
                }
                None => 0,
            };
            assert_eq!(self.buffer.outstanding(), payload + held, "payload outstanding");
        }
    }
}
