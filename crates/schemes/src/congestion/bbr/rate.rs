//! Delivery-rate samples of one path. The delivery-rate samples follow draft-ietf-ccwg-bbr-06 §4.1, earlier
//! draft-cheng-iccrg-delivery-rate-estimation.
//!
//! | draft | here |
//! |---|---|
//! | §4.1.2.2 OnPacketSent | [`Sampler::on_sent`] |
//! | §4.1.2.3 UpdateRateSample, for each packet | [`Sampler::on_delivered`] |
//! | §4.1.2.3 GenerateRateSample | [`Sampler::finish`] |
//! | §4.1.2.4 MarkConnectionAppLimited | [`Sampler::mark_limited`] |
//! | §5.5.7.1 the round-trip time of the packet that was sent last | [`Sample::rtt`] |
//!
//! A "packet" is a DATA chunk or a TCP segment. Bytes are counted as in the window.

use std::collections::VecDeque;

use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

/// Number of records beyond the packets in flight. They are needed for packets that are never reported as delivered or
/// lost.
const SPARE: usize = 1024;

/// State that the sampler stores for each packet (§4.1.2.1.2).
#[derive(Copy, Clone, Debug)]
struct Record {
    tsn: Tsn,
    at: Instant,
    len: u64,
    /// True if this is the packet's first transmission.
    first: bool,
    /// True if the packet was delivered or lost.
    settled: bool,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost: u64,
    in_flight: u64,
    limited: bool,
}

/// Sample from the packets that an acknowledgement newly reports (§4.1.2.1.3).
#[derive(Copy, Clone, Debug, Default)]
pub struct Sample {
    /// Bytes that are newly reported as delivered.
    pub newly_acked: u64,
    /// Bytes that were newly reported as lost since the previous acknowledgement.
    pub newly_lost: u64,
    /// RS.delivered: bytes delivered in the interval.
    pub delivered: u64,
    /// RS.delivery_rate, bytes per second; `None`: the interval is too short.
    pub rate: Option<f64>,
    /// RS.rtt.
    pub rtt: Option<Duration>,
    /// RS.prior_delivered; `None`: no known packet was delivered.
    pub prior_delivered: Option<u64>,
    /// RS.tx_in_flight: bytes in flight when the newest packet left.
    pub sent_in_flight: u64,
    /// RS.lost: bytes lost between the departure of the newest packet and now.
    pub lost: u64,
    /// RS.is_app_limited.
    pub limited: bool,
}

/// A packet that was lost (§5.5.10.2).
#[derive(Copy, Clone, Debug)]
pub struct LostPacket {
    /// Length of the packet in bytes.
    pub len: u64,
    /// Bytes in flight when the packet left, including the packet.
    pub in_flight: u64,
    /// Bytes lost since the packet left, including the packet.
    pub lost: u64,
    /// True if the packet left while the application sent less than the window and the rate allowed.
    pub limited: bool,
    /// True if the previous packet was not lost. A range of losses then begins with this packet.
    pub begins_range: bool,
}

/// The state of a path (§4.1.2.1.1).
#[derive(Debug)]
pub struct Sampler {
    /// Records of packets, in the order in which they left.
    records: VecDeque<Record>,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost: u64,
    newly_lost: u64,
    last_lost: Option<Tsn>,
    /// C.app_limited: number of delivered bytes from which on no application-limited packet is in flight. 0: the
    /// application does not limit the path.
    limited_until: u64,
    newly_acked: u64,
    newest: Option<Record>,
}

impl Sampler {
    /// Makes the state of a path on which nothing was sent yet.
    pub fn new() -> Self {
        Sampler {
            records: VecDeque::new(),
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            lost: 0,
            newly_lost: 0,
            last_lost: None,
            limited_until: 0,
            newly_acked: 0,
            newest: None,
        }
    }

    /// C.delivered: bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns whether the application limited the data in flight.
    pub fn is_limited(&self) -> bool {
        self.limited_until != 0
    }

    /// Records that the application sends less than is allowed, while `in_flight` bytes are in flight.
    pub fn mark_limited(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// Records that a packet of `len` bytes leaves. `first` is true for a first transmission. `in_flight` and `packets`
    /// include the packet.
    pub fn on_sent(
        &mut self,
        now: Instant,
        (tsn, len, first): (Tsn, u64, bool),
        in_flight: u64,
        packets: u32,
    ) {
        if in_flight <= len {
            (self.first_sent, self.delivered_at) = (now, now);
            self.records.clear();
        }
        while self.records.front().is_some_and(|r| r.settled) || self.records.len() > packets as usize + SPARE
        {
            self.records.pop_front();
        }
        self.records.push_back(Record {
            tsn,
            at: now,
            len,
            first,
            settled: false,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight,
            limited: self.is_limited(),
        });
    }

    /// Settles the packet with this number that left at this time. Returns its record unless it was settled before.
    fn settle(&mut self, tsn: Tsn, at: Instant) -> Option<Record> {
        let from = self.records.partition_point(|r| r.at < at);
        let same = self.records.range_mut(from..).take_while(|r| r.at == at);
        let record = same.into_iter().find(|r| r.tsn == tsn && !r.settled)?;
        record.settled = true;
        Some(*record)
    }

    /// Records that a packet of `len` bytes that left `at` was delivered.
    pub fn on_delivered(&mut self, now: Instant, (tsn, len): (Tsn, u64), at: Option<Instant>) {
        self.delivered += len;
        self.newly_acked += len;
        self.delivered_at = now;
        let Some(record) = at.and_then(|at| self.settle(tsn, at)) else { return };
        let newer = |n: &Record| (record.at, record.delivered) >= (n.at, n.delivered);
        if self.newest.as_ref().is_none_or(newer) {
            self.newest = Some(record);
            self.first_sent = self.first_sent.max(record.at);
        }
    }

    /// Records that a packet that left `at` was lost. Returns `None` if the packet is unknown or was already lost. A
    /// loss that is `spared` does not show that too many data are in flight.
    pub fn on_lost(&mut self, tsn: Tsn, at: Instant, spared: bool) -> Option<LostPacket> {
        let record = self.settle(tsn, at).filter(|_| !spared)?;
        self.lost += record.len;
        self.newly_lost += record.len;
        let begins_range = self.last_lost.replace(tsn).is_none_or(|last| tsn != last + 1);
        let Record { len, in_flight, limited, .. } = record;
        Some(LostPacket { len, in_flight, lost: self.lost - record.lost, limited, begins_range })
    }

    /// Called at the end of an acknowledgement. Returns the sample of the packets that were delivered since the last
    /// call. Intervals shorter than `min_rtt` give no sample.
    pub fn finish(&mut self, now: Instant, min_rtt: Option<Duration>) -> Sample {
        if self.limited_until != 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let mut sample = Sample {
            newly_acked: core::mem::take(&mut self.newly_acked),
            newly_lost: core::mem::take(&mut self.newly_lost),
            ..Sample::default()
        };
        let Some(newest) = self.newest.take() else { return sample };
        sample.rtt = newest.first.then(|| now.saturating_since(newest.at));
        sample.prior_delivered = Some(newest.delivered);
        sample.delivered = self.delivered - newest.delivered;
        sample.sent_in_flight = newest.in_flight;
        sample.lost = self.lost - newest.lost;
        sample.limited = newest.limited;
        let sent = newest.at.saturating_since(newest.first_sent);
        let interval = sent.max(self.delivered_at.saturating_since(newest.delivered_at));
        let reliable = !interval.is_zero() && min_rtt.is_none_or(|least| interval >= least);
        sample.rate = reliable.then(|| sample.delivered as f64 / interval.as_secs_f64());
        sample
    }
}
