//! Scoreboard: the state of each segment that was sent and is not acknowledged cumulatively.

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

use super::ranges::Ranges;

/// A segment on the scoreboard.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) seq: u64,
    pub(super) data_seq: u64,
    pub(super) sent: Instant,
    pub(super) len: u32,
    /// Number of transmissions of the segment.
    pub(super) transmissions: u32,
    /// True if the segment was acknowledged selectively.
    pub(super) sacked: bool,
    /// True if the segment was declared lost. Earlier transmissions of a lost segment no longer count as being in the
    /// network.
    pub(super) lost: bool,
    /// True if the segment was retransmitted after its loss, or by rules 3 and 4 of RFC 6675's NextSeg. The
    /// retransmission counts as being in the network.
    pub(super) resent: bool,
    /// True if the segment was also passed to other subflows.
    pub(super) reinjected: bool,
}

impl Record {
    /// Returns the bytes of the segment that are in the network (RFC 6675's SetPipe, for one segment).
    fn pipe(&self) -> u64 {
        let copies = if self.sacked { 0 } else { u64::from(!self.lost) + u64::from(self.resent) };
        copies * u64::from(self.len)
    }

    fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

/// A transmission of a segment that arrived or was lost.
#[derive(Copy, Clone, Debug)]
pub(super) struct SegmentInfo {
    pub(super) ordinal: u64,
    pub(super) sent: Instant,
    pub(super) len: u32,
    pub(super) transmissions: u32,
}

/// Transmissions that an event showed to be arrived or lost. Arrived and lost transmissions are recorded for congestion
/// controls that request them.
#[derive(Debug, Default)]
pub(super) struct News {
    pub(super) delivered: Vec<SegmentInfo>,
    pub(super) lost: Vec<SegmentInfo>,
}

impl News {
    /// Empties the lists before the next event.
    pub(super) fn clear(&mut self) {
        self.delivered.clear();
        self.lost.clear();
    }
}

/// Segments that a cumulative acknowledgement removed from the scoreboard.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Taken {
    pub(super) bytes: u64,
    pub(super) segments: u32,
    /// Number of these segments that were sent more than once.
    pub(super) retransmissions: u32,
    /// Time at which the latest of these segments was sent.
    pub(super) newest_sent: Option<Instant>,
}

/// All segments between the cumulative acknowledgement and the highest sequence number that was sent. The ordinal of a
/// segment counts from the first segment of the subflow.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    ring: VecDeque<Record>,
    /// Ordinal of the first segment in the ring.
    first: u64,
    /// SND.UNA: first byte that is not acknowledged.
    pub(super) una: u64,
    /// SND.NXT: next byte to be sent for the first time. It never decreases.
    pub(super) nxt: u64,
    /// Number of bytes in the network.
    pub(super) pipe: u64,
    sacked: Ranges,
    /// First ordinal that may still need a retransmission. This ordinal is RFC 6675's HighRxt plus one.
    next_resend: u64,
    /// First ordinal that the marking of losses has not reached. All unacknowledged segments with lower ordinals are
    /// marked lost.
    marked: u64,
    /// News for the congestion control; `None` if it does not request news.
    pub(super) news: Option<News>,
    /// With RACK, retransmissions with their times, in the order of sending.
    resends: VecDeque<(u64, Instant)>,
    /// RACK.xmit_ts: time at which the newest arrived segment was sent.
    newest: Option<Instant>,
}

impl Scoreboard {
    /// Returns the number of segments that are not acknowledged cumulatively.
    pub(super) fn len(&self) -> u32 {
        self.ring.len() as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns the ordinal of the first segment that is not acknowledged cumulatively.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the ordinal of the next new segment.
    pub(super) fn next(&self) -> u64 {
        self.first + self.ring.len() as u64
    }

    /// Returns the number of bytes that are not acknowledged cumulatively.
    pub(super) fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    pub(super) fn record(&self, ordinal: u64) -> &Record {
        &self.ring[(ordinal - self.first) as usize]
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Record> {
        self.ring.iter_mut()
    }

    /// Returns the first segment that is not acknowledged.
    pub(super) fn front(&self) -> Option<&Record> {
        self.ring.front()
    }

    /// Returns the first segment that is not acknowledged, to be changed.
    pub(super) fn front_mut(&mut self) -> Option<&mut Record> {
        self.ring.front_mut()
    }

    /// Records a new segment.
    pub(super) fn push(&mut self, now: Instant, data_seq: u64, len: u32) {
        let record = Record {
            seq: self.nxt,
            data_seq,
            sent: now,
            len,
            transmissions: 1,
            sacked: false,
            lost: false,
            resent: false,
            reinjected: false,
        };
        self.ring.push_back(record);
        self.nxt += u64::from(len);
        self.pipe += u64::from(len);
    }

    /// Records that all bytes below `ack` have arrived. A retransmitted segment counts as arrived by its last
    /// transmission, if that was sent until `trusted`.
    pub(super) fn acknowledge(&mut self, ack: u64, trusted: Instant) -> Taken {
        let mut taken = Taken::default();
        while let Some(record) = self.ring.front().filter(|r| r.end() <= ack) {
            self.pipe -= record.pipe();
            if !record.sacked {
                arrived(record, self.first, trusted, &mut self.newest, &mut self.news);
            }
            taken.bytes += u64::from(record.len);
            taken.segments += 1;
            taken.retransmissions += u32::from(record.transmissions > 1);
            taken.newest_sent = taken.newest_sent.max(Some(record.sent));
            self.una = record.end();
            self.ring.pop_front();
            self.first += 1;
        }
        self.sacked.remove_below(self.una);
        self.next_resend = self.next_resend.max(self.first);
        self.marked = self.marked.max(self.first);
        taken
    }

    /// Records that the bytes `start..end` arrived out of order (RFC 6675's Update). Returns the number of new bytes.
    pub(super) fn sack(&mut self, start: u64, end: u64, trusted: Instant) -> u64 {
        let (start, end) = (start.max(self.una), end.min(self.nxt));
        let (ring, pipe, first) = (&mut self.ring, &mut self.pipe, self.first);
        let (newest, news) = (&mut self.newest, &mut self.news);
        self.sacked.insert(start, end, |from, to| {
            let at = ring.partition_point(|r| r.seq < from);
            for (record, ordinal) in
                ring.range_mut(at..).zip(first + at as u64..).take_while(|r| r.0.end() <= to)
            {
                *pipe -= record.pipe();
                record.sacked = true;
                arrived(record, ordinal, trusted, newest, news);
            }
        })
    }

    /// Marks a retransmission as lost if a segment that was sent after it has arrived (RFC 8985 §6.2).
    pub(super) fn mark_resent_lost(&mut self) {
        while let Some(&(ordinal, sent)) = self.resends.front() {
            let record = ordinal.checked_sub(self.first).and_then(|i| self.ring.get_mut(i as usize));
            match record.filter(|r| r.resent && !r.sacked && r.sent == sent) {
                Some(_) if self.newest.is_none_or(|newest| newest <= sent) => return,
                Some(record) => {
                    record.resent = false;
                    record.lost = true;
                    self.pipe -= u64::from(record.len);
                    self.next_resend = self.next_resend.min(ordinal);
                    lost(record, ordinal, &mut self.news);
                }
                None => {}
            }
            self.resends.pop_front();
        }
    }

    /// Marks the first segment lost.
    pub(super) fn mark_first_lost(&mut self) {
        if let Some(front) = self.ring.front_mut()
            && !front.lost
            && !front.sacked
        {
            self.pipe -= u64::from(front.len);
            front.lost = true;
            lost(front, self.first, &mut self.news);
        }
    }

    /// Marks losses by RFC 6675's IsLost. A segment is lost if enough data above it are acknowledged selectively:
    /// `threshold` separate ranges, or more bytes than `threshold` - 1 full segments of `segment` bytes. Returns
    /// whether the first segment is lost.
    pub(super) fn mark_lost(&mut self, threshold: u32, segment: u32) -> bool {
        let enough = u64::from(threshold - 1) * u64::from(segment);
        let (mut ranges, mut bytes) = (0, 0);
        let bound = self.sacked.as_slice().iter().rev().find_map(|&(start, end)| {
            ranges += 1;
            bytes += end - start;
            (ranges >= threshold || bytes > enough).then_some(start)
        });
        let Some(bound) = bound else { return false };
        let from = (self.marked.max(self.first) - self.first) as usize;
        for record in self.ring.range_mut(from..).take_while(|r| r.seq < bound) {
            if !record.sacked && !record.lost {
                self.pipe -= u64::from(record.len);
                record.lost = true;
                lost(record, self.marked, &mut self.news);
            }
            self.marked += 1;
        }
        bound > self.una
    }

    /// Begins fast recovery. HighRxt becomes HighACK, and retransmissions of an earlier recovery no longer count.
    pub(super) fn begin_recovery(&mut self) {
        let resent = (self.next_resend - self.first) as usize;
        for record in self.ring.range_mut(..resent.min(self.ring.len())).filter(|r| r.resent) {
            if !record.sacked {
                self.pipe -= u64::from(record.len);
            }
            record.resent = false;
        }
        self.next_resend = self.first;
    }

    /// Handles a timeout: no segment counts as being in the network, and all unacknowledged segments must be sent
    /// again.
    pub(super) fn mark_all_lost(&mut self) {
        for (record, ordinal) in self.ring.iter_mut().zip(self.first..) {
            if record.pipe() > 0 {
                lost(record, ordinal, &mut self.news);
            }
            record.lost = true;
            record.resent = false;
        }
        self.resends.clear();
        self.pipe = 0;
        self.next_resend = self.first;
        self.marked = self.next();
    }

    /// Returns the first unacknowledged segment that was not retransmitted. The returned segment need not be lost.
    fn next_candidate(&mut self) -> Option<u64> {
        while let Some(record) = self.ring.get((self.next_resend - self.first) as usize) {
            if !record.sacked && !record.resent {
                return Some(self.next_resend);
            }
            self.next_resend += 1;
        }
        None
    }

    /// Returns the first lost segment that was not retransmitted (RFC 6675's NextSeg, rule 1).
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        self.next_candidate().filter(|&ordinal| self.record(ordinal).lost)
    }

    /// Returns the first segment that was not retransmitted and lies below a selectively acknowledged segment (NextSeg,
    /// rule 3).
    pub(super) fn next_below_sacked(&mut self) -> Option<u64> {
        let highest = self.sacked.highest()?;
        self.next_candidate().filter(|&ordinal| self.record(ordinal).end() <= highest)
    }

    /// Returns the last unacknowledged segment (NextSeg, rule 4).
    pub(super) fn last_unacknowledged(&self) -> Option<u64> {
        let at = self.ring.iter().rposition(|r| !r.sacked)?;
        Some(self.first + at as u64)
    }

    /// Records a retransmission of a segment.
    pub(super) fn resend(&mut self, ordinal: u64, now: Instant) -> &Record {
        let record = &mut self.ring[(ordinal - self.first) as usize];
        if !record.resent {
            self.pipe += u64::from(record.len);
        }
        record.resent = true;
        record.transmissions += 1;
        record.sent = now;
        self.resends.push_back((ordinal, now));
        record
    }
}

fn segment_info(record: &Record, ordinal: u64) -> SegmentInfo {
    SegmentInfo { ordinal, sent: record.sent, len: record.len, transmissions: record.transmissions }
}

/// Records that a segment arrived.
fn arrived(
    record: &Record,
    ordinal: u64,
    trusted: Instant,
    newest: &mut Option<Instant>,
    news: &mut Option<News>,
) {
    if record.transmissions == 1 || record.sent <= trusted {
        *newest = (*newest).max(Some(record.sent));
    }
    if let Some(news) = news {
        news.delivered.push(segment_info(record, ordinal));
    }
}

/// Records that a transmission of a segment is declared lost.
fn lost(record: &Record, ordinal: u64, news: &mut Option<News>) {
    if let Some(news) = news {
        news.lost.push(segment_info(record, ordinal));
    }
}
