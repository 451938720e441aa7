//! Measurements of a node: the unused part of the channel, and the delay of packets from each neighbour (Guo, Liu and
//! Lian 2010, §5.3).

use core::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::config::{Bandwidth, Idle, QaomdvConfig};
use crate::address::Address;
use crate::node::Context;
use crate::table::Table;

/// Period over which the fraction of idle time is measured.
const PERIOD: Duration = Duration::from_secs(1);
/// Interval between probes.
const PROBE_INTERVAL: Duration = Duration::from_millis(200);
/// Fraction of the interval between probes over which the probes of different nodes are spread.
const PROBE_SPREAD: f64 = 0.5;
/// Delay of a link that is assumed before a packet was received over it.
const UNKNOWN_DELAY: Duration = Duration::from_millis(5);
/// Bandwidth in bytes per second of a node whose channel is always busy.
const FLOOR: f64 = 1000.0;

/// The estimators of one node.
#[derive(Clone, Debug)]
pub struct Estimators {
    pub refresh: Option<Duration>,
    gain: f64,
    idle: Idle,
    bandwidth: Bandwidth,
    /// Capacity of the channel in bytes per second.
    capacity: f64,
    /// Measured fraction of idle time; `None` before the first measurement.
    share: Option<f64>,
    /// Beginning of the current period, with the channel's idle time until then. `before` is that of the last period.
    began: Mark,
    before: Mark,
    /// Number of bytes sent by the node.
    sent: u64,
    delays: Table<Duration>,
    probes: u32,
    next_probe: Instant,
    random: Random,
}

/// Idle time of the channel until one point in time.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: Instant,
    idle: Duration,
}

impl Estimators {
    /// Creates estimators with the node's `seeds`.
    pub fn new(config: &QaomdvConfig, seeds: &Seeds) -> Self {
        let mut random = seeds.stream("probe");
        let spread = PROBE_SPREAD * random.unit();
        Estimators {
            refresh: config.refresh,
            gain: config.gain,
            idle: config.idle,
            bandwidth: config.bandwidth,
            capacity: config.capacity / 8.0,
            share: None,
            began: Mark::default(),
            before: Mark::default(),
            sent: 0,
            delays: Table::default(),
            probes: config.probes,
            next_probe: Instant::ZERO + PROBE_INTERVAL.mul_f64(spread),
            random,
        }
    }

    /// Returns the residual bandwidth of the node in bytes per second. The residual bandwidth is the capacity of the
    /// channel times the fraction of idle time.
    pub fn bandwidth(&self, context: &Context) -> f64 {
        let share = match self.bandwidth {
            Bandwidth::Estimated => self.share,
            Bandwidth::True => self.share.map(|_| self.share_since(self.before, context)),
        };
        (self.capacity * share.unwrap_or(1.0)).max(FLOOR)
    }

    /// Returns the delay of the link from a neighbour.
    pub fn delay(&self, from: Address) -> Duration {
        self.delays.get(from).copied().unwrap_or(UNKNOWN_DELAY)
    }

    /// Records a packet from a neighbour. The packet arrived `delay` after it had entered the interface queue of that
    /// neighbour.
    pub fn on_received(&mut self, from: Address, delay: Duration) {
        let slot = self.delays.slot_or_insert(from, || delay);
        let old = self.delays[slot];
        self.delays[slot] = old.mul_f64(1.0 - self.gain) + delay.mul_f64(self.gain);
    }

    /// Records that the node sends `bytes` bytes.
    pub fn sent(&mut self, bytes: u32) {
        self.sent += u64::from(bytes);
    }

    /// Returns the time of the next call of [`handle_timeout`](Self::handle_timeout).
    pub fn next(&self) -> Instant {
        let period = self.began.at + PERIOD;
        if self.probes > 0 { period.min(self.next_probe) } else { period }
    }

    /// Adds a sample of the idle time if one is due. Returns whether a probe must be sent.
    pub fn handle_timeout(&mut self, context: &Context) -> bool {
        if context.now >= self.began.at + PERIOD {
            let sample = self.share_since(self.began, context);
            self.share = Some(self.share.map_or(sample, |old| old + self.gain * (sample - old)));
            self.before = self.began;
            self.began = Mark { at: context.now, idle: self.idle(context) };
        }
        let due = self.probes > 0 && context.now >= self.next_probe;
        if due {
            self.probes -= 1;
            let spread = 1.0 + PROBE_SPREAD * (self.random.unit() - 0.5);
            self.next_probe = context.now + PROBE_INTERVAL.mul_f64(spread);
        }
        due
    }

    fn share_since(&self, mark: Mark, context: &Context) -> f64 {
        let time = (context.now - mark.at).as_secs_f64();
        if time <= 0.0 {
            return 1.0;
        }
        let idle = self.idle(context).saturating_sub(mark.idle).as_secs_f64();
        (idle / time).clamp(0.0, 1.0)
    }

    /// Returns the idle time since the start of the run. Without carrier sense, the idle time is the time that the
    /// node's own packets do not use at the raw bit rate. Routing cannot see the overhead of the link layer.
    fn idle(&self, context: &Context) -> Duration {
        match self.idle {
            Idle::Carrier => context.idle,
            Idle::OwnGap => {
                let busy = Duration::from_secs_f64(self.sent as f64 / self.capacity);
                (context.now - Instant::ZERO).saturating_sub(busy)
            }
        }
    }
}
