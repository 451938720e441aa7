//! One packet: control, SACK, FORWARD-TSN, reports and DATA bundled up to the path's size (RFC 9260 §6.10).

use smallvec::SmallVec;

use super::output::Transmit;
use super::pick::Source;
use super::state::{Association, State};
use crate::policy::{Occasion, PathId, PathState};
use crate::time::{Duration, Instant};
use crate::tx::ChunkState;
use crate::wire::chunk::report::{KIND_JOIN, KIND_MOVED};
use crate::wire::chunk::{
    ChunkEncode as _, DataHeader, ForwardTsn, Report as ReportChunk, ReportItem, SackHeader,
};
use crate::wire::packet::Header;
use crate::wire::{Chunk, PacketWriter, Ssn, StreamId, Tsn, VerificationTag};

/// A heartbeat's own chunk with its information, unpadded.
const HEARTBEAT_LEN: usize = 20;

impl Association {
    fn header(&self, tag: Option<u32>) -> Header {
        let verification_tag = tag.map_or(self.peer_tag, VerificationTag);
        Header { source_port: self.ports.0, destination_port: self.ports.1, verification_tag }
    }

    /// An answer to a 4-tuple that is no path.
    pub(super) fn stray_output(&mut self, buf: &mut Vec<u8>) -> Option<Transmit> {
        let control = self.control.pop_stray()?;
        let header = self.header(control.tag);
        let mut w = PacketWriter::new(buf, header);
        w.chunk(&control.chunk);
        let len = w.finish();
        Some(Transmit { tuple: control.tuple?, len, segment_size: len })
    }

    /// Appends one packet of at most `limit` bytes for `path`; its length, 0 when there was nothing to say.
    pub(super) fn write_packet(
        &mut self,
        now: Instant,
        path: PathId,
        limit: usize,
        buf: &mut Vec<u8>,
    ) -> usize {
        let limit = self.room_on(path, limit);
        let alone = self.control.front().filter(|c| c.path == path);
        let (alone, tag) = alone.map_or((false, None), |c| (c.alone, c.tag));
        let header = self.header(tag);
        let mut w = PacketWriter::new(buf, header);
        let before = self.paths.view(path.index()).in_flight_chunks;
        let signed = self.write_control(now, path, limit, &mut w);
        // What says goodbye says it last, or alone (RFC 9260 §3.3.7, §3.3.13).
        if !alone && !signed && self.state != State::Closed {
            if self.rx.acks.due() == Some(path) {
                self.write_sack(now, path, limit, &mut w);
            }
            if self.tx.forward_due && path == self.paths.seen().control_path_in_turn(self.tx.forward_tries) {
                self.write_forward(limit, &mut w);
            }
            self.write_data(now, path, limit, &mut w);
        }
        let len = w.finish();
        if len > 0 {
            let data = self.paths.view(path.index()).in_flight_chunks > before;
            self.packet_left(now, path, len, data);
        }
        len
    }

    fn packet_left(&mut self, now: Instant, path: PathId, len: usize, data: bool) {
        let overhead = u64::from(self.config.encapsulation);
        let (p, v) = self.paths.row_mut(path.index());
        p.credit = p.credit.map(|c| c.saturating_sub(len + p.tuple.headers()));
        p.stats.packets_sent += 1;
        p.stats.bytes_sent += len as u64;
        if !data {
            return;
        }
        p.burst = p.burst.saturating_sub(1);
        if let Some(rate) = v.limit.pacing {
            let gap = rate.time_for(len as u64 + overhead).unwrap_or(Duration::from_secs(1));
            // A bucket of one more packet lets a batch of two go at once; idle time beyond that and the quantum is not saved up.
            p.pace = p.pace.max(now - gap.max(self.config.pacing_quantum)) + gap;
        }
        v.blocked = p.burst == 0 || p.pace > now;
        if v.blocked && !self.tx.pick.is_some_and(|p| matches!(p.source, Source::Copy(_))) {
            self.tx.pick = None;
        }
    }

    /// True when the packet ends with an AUTH chunk and what it signs: its HMAC covers all that follows it, so that
    /// nothing more may follow.
    fn write_control(&mut self, now: Instant, path: PathId, limit: usize, w: &mut PacketWriter<'_>) -> bool {
        while let Some(c) = self.control.front() {
            let auth = if c.auth { self.auth.as_ref().map_or(0, |a| a.hmac.encoded_len()) } else { 0 };
            let heartbeat = if c.auth { HEARTBEAT_LEN } else { 0 };
            let fits = w.is_empty() || w.remaining(limit) >= c.chunk.encoded_len() + auth + heartbeat;
            if c.path != path || c.tuple.is_some() || !fits || (c.alone && !w.is_empty()) {
                break;
            }
            let c = self.control.pop().expect("it was there");
            if c.auth {
                self.write_authenticated(now, path, &c.chunk, w);
                return true;
            }
            w.chunk(&c.chunk);
            if c.alone {
                return false;
            }
        }
        self.state != State::Closed && self.write_heartbeats(now, path, limit, w)
    }

    /// AUTH, a report, and the heartbeat that goes with it.
    fn write_authenticated(&mut self, now: Instant, path: PathId, chunk: &Chunk, w: &mut PacketWriter<'_>) {
        let Some(hmac) = self.auth.as_ref().map(|a| a.hmac) else { return };
        let slot = w.auth_placeholder(0, hmac);
        w.chunk(chunk);
        // A heartbeat goes with the path's name only: alone with other news it could come from an address that the
        // peer does not know.
        let names = |i: &ReportItem| matches!(i.kind, KIND_JOIN | KIND_MOVED);
        let named = matches!(chunk, Chunk::Report(r) if r.items.iter().any(names));
        let wanted = self.paths[path.index()].heartbeats.wanted.iter().position(|h| !h.probe);
        if let Some(at) = wanted.filter(|_| named) {
            self.paths[path.index()].heartbeats.wanted.remove(at);
            let heartbeat = self.make_heartbeat(now, path, false, 0);
            w.chunk(&heartbeat);
        }
        if let Some(keys) = &self.auth {
            w.fill_auth(slot, |bytes| keys.sign(bytes));
        }
    }

    /// One wanted heartbeat; as [`Association::write_control`].
    fn write_heartbeats(
        &mut self,
        now: Instant,
        path: PathId,
        limit: usize,
        w: &mut PacketWriter<'_>,
    ) -> bool {
        if self.paths[path.index()].heartbeats.wanted.is_empty() {
            return false;
        }
        let unproven = self.unproven(path);
        let room = w.remaining(limit) >= if unproven { HEARTBEAT_LEN } else { 2 * HEARTBEAT_LEN };
        if !room && (!unproven || !w.is_empty()) {
            return false;
        }
        let wanted = self.paths[path.index()].heartbeats.wanted.remove(0);
        if !room {
            // As if it were lost: the path is given up in its time.
            self.make_heartbeat(now, path, wanted.probe, 0);
            return false;
        }
        if w.is_empty()
            && !wanted.probe
            && let Some(item) = self.still_here(path)
        {
            self.paths[path.index()].heartbeats.wanted.insert(0, wanted);
            let report = ReportChunk { items: smallvec::smallvec![item] };
            self.write_authenticated(now, path, &report.into(), w);
            return true;
        }
        if !unproven
            && let Some(reports) = self.collect_reports(now, Occasion::Heartbeat(path))
            && w.remaining(limit) >= reports.encoded_len() + HEARTBEAT_LEN
        {
            w.chunk(&reports);
        }
        let pad_to = if wanted.padded { w.remaining(limit).saturating_sub(8) } else { 0 };
        let heartbeat = self.make_heartbeat(now, path, wanted.probe, pad_to);
        w.chunk(&heartbeat);
        false
    }

    fn write_sack(&mut self, now: Instant, path: PathId, limit: usize, w: &mut PacketWriter<'_>) {
        let arrivals = self.arrival_report();
        if let Some(arrivals) = arrivals
            && w.remaining(limit) >= arrivals.encoded_len() + SackHeader::encoded_len(4, 0)
        {
            w.chunk(&arrivals);
        }
        let room = w.remaining(limit);
        if room < SackHeader::encoded_len(4, 0) {
            return;
        }
        let duplicates = self.gaps_for(room);
        let header = self.sack_header();
        w.sack(&header, &self.rx.gaps, &self.rx.tracker.duplicates()[..duplicates]);
        self.sack_sent();
        if let Some(reports) = self.collect_reports(now, Occasion::Sack(path))
            && w.remaining(limit) >= reports.encoded_len()
        {
            w.chunk(&reports);
        }
    }

    /// FORWARD-TSN with, for each ordered stream, the highest SSN given up (RFC 3758 §3.5 C3, C4).
    fn write_forward(&mut self, limit: usize, w: &mut PacketWriter<'_>) {
        let mut streams: SmallVec<[(StreamId, Ssn); 4]> = SmallVec::new();
        let end = self.tx.adv_peer_ack;
        let mut cum = self.tx.outstanding.cum_acked();
        let room = w.remaining(limit).saturating_sub(8) / 4;
        for c in self.tx.outstanding.iter().take_while(|c| !c.info.tsn.is_after(end)) {
            if c.state == ChunkState::Abandoned && !c.unordered {
                match streams.iter().position(|(s, _)| *s == c.info.stream) {
                    Some(at) => streams[at].1 = c.ssn,
                    None if streams.len() < room => streams.push((c.info.stream, c.ssn)),
                    None => break,
                }
            }
            cum = c.info.tsn;
        }
        if w.remaining(limit) < 8 || !cum.is_after(self.tx.outstanding.cum_acked()) {
            self.tx.forward_due = !w.is_empty() && w.remaining(limit) < 8;
            return;
        }
        w.chunk(&ForwardTsn { new_cumulative_tsn: cum, streams });
        self.tx.forward_due = false;
    }

    fn write_data(&mut self, now: Instant, path: PathId, limit: usize, w: &mut PacketWriter<'_>) {
        let state = self.paths.view(path.index()).state;
        let usable = !matches!(state, PathState::Closed | PathState::Unconfirmed) && !self.unproven(path);
        let overhead = self.driver.scheme().overhead();
        let mut first = true;

        while usable && let Some(pick) = self.pick(now).filter(|p| p.path == path) {
            let reports = if first { overhead } else { 0 };
            let fits = w.remaining(limit) >= DataHeader::encoded_len(pick.len) + reports;
            // A chunk cut for larger packets goes alone, whatever its size: it can not be cut again.
            if !fits && !w.is_empty() {
                break;
            }
            if first
                && overhead > 0
                && let Some(r) = self.collect_reports(now, Occasion::Data(path))
            {
                w.chunk(&r);
            }
            first = false;
            let Some(tsn) = self.take_pick(now) else { break };
            self.write_chunk(tsn, w);

            // Burst and pacing count packets: what fits this one still goes.
        }
    }

    fn write_chunk(&self, tsn: Tsn, w: &mut PacketWriter<'_>) {
        let Some(c) = self.tx.outstanding.get(tsn) else { return };
        let header = DataHeader {
            tsn,
            stream_id: c.info.stream,
            ssn: c.ssn,
            ppid: c.ppid,
            immediate: false,
            unordered: c.unordered,
            beginning: c.begin,
            ending: c.end,
        };
        w.data(&header, &c.payload);
    }
}
