//! Meter of cross traffic.

use strandcast_proto::time::Instant;

use super::Window;
use super::flow::sink;
use crate::result::{Metric, Subject};

/// Measures cross traffic. The load is also measured as a share of the rate of its first link.
#[derive(Clone, Debug)]
pub struct BackgroundMeter {
    name: String,
    rate_bps: f64,
    window: Window,
    offered_bytes: u64,
    carried_bytes: u64,
    tcp_bytes: u64,
}

impl BackgroundMeter {
    /// Creates a meter of the cross traffic `name`. `rate_bps` is the mean rate of its first link.
    pub fn new(name: String, rate_bps: f64, window: Window) -> Self {
        BackgroundMeter { name, rate_bps, window, offered_bytes: 0, carried_bytes: 0, tcp_bytes: 0 }
    }

    /// Name of the load.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Records `bytes` at IP level that the sources of the load offered. They count whether or not the network took
    /// them.
    pub fn offered(&mut self, now: Instant, bytes: u32) {
        self.offered_bytes += if self.window.contains(now) { u64::from(bytes) } else { 0 };
    }

    /// Records a packet of `bytes` at IP level that left the last link.
    pub fn carried(&mut self, now: Instant, bytes: u32) {
        self.carried_bytes += if self.window.contains(now) { u64::from(bytes) } else { 0 };
    }

    /// Records a TCP segment with `bytes` new bytes.
    pub fn tcp_arrived(&mut self, now: Instant, bytes: u32) {
        self.tcp_bytes += if self.window.contains(now) { u64::from(bytes) } else { 0 };
    }

    /// Appends the metrics to `out`.
    pub fn metrics(&self, out: &mut Vec<Metric>) {
        let mut put = sink(Subject::Cross(self.name.clone()), out);
        let share = |bytes: u64| bytes as f64 * 8.0 / self.window.seconds() / self.rate_bps;
        put("offered_load", share(self.offered_bytes));
        put("carried_load", share(self.carried_bytes));
        put("tcp_goodput_bps", self.tcp_bytes as f64 * 8.0 / self.window.seconds());
    }
}
