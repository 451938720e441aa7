//! The state of one path.

use strandcast_proto::policy::{PathState, PathView};
use strandcast_proto::rfc::Window;
use strandcast_proto::time::{Duration, Instant};

use super::config::{Config, Inactive};
use crate::estimate::{EstimationInterval, ReferenceRtt, TransmissionRate};

/// Number of consecutive timeouts that suspend a path. Each must be within srtt + 4 rttvar of the previous one.
const STRIKES: u32 = 3;
/// Assumed round-trip time while no measurement exists.
const UNKNOWN: Duration = Duration::from_secs(1);
/// Longest pause that counts for the path, if its round trips are shorter.
const PAUSE: Duration = Duration::from_millis(200);

/// State of one path.
#[derive(Debug)]
pub(super) struct QualityPath<P> {
    pub state: PathState,
    pub window: Window,
    /// cwnd(init), bytes.
    pub initial: u64,
    /// Fraction of a byte by which the window must still grow.
    pub carry: f64,
    pub interval: EstimationInterval,
    pub reference: ReferenceRtt,
    pub rate: TransmissionRate,
    /// Interval u, computed from timeouts alone.
    timeouts: EstimationInterval,
    strikes: u32,
    /// True if the path is suspended by "inactive if u ≤ RTO".
    pub inactive: bool,
    /// True if data left on the path in this interval.
    pub used: bool,
    /// fcount.
    pub count: u32,
    /// Growth of fcount in this distribution period.
    pub counted: u32,
    /// True if the path gets no data until the period ends.
    pub banned: bool,
    /// True if the last loss was a timeout, and nothing has been acknowledged since.
    pub timed_out: bool,
    /// State that the quality model keeps for the path.
    pub model_state: P,
}

impl<P> QualityPath<P> {
    pub fn new(config: &Config, view: &PathView, now: Instant, model_state: P) -> Self {
        let window = Window::new(config.windows, view.mtu);
        QualityPath {
            state: view.state,
            initial: window.cwnd(),
            window,
            carry: 0.0,
            interval: EstimationInterval::new(config.interval, now),
            reference: ReferenceRtt::new(),
            rate: TransmissionRate::new(now),
            timeouts: EstimationInterval::new(config.interval, now),
            strikes: 0,
            inactive: false,
            used: false,
            count: 0,
            counted: 0,
            banned: false,
            timed_out: false,
            model_state,
        }
    }

    /// Returns RTT_ref. If it is unknown, returns the smoothed round-trip time or an assumed value.
    pub fn round_trip(&self, view: &PathView) -> Duration {
        self.reference.get().or(view.srtt).unwrap_or(UNKNOWN)
    }

    /// Longest pause that counts for the path.
    pub fn longest(view: &PathView) -> Duration {
        view.srtt.unwrap_or_default().max(PAUSE)
    }

    /// Increases fcount.
    pub fn fault(&mut self, by: u32) {
        self.count = self.count.saturating_add(by);
        self.counted = self.counted.saturating_add(by);
    }

    /// Records a timeout at `now`. Returns whether to suspend the path by [`Inactive::Timeouts`].
    pub fn strike(&mut self, view: &PathView, now: Instant) -> bool {
        self.timeouts.loss_event(now, view.srtt);
        let often = match (self.timeouts.spacing(), view.rto_raw()) {
            (Some(spacing), Some(rto)) => spacing <= rto,
            _ => false,
        };
        self.strikes = if often { self.strikes + 1 } else { 0 };
        self.strikes >= STRIKES
    }

    /// Returns whether to suspend the path by [`Inactive::Literal`].
    pub fn loses_within_rto(&self, view: &PathView) -> bool {
        self.interval.length() <= view.rto
    }

    /// Records that the path answered a probe.
    pub fn answered(&mut self, rule: Inactive) {
        if rule == Inactive::Timeouts {
            self.inactive = false;
            self.strikes = 0;
        }
    }
}
