//! DATA and FORWARD-TSN in, SACK out (RFC 9260 §6.2, §6.7; RFC 3758 §3.6).

use super::event::{CloseReason, Event};
use super::memory::Room;
use super::state::{Association, State};
use crate::policy::{Occasion, PathId, RxInfo, Signal};
use crate::rx::{Arrival, Fragment};
use crate::time::Instant;
use crate::wire::chunk::{Data, ErrorChunk, ForwardTsn, GapBlock, Sack, SackHeader};
use crate::wire::{Cause, Tsn};

/// Payloads below this are copied out of their datagram, so that small chunks can't pin large buffers.
const COPY_BELOW: usize = 256;

/// What one packet brought.
#[derive(Debug, Default)]
pub(super) struct PacketData {
    range: Option<(Tsn, Tsn)>,
    new: bool,
    duplicate: bool,
    filled: bool,
    immediate: bool,
}

impl Association {
    /// RFC 9260 §4: the states that take data. Before COOKIE ACK there is nothing to acknowledge either.
    fn takes_data(&self) -> bool {
        matches!(self.state, State::Established | State::ShutdownPending | State::ShutdownSent)
    }

    /// A DATA chunk.
    pub(super) fn on_data(&mut self, now: Instant, data: Data, on: PathId, seen: &mut PacketData) {
        if !self.takes_data() {
            return;
        }
        let h = data.header;
        if data.payload.is_empty() {
            let text = format!("DATA {} without user data", h.tsn);
            self.abort_with(Cause::NoUserData(h.tsn), CloseReason::Protocol(text));
            return;
        }
        self.paths[on.index()].stats.payload_received += data.payload.len() as u64;
        seen.range = Some(seen.range.map_or((h.tsn, h.tsn), |(lo, hi)| {
            (if h.tsn.is_before(lo) { h.tsn } else { lo }, if h.tsn.is_after(hi) { h.tsn } else { hi })
        }));
        seen.immediate |= h.immediate;
        let check = self.rx.tracker.check(h.tsn);
        match check.arrival {
            Arrival::Duplicate => {
                self.rx.tracker.insert(h.tsn);
                self.note_arrival(h.tsn, on);
                self.stats.duplicates_received += 1;
                seen.duplicate = true;
                return;
            }
            Arrival::TooFar => {
                self.stats.chunks_refused += 1;
                return;
            }
            Arrival::New => {}
        }
        match self.room_for(&h, data.payload.len()) {
            Room::Yes => {}
            Room::NotNow => {
                self.stats.chunks_refused += 1;
                self.rx.acks.schedule(now, on, None);
                return;
            }
            Room::Never => return self.overrun(),
        }
        self.rx.tracker.insert(h.tsn);
        self.note_arrival(h.tsn, on);
        self.stats.chunks_received += 1;
        self.rx.size.arrived += data.payload.len() as u64;
        seen.new = true;
        seen.filled |= check.filled;
        if h.stream_id.0 >= self.rx.streams {
            let cause = Cause::InvalidStreamIdentifier(h.stream_id);
            self.push_control(on, ErrorChunk { causes: vec![cause] });
            return;
        }
        self.reassemble(now, data);
    }

    fn reassemble(&mut self, now: Instant, data: Data) {
        let h = data.header;
        let small = self.rx.copies || data.payload.len() < COPY_BELOW;
        let payload = if small { bytes::Bytes::copy_from_slice(&data.payload) } else { data.payload };
        let fragment = Fragment {
            tsn: h.tsn,
            stream: h.stream_id,
            ssn: h.ssn,
            ppid: h.ppid,
            unordered: h.unordered,
            begin: h.beginning,
            end: h.ending,
            payload,
        };
        let readable = self.rx.reassembly.readable();
        let size = &mut self.rx.size;
        if !readable {
            size.held = size.held.max(self.rx.reassembly.buffered_bytes());
        }
        let pushed = self.rx.reassembly.push(fragment, now);
        size.most = size.most.max(self.rx.reassembly.buffered_bytes());
        if let Err(violation) = pushed {
            let text = violation.to_string();
            let cause = Cause::ProtocolViolation(text.clone().into());
            self.abort_with(cause, CloseReason::Protocol(text));
        } else if !readable && self.rx.reassembly.readable() {
            self.events.push_back(Event::Readable);
        }
    }

    /// The buffer is full of what can't be read, and what comes next fits nowhere: it ends here (RFC 9260 §3.3.10.4).
    fn overrun(&mut self) {
        let text = format!(
            "the receive buffer of {} bytes is full and no message in it can be read: one is too long, or its stream \
             lacks a message",
            self.rx.size.size
        );
        let cause = Cause::UserInitiatedAbort(text.clone().into());
        self.abort_with_causes(vec![Cause::OutOfResource, cause], CloseReason::Protocol(text));
    }

    /// Everything of a packet is in: decide on its SACK.
    pub(super) fn after_packet(&mut self, now: Instant, on: PathId, bytes: u64, seen: &PacketData) {
        let Some(range) = seen.range else { return };
        if self.state == State::Closed {
            return;
        }
        self.rx.acks.on_packet(on, seen.new);
        self.rx.size.heard.insert(on);
        if now >= self.rx.size.due {
            self.fit_receive_buffer(now);
        }
        let rx = RxInfo {
            path: on,
            bytes,
            tsns: Some(range),
            new: seen.new,
            duplicate: seen.duplicate,
            gap: self.rx.tracker.has_gap(),
            filled: seen.filled,
            immediate: seen.immediate,
            packets_since_sack: self.rx.acks.packets(),
        };
        self.driver.signal(self.paths.seen_mut(), now, &Signal::Arrived(&rx));
        let rule = self.driver.ask(self.paths.seen(), now, |scheme, view| scheme.sack(view, &rx));
        let endures = self.config.endured_silence.is_some();
        let back = || self.rx.acks.way_back(now, &self.paths, on, endures);
        let via = rule.via.filter(|p| self.is_open(*p)).unwrap_or_else(back);
        // RFC 9260 §6.2: the first DATA after the handshake, and everything while shutting down, at once.
        let first = self.stats.sacks_sent == 0 && self.rx.acks.due().is_none();
        let now_due = rule.now
            || first
            || self.rx.acks.packets() >= self.config.sack_frequency
            || matches!(self.state, State::ShutdownSent);
        self.rx.acks.schedule(now, via, (!now_due).then_some(self.config.sack_delay));
        self.repeat_shutdown(on);
        if let Some(via) = self.rx.acks.due().filter(|_| self.config.strict_rfc) {
            self.sack_as_control(now, via);
        }
    }

    /// The receive window to advertise; silly small ones count as none (RFC 9260 §6.2).
    pub(super) fn a_rwnd(&mut self) -> u32 {
        let free = self.window() as u32;
        self.rx.window_closed = free < u32::from(self.config.mtu);
        if self.rx.window_closed { 0 } else { free }
    }

    /// The application read: a closed window may have opened (RFC 9260 §6.2).
    pub(super) fn window_may_open(&mut self) {
        let step = (self.rx.size.size / 4).max(usize::from(self.config.mtu));
        if self.rx.window_closed && self.window() >= step {
            self.rx.window_closed = false;
            self.rx.acks.want();
        }
    }

    /// The gap blocks for a SACK with room for `room` bytes, header included; how many duplicates fit beside them.
    pub(super) fn gaps_for(&mut self, room: usize) -> usize {
        let entries = room.saturating_sub(SackHeader::encoded_len(0, 0)) / 4;
        self.rx.gaps.clear();
        let blocks = self.rx.tracker.gap_blocks().map(|(start, end)| GapBlock { start, end });
        self.rx.gaps.extend(blocks.take(entries));
        (entries - self.rx.gaps.len()).min(self.rx.tracker.duplicates().len())
    }

    pub(super) fn sack_header(&mut self) -> SackHeader {
        let count = if self.paths.seen().peer_reports() { self.rx.acks.packets().min(255) as u8 } else { 0 };
        SackHeader { cumulative_tsn_ack: self.rx.tracker.cum_tsn(), a_rwnd: self.a_rwnd(), flags: count }
    }

    /// A SACK left.
    pub(super) fn sack_sent(&mut self) {
        self.rx.tracker.clear_duplicates();
        self.rx.acks.on_sent();
        self.stats.sacks_sent += 1;
    }

    /// One SACK of its own for what arrived up to here (RFC 9260 as written: no sharing within a batch), and the scheme's
    /// reports beside it.
    fn sack_as_control(&mut self, now: Instant, path: PathId) {
        if let Some(arrivals) = self.arrival_report() {
            self.push_control(path, arrivals);
        }
        let room = 512;
        let duplicates = self.gaps_for(room);
        let header = self.sack_header();
        let sack = Sack::new(header, &self.rx.gaps, &self.rx.tracker.duplicates()[..duplicates]);
        self.push_control(path, sack);
        self.sack_sent();
        if let Some(reports) = self.collect_reports(now, Occasion::Sack(path)) {
            self.push_control(path, reports);
        }
    }

    /// FORWARD-TSN (RFC 3758 §3.6).
    pub(super) fn on_forward_tsn(&mut self, now: Instant, forward: &ForwardTsn, on: PathId) {
        if !self.peer_partial {
            self.stats.bad_chunks += 1;
            return;
        }
        if !self.takes_data() {
            return;
        }
        self.rx.acks.schedule(now, on, None);
        // A peer can not give up more than it can have sent.
        let ahead = forward.new_cumulative_tsn.distance_from(self.rx.tracker.cum_tsn());
        if forward.streams.iter().any(|(s, _)| s.0 >= self.rx.streams) || (1 << 24..1 << 31).contains(&ahead)
        {
            self.stats.bad_chunks += 1;
            return;
        }
        if self.rx.tracker.forward(forward.new_cumulative_tsn) {
            let readable = self.rx.reassembly.readable();
            self.rx.reassembly.forward(forward.new_cumulative_tsn, &forward.streams);
            if !readable && self.rx.reassembly.readable() {
                self.events.push_back(Event::Readable);
            }
        }
    }
}
