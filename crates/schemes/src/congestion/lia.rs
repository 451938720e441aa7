//! Linked increases (RFC 6356): the windows of all paths grow together as one TCP on the best of them would.
//!
//! | RFC 6356 | here |
//! |---|---|
//! | §4 alpha = tot · max(cwnd_i/rtt_i²) / (Σ cwnd_i/rtt_i)² | [`Linked::alpha`] |
//! | §3 increase min(alpha·acked·mss/tot, acked·mss/cwnd_i) a SACK | [`Linked::per_window`]: the same for a whole window acknowledged, min(alpha·cwnd_i/tot, 1) MTU, by the shell's partial_bytes_acked |
//! | §3 slow start and decrease as in TCP, here as in SCTP | the shell, `rfc::Aimd` |
//!
//! For TCP ([`TcpWindows`](super::TcpWindows)) the increase is the RFC's, an ACK at a time, bounded so by
//! `Halving`'s: bytes_acked is what the ACK counts for ([`Counting`](super::Counting)).
//!
//! Paths that are not active or have no round-trip time yet are left out of the sums and grow on their own. With one
//! path alpha is 1: the RFC 9260 window, or that of RFC 5681.

use strandcast_proto::policy::{LossTrigger, PathId, PathState, PathView, View};
use strandcast_proto::rfc::Increase;

use super::reno::Halving;
use super::tcp::{Avoidance, Progress};

/// The increase of RFC 6356.
#[derive(Copy, Clone, Debug, Default)]
pub struct Linked;

impl Linked {
    /// How aggressive all windows together are, and their sum in bytes; `None` while no path counts.
    pub fn alpha(view: &View<'_>) -> Option<(f64, f64)> {
        let (mut paths, mut total, mut best, mut rate) = (0, 0.0, 0.0, 0.0);
        for (cwnd, rtt) in view.paths.iter().filter_map(counted) {
            paths += 1;
            total += cwnd;
            best = f64::max(best, cwnd / (rtt * rtt));
            rate += cwnd / rtt;
        }
        // Rounding must not make one path slower than it is alone.
        let alpha = |paths| if paths == 1 { 1.0 } else { total * best / (rate * rate) };
        (rate > 0.0).then(|| (alpha(paths), total))
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

impl Avoidance for Linked {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let alone = Halving.increase(now);
        let coupled = counted(&now.view[now.path]).and_then(|_| Linked::alpha(now.view));
        coupled.map_or(alone, |(alpha, total)| alone.min(alpha * now.acked * now.segment / total))
    }

    fn decrease(&mut self, segments: f64, trigger: LossTrigger) -> f64 {
        Halving.decrease(segments, trigger)
    }
}
