//! Counts of packets of a path or of a whole flow.

use core::time::Duration;

use super::LossPlace;
use crate::result::histogram::Histogram;

/// Counts of packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub sent: u64,
    pub sent_wire: u64,
    pub control: u64,
    pub again: u64,
    /// Packets that reached the receiver. Packets that the receiver accepted are counted below.
    pub received: u64,
    pub damaged: u64,
    pub arrived_new: u64,
    pub arrived_old: u64,
    pub new_payload: u64,
    pub lost: [u64; 4],
    /// Number of packets that left a radio, and the number of their hops. Only for a path over radios.
    pub over_radio: Option<[u64; 2]>,
    pub delay: Histogram,
}

impl Tally {
    pub fn lose(&mut self, place: LossPlace) {
        self.lost[place as usize] += 1;
    }

    /// Adds the counts of a path to its flow.
    pub fn merge(&mut self, path: &Tally) {
        self.sent += path.sent;
        self.sent_wire += path.sent_wire;
        self.control += path.control;
        self.again += path.again;
        self.received += path.received;
        self.damaged += path.damaged;
        self.arrived_new += path.arrived_new;
        self.arrived_old += path.arrived_old;
        self.new_payload += path.new_payload;
        for (mine, theirs) in self.lost.iter_mut().zip(path.lost) {
            *mine += theirs;
        }
        if let Some([packets, hops]) = path.over_radio {
            let [all, in_all] = self.over_radio.unwrap_or_default();
            self.over_radio = Some([all + packets, in_all + hops]);
        }
        self.delay.merge(&path.delay);
    }

    pub fn put(&self, seconds: f64, put: &mut dyn FnMut(&'static str, f64)) {
        put("throughput_bps", self.sent_wire as f64 * 8.0 / seconds);
        put("sent_packets", self.sent as f64);
        put("control_packets", self.control as f64);
        put("delivered_packets", self.arrived_new as f64);
        put("duplicate_packets", self.arrived_old as f64);
        put("damaged_packets", self.damaged as f64);
        let taken = self.damaged + self.arrived_new + self.arrived_old;
        put("refused_packets", self.received.saturating_sub(taken) as f64);
        put("retransmitted_packets", self.again as f64);
        let lost: u64 = self.lost.iter().sum();
        put("lost_packets", lost as f64);
        put("lost_queue_packets", self.lost[LossPlace::Queue as usize] as f64);
        put("lost_random_packets", self.lost[LossPlace::Random as usize] as f64);
        put("lost_down_packets", self.lost[LossPlace::Down as usize] as f64);
        if let Some([packets, hops]) = self.over_radio {
            put("lost_routing_packets", self.lost[LossPlace::Routing as usize] as f64);
            put("hops_mean", hops as f64 / packets as f64);
        }
        put("loss_ratio", lost as f64 / self.sent as f64);
        let names = ["delay_mean_ms", "delay_p50_ms", "delay_p95_ms", "delay_p99_ms", "delay_max_ms"];
        put_delays(&self.delay, names, put);
    }
}

/// Adds mean, three percentiles and maximum of times. The times are in nanoseconds, and are converted to ms.
pub(super) fn put_delays(
    delay: &Histogram,
    names: [&'static str; 5],
    put: &mut dyn FnMut(&'static str, f64),
) {
    let (Some(mean), Some(max)) = (delay.mean(), delay.max()) else { return };
    put(names[0], mean / 1e6);
    for (name, q) in names[1..4].iter().zip([0.5, 0.95, 0.99]) {
        put(name, delay.quantile(q).map_or(f64::NAN, |ns| ns as f64 / 1e6));
    }
    put(names[4], max as f64 / 1e6);
}

/// Differences between the transit times of consecutive packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Jitter {
    last_ns: Option<u64>,
    count: u64,
    sum_ns: u128,
    /// Smoothed jitter in nanoseconds, RFC 3550 section 6.4.1: J += (|D| - J) / 16.
    smoothed_ns: f64,
}

impl Jitter {
    pub fn add(&mut self, transit: Duration) {
        let ns = u64::try_from(transit.as_nanos()).unwrap_or(u64::MAX);
        if let Some(last) = self.last_ns.replace(ns) {
            let difference = ns.abs_diff(last);
            self.count += 1;
            self.sum_ns += u128::from(difference);
            self.smoothed_ns += (difference as f64 - self.smoothed_ns) / 16.0;
        }
    }

    pub fn put(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if self.count > 0 {
            put("jitter_mean_ms", self.sum_ns as f64 / self.count as f64 / 1e6);
            put("jitter_rfc3550_ms", self.smoothed_ns / 1e6);
        }
    }
}

/// Disorder of TSNs. It is measured by the distances between the TSNs of consecutive arrivals.
#[derive(Clone, Debug, Default)]
pub(super) struct Disorder {
    last: Option<u32>,
    count: u64,
    sum: u64,
    max: u32,
    not_one: u64,
}

impl Disorder {
    pub fn add(&mut self, tsn: u32) {
        let Some(last) = self.last.replace(tsn) else { return };
        // Serial numbers wrap (RFC 1982). The distance is the shorter one of the two directions.
        let distance = (tsn.wrapping_sub(last) as i32).unsigned_abs();
        self.count += 1;
        self.sum += u64::from(distance);
        self.max = self.max.max(distance);
        self.not_one += u64::from(distance != 1);
    }

    pub fn put(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if self.count > 0 {
            put("reorder_max_tsn", f64::from(self.max));
            put("reorder_mean_tsn", self.sum as f64 / self.count as f64);
            put("reorder_count", self.not_one as f64);
        }
    }
}
