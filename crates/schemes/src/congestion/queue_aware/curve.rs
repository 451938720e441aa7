//! Growth after a full queue: the window grows as the window of CUBIC (RFC 9438).
//!
//! A window that grows by one segment per round trip needs a minute to return from half of a deep queue. A TCP flow
//! returns in a few seconds, and keeps that queue full (docs/measurements/friendliness.md). A random loss does not show
//! that the path carries less. After a random loss, the curve begins again at the window that remains. From the start,
//! the window grows by at least one segment per round trip (RFC 9438 §4.3). At a shared bottleneck, RFC 6356 may let a
//! window grow by only the fraction p of a segment per round trip. The curve is then that of a flow with √p of the rate
//! that it would have alone, as for coupled flows of [`Cubic`].

use strandcast_proto::policy::{AckInfo, LossTrigger, PathId, View};
use strandcast_proto::rfc::{Avoidance, CongestionEvent, Progress};
use strandcast_proto::time::{Duration, Instant};

use super::ranks::HALF;
use crate::congestion::cubic::{Cubic, CubicConfig};

/// Constants as in Linux: alpha of RFC 9438 §4.3 always follows from beta.
const CONFIG: CubicConfig =
    CubicConfig { beta: 0.7, c: 0.4, fast_convergence: true, friendly: true, alpha_one: false };

/// The curve of one path.
#[derive(Debug)]
pub(super) struct Curve {
    /// The cubic curve. `None` before the first loss.
    cubic: Option<Cubic>,
    /// Window in bytes before a loss that the curve has not processed yet.
    cut: Option<u64>,
    /// Time of the last acknowledgement.
    last_acked: Instant,
    /// Time for which the window was full since it last grew.
    full: Duration,
}

impl Default for Curve {
    fn default() -> Self {
        Curve { cubic: None, cut: None, last_acked: Instant::ZERO, full: Duration::ZERO }
    }
}

impl Curve {
    /// Records that a full queue reduced a window of `cwnd` bytes to the share `beta` of its size.
    pub fn on_congestion(&mut self, cwnd: u64, beta: f64) {
        self.cubic.get_or_insert_with(|| Cubic::new(CONFIG)).set_beta(beta);
        (self.cut, self.full) = (Some(cwnd), Duration::ZERO);
    }

    /// Takes back the last loss, so that the curve continues as before.
    pub fn undo(&mut self) {
        self.cut = None;
    }

    /// Records that a random loss left a window of `cwnd` bytes. The curve begins again. If there is no curve yet, none
    /// begins.
    pub fn on_random_loss(&mut self, cwnd: u64) {
        if self.cubic.is_some() {
            self.on_congestion(cwnd, HALF);
        }
    }

    /// Processes an acknowledgement for a window of `cwnd` bytes.
    pub fn on_acked(&mut self, now: Instant, ack: &AckInfo, cwnd: u64, mtu: u64) {
        if ack.flight_before + mtu > cwnd {
            self.full += now.saturating_since(self.last_acked);
        }
        self.last_acked = now;
    }

    /// Returns the bytes by which a window of `cwnd` bytes grows once all of it is acknowledged. `part` is the growth
    /// in bytes that coupling allows per round trip, at most one segment.
    pub fn step(&mut self, view: &View<'_>, path: PathId, cwnd: u64, part: f64) -> f64 {
        let Some(cubic) = &mut self.cubic else { return part };
        let segment = view[path].mtu as f64;
        if let Some(cut) = self.cut.take() {
            let trigger = LossTrigger::FastRetransmit;
            cubic.decrease(&CongestionEvent { view, path, trigger, segment, cwnd: cut as f64 });
        }
        let (acked, passed) = (cwnd as f64, core::mem::take(&mut self.full));
        let progress = Progress { view, path, acked, segment, cwnd: acked, passed };
        cubic.grow(&progress, || libm::sqrt(part / segment))
    }
}
