//! Sending in coded blocks: the next symbol, the symbol's path, and the signals to the coder.

use smallvec::smallvec;

use super::Sender;
use super::pending_chunk::{ChunkSource, PendingChunk};
use crate::association::context::Context;
use crate::association::lifecycle::State;
use crate::coding::{Coder, Written};
use crate::policy::{
    Backlog, BlockView, BlockedBy, ChunkInfo, Importance, PathId, Symbol, SymbolAssignment, SymbolChoice,
    SymbolKind, Transmission,
};
use crate::time::Instant;
use crate::tx::{AckOutcome, Carries, ChunkState, Outgoing};
use crate::wire::{Ppid, Ssn, StreamId, Tsn};

impl Sender {
    /// Begins coding after the handshake, if both ends agreed on coding. Messages that the application submitted before
    /// are also coded.
    pub fn begin_coding(&mut self, cx: &mut Context, now: Instant) {
        debug_assert!(self.rq.is_empty(), "coded from the first chunk on");
        self.coder = Coder::new(cx.config.coding.as_ref(), cx.peer.coding_out.as_ref(), self.coding_seed);
        if self.coder.is_none() {
            return;
        }
        self.fit_payload(cx);
        self.fill_blocks(cx, now);
    }

    /// Returns the maximum payload bytes of a repair symbol that fits a packet.
    fn most_symbol(&self) -> usize {
        self.max_user_data.saturating_sub(strandcast_coding::symbol::REPAIR_HEADER)
    }

    /// Moves waiting messages into blocks while blocks have room.
    pub fn fill_blocks(&mut self, cx: &mut Context, now: Instant) {
        let most = self.most_symbol();
        let Some(Coder::Blocks(blocks)) = &mut self.coder else { return };
        let views = cx.paths.seen_mut().blocks_mut();
        let (buffer, media) = (&mut self.buffer, &mut cx.stats.media_sent);
        let take = || buffer.take().inspect(|m| *media += m.payload.len() as u64);
        let mut more = blocks.fill(now, most, take, views);
        // Messages that waited for a free block have waited long enough.
        let overdue = blocks.timeout().is_some_and(|at| at <= now);
        if cx.state != State::Established || overdue {
            more |= blocks.flush(views);
        }
        if more {
            cx.driver.wake();
        }
    }

    /// Returns the time at which an incomplete block is closed.
    pub fn flush_timeout(&self) -> Option<Instant> {
        match &self.coder {
            Some(Coder::Blocks(blocks)) => blocks.timeout(),
            Some(Coder::Repair(repair)) => repair.timeout(),
            None => None,
        }
    }

    /// Closes the incomplete block if it has waited long enough.
    pub fn on_flush_timeout(&mut self, cx: &mut Context) {
        let closed = match &mut self.coder {
            Some(Coder::Blocks(blocks)) => blocks.flush(cx.paths.seen_mut().blocks_mut()),
            Some(Coder::Repair(repair)) => {
                repair.on_timeout();
                false
            }
            None => false,
        };
        if closed {
            cx.driver.wake();
        }
    }

    /// Returns whether messages are sent in coded blocks.
    pub fn codes_blocks(&self) -> bool {
        matches!(self.coder, Some(Coder::Blocks(_)))
    }

    /// Returns whether the peer has all data that were put into coded blocks.
    pub fn coded_all(&self) -> bool {
        match &self.coder {
            Some(Coder::Blocks(blocks)) => blocks.is_empty(),
            _ => true,
        }
    }

    /// Returns the bytes in blocks that wait for their first transmission.
    pub fn unsent_in_blocks(&self) -> usize {
        match &self.coder {
            Some(Coder::Blocks(blocks)) => blocks.unsent(),
            _ => 0,
        }
    }

    /// Returns whether any data wait to be sent: queued messages, or blocks that the peer does not have yet.
    pub fn anything_waits(&self, cx: &Context) -> bool {
        !self.buffer.is_empty() || !cx.paths.seen().blocks().is_empty()
    }

    /// Returns the maximum number of bytes of user data in the next new chunk; `None` if no data wait. Retransmissions
    /// are not new chunks.
    pub fn next_user_data(&self, cx: &Context) -> Option<usize> {
        match &self.coder {
            Some(Coder::Blocks(blocks)) => {
                let waits = self.anything_waits(cx);
                waits.then(|| blocks.symbol_room(self.most_symbol()))
            }
            _ => self.buffer.next_chunk(None, self.max_payload).map(|(len, _)| len + self.header_room()),
        }
    }

    /// Returns the next symbol, which the scheduler chooses.
    pub fn pick_symbol(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        self.fill_blocks(cx, now);
        let most = self.most_symbol();
        let Some(Coder::Blocks(blocks)) = &self.coder else { return None };
        let (len, unsent) = (blocks.symbol_room(most), blocks.unsent());
        if cx.paths.seen().blocks().is_empty() {
            let refused = self.buffer.refused() && !cx.aggregate_full() && cx.any_admits_new();
            cx.stats.set_blocked(now, false, refused);
            self.note_blocked(cx, now, refused.then_some(BlockedBy::SendBuffer));
            return None;
        }
        let chunk_bytes = len as u64 + 16;
        if !self.window_admits(cx, now, chunk_bytes) || cx.driver.held() {
            return None;
        }
        let backlog = Backlog {
            bytes: (self.buffer.queued() + unsent) as u64,
            messages: self.buffer.messages(),
            next_len: chunk_bytes,
            ..Backlog::default()
        };
        if !cx.paths.views().iter().any(|v| v.has_room()) {
            return None;
        }
        let mut answer = cx.driver.next_symbol(cx.paths.seen_mut(), now, &backlog);
        if answer.is_none() && self.ask_for_penalty(cx, now, true) {
            answer = cx.driver.next_symbol(cx.paths.seen_mut(), now, &backlog);
        }
        let assignment = answer?;
        if !Self::can_be_done(cx, assignment) {
            cx.refuse_assignment();
            return None;
        }
        let source = ChunkSource::Symbol { block: assignment.block, what: assignment.what };
        Some(PendingChunk { path: assignment.path, source, len })
    }

    /// Returns whether the scheduler's choice can be executed.
    fn can_be_done(cx: &Context, assignment: SymbolAssignment) -> bool {
        let blocks = cx.paths.seen().blocks();
        let block = BlockView::find(blocks, assignment.block).map(|at| &blocks[at]);
        let there = block.is_some_and(|b| match assignment.what {
            SymbolChoice::Source => b.sources_sent < b.sources,
            SymbolChoice::Repair => b.closed,
        });
        there && cx.admits_new(assignment.path)
    }

    /// Puts the chosen symbol into flight.
    pub fn commit_symbol(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        (block, what): (u32, SymbolChoice),
    ) -> Option<Tsn> {
        let Some(Coder::Blocks(blocks)) = &mut self.coder else { return None };
        let Some(written) = blocks.write(cx.paths.seen_mut().blocks_mut(), block, what) else {
            cx.refuse_assignment();
            return None;
        };
        let tsn = self.push_symbol(cx, now, path, written);
        // Single symbols cannot be called redundant: the bytes beyond the messages' bytes are.
        let stats = &mut cx.stats;
        let symbols = stats.coding.source_bytes + stats.coding.repair_bytes;
        stats.redundancy_sent = stats.redundancy_sent.max(symbols.saturating_sub(stats.media_sent));
        Some(tsn)
    }

    /// Puts a symbol of the coder into flight, and counts it. Returns the symbol's TSN.
    pub fn push_symbol(&mut self, cx: &mut Context, now: Instant, path: PathId, written: Written) -> Tsn {
        let bytes = (written.header.length() + written.payload.len()) as u64;
        let stats = &mut cx.stats.coding;
        let carries = carried(written.symbol);
        let (number, sum) = match carries {
            Carries::Repair => (&mut stats.repairs_sent, &mut stats.repair_bytes),
            Carries::Source | Carries::Message => (&mut stats.sources_sent, &mut stats.source_bytes),
        };
        (*number, *sum) = (*number + 1, *sum + bytes);
        let tsn = self.rq.next_tsn();
        let chunk = Outgoing {
            info: ChunkInfo {
                tsn,
                len: bytes + 16,
                stream: StreamId(0),
                expires: written.expires,
                importance: Importance::Normal,
                group: None,
                transmissions: smallvec![Transmission::new(path, now, tsn + 1)],
                losses: 0,
                symbol: Some(written.symbol),
            },
            state: ChunkState::InFlight,
            requeued: None,
            carries,
            header: Some(written.header),
            payload: written.payload,
            needless: Default::default(),
            message: u64::MAX,
            ssn: Ssn(0),
            ppid: Ppid(0),
            unordered: true,
            begin: true,
            end: true,
        };
        let tsn = self.rq.push(cx.paths.seen_mut(), chunk);
        cx.paths.seen_mut().set_last_path_used(path);
        self.rq.time(path, tsn);
        tsn
    }

    /// Reports to the coder the symbols that a SACK acknowledges. Completed blocks are released, and make room for new
    /// blocks.
    pub fn symbols_arrived(&mut self, cx: &mut Context, now: Instant, acked: &AckOutcome) {
        if acked.symbols.is_empty() {
            return;
        }
        match &mut self.coder {
            None => {}
            Some(Coder::Repair(repair)) => {
                acked.symbols.iter().for_each(|(header, path)| repair.delivered(header, *path));
            }
            Some(Coder::Blocks(blocks)) => {
                let views = cx.paths.seen_mut().blocks_mut();
                acked.symbols.iter().for_each(|(header, _)| blocks.delivered(header, views));
                let released = blocks.let_go();
                cx.stats.messages_acked += released.messages;
                self.buffer.delivered(released.bytes);
                if released.bytes > 0 {
                    self.room_may_return(cx);
                }
                self.fill_blocks(cx, now);
            }
        }
    }

    /// Reports to the coder that a transmission of `tsn` was lost on `path`.
    pub fn symbol_lost(&mut self, tsn: Tsn, path: PathId) {
        if let (Some(Coder::Repair(repair)), Some(chunk)) = (&mut self.coder, self.rq.get(tsn))
            && let Some(header) = &chunk.header
        {
            repair.lost(header, path);
        }
    }

    /// Returns whether the lost `chunk` is given up instead of retransmitted. Lost chunks are given up if they are
    /// repair symbols, or if they belong to a block that the peer already has.
    pub fn is_spent(&self, chunk: &Outgoing) -> bool {
        match (&self.coder, chunk.carries) {
            (_, Carries::Message) | (None, _) => false,
            (_, Carries::Repair) => true,
            (Some(Coder::Blocks(blocks)), _) => chunk.header.is_none_or(|header| !blocks.needs(&header)),
            (Some(Coder::Repair(_)), _) => false,
        }
    }

    /// Gives up lost symbols that must not be retransmitted.
    pub fn abandon_spent(&mut self, cx: &mut Context, now: Instant) {
        if self.coder.is_none() || self.rq.lost().is_empty() || cx.state == State::Closed {
            return;
        }
        let mut spent = core::mem::take(&mut self.scratch);
        spent.clear();
        let lost = |tsn: &Tsn| self.rq.get(*tsn).filter(|c| matches!(c.state, ChunkState::Lost(_)));
        spent.extend(self.rq.lost().iter().copied().filter(|t| lost(t).is_some_and(|c| self.is_spent(c))));
        for &tsn in &spent {
            self.abandon_symbol(cx, now, tsn);
        }
        if !spent.is_empty() {
            self.rq.forget_found();
        }
        self.scratch = spent;
    }
}

fn carried(symbol: Symbol) -> Carries {
    match symbol.kind {
        SymbolKind::Source(_) => Carries::Source,
        SymbolKind::Repair => Carries::Repair,
    }
}
