//! The receiving end: reassembly and acknowledgements. The application reads data immediately when they are in order.
//! The receive window, counted from the data acknowledgement, therefore never shrinks.

use strandcast_proto::time::Instant;

use super::config::Config;
use super::ranges::Ranges;
use super::segment::{SackBlocks, Segment};
use super::stats::ReceiverStats;

/// The receiving end of a TCP or MPTCP connection.
///
/// After each call of `handle_segment` or `handle_timeout`, the caller calls `poll_output` until it returns `None`.
#[derive(Debug)]
pub struct Receiver {
    config: Config,
    subflows: Vec<Inbound>,
    /// Data of the whole connection. Data of the whole connection are used only with several subflows.
    data: Reassembly,
}

/// A segment with data that arrived.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Subflow on which the segment arrived.
    pub subflow: u8,
    /// First byte of the segment in the subflow's sequence space.
    pub seq: u64,
    /// Number of bytes of data.
    pub len: u32,
    /// First byte of the segment in the connection's sequence space.
    pub data_seq: u64,
    /// Time at which the segment was sent.
    pub sent: Instant,
    /// True if no byte of the segment had arrived on this subflow before. If false, the segment's last transmission was
    /// spurious.
    pub new: bool,
    /// True if the segment lies beyond a gap of its subflow.
    pub out_of_order: bool,
}

/// The receiving half of a subflow.
#[derive(Debug, Default)]
struct Inbound {
    bytes: Reassembly,
    /// True if the subflow must answer a SYN.
    syn: bool,
    /// Number of acknowledgements to be sent now.
    due: u32,
    /// Number of in-order segments since the last acknowledgement.
    pending: u32,
    /// Time at which the last of these segments must be acknowledged at the latest.
    deadline: Option<Instant>,
    /// TS.Recent of RFC 7323: timestamp to be echoed.
    recent: Option<Instant>,
    acknowledged: u64,
    /// One byte of each range that was reported last, most recent first (RFC 2018 §4).
    reported: [Option<u64>; SackBlocks::MOST],
    stats: ReceiverStats,
}

/// Bytes that were received.
#[derive(Debug, Default)]
struct Reassembly {
    /// First byte that has not arrived yet. All bytes before it have arrived.
    next: u64,
    beyond: Ranges,
}

impl Reassembly {
    /// Adds the bytes `start..end`. Returns the number of new bytes.
    fn insert(&mut self, start: u64, end: u64) -> u64 {
        let start = start.max(self.next);
        if start >= end {
            return 0;
        }
        if start > self.next {
            return self.beyond.insert(start, end, |_, _| {});
        }
        let before = self.next;
        let mut known = 0;
        self.next = end;
        while let Some(&(low, high)) = self.beyond.as_slice().first().filter(|r| r.0 <= self.next) {
            known += high.min(end) - low.min(end);
            self.next = self.next.max(high);
            self.beyond.remove_below(high);
        }
        end - before - known
    }
}

impl Receiver {
    /// Creates the receiving end of a connection with the constants `config`.
    pub fn new(config: Config) -> Self {
        Receiver { config, subflows: Vec::new(), data: Reassembly::default() }
    }

    /// Handles a segment from the sender. If the segment is undamaged and has data, returns a description of it.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) -> Option<Arrival> {
        let index = usize::from(segment.subflow);
        if self.subflows.len() <= index {
            self.subflows.resize_with(index + 1, Inbound::default);
        }
        let inbound = &mut self.subflows[index];
        if segment.damaged {
            inbound.stats.damaged += 1;
            return None;
        }
        if segment.syn {
            inbound.syn = true;
            inbound.recent = Some(segment.sent);
            return None;
        }
        if segment.len == 0 || segment.ack.is_some() {
            return None;
        }
        let arrival = inbound.take(now, segment, &self.config);
        if self.config.multipath {
            self.data.insert(segment.data_seq, segment.data_seq + u64::from(segment.len));
        }
        Some(arrival)
    }

    /// Returns the next acknowledgement to be sent.
    pub fn poll_output(&mut self, now: Instant) -> Option<Segment> {
        let due = |s: &Inbound| s.syn || s.due > 0;
        let index = self.subflows.iter().position(due)?;
        let data_ack = if self.config.multipath { self.data.next } else { self.subflows[index].bytes.next };
        let inbound = &mut self.subflows[index];
        let syn = core::mem::take(&mut inbound.syn);
        let ack = inbound.bytes.next;
        let sack = if syn || !self.config.recovery.is_selective() {
            SackBlocks::default()
        } else {
            inbound.blocks(self.config.sack_blocks)
        };
        if !syn {
            inbound.due -= 1;
            (inbound.pending, inbound.deadline) = (0, None);
            inbound.acknowledged = ack;
            inbound.stats.acks += 1;
        }
        Some(Segment {
            subflow: index as u8,
            seq: 0,
            len: 0,
            ack: Some(ack),
            window: self.config.receive_window,
            sack,
            data_seq: 0,
            data_ack,
            syn,
            retransmission: false,
            sent: now,
            echo: inbound.recent.filter(|_| self.config.timestamps),
            damaged: false,
        })
    }

    /// Returns the time of the next call of `handle_timeout`, when a delayed acknowledgement is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.subflows.iter().filter_map(|s| s.deadline).min()
    }

    /// Handles the expiry of the timer.
    pub fn handle_timeout(&mut self, now: Instant) {
        for inbound in &mut self.subflows {
            if inbound.deadline.is_some_and(|deadline| deadline <= now) {
                inbound.deadline = None;
                inbound.due = inbound.due.max(1);
            }
        }
    }

    /// Returns the bytes delivered to the application, which are all bytes in order.
    pub fn delivered(&self) -> u64 {
        match self.subflows.first() {
            _ if self.config.multipath => self.data.next,
            Some(subflow) => subflow.bytes.next,
            None => 0,
        }
    }

    /// Returns the bytes that wait for earlier bytes.
    pub fn held(&self) -> u64 {
        let reassembly = match self.subflows.first() {
            _ if self.config.multipath => &self.data,
            Some(subflow) => &subflow.bytes,
            None => return 0,
        };
        reassembly.beyond.as_slice().iter().map(|r| r.1 - r.0).sum()
    }

    /// Returns the counters of a subflow.
    pub fn stats(&self, subflow: u8) -> ReceiverStats {
        self.subflows.get(usize::from(subflow)).map(|s| s.stats).unwrap_or_default()
    }
}

impl Inbound {
    /// Adds a segment with data, and decides when to acknowledge it (RFC 5681 §4.2).
    fn take(&mut self, now: Instant, segment: &Segment, config: &Config) -> Arrival {
        let end = segment.seq + u64::from(segment.len);
        // RFC 7323 §4.3: the timestamp of the segment to which the next acknowledgement refers.
        if segment.seq <= self.acknowledged && self.acknowledged < end {
            self.recent = Some(segment.sent);
        }
        let (before, had_gap) = (self.bytes.next, !self.bytes.beyond.is_empty());
        let new = self.bytes.insert(segment.seq, end) == u64::from(segment.len);
        let out_of_order = new && segment.seq > before;
        self.stats.segments += 1;
        self.stats.duplicates += u64::from(!new);
        self.stats.out_of_order += u64::from(out_of_order);
        self.pending += 1;
        if !new || out_of_order || had_gap || self.pending >= config.ack_every {
            self.due += 1;
        } else if self.deadline.is_none() {
            self.deadline = Some(now + config.ack_delay);
        }
        if out_of_order {
            self.report_first(segment.seq);
        }
        Arrival {
            subflow: segment.subflow,
            seq: segment.seq,
            len: segment.len,
            data_seq: segment.data_seq,
            sent: segment.sent,
            new,
            out_of_order,
        }
    }

    /// Makes the range that contains `byte` the most recent one.
    fn report_first(&mut self, byte: u64) {
        let range = self.bytes.beyond.containing(byte);
        let same = |old: &Option<u64>| old.is_some_and(|old| range == self.bytes.beyond.containing(old));
        let slot = self.reported.iter().position(same).unwrap_or(SackBlocks::MOST - 1);
        self.reported[..=slot].rotate_right(1);
        self.reported[0] = Some(byte);
    }

    /// Returns the blocks of the SACK option: the most recent range first, then ranges reported before (RFC 2018 §4).
    fn blocks(&mut self, most: u32) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if self.bytes.beyond.is_empty() {
            self.reported = [None; SackBlocks::MOST];
            return blocks;
        }
        let mut seen = [(0, 0); SackBlocks::MOST];
        for byte in self.reported.iter_mut() {
            let range = byte.and_then(|byte| self.bytes.beyond.containing(byte));
            let Some(range) = range.filter(|range| !seen[..blocks.len()].contains(range)) else {
                *byte = None;
                continue;
            };
            if blocks.len() as u32 == most.min(SackBlocks::MOST as u32) {
                break;
            }
            seen[blocks.len()] = range;
            blocks.push(self.bytes.next, range.0, range.1);
        }
        blocks
    }
}
