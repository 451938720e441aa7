//! Repair symbols in addition to messages: their times of departure and their paths.
//!
//! A repair symbol never displaces a message. A repair symbol leaves only if windows and the peer's buffer have room
//! for it and for all waiting data. While the application submits more data than the paths carry, no repair symbol
//! leaves. Messages lost by congestion are then not repaired. A repair symbol delays a later message on the same path
//! by at most the symbol's own transmission time.

use strandcast_coding::symbol::Header;

use super::Sender;
use super::pending_chunk::{ChunkSource, PendingChunk};
use crate::association::context::Context;
use crate::coding::{Coder, Leaving};
use crate::policy::{PathId, Symbol};
use crate::time::Instant;
use crate::tx::Cut;
use crate::wire::Tsn;

impl Sender {
    /// Returns the repair symbol that is due and its path, if there is one.
    pub fn pick_repair(&mut self, cx: &mut Context, now: Instant) -> Option<PendingChunk> {
        let Some(Coder::Repair(repair)) = &mut self.coder else { return None };
        // The TSNs of a message's chunks are consecutive (RFC 9260 §6.9).
        if self.buffer.begun().is_some() || cx.aggregate_full() || !cx.any_admits_new() {
            return None;
        }
        let offer = repair.due(&cx.paths.seen().view(now))?;
        // The largest packet may have become smaller since the messages of the symbol left.
        if offer.len > self.max_user_data as u64 + 16 || !self.leaves_room(cx, offer.len) {
            return None;
        }
        if !self.admits_repair(cx, now, offer.len as usize - 16) {
            return None;
        }
        let path = cx.driver.next_repair(cx.paths.seen_mut(), now, &offer)?;
        if !cx.admits_new(path) {
            cx.stats.refused_assignments += 1;
            return None;
        }
        Some(PendingChunk { path, source: ChunkSource::Repair, len: offer.len as usize - 16 })
    }

    /// Returns whether there is room for a chunk with `len` counted bytes in addition to all waiting messages. Windows
    /// and the peer's buffer must both have this room.
    fn leaves_room(&self, cx: &Context, len: u64) -> bool {
        let chunks = (self.buffer.messages() * (16 + self.header_room())) as u64;
        let waiting = self.buffer.queued() as u64 + chunks + self.rq.requeued() + len;
        let usable = cx.paths.usable();
        let room = cx.paths.views().iter().filter(|v| usable.contains(v.id)).map(|v| v.room());
        waiting <= cx.paths.seen().rwnd() && waiting <= room.sum()
    }

    /// Puts the repair symbol that was offered into flight.
    pub fn commit_repair(&mut self, cx: &mut Context, now: Instant, path: PathId) -> Option<Tsn> {
        let Some(Coder::Repair(repair)) = &mut self.coder else { return None };
        let written = repair.write()?;
        let bytes = written.header.length() + written.payload.len();
        self.redundancy.spend(now, bytes);
        cx.stats.redundancy_sent += bytes as u64;
        Some(self.push_symbol(cx, now, path, written))
    }

    /// Returns the header that precedes the chunk of a message, and the symbol that the chunk carries. The chunk leaves
    /// for the first time, on `path`.
    pub fn header_of(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        cut: &Cut,
    ) -> Option<(Header, Option<Symbol>)> {
        let Some(Coder::Repair(repair)) = &mut self.coder else { return None };
        let leaving = Leaving {
            stream: cut.stream,
            ppid: cut.ppid,
            unordered: cut.unordered,
            begin: cut.begin,
            end: cut.end,
            expires: cut.expires,
            payload: &cut.payload,
            path,
        };
        let (header, symbol) = repair.on_source_sent(now, &leaving)?;
        if symbol.is_some() {
            cx.stats.coding.sources_sent += 1;
            cx.stats.coding.source_bytes += (header.length() + cut.payload.len()) as u64;
        }
        Some((header, symbol))
    }

    /// Returns the maximum size in bytes of the coding header that the next chunk of a message has.
    pub fn header_room(&self) -> usize {
        match &self.coder {
            Some(Coder::Repair(repair)) => repair.header_room(),
            _ => 0,
        }
    }
}
