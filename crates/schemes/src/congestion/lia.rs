//! Linked increases (RFC 6356): the windows of all paths grow together as one TCP on the best of them would.
//!
//! | RFC 6356 | here |
//! |---|---|
//! | §4 alpha = tot · max(cwnd_i/rtt_i²) / (Σ cwnd_i/rtt_i)² | [`Linked::alpha`] |
//! | §3 increase min(alpha·acked·mss/tot, acked·mss/cwnd_i) a SACK | [`Linked::per_window`]: the same for a whole window acknowledged, min(alpha·cwnd_i/tot, 1) MTU, by the shell's partial_bytes_acked |
//! | §3 slow start and decrease as in TCP, here as in SCTP | the shell, `rfc::Aimd` |
//!
//! Paths that are not active or have no round-trip time yet are left out of the sums and grow on their own. With one
//! path the step is one MTU: the RFC 9260 window.

use strandcast_proto::policy::{PathId, PathState, PathView, View};
use strandcast_proto::rfc::Increase;

/// The increase of RFC 6356.
#[derive(Copy, Clone, Debug, Default)]
pub struct Linked;

impl Linked {
    /// How aggressive all windows together are, and their sum in bytes; `None` while no path counts.
    pub fn alpha(view: &View<'_>) -> Option<(f64, f64)> {
        let (mut total, mut best, mut rate) = (0.0, 0.0, 0.0);
        for (cwnd, rtt) in view.paths.iter().filter_map(counted) {
            total += cwnd;
            best = f64::max(best, cwnd / (rtt * rtt));
            rate += cwnd / rtt;
        }
        (rate > 0.0).then(|| (total * best / (rate * rate), total))
    }
}

/// Window in bytes and round-trip time in seconds of a path that counts.
fn counted(path: &PathView) -> Option<(f64, f64)> {
    let rtt = path.srtt.filter(|_| path.state == PathState::Active)?.as_secs_f64();
    Some((path.limit.cwnd as f64, rtt.max(1e-6)))
}

impl Increase for Linked {
    fn per_window(&self, view: &View<'_>, path: PathId) -> u64 {
        let mtu = view[path].mtu;
        let Some((cwnd, _)) = counted(&view[path]) else { return mtu };
        let Some((alpha, total)) = Linked::alpha(view) else { return mtu };
        let share = f64::min(alpha * cwnd / total, 1.0);
        (mtu as f64 * share + 0.5) as u64
    }
}
