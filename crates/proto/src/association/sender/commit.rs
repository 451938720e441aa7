//! Commit: the chosen chunk is put in flight.

use bytes::Bytes;
use smallvec::{SmallVec, smallvec};
use strandcast_coding::symbol::Header;

use super::Sender;
use super::pending_chunk::ChunkSource;
use crate::association::context::Context;
use crate::policy::{ChunkInfo, Importance, PathId, PathSet, Symbol, Transmission};
use crate::time::Instant;
use crate::tx::{Carries, ChunkState, Cut, Outgoing, QueuedMessage};
use crate::wire::chunk::DataHeader;
use crate::wire::{PacketWriter, Ssn, Tsn};

impl Sender {
    /// Puts the chosen chunk into flight. Returns the chunk's TSN.
    pub fn commit(&mut self, cx: &mut Context, now: Instant) -> Option<Tsn> {
        self.follow_paths(cx);
        let pending_chunk = self.pending_chunk.take()?;
        let rwnd = cx.paths.seen().rwnd();
        let tsn = match pending_chunk.source {
            ChunkSource::Lost(tsn, copies) => self.commit_lost(cx, now, tsn, pending_chunk.path, copies)?,
            ChunkSource::Copy(tsn) => {
                let sent = Transmission::new(pending_chunk.path, now, self.rq.next_tsn());
                let again = self.rq.push_copy(cx.paths.seen_mut(), tsn, sent)?;
                cx.paths[pending_chunk.path.index()].stats.retransmissions += u64::from(again);
                tsn
            }
            ChunkSource::New(importance, copies) => {
                self.commit_new(cx, now, pending_chunk.path, importance, copies)?
            }
            ChunkSource::Symbol { block, what } => {
                self.commit_symbol(cx, now, pending_chunk.path, (block, what))?
            }
            ChunkSource::Repair => self.commit_repair(cx, now, pending_chunk.path)?,
        };
        self.entered_flight(cx, now, pending_chunk.path, tsn, rwnd);
        Some(tsn)
    }

    fn commit_lost(
        &mut self,
        cx: &mut Context,
        now: Instant,
        tsn: Tsn,
        path: PathId,
        copies: PathSet,
    ) -> Option<Tsn> {
        let sent = Transmission::new(path, now, self.rq.next_tsn());
        self.rq.push_again(cx.paths.seen_mut(), tsn, sent)?;
        cx.paths[path.index()].stats.retransmissions += 1;
        self.add_copies(cx, now, tsn, copies);
        // RFC 9260 §7.2.4, rule 4: the first outstanding chunk of the path gets a whole RTO again.
        self.rq.prune(path);
        if self.rq.earliest_outstanding(path) == Some(tsn) {
            cx.paths[path.index()].t3 = None;
        }
        Some(tsn)
    }

    #[inline]
    fn commit_new(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        importance: Option<Importance>,
        copies: PathSet,
    ) -> Option<Tsn> {
        let cut = self.buffer.cut(importance, self.max_payload)?;
        let tsn = self.rq.next_tsn();
        cx.stats.media_sent += cut.payload.len() as u64;
        self.redundancy.earn(now, cut.payload.len());
        let header = if self.coder.is_some() { self.header_of(cx, now, path, &cut) } else { None };
        self.rq.push(cx.paths.seen_mut(), outgoing(tsn, cut, Transmission::new(path, now, tsn + 1), header));
        self.add_copies(cx, now, tsn, copies);
        if let Some(a) = &mut self.assignment {
            a.chunks -= 1;
        }
        // The opportunity is over. The next chunk is decided anew.
        if self.buffer.is_empty() {
            self.assignment = None;
        }
        cx.paths.seen_mut().set_last_path_used(path);
        if !self.copies.iter().any(|(copy, _)| *copy == tsn) {
            self.rq.time(path, tsn);
        }
        Some(tsn)
    }

    /// Updates the state after a chunk was put into flight. `rwnd` is the room in the peer's receive window before this
    /// chunk.
    #[inline]
    fn entered_flight(&mut self, cx: &mut Context, now: Instant, path: PathId, tsn: Tsn, rwnd: u64) {
        let Some(chunk) = self.rq.get(tsn) else { return };
        self.probing_zero_window |= rwnd < chunk.info.len;
        let (p, view) = cx.paths.row_mut(path.index());
        view.last_sent = Some(now);
        p.t3 = p.t3.or(Some(now + view.rto));
        p.stats.chunks_sent += 1;
        p.stats.payload_sent += chunk.user_data() as u64;
        cx.driver.sent(cx.paths.seen(), now, &chunk.info);
        self.arm_tail(cx, now, path);
    }

    /// Writes the DATA chunk `tsn`, which is already committed.
    #[inline]
    pub fn write_chunk(&self, tsn: Tsn, immediate: bool, w: &mut PacketWriter<'_>) {
        let Some(c) = self.rq.get(tsn) else { return };
        let header = DataHeader {
            tsn,
            stream_id: c.info.stream,
            ssn: c.ssn,
            ppid: c.ppid,
            immediate,
            unordered: c.unordered,
            beginning: c.begin,
            ending: c.end,
        };
        match c.header {
            None => w.data(&header, &c.payload),
            Some(symbol) => w.data_behind(&header, symbol.length(), |out| symbol.write(out), &c.payload),
        };
    }

    /// Returns the path of the FORWARD-TSN that is due, if there is one.
    pub fn forward_path(&self, cx: &Context) -> Option<PathId> {
        self.forward.due().then(|| cx.paths.seen().control_path_in_turn(self.forward.tries()))
    }

    /// Postpones the FORWARD-TSN that is due.
    pub fn withhold_forward(&mut self) {
        self.forward.withhold();
    }

    pub fn forward_timeout(&self) -> Option<Instant> {
        self.forward.timeout()
    }

    /// Repeats a FORWARD-TSN that is due. Closes a partly filled block whose waiting time is over.
    pub fn on_timers(&mut self, cx: &mut Context, now: Instant) {
        let due = |t: Option<Instant>| t.is_some_and(|t| t <= now);
        if due(self.forward_timeout()) {
            self.on_forward_timeout(cx, now);
        }
        if due(self.flush_timeout()) {
            self.on_flush_timeout(cx);
        }
    }

    /// Handles a FORWARD-TSN that the peer did not acknowledge in time.
    fn on_forward_timeout(&mut self, cx: &Context, now: Instant) {
        let rto = cx.paths.view(cx.paths.seen().control_path().index()).rto;
        self.forward.on_timeout(now, rto);
    }

    /// Writes the FORWARD-TSN that is due, if it fits.
    pub fn write_forward(&mut self, limit: usize, w: &mut PacketWriter<'_>) {
        let room = w.remaining(limit);
        let chunk = self.forward.chunk(&self.rq, room).filter(|_| room >= 8);
        if let Some(chunk) = &chunk {
            w.chunk(chunk);
        }
        // A FORWARD-TSN that does not fit with other chunks leaves with the next packet.
        if chunk.is_some() || w.is_empty() || room >= 8 {
            self.forward.withhold();
        }
    }
}

#[inline]
fn outgoing(tsn: Tsn, cut: Cut, sent: Transmission, coded: Option<(Header, Option<Symbol>)>) -> Outgoing {
    let (header, symbol) = coded.map_or((None, None), |(header, symbol)| (Some(header), symbol));
    Outgoing {
        info: ChunkInfo {
            tsn,
            len: (cut.payload.len() + header.map_or(0, |h| h.length())) as u64 + 16,
            stream: cut.stream,
            expires: cut.expires,
            importance: cut.importance,
            group: cut.group,
            transmissions: smallvec![sent],
            losses: 0,
            symbol,
        },
        state: ChunkState::InFlight,
        requeued: None,
        carries: Carries::Message,
        header,
        payload: cut.payload,
        needless: Default::default(),
        message: cut.message,
        ssn: cut.ssn,
        ppid: cut.ppid,
        unordered: cut.unordered,
        begin: cut.begin,
        end: cut.end,
    }
}

/// Returns an abandoned chunk with TSN `tsn`, which stands for the unsent rest of `message`.
pub(super) fn placeholder(tsn: Tsn, message: QueuedMessage) -> Outgoing {
    Outgoing {
        info: ChunkInfo {
            tsn,
            len: 16,
            stream: message.stream,
            expires: message.expires,
            importance: message.importance,
            group: message.group,
            transmissions: SmallVec::new(),
            losses: 0,
            symbol: None,
        },
        state: ChunkState::Abandoned,
        requeued: None,
        carries: Carries::Message,
        header: None,
        payload: Bytes::new(),
        needless: Default::default(),
        message: message.id,
        ssn: message.ssn.unwrap_or(Ssn(0)),
        ppid: message.ppid,
        unordered: message.unordered,
        begin: false,
        end: true,
    }
}
