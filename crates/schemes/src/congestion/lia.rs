//! Linked increases (RFC 6356): the windows of all paths together grow as the window of one TCP on the best path would.
//!
//! | RFC 6356 | here |
//! |---|---|
//! | §4 alpha = tot · max(cwnd_i/rtt_i²) / (Σ cwnd_i/rtt_i)² | [`Lia::alpha`] |
//! | §3 increase min(alpha·acked·mss/tot, acked·mss/cwnd_i) | [`Lia::increase`] |
//! | §3 slow start and decrease as in TCP, here as in SCTP | `rfc::Aimd` and [`TcpWindows`](super::TcpWindows) |
//!
//! In SCTP, a window takes a step each time that a whole window has been acknowledged (partial_bytes_acked of
//! `rfc::Aimd`). In TCP each ACK is a step for the bytes that it counts ([`Counting`](super::Counting)).
//!
//! Paths that are inactive or have no round-trip time are not coupled ([`Coupled`]). With one path alpha is 1, and the
//! window is that of RFC 9260 or RFC 5681.

use strandcast_keys::keys;
use strandcast_proto::policy::View;
use strandcast_proto::rfc::{Aimd, Avoidance, Progress, WindowConfig};

use super::coupled::Coupled;
use super::window::{AvoidancePart, Windows};

keys! {
    /// [`Lia`] has no keys of its own.
    pub struct LiaConfig {}
}

impl AvoidancePart for LiaConfig {
    const PAPER: &'static str = "RFC 6356";
    const SUMMARY: &'static str = "increases coupled over all paths, together no more than one TCP";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Lia
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        Box::new(Aimd::new(config, self.avoidance()))
    }
}

/// The increase of RFC 6356.
#[derive(Copy, Clone, Debug, Default)]
pub struct Lia;

impl Lia {
    /// Aggressiveness of all windows together, and the sum of the windows in bytes. `None` while no path counts.
    pub fn alpha(view: &View<'_>) -> Option<(f64, f64)> {
        let (mut paths, mut total, mut best, mut rate) = (0, 0.0, 0.0, 0.0);
        for Coupled { cwnd, rtt, .. } in Coupled::all(view) {
            paths += 1;
            total += cwnd;
            best = f64::max(best, cwnd / (rtt * rtt));
            rate += cwnd / rtt;
        }
        // Rounding must not make a single path slower than it would be without coupling.
        let alpha = |paths| if paths == 1 { 1.0 } else { total * best / (rate * rate) };
        (rate > 0.0).then(|| (alpha(paths), total))
    }
}

impl Avoidance for Lia {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let coupled = Coupled::of(now.view, now.path).and_then(|_| Lia::alpha(now.view));
        let alone = now.reno();
        coupled.map_or(alone, |(alpha, total)| alone.min(alpha * now.acked * now.segment / total))
    }
}
