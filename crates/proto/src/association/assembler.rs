//! One packet of an association: control chunks, SACK, FORWARD-TSN, reports and DATA. Chunks are bundled up to the
//! path's packet size (RFC 9260 §6.10).

mod batch;
mod probe;

use super::context::Context;
use super::control_queue::Control;
use super::lifecycle::State;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::path::FourTuple;
use crate::policy::{PathId, PathState, ReportTrigger};
use crate::time::{Duration, Instant};
use crate::wire::chunk::report::{KIND_JOIN, KIND_MOVED};
use crate::wire::chunk::{ChunkEncode as _, DataHeader, Report as ReportChunk, ReportItem, SackHeader};
use crate::wire::packet::{HEADER_LEN, Header};
use crate::wire::{Chunk, PacketWriter, VerificationTag};

/// Length of a HEARTBEAT chunk with its information and without padding, in bytes.
const HEARTBEAT_LEN: usize = 20;

/// Datagrams for one path. The datagrams are at the end of the buffer passed to `poll_output`, each with room for its
/// envelope.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// Source and destination of the datagrams.
    pub tuple: FourTuple,
    /// Total bytes of all datagrams.
    pub len: usize,
    /// Bytes of each datagram except the last. With one datagram the value is `len`.
    pub segment_size: usize,
    /// True if IP may fragment the datagrams. The datagrams' chunks were then cut for larger packets than the path now
    /// accepts. Chunks cannot be cut again (RFC 9260 §6.9). If false, the datagrams are sent with DF set.
    pub fragment: bool,
}

/// Parts of an association that produce output.
#[derive(Debug)]
pub(super) struct Assembler<'a> {
    pub cx: &'a mut Context,
    pub tx: &'a mut Sender,
    pub rx: &'a mut Receiver,
}

impl Assembler<'_> {
    /// Writes an answer to a 4-tuple that is not a path.
    pub fn off_path_output(&mut self, buf: &mut Vec<u8>) -> Option<Transmit> {
        let control = self.cx.control.pop_off_path()?;
        let (envelope, header) = (self.cx.config.envelope, self.header(control.tag));
        let mut w = PacketWriter::within(envelope, buf, header);
        w.chunk(&control.chunk);
        let len = w.finish() + envelope.len();
        Some(Transmit { tuple: control.tuple?, len, segment_size: len, fragment: false })
    }

    fn header(&self, tag: Option<u32>) -> Header {
        let verification_tag = tag.map_or(self.cx.peer.tag, VerificationTag);
        Header { source_port: self.cx.ports.0, destination_port: self.cx.ports.1, verification_tag }
    }

    /// Appends one packet of at most `limit` bytes for `path`. The packet leaves room for its envelope. Returns the
    /// packet's length; 0 if there is nothing to send.
    pub fn write_packet(&mut self, now: Instant, path: PathId, limit: usize, buf: &mut Vec<u8>) -> usize {
        let limit = self.room_on(path, limit);
        let alone = self.cx.control.front().filter(|c| c.path == path);
        let (alone, tag) = alone.map_or((false, None), |c| (c.alone, c.tag));
        let header = self.header(tag);
        let mut w = PacketWriter::within(self.cx.config.envelope, buf, header);
        let before = self.cx.paths.view(path.index()).in_flight_chunks;
        let signed = self.write_control(now, path, limit, &mut w);
        // A chunk that ends the association is the last one, or alone (RFC 9260 §3.3.7, §3.3.13).
        if !alone && !signed && self.cx.state != State::Closed {
            if self.rx.sack_due() == Some(path) {
                self.rx.write_sack(self.cx, now, path, limit, &mut w, self.tx.heap());
            }
            if self.tx.forward_path(self.cx) == Some(path) {
                self.tx.write_forward(limit, &mut w);
            }
            self.write_data(now, path, limit, &mut w);
        }
        let len = w.finish();
        if len > 0 {
            let data = self.cx.paths.view(path.index()).in_flight_chunks > before;
            self.packet_left(now, path, len, data);
        }
        len
    }

    /// Returns the number of bytes that the next packet for `path` may have. The returned number is at most `limit`.
    /// This method drops chunks that may not be sent to an unproven address, because they would block other chunks. The
    /// peer repeats its request if it needs the answer.
    pub fn room_on(&mut self, path: PathId, limit: usize) -> usize {
        let i = path.index();
        let limit = limit.min(self.cx.paths[i].packet_size(&self.cx.config));
        let Some(credit) = self.cx.paths[i].credit else { return limit };
        let room = limit.min(credit.saturating_sub(self.cx.headers(&self.cx.paths[i].tuple)));
        let hmac = self.cx.peer.keys.as_ref().map_or(0, |a| a.hmac.encoded_len()) + HEARTBEAT_LEN;
        let fits = |c: &Control| HEADER_LEN + c.chunk.encoded_len() + if c.auth { hmac } else { 0 } <= room;
        self.cx.control.drop_on(path, fits);
        let sack = HEADER_LEN + SackHeader::encoded_len(4, 0);
        if self.rx.sack_due() == Some(path) && room < sack {
            let other = self.cx.paths.seen().control_path();
            self.rx.redirect_sack(other, !self.cx.unproven(other));
        }
        if self.tx.forward_path(self.cx) == Some(path) {
            self.tx.withhold_forward();
        }
        room
    }

    fn packet_left(&mut self, now: Instant, path: PathId, len: usize, data: bool) {
        let overhead = u64::from(self.cx.config.encapsulation) + self.cx.config.envelope.len() as u64;
        let headers = self.cx.headers(&self.cx.paths[path.index()].tuple);
        let p = &mut self.cx.paths[path.index()];
        p.credit = p.credit.map(|c| c.saturating_sub(len + headers));
        p.stats.packets_sent += 1;
        p.stats.bytes_sent += len as u64;
        self.cx.datagram_left(path, (len + headers) as u64);
        let (p, v) = self.cx.paths.row_mut(path.index());
        if !data {
            return;
        }
        p.burst = p.burst.saturating_sub(1);
        if let Some(discovery) = &mut p.discovery {
            discovery.data_left();
        }
        if let Some(rate) = v.limit.pacing {
            let gap = rate.time_for(len as u64 + overhead).unwrap_or(Duration::from_secs(1));
            // With room for one more packet a batch of two leaves at once; idle time beyond that and the quantum is not
            // saved up.
            p.pace = p.pace.max(now - gap.max(self.cx.config.pacing_quantum)) + gap;
        }
        v.blocked = p.burst == 0 || p.pace > now;
        if v.blocked {
            self.tx.reconsider_but_copies(self.cx);
        }
    }

    /// Writes control chunks. Returns true if the packet ends with chunks that an AUTH chunk signs. The HMAC covers
    /// everything after the AUTH chunk, so no chunk may follow. With a seal there is no AUTH chunk.
    fn write_control(&mut self, now: Instant, path: PathId, limit: usize, w: &mut PacketWriter<'_>) -> bool {
        while let Some(c) = self.cx.control.front() {
            let auth =
                if c.auth { self.cx.peer.keys.as_ref().map_or(0, |a| a.hmac.encoded_len()) } else { 0 };
            let heartbeat = if c.auth { HEARTBEAT_LEN } else { 0 };
            let fits = w.is_empty() || w.remaining(limit) >= c.chunk.encoded_len() + auth + heartbeat;
            if c.path != path || c.tuple.is_some() || !fits || (c.alone && !w.is_empty()) {
                break;
            }
            let c = self.cx.control.pop().expect("it was there");
            if c.auth {
                self.write_authenticated(now, path, &c.chunk, w);
                return true;
            }
            w.chunk(&c.chunk);
            if c.alone {
                return false;
            }
        }
        self.cx.state != State::Closed && self.write_heartbeats(now, path, limit, w)
    }

    /// Writes an AUTH chunk, a report, and the heartbeat that accompanies the report. With a seal there is no AUTH
    /// chunk.
    fn write_authenticated(&mut self, now: Instant, path: PathId, chunk: &Chunk, w: &mut PacketWriter<'_>) {
        let hmac = self.cx.peer.keys.as_ref().map(|a| a.hmac);
        if hmac.is_none() && !self.cx.config.sealed() {
            return;
        }
        let slot = hmac.map(|hmac| w.auth_placeholder(0, hmac));
        w.chunk(chunk);
        // A heartbeat only goes with the path's name: alone with other reports it could arrive from an address that is
        // unknown to the peer.
        let names = |i: &ReportItem| matches!(i.kind, KIND_JOIN | KIND_MOVED);
        let named = matches!(chunk, Chunk::Report(r) if r.items.iter().any(names));
        let wanted = self.cx.paths[path.index()].heartbeats.requests.iter().position(|h| !h.probe);
        if let Some(at) = wanted.filter(|_| named) {
            self.cx.paths[path.index()].heartbeats.requests.remove(at);
            let heartbeat = self.cx.make_heartbeat(now, path, false, 0);
            w.chunk(&heartbeat);
        }
        if let (Some(keys), Some(slot)) = (&self.cx.peer.keys, slot) {
            w.fill_auth(slot, |bytes| keys.sign(bytes));
        }
    }

    /// Writes a requested heartbeat. The result has the meaning of the result of [`Assembler::write_control`].
    fn write_heartbeats(
        &mut self,
        now: Instant,
        path: PathId,
        limit: usize,
        w: &mut PacketWriter<'_>,
    ) -> bool {
        if self.cx.paths[path.index()].heartbeats.requests.is_empty() {
            return false;
        }
        let unproven = self.cx.unproven(path);
        let room = w.remaining(limit) >= if unproven { HEARTBEAT_LEN } else { 2 * HEARTBEAT_LEN };
        if !room && (!unproven || !w.is_empty()) {
            return false;
        }
        let wanted = self.cx.paths[path.index()].heartbeats.requests.remove(0);
        if !room {
            // The heartbeat counts as lost: the path is given up in its time.
            self.cx.make_heartbeat(now, path, wanted.probe, 0);
            return false;
        }
        if w.is_empty()
            && !wanted.probe
            && let Some(item) = self.cx.path_announcement(path)
        {
            self.cx.paths[path.index()].heartbeats.requests.insert(0, wanted);
            let report = ReportChunk { items: smallvec::smallvec![item] };
            self.write_authenticated(now, path, &report.into(), w);
            return true;
        }
        if !unproven
            && let Some(reports) = self.cx.collect_reports(now, ReportTrigger::Heartbeat(path))
            && w.remaining(limit) >= reports.encoded_len() + HEARTBEAT_LEN
        {
            w.chunk(&reports);
        }
        let pad_to = if wanted.padded { w.remaining(limit).saturating_sub(8) } else { 0 };
        let heartbeat = self.cx.make_heartbeat(now, path, wanted.probe, pad_to);
        w.chunk(&heartbeat);
        false
    }

    fn write_data(&mut self, now: Instant, path: PathId, limit: usize, w: &mut PacketWriter<'_>) {
        let state = self.cx.paths.view(path.index()).state;
        let usable = !matches!(state, PathState::Closed | PathState::Unconfirmed) && !self.cx.unproven(path);
        let overhead = self.cx.driver.overhead();
        let (mut first, mut first_chunk) = (true, true);

        while usable && let Some(pending) = self.tx.decide(self.cx, now).filter(|p| p.path == path) {
            let reports = if first { overhead } else { 0 };
            let fits = w.remaining(limit) >= DataHeader::encoded_len(pending.len) + reports;
            // A chunk that was cut for larger packets has a packet of its own, whatever its size: it cannot be cut
            // again.
            if !fits && !w.is_empty() {
                break;
            }
            if first
                && overhead > 0
                && let Some(r) = self.cx.collect_reports(now, ReportTrigger::Data(path))
            {
                w.chunk(&r);
            }
            first = false;
            let Some(tsn) = self.tx.commit(self.cx, now) else { break };
            let immediate = self.tx.asks_at_once(self.cx, first_chunk);
            first_chunk = false;
            self.tx.write_chunk(tsn, immediate, w);
            // Burst and pacing count packets: what fits this one still goes.
        }
    }
}
