//! Times and contents of SACKs (RFC 9260 §6.2, §6.7).

use super::Receiver;
use super::data::PacketData;
use crate::association::context::Context;
use crate::association::lifecycle::State;
use crate::policy::{PathId, ReportTrigger, RxInfo, Signal};
use crate::time::Instant;
use crate::wire::PacketWriter;
use crate::wire::chunk::{ChunkEncode as _, GapBlock, Report as ReportChunk, Sack, SackHeader, Shutdown};

impl Receiver {
    /// Decides on the SACK for a packet after all its chunks are processed.
    pub fn after_packet(
        &mut self,
        cx: &mut Context,
        now: Instant,
        on: PathId,
        bytes: u64,
        seen: &PacketData,
        sent: usize,
    ) {
        let Some(range) = seen.range else { return };
        if cx.state == State::Closed {
            return;
        }
        self.acks.on_packet(now, on, seen.new);
        self.note_arrived(cx, now, range.1, on, bytes);
        self.size.received_on.insert(on);
        if now >= self.size.due {
            self.fit_receive_buffer(cx, now);
        }
        let rx = RxInfo {
            path: on,
            bytes,
            tsns: Some(range),
            new: seen.new,
            duplicate: seen.duplicate,
            gap: self.tracker.has_gap(),
            filled: seen.filled,
            immediate: seen.immediate,
            packets_since_sack: self.acks.packets(),
        };
        cx.signal(now, &Signal::Arrived(&rx));
        let rule = cx.ask(now, |scheme, view| scheme.feedback().sack(view, &rx));
        let tolerates_silence = cx.config.silence_timeout.is_some();
        let named = || self.acks.named_return_path(&cx.paths, self.arrived.return_paths());
        let back = || named().unwrap_or_else(|| self.acks.return_path(now, &cx.paths, on, tolerates_silence));
        let via = rule.via.filter(|p| cx.is_open(*p)).unwrap_or_else(back);
        // RFC 9260 §6.2: the first DATA after the handshake, and all DATA during a shutdown, are acknowledged at once.
        let first = cx.stats.sacks_sent == 0 && self.acks.due().is_none();
        let now_due = rule.now
            || first
            || self.acks.packets() >= cx.config.sack_frequency
            || matches!(cx.state, State::ShutdownSent);
        self.acks.schedule(now, via, (!now_due).then_some(cx.config.sack_delay));
        if cx.state == State::ShutdownSent {
            // RFC 9260 §9.2: while a SHUTDOWN waits for its answer, DATA are answered by another SHUTDOWN.
            cx.push_control(on, Shutdown { cumulative_tsn_ack: self.tracker.cum_tsn() });
        }
        if let Some(via) = self.acks.due().filter(|_| cx.config.strict_rfc) {
            self.sack_as_control(cx, now, via, sent);
        }
    }

    /// Returns the receive window to advertise. A window that is too small (silly window) is advertised as zero (RFC
    /// 9260 §6.2).
    fn a_rwnd(&mut self, cx: &Context, sent: usize) -> u32 {
        let free = self.window(sent) as u32;
        self.window_closed = free < u32::from(cx.config.mtu);
        if self.window_closed { 0 } else { free }
    }

    /// Handles a read by the application, which may open a closed window (RFC 9260 §6.2).
    pub(super) fn window_may_open(&mut self, cx: &Context, sent: usize) {
        let step = (self.size.size / 4).max(usize::from(cx.config.mtu));
        if self.window_closed && self.window(sent) >= step {
            self.window_closed = false;
            self.acks.want();
        }
    }

    /// Selects the gap blocks for a SACK. `room` is the bytes that the SACK may have, including its header. Returns how
    /// many duplicates fit in addition to the gap blocks.
    fn gaps_for(&mut self, room: usize) -> usize {
        let entries = room.saturating_sub(SackHeader::encoded_len(0, 0)) / 4;
        self.gaps.clear();
        let blocks = self.tracker.gap_blocks().map(|(start, end)| GapBlock { start, end });
        self.gaps.extend(blocks.take(entries));
        (entries - self.gaps.len()).min(self.tracker.duplicates().len())
    }

    fn sack_header(&mut self, cx: &Context, sent: usize) -> SackHeader {
        let count = if cx.paths.seen().peer_reports() { self.acks.packets().min(255) as u8 } else { 0 };
        SackHeader { cumulative_tsn_ack: self.tracker.cum_tsn(), a_rwnd: self.a_rwnd(cx, sent), flags: count }
    }

    /// Records that a SACK was sent.
    fn sack_sent(&mut self, cx: &mut Context, now: Instant) {
        self.tracker.clear_duplicates();
        if cx.config.tail_probes {
            self.acks.repeat_sooner(now, &cx.paths);
        }
        self.acks.on_sent();
        cx.stats.sacks_sent += 1;
    }

    /// Queues a separate SACK for all data that have arrived so far. The SACK carries the scheme's reports. This
    /// follows RFC 9260 literally: packets of a batch do not share a SACK.
    fn sack_as_control(&mut self, cx: &mut Context, now: Instant, path: PathId, sent: usize) {
        if let Some(arrived) = self.arrived_report(cx, now).map(|arrived| arrived.to_item()) {
            cx.push_control(path, ReportChunk { items: smallvec::smallvec![arrived] });
        }
        if let Some(arrivals) = self.arrival_report(cx) {
            cx.push_control(path, arrivals);
        }
        let room = 512;
        let duplicates = self.gaps_for(room);
        let header = self.sack_header(cx, sent);
        let sack = Sack::new(header, &self.gaps, &self.tracker.duplicates()[..duplicates]);
        cx.push_control(path, sack);
        self.sack_sent(cx, now);
        if let Some(reports) = cx.collect_reports(now, ReportTrigger::Sack(path)) {
            cx.push_control(path, reports);
        }
    }

    pub fn write_sack(
        &mut self,
        cx: &mut Context,
        now: Instant,
        path: PathId,
        limit: usize,
        w: &mut PacketWriter<'_>,
        sent: usize,
    ) {
        let least = SackHeader::encoded_len(4, 0);
        if let Some(arrived) = self.arrived_report(cx, now)
            && w.remaining(limit) >= arrived.encoded_len() + least
        {
            w.chunk(&arrived);
        }
        if let Some(arrivals) = self.arrival_report(cx)
            && w.remaining(limit) >= arrivals.encoded_len() + least
        {
            w.chunk(&arrivals);
        }
        let room = w.remaining(limit);
        if room < least {
            return;
        }
        let duplicates = self.gaps_for(room);
        let header = self.sack_header(cx, sent);
        w.sack(&header, &self.gaps, &self.tracker.duplicates()[..duplicates]);
        self.sack_sent(cx, now);
        if let Some(reports) = cx.collect_reports(now, ReportTrigger::Sack(path))
            && w.remaining(limit) >= reports.encoded_len()
        {
            w.chunk(&reports);
        }
    }
}
