//! Input of DATA and FORWARD-TSN (RFC 9260 §6.2; RFC 3758 §3.6).

use super::Receiver;
use super::memory::Room;
use crate::association::context::Context;
use crate::association::event::{CloseReason, Event};
use crate::policy::PathId;
use crate::rx::{Arrival, Fragment};
use crate::time::Instant;
use crate::wire::chunk::{Data, ErrorChunk, ForwardTsn};
use crate::wire::{Cause, Tsn};

/// Payloads below this size are copied out of their datagram. A small chunk that is not copied would keep a large
/// buffer in memory.
const COPY_BELOW: usize = 256;

/// State for the DATA chunks of one packet.
#[derive(Debug, Default)]
pub(in crate::association) struct PacketData {
    pub(super) range: Option<(Tsn, Tsn)>,
    pub(super) new: bool,
    pub(super) duplicate: bool,
    pub(super) filled: bool,
    pub(super) immediate: bool,
}

impl Receiver {
    /// Handles a DATA chunk. `sent` is the heap in bytes of data that wait to be sent or acknowledged.
    pub fn on_data(
        &mut self,
        cx: &mut Context,
        now: Instant,
        data: Data,
        on: PathId,
        seen: &mut PacketData,
        sent: usize,
    ) {
        if !cx.state.takes_data() {
            return;
        }
        let h = data.header;
        if data.payload.is_empty() {
            let text = format!("DATA {} without user data", h.tsn);
            cx.abort_with(Cause::NoUserData(h.tsn), CloseReason::Protocol(text));
            return;
        }
        cx.paths[on.index()].stats.payload_received += data.payload.len() as u64;
        seen.range = Some(seen.range.map_or((h.tsn, h.tsn), |(lo, hi)| {
            (if h.tsn.is_before(lo) { h.tsn } else { lo }, if h.tsn.is_after(hi) { h.tsn } else { hi })
        }));
        seen.immediate |= h.immediate;
        let check = self.tracker.check(h.tsn);
        match check.arrival {
            Arrival::Duplicate => {
                self.tracker.insert(h.tsn);
                self.note_arrival(cx, h.tsn, on);
                cx.stats.duplicates_received += 1;
                seen.duplicate = true;
                return;
            }
            Arrival::TooFar => {
                cx.stats.chunks_refused += 1;
                return;
            }
            Arrival::New => {}
        }
        match self.room_for(&h, data.payload.len(), sent) {
            Room::Yes => {}
            Room::NotNow => {
                cx.stats.chunks_refused += 1;
                self.acks.schedule(now, on, None);
                return;
            }
            Room::Never => return self.overrun(cx),
        }
        self.tracker.insert(h.tsn);
        self.note_arrival(cx, h.tsn, on);
        cx.stats.chunks_received += 1;
        self.size.arrived += data.payload.len() as u64;
        seen.new = true;
        seen.filled |= check.filled;
        if h.stream_id.0 >= self.streams {
            let cause = Cause::InvalidStreamIdentifier(h.stream_id);
            cx.push_control(on, ErrorChunk { causes: vec![cause] });
            return;
        }
        self.reassemble(cx, now, data);
    }

    fn reassemble(&mut self, cx: &mut Context, now: Instant, data: Data) {
        let h = data.header;
        let small = self.copies || data.payload.len() < COPY_BELOW;
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
        let readable = self.reassembly.readable();
        let size = &mut self.size;
        if !readable {
            size.held = size.held.max(self.reassembly.buffered_bytes());
        }
        let pushed = self.reassembly.push(fragment, now);
        size.most = size.most.max(self.reassembly.buffered_bytes());
        if let Err(violation) = pushed {
            let text = violation.to_string();
            let cause = Cause::ProtocolViolation(text.clone().into());
            cx.abort_with(cause, CloseReason::Protocol(text));
        } else if !readable && self.reassembly.readable() {
            cx.events.push_back(Event::Readable);
        }
    }

    /// Ends the association because the buffer is full of data that cannot be read: no further data fit (RFC 9260
    /// §3.3.10.4).
    fn overrun(&self, cx: &mut Context) {
        let text = format!(
            "the receive buffer of {} bytes is full and no message in it can be read: one is too long, or its stream \
             lacks a message",
            self.size.size
        );
        let cause = Cause::UserInitiatedAbort(text.clone().into());
        cx.abort_with_causes(vec![Cause::OutOfResource, cause], CloseReason::Protocol(text));
    }

    /// Handles FORWARD-TSN (RFC 3758 §3.6).
    pub fn on_forward_tsn(&mut self, cx: &mut Context, now: Instant, forward: &ForwardTsn, on: PathId) {
        if !cx.peer.partial {
            cx.stats.bad_chunks += 1;
            return;
        }
        if !cx.state.takes_data() {
            return;
        }
        self.acks.schedule(now, on, None);
        // A peer cannot give up more data than it can have sent.
        let ahead = forward.new_cumulative_tsn.distance_from(self.tracker.cum_tsn());
        if forward.streams.iter().any(|(s, _)| s.0 >= self.streams) || (1 << 24..1 << 31).contains(&ahead) {
            cx.stats.bad_chunks += 1;
            return;
        }
        if self.tracker.forward(forward.new_cumulative_tsn) {
            let readable = self.reassembly.readable();
            self.reassembly.forward(forward.new_cumulative_tsn, &forward.streams);
            if !readable && self.reassembly.readable() {
                cx.events.push_back(Event::Readable);
            }
        }
    }
}
