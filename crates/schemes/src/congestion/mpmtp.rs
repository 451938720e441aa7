//! MPMTP: the growth of a window has four profiles. The growth of a window is fast below the window of the last loss,
//! slow around that size, faster beyond it, and linear once round-trip times rise. The windows of paths that lose more
//! grow more slowly. All windows together grow as the window of one CUBIC flow.
//!
//! Lee S., Chung K., "A Multipath Congestion Control Scheme for High-Quality Multimedia Streaming", KSII Transactions
//! on Internet and Information Systems 11(1), 2017. Windows are in segments. b is the share by which a loss reduces a
//! window. The paper's β has this meaning, but in Figs. 10 and 11 it means 1 − b.
//!
//! | Lee and Chung 2017 | here |
//! |---|---|
//! | eq. 11, 16, 22: an ACK adds δ·B·α/w, 1 ≤ α ≤ w; a loss takes b·w, w_max = w | [`Subflow::grow`], [`Mpmtp::decrease`] |
//! | eq. 12, Figs. 10 and 11: concave, w < w_max | `profile` in [`Subflow`] |
//! | Fig. 12: convex, w ≥ w_max | [`Subflow::on_round`] |
//! | eq. 13 to 15, Fig. 13: linear, L | [`hyperbola`], [`saturation`] |
//! | eq. 17 to 21, Fig. 15: B | [`Mpmtp::balance`] |
//! | eq. 25 to 30: δ | [`Mpmtp::delta`] |
//!
//! # Misprints
//!
//! | | printed | used | why |
//! |---|---|---|---|
//! | eq. 12 | c = (w_max² − (βw_max)²)/(α_max − α_min) | (α_max − α_min)/(b·w_max)² | Fig. 10: α(βw_max) = α_max, α(w_max) = α_min |
//! | Fig. 12 | L·max{w + α(n + 1)} | α ← min(w, α + 1) each round trip, from 1; then times L | max of one value; eq. 11: α < w |
//! | eq. 13 | l1/(l2 + RTT) | l1/(l2 + RTT − RTT_min) | Fig. 13: L(RTT_min) = L_max, L(RTT_max) = L_min |
//! | eq. 14 | RTT_r | RTT_max | as eq. 15 |
//! | eq. 17 | B_max at p_max, b1/(b2 + p) | B(p_min) = 2 − p_min/p_avg, B(p_max) = 2 − p_max/p_avg, b1/(b2 + p − p_min) | §3.2: traffic leaves lossy paths |
//! | eq. 18 | 1 − (p_max − p_min)/p_avg | 1 − (p_max − p_avg)/p_avg | as eq. 19; −1 for two paths, one without loss |
//! | eq. 26, 27 | p·w/β, p = δBαβ/w² | p·b·w, p = δBα/(b·w²) | eq. 11: a loss takes b·w |
//! | eq. 28 | p | p³ | the mean window of CUBIC |
//! | eq. 29 | RTT_r | 1/RTT_r | a rate is a window over RTT_r |
//! | eq. 30 | w²·max(C(4 − β)RTT²/(4β))^⅓ / (αBβ·X^(4/3)) | b·w²·max(C(4 − b)/(4b·RTT))^⅓ / (ᾱ·X^(4/3)) | dimension; the next paragraph |
//!
//! Equation 30 has α·B in its denominator. With current values, δ·B·α would depend neither on α nor on B. The profiles
//! and load balancing would then have no effect. Therefore ᾱ is the mean of α over the time between the last two
//! losses. Before there are two losses, ᾱ is √(α_max·α_min). B is left out, and w and X = Σ w/RTT are means. The mean
//! over time is exact, because a path sends 1/p segments between losses, which takes 1/(p·w) round trips. Each round
//! trip adds δ·B·α segments, and all round trips between two losses together add b·w.
//!
//! With this δ, the windows are coupled as by the increase of COUPLED. The growth per loss interval is proportional to
//! the window. A single loss rate p, with X = (C(4 − b)/(4b·RTT·p³))^¼, therefore fits all paths. Equal paths keep
//! their shares. If loss rates differ, the path that loses more keeps only the window that [`MpmtpConfig::delta_least`]
//! permits. With `delta=common`, w and ᾱ are means over the paths. All paths then have the same δ, and equal paths tend
//! to equal windows.
//!
//! # `ASSUMED`, each with a key
//!
//! * b = 0.3 and C = 0.4 (RFC 9438), because the paper has no values. δ is within [0.01, 1], and each round trip
//!   updates it with the weight 1/4. Mean windows have the weight 1/8. B is within [0.1, 2].
//! * Round-trip times count as rising if two consecutive round trips, of at least four samples each, satisfy a
//!   condition. In each of the two, the least sample must exceed the least round-trip time of the last 5 to 10 s by 10
//!   % and by 5 ms. Only round trips in which the window could grow count. Linear growth lasts until the next loss
//!   ("linearly increases until a packet loss occurs"). With `linear-ends=rtt`, it lasts while RTT_cur > RTT_min, as
//!   another sentence of §3.1 says. The convex α grows again once round-trip times have fallen.
//! * RTT_max is the smoothed round-trip time at losses, averaged with weight 1/2. RTT_max may be unknown, or not
//!   greater than the round-trip time at which the rise was detected. In these cases it is the larger of 2·base and
//!   1.5·RTT_min. RTT_cur is the least round-trip time of the last round trip.
//!
//! `ASSUMED` without a key: slow start ends at the first loss or rise. After a timeout, the window grows to
//! (1 − b)·w_max in slow start, and then by the concave profile. p is the number of congestion events per segment. It
//! is the inverse of TFRC's mean loss interval (RFC 5348 §5.4), and 0 before the first event. If p_max − p_min < 10⁻⁹,
//! B is 1. No ACK adds more bytes than it acknowledges. Each ACK gives a round-trip time. It is measured from the
//! departure of the newest segment that the ACK acknowledges, so that a coarse clock of the sender does not matter. δ
//! and B are 1 if only one path is active and has a round-trip time ([`Coupled`]). After idle time, or when a path
//! returns, the profiles begin anew.

mod config;
mod loss_intervals;
mod saturation;
mod subflow;
#[cfg(test)]
mod tests;

use strandcast_proto::policy::{AckInfo, LossTrigger, PathId, PathState, Signal, View};
use strandcast_proto::rfc::{Avoidance, CongestionEvent, Progress};

use super::Counting;
use super::Coupled;
use super::flow::FlowConfig;
use super::mean_windows::MeanWindows;
use super::window::AvoidancePart;
pub use config::{Fairness, LinearEnds, MpmtpConfig};
use subflow::{Subflow, hyperbola};

impl AvoidancePart for MpmtpConfig {
    const PAPER: &'static str = "Lee and Chung 2017";
    const SUMMARY: &'static str = "concave, convex, and linear once round-trip times rise; together one CUBIC, less on paths that lose more";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Mpmtp::new(*self)
    }

    fn flow(&self, flow: &mut FlowConfig) {
        flow.counting = Counting::Bytes;
    }
}

/// Greatest difference between two loss rates that count as equal.
const EQUAL_LOSS: f64 = 1e-9;

/// The windows of all paths.
#[derive(Clone, Debug)]
pub struct Mpmtp {
    config: MpmtpConfig,
    means: MeanWindows,
    /// Subflows by path slot. `None` until an event on the path.
    paths: Vec<Option<Subflow>>,
}

impl Mpmtp {
    /// The state before the first ACK.
    pub fn new(config: MpmtpConfig) -> Self {
        Mpmtp { config, means: MeanWindows::new(config.window_gain), paths: Vec::new() }
    }

    fn of(&mut self, path: PathId) -> &mut Subflow {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        self.paths[path.index()].get_or_insert_default()
    }

    fn get(&self, path: PathId) -> Option<&Subflow> {
        self.paths.get(path.index()).and_then(Option::as_ref)
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo, round: bool) {
        let seen = &view[ack.path];
        let segment = seen.mtu.max(1) as f64;
        let rtt = ack.newest_sent.map(|sent| view.now.saturating_since(sent)).or(ack.rtt);
        let config = self.config;
        let subflow = self.of(ack.path);
        subflow.intervals.on_acked(ack.newly_acked as f64 / segment);
        if let Some(rtt) = rtt {
            subflow.saturation.on_sample(rtt.as_secs_f64());
        }
        if round {
            subflow.on_round(view.now, seen.limit.cwnd as f64 / segment, &config);
            self.couple(view, ack.path);
        }
    }

    /// δ and B of `path`, for the next round trip.
    fn couple(&mut self, view: &View<'_>, path: PathId) {
        let own = Coupled::of(view, path).filter(|_| Coupled::all(view).nth(1).is_some());
        let balance = own.filter(|_| self.config.balance).map_or(1.0, |own| self.balance(view, own.path));
        let delta = own.and_then(|own| match self.config.delta {
            Fairness::Computed | Fairness::Common => Some(self.delta(view, &own)),
            Fairness::Constant => Some(self.config.delta_value),
            Fairness::One => None,
        });
        let gain = self.config.delta_gain;
        let subflow = self.of(path);
        subflow.balance = balance;
        subflow.delta = delta.map(|new| subflow.delta.map_or(new, |old| old + gain * (new - old)));
    }

    /// The loss rate of a path, events per segment.
    fn loss(&self, path: PathId) -> f64 {
        self.get(path).map_or(0.0, |subflow| subflow.intervals.rate())
    }

    /// B: more than 1 for paths that lose less than the mean, and less than 1 for paths that lose more.
    fn balance(&self, view: &View<'_>, path: PathId) -> f64 {
        let (mut least, mut most, mut sum, mut count) = (f64::INFINITY, 0.0, 0.0, 0.0);
        for one in Coupled::all(view) {
            let loss = self.loss(one.path);
            least = f64::min(least, loss);
            most = f64::max(most, loss);
            sum += loss;
            count += 1.0;
        }
        let MpmtpConfig { balance_least, balance_most, .. } = self.config;
        let mean = sum / count;
        if most - least < EQUAL_LOSS || mean <= 0.0 {
            return 1.0;
        }
        let high = 2.0 - least / mean;
        let low = (2.0 - most / mean).max(balance_least);
        let position = (self.loss(path) - least) / (most - least);
        hyperbola(high, low, position).clamp(balance_least, balance_most)
    }

    /// δ by equation 30, corrected.
    fn delta(&self, view: &View<'_>, own: &Coupled) -> f64 {
        let MpmtpConfig { b, c, delta_least, delta_most, .. } = self.config;
        let segments = |one: &Coupled| self.means.window(one) / view[one.path].mtu.max(1) as f64;
        let mean_alpha =
            |path: PathId, w: f64| self.get(path).map_or(1.0, |subflow| subflow.mean_alpha(w, &self.config));
        let (mut rate, mut rtt, mut windows, mut alphas, mut count) = (0.0, f64::INFINITY, 0.0, 0.0, 0.0);
        for one in Coupled::all(view) {
            let w = segments(&one);
            rate += w / one.rtt;
            rtt = f64::min(rtt, one.rtt);
            windows += w;
            alphas += mean_alpha(one.path, w);
            count += 1.0;
        }
        let (w, alpha) = if self.config.delta == Fairness::Common {
            (windows / count, alphas / count)
        } else {
            let w = segments(own);
            (w, mean_alpha(own.path, w))
        };
        let cubic = libm::cbrt(c * (4.0 - b) / (4.0 * b * rtt));
        let delta = b * w * w / alpha * cubic / (rate * libm::cbrt(rate));
        // If the rate is zero, the share is undefined.
        if delta.is_finite() { delta.max(delta_least).min(delta_most) } else { delta_most }
    }
}

impl Avoidance for Mpmtp {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        let round = self.means.on_signal(view, signal);
        match signal {
            Signal::Acked(ack) if ack.path.index() < view.paths.len() => self.on_acked(view, ack, round),
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed) =>
            {
                if let Some(slot) = self.paths.get_mut(path.index()) {
                    *slot = None;
                }
            }
            _ => {}
        }
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let config = self.config;
        let (w, acked) = (now.cwnd / now.segment, now.acked / now.segment);
        self.of(now.path).grow(w, acked, now.passed, &config) * now.segment
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        let config = self.config;
        let w = event.cwnd / event.segment;
        let subflow = self.of(event.path);
        match event.trigger {
            LossTrigger::FastRetransmit | LossTrigger::Timeout => subflow.on_loss(w, &config),
            LossTrigger::HeadOfLine => subflow.on_penalty(w),
        }
        1.0 - config.b
    }

    fn pause(&mut self, path: PathId) {
        self.of(path).restart();
    }

    fn ends_slow_start(&mut self, now: &Progress<'_>) -> bool {
        self.of(now.path).in_slow_start()
    }

    fn gauges(&self, path: PathId, out: &mut Vec<(&'static str, f64)>) {
        let Some(subflow) = self.get(path) else { return };
        out.extend([
            ("mpmtp_alpha", subflow.alpha),
            ("mpmtp_l", subflow.linear),
            ("mpmtp_b", subflow.balance),
            ("mpmtp_delta", subflow.delta.unwrap_or(1.0)),
        ]);
        out.extend(subflow.saturation.rise().map(|rtt| ("mpmtp_rtt_inc_ms", rtt * 1e3)));
    }
}
