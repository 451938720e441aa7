//! Inputs and decisions of a model of a path. The inputs and decisions are the same for SCTP and for TCP.

use core::fmt::Debug;

use strandcast_proto::time::{Duration, Instant};

use super::rate::{LostPacket, Sample, Sampler};

/// Initial state of a model.
#[derive(Copy, Clone, Debug)]
pub struct Start {
    /// Current time.
    pub now: Instant,
    /// Initial window, bytes.
    pub window: f64,
    /// Bytes of a full packet.
    pub packet: f64,
    /// Number that makes this path's random draws differ from those of other paths.
    pub salt: u64,
}

/// An acknowledgement that newly reports packets of a path as delivered.
#[derive(Copy, Clone, Debug)]
pub struct Ack<'a> {
    /// Current time.
    pub now: Instant,
    /// The delivery-rate sample of the acknowledgement.
    pub sample: &'a Sample,
    /// Bytes in flight before the acknowledgement.
    pub in_flight_before: u64,
    /// Bytes in flight after the acknowledgement.
    pub in_flight: u64,
    /// C.is_cwnd_limited: true if the window limited the data in flight.
    pub window_limited: bool,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Queueing delay in seconds, if an estimator measures it.
    pub queue: Option<f64>,
}

/// The model of one path. Volumes are bytes, rates bytes per second.
pub trait Model: Debug + Send + 'static {
    /// UpdateOnACK.
    fn on_ack(&mut self, ack: &Ack<'_>, sampler: &mut Sampler);

    /// HandleLostPacket.
    fn on_lost(&mut self, now: Instant, lost: &LostPacket, sampler: &Sampler);

    /// Fast recovery begins.
    fn on_recovery(&mut self);

    /// The retransmission timer expired: all data in flight count as lost.
    fn on_timeout(&mut self);

    /// All data that were sent before the loss was detected are acknowledged.
    fn on_recovered(&mut self);

    /// The losses of the last recovery were spurious (§5.5.11.2 HandleSpuriousLossDetection).
    fn on_spurious(&mut self) {
        self.on_recovered();
    }

    /// The path held up other paths. For a while, fewer data are in flight on the path.
    fn on_penalty(&mut self);

    /// HandleRestartFromIdle: a packet leaves after a time in which the application had no data to send.
    fn on_restart(&mut self, now: Instant, sampler: &Sampler);

    /// Full packets have this size from now on.
    fn set_packet(&mut self, bytes: f64);

    /// C.cwnd.
    fn cwnd(&self) -> f64;

    /// C.pacing_rate; `None` before the first round-trip time.
    fn pacing(&self) -> Option<f64>;

    /// Least round-trip time of the model.
    fn min_rtt(&self) -> Option<Duration>;

    /// Values for series of a run.
    fn gauges(&self, out: &mut Vec<(&'static str, f64)>);
}

/// Returns a number from 0 to 1, derived from the nanoseconds of the clock by splitmix64. Policies have no other source
/// of randomness.
pub fn draw(now: Instant, salt: u64) -> f64 {
    let mut x = now.as_nanos() ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
