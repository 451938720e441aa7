//! `cmt-cl` and `cmt-cl-fd`: cross-layer concurrent transfer. `cmt-cl-fd` adds fairness-driven flow control.
//!
//! Xu C., Li Z., Li J., Zhang H., Muntean G.-M., "Cross-layer Fairness-driven Concurrent Multipath Video Delivery over
//! Heterogenous Wireless Networks", IEEE Transactions on Circuits and Systems for Video Technology 25(7), 2015.
//!
//! | Xu et al. (2015) | here |
//! |---|---|
//! | estimation interval u | `estimate::EstimationInterval`; `quality::QualityAware` closes it |
//! | eqs 1-4, ESNR | `estimate::{Modulation, EffectiveSnr}`; `CrossLayer::link` counts frames, `CrossLayer::close` asks |
//! | eq. 5, RTT_ref | `estimate::ReferenceRtt` |
//! | eq. 6, R_e | `estimate::TransmissionRate` |
//! | Algorithm 1, BW_e | `estimate::Bandwidth`; fed by `CrossLayer::link` or `CrossLayer::sent` |
//! | eq. 7, Algorithms 2 and 3, fcount (`cmt-cl-fd` alone) | `congestion::Friendliness`; `quality` calls it after each change of a window |
//! | eqs 8-10, C, w, R_c | `schedule::{capacity, weight}`, `CrossLayer::period` |
//! | eqs 11-13, Algorithm 4, PathList | `schedule::{Offer, Distribution}` |
//! | cause of a loss; eqs 14, 15 | `CrossLayer::cause`, `CrossLayer::reduction`; eq. 16 is RFC 9260's timeout |
//! | resent on the path with the largest window, before all else | `quality::QualityAware` |
//!
//! A SACK is processed in these steps: acknowledgements and R_e, growth of RFC 9260, Algorithm 2, Algorithm 3, losses,
//! eqs 14-16, Algorithms 2 and 3 again, retransmissions. If a period is due, it follows, and finally new data.
//!
//! Constants (section VII): a = b = 0.99, Q = 0.01, R = 1, α = 0.5, β = 1.5.
//!
//! Effect of the formulas: BW_e is near R_e, because it measures the rate of the sender itself. log₂(1 + ESNR) is 3
//! to 5. R_c is therefore nearly always positive. `cmt-cl` attributes every fast retransmission to the radio.
//! `cmt-cl-fd` finds congestion only after three or four losses in one distribution period. Counters show the number of
//! these verdicts. More frame errors reduce R_c, so that the verdict "congestion" becomes more likely.
//!
//! `ASSUMED`. If a key changes the choice, it is in parentheses:
//! * In `cmt-cl`, w is 1. The terms with w belong to the friendliness window, which `cmt-cl` lacks.
//! * ESNR enters eq. 9 linearly, as in Shannon's formula (`snr=db` for decibels). All paths have the same modulation
//!   (`modulation=`). The paper uses a table for each technology, but does not print the tables.
//! * BW_e uses the times at which the access link sends, if the link reports them. Otherwise, and always with
//!   `bw-stamp=send`, it uses the times at which the sender sends. With the link's times, BW_e includes HEARTBEATs and
//!   the headers of packets.
//! * The rule "inactive if u ≤ RTO" would suspend every path at the paper's own loss rates, because RTO ≥ 1 s. Here, a
//!   path is suspended after three consecutive timeouts, each within srtt + 4 rttvar of the previous one. It returns
//!   when it answers a probe (`inactive=literal`, `off`). The last remaining path is never suspended.
//! * `rc=normalised` is a variant of this project. In it, the sign of R_c depends on the frame errors: C = BW_max/w ·
//!   log₂(1 + ESNR) / log₂(1 + ESNR₀). BW_max is the highest R_e in 10 s. ESNR₀ is the ratio at which one frame in a
//!   thousand is lost.
//! * A path without an estimate comes first in PathList, because it must be measured. Its losses count as congestion
//!   until a period has computed its R_c.
//! * The cause is decided at the first loss of a window. R_c of the current period decides.
//! * A pause between packets counts as at most 200 ms, or as a round trip if that is longer. Longer pauses come from
//!   the application.
//! * Eqs 14 and 15 use the latest values of R_e and BW_e. If RTT_ref is unknown, the smoothed round-trip time replaces
//!   it. If both are unknown, one second replaces them.
//! * Only fast retransmissions that congestion caused halve fwnd, as in the printed Algorithm 2. According to the text
//!   of section V, every fast retransmission halves fwnd (`fwnd-cut=any`).
//! * In `cmt-cl-fd`, a loss counts as congestion for any R_c if the links of its path count no frames. With
//!   `without-counters=capacity`, R_c also decides for such paths. In the paper, every path has a radio's counters.
//!   Without counters, nothing indicates a radio loss. With a positive R_c, nearly every loss at a full queue would
//!   then leave fwnd unchanged.
//! * α and β may be 1, although eq. 7 requires α < 1 < β. Experiments use this to limit the sum of windows by fwnd from
//!   one side only.
//! * Growth continues in fast recovery (`fr-freeze=off`). At 2 to 10 % loss, a window would otherwise hardly ever grow.
//! * Pairs of heartbeats are sent while data are sent. Unlike unanswered heartbeats of the transport, unanswered
//!   heartbeats of a pair are not path errors.
//! * Frame errors of the receiver's links are not reported. `report-fer=on` reports them.
//! * Data wait in one queue, and get their TSN when they leave. The "buffer" of a path is its quota;
//! * The state potentially failed is used (`pf=on`), although the paper does not have it. Without it, a dead path
//!   blocks all data for over a minute.
//! * Windows begin as in RFC 9260. `initial-cwnd=2,initial-ssthresh=65536` sets the values of the paper's simulator.
//!   The floor of eqs 14 to 16 is the paper's 4 MTU, even if a profile sets another floor for other schemes
//!   (`loss-floor=`).

use strandcast_keys::{keys, words};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{Estimate, LinkSample, LossCause, Scheme, View};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::units::Rate;

use crate::estimate::{Bandwidth, BandwidthConfig, EffectiveSnr, Modulation, Snr, WindowedMax};
use crate::preset::quality::{After, Measured, QualityAware, QualityKeys, QualityModel, Reduction, put};
use crate::schedule::{Quota, capacity};
use crate::scheme::{Preset, Settings};

/// Time for which a rate counts as the path's best (`rc=normalised`).
const BEST: Duration = Duration::from_secs(10);

words! {
    /// Form in which the effective ratio enters eq. 9.
    enum Ratio {
        /// As printed.
        Linear = "linear",
        /// In decibels.
        Decibels = "db",
    }
}

words! {
    /// Source of the times from which bandwidth is estimated.
    enum Stamp {
        /// The times at which the access link sends, where it reports them.
        Link = "link",
        /// The times at which the sender sends.
        Send = "send",
    }
}

words! {
    /// Definition of C.
    enum Rc {
        /// Eq. 9.
        Paper = "paper",
        /// A share of the best rate.
        Normalised = "normalised",
    }
}

words! {
    /// Fast retransmissions that halve fwnd.
    enum Cut {
        /// Only fast retransmissions that congestion caused.
        Congestion = "congestion",
        /// Any.
        Any = "any",
    }
}

words! {
    /// Cause of a loss on a path whose links count no frames.
    enum WithoutCounters {
        /// Congestion.
        Congestion = "congestion",
        /// The cause that follows from residual capacity.
        Capacity = "capacity",
    }
}

keys! {
    /// The keys of `cmt-cl`.
    #[derive(Copy)]
    struct ClKeys {
        with bandwidth: BandwidthConfig,
        /// modulation with which frame errors are converted to a signal-to-noise ratio, on all paths
        modulation: Modulation = Modulation::Qpsk,
        /// form in which the effective ratio enters eq. 9
        snr: Ratio = Ratio::Linear,
        /// bandwidth by the times at which the access link sends, where it reports them, or at which the sender sends
        bw_stamp: Stamp = Stamp::Link,
        /// capacity as in eq. 9, or as a share of the best rate of the last 10 s
        rc: Rc = Rc::Paper,
        /// the receiver reports the frame errors it sees
        report_fer: bool = false,
        and common: QualityKeys,
    }
}

keys! {
    /// The keys of `cmt-cl-fd`.
    #[derive(Copy)]
    struct FriendlyKeys {
        /// windows whose sum is less than this share of fwnd are rewarded (eq. 7)
        alpha: f64 [0.0, 1.0] = 0.5,
        /// windows whose sum is more than this multiple of fwnd are penalized (eq. 7), and least w of eq. 9
        beta: f64 [1.0, 100.0] = 1.5,
        /// a path that timed out is not rewarded before something of it is acknowledged
        reward_exempt: bool = true,
        /// fast retransmissions that halve fwnd: those by congestion (Algorithm 2), or any (the text)
        fwnd_cut: Cut = Cut::Congestion,
        /// a loss on a path whose links count no frames is congestion, or judged by residual capacity all the same
        without_counters: WithoutCounters = WithoutCounters::Congestion,
        and cross: ClKeys,
    }
}

impl ClKeys {
    /// Makes the scheme that distributes data by residual capacity.
    fn scheme(&self, name: &'static str, model: CrossLayer, seeds: &Seeds) -> QualityAware<CrossLayer> {
        let scheme = QualityAware::new(name, &self.common, model, seeds);
        if self.report_fer { scheme.with_frame_errors() } else { scheme }
    }
}

impl Settings for ClKeys {
    fn build(&self, name: &'static str, seeds: &Seeds) -> Box<dyn Scheme> {
        Box::new(self.scheme(name, CrossLayer::of(self), seeds))
    }

    fn tune(&self, config: &mut TransportConfig) {
        self.common.tune(config);
    }

    fn boxed(&self) -> Box<dyn Settings> {
        Box::new(*self)
    }
}

impl Settings for FriendlyKeys {
    fn build(&self, name: &'static str, seeds: &Seeds) -> Box<dyn Scheme> {
        let needs_counters = self.without_counters == WithoutCounters::Congestion;
        let model = CrossLayer { needs_counters, ..CrossLayer::of(&self.cross) };
        let scheme = self.cross.scheme(name, model, seeds);
        Box::new(scheme.friendly((self.alpha, self.beta), self.reward_exempt, self.fwnd_cut == Cut::Any))
    }

    fn tune(&self, config: &mut TransportConfig) {
        self.cross.common.tune(config);
    }

    fn boxed(&self) -> Box<dyn Settings> {
        Box::new(*self)
    }
}

const PAPER: &str = "Xu et al. 2015: Cross-layer Fairness-driven Concurrent Multipath Video Delivery over \
                     Heterogenous Wireless Networks, IEEE TCSVT 25(7), 2015";

/// Cross-layer concurrent transfer.
pub const PRESET: Preset = Preset {
    name: "cmt-cl",
    paper: PAPER,
    summary: "paths with capacity to spare first, by bandwidth and frame errors of the access links",
    parts: &[
        (
            "estimators",
            "bandwidth by departures, frame errors of the link, rate and round-trip time of each path",
        ),
        ("scheduler", "in periods, each path its quota, the one with the most residual capacity first"),
        (
            "congestion control",
            "one RFC 9260 window per path; after a loss on a path with capacity to spare it stays",
        ),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || Box::<ClKeys>::default(),
};

/// `cmt-cl` with a friendliness window, which makes it friendly to TCP.
pub const FRIENDLY: Preset = Preset {
    name: "cmt-cl-fd",
    summary: "cmt-cl, all windows together near one TCP's",
    parts: &[
        (
            "estimators",
            "bandwidth by departures, frame errors of the link, rate and round-trip time of each path",
        ),
        ("scheduler", "in periods, each path its quota, the one with the most residual capacity first"),
        (
            "congestion control",
            "one RFC 9260 window per path, their sum held near one TCP's window; after a loss on a path with capacity to spare it stays",
        ),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || Box::<FriendlyKeys>::default(),
    ..PRESET
};

/// Quality model of paths by residual capacity.
#[derive(Clone, Debug)]
struct CrossLayer {
    bandwidth: BandwidthConfig,
    modulation: Modulation,
    decibels: bool,
    /// True if the bandwidth follows the departures that the link reports. It applies only if the link reports them.
    by_link: bool,
    /// True if a loss is attributed to the radio only for paths with a link that reports counters.
    needs_counters: bool,
    /// log₂(1 + ESNR₀), if capacity is a share of the best rate.
    normal: Option<f64>,
}

/// State of a path.
#[derive(Clone, Debug)]
struct Capacity {
    bandwidth: Bandwidth,
    /// True if the link reports when packets leave.
    stamped: bool,
    snr: EffectiveSnr,
    near: Frames,
    far: Frames,
    best: WindowedMax,
    /// C, bytes per second.
    capacity: Option<f64>,
    /// R_c, bytes per second.
    residual: Option<f64>,
}

impl Capacity {
    /// Returns whether any link of the path counts frames.
    fn reported(&self) -> bool {
        self.near.reported() || self.far.reported()
    }
}

impl CrossLayer {
    fn of(keys: &ClKeys) -> Self {
        let mut model = CrossLayer {
            bandwidth: keys.bandwidth,
            modulation: keys.modulation,
            decibels: keys.snr == Ratio::Decibels,
            by_link: keys.bw_stamp == Stamp::Link,
            needs_counters: false,
            normal: None,
        };
        if keys.rc == Rc::Normalised {
            let mut best = EffectiveSnr::new(keys.modulation);
            // (0 + ½)/(499 + 1) = 0.001.
            best.close(499, 0, 1500.0);
            model.normal = Some(libm::log2(1.0 + model.scale(best.snr())));
        }
        model
    }

    /// Returns the ratio in the form for eq. 9.
    fn scale(&self, snr: Snr) -> f64 {
        if self.decibels { snr.to_db().0.max(0.0) } else { snr.value() }
    }
}

impl QualityModel for CrossLayer {
    type Path = Capacity;

    fn path(&self) -> Capacity {
        Capacity {
            bandwidth: Bandwidth::new(self.bandwidth),
            stamped: false,
            snr: EffectiveSnr::new(self.modulation),
            near: Frames::default(),
            far: Frames::default(),
            best: WindowedMax::new(BEST),
            capacity: None,
            residual: None,
        }
    }

    fn sent(&self, path: &mut Capacity, now: Instant, bytes: u64, longest: Duration) {
        if !path.stamped {
            path.bandwidth.departed(now, bytes, longest);
        }
    }

    fn link(&self, path: &mut Capacity, sample: &LinkSample, far: bool, longest: Duration) {
        if far {
            path.far.hear(sample);
            return;
        }
        path.near.hear(sample);
        if let Some((at, bytes)) = sample.departure.filter(|_| self.by_link) {
            if !path.stamped {
                // The value from the sender's calls measures another quantity.
                path.bandwidth = Bandwidth::new(self.bandwidth);
                path.stamped = true;
            }
            path.bandwidth.departed(at, bytes, longest);
        }
    }

    fn close(&self, path: &mut Capacity, rate: f64, now: Instant) {
        let (near, far) = (path.near.close(), path.far.close());
        let frames = if near.frames > 0 { near.frames } else { far.frames };
        let length = if near.frames > 0 { near.length } else { far.length };
        path.snr.close(frames, near.errors.saturating_add(far.errors), length);
        if rate > 0.0 {
            path.best.push(now, rate);
        }
    }

    /// Computes eqs 8 to 10.
    fn period(&self, path: &mut Capacity, measured: &Measured<'_>) {
        let snr = self.scale(path.snr.snr());
        path.capacity = match self.normal {
            None => path.bandwidth.bytes_per_second().map(|bw| capacity(bw, measured.weight, snr)),
            Some(n) => path.best.get(measured.now).map(|best| capacity(best, measured.weight, snr) / n),
        };
        path.residual = path.capacity.map(|c| c - measured.rate.bytes_per_second());
    }

    fn handling_rate(&self, path: &Capacity) -> Option<f64> {
        path.bandwidth.bytes_per_second()
    }

    fn rank(&self, path: &Capacity) -> f64 {
        path.residual.unwrap_or(f64::INFINITY)
    }

    fn quota(&self, path: &Capacity) -> Quota {
        path.residual.map_or(Quota::Window, Quota::Residual)
    }

    fn cause(&self, path: &Capacity, _: &Measured<'_>) -> LossCause {
        let radio = path.reported() || !self.needs_counters;
        if radio && path.residual.is_some_and(|rc| rc > 0.0) {
            LossCause::Wireless
        } else {
            LossCause::Congestion
        }
    }

    fn reduction(&self, path: &Capacity, rate: f64, cause: LossCause) -> Reduction {
        match cause {
            LossCause::Wireless => Reduction { rate, window: After::Kept },
            _ => Reduction { rate: path.bandwidth.bytes_per_second().unwrap_or(0.0), window: After::AtMost },
        }
    }

    fn estimate(&self, path: &Capacity, index: usize, out: &mut Estimate) {
        out.bandwidth = path.bandwidth.bytes_per_second().map(Rate::from_bytes_per_s);
        out.effective_snr = Some(path.snr.snr().value());
        out.frame_error_rate = path.reported().then(|| path.snr.frame_error_rate());
        if let (Some(capacity), Some(residual)) = (path.capacity, path.residual) {
            put(out, index, "capacity_bytes_per_s", capacity);
            put(out, index + 1, "residual_bytes_per_s", residual);
        }
    }

    fn diagnostics<'a>(
        &self,
        _: &View<'_>,
        paths: impl Iterator<Item = &'a Capacity>,
        out: &mut Vec<&'static str>,
    ) {
        let (reported, silent): (Vec<_>, Vec<_>) = paths.partition(|p| p.reported());
        if reported.is_empty() {
            out.push("no link reports frame errors: runs on transport-layer estimates alone");
        } else if !silent.is_empty() {
            out.push("some links report no frame errors: their paths run on transport-layer estimates alone");
        }
    }
}

/// Counters of a link over estimation intervals.
#[derive(Copy, Clone, Default, Debug)]
struct Frames {
    /// Pairs of (frames, frames in error). The first pair is from the beginning of the interval, and the second pair is
    /// from the present.
    counted: Option<[(u64, u64); 2]>,
    /// Sum and number of the frame lengths reported in this interval.
    lengths: (f64, u32),
}

/// Counts of a link in an interval.
#[derive(Copy, Clone, PartialEq, Debug)]
struct FrameCount {
    frames: u64,
    errors: u64,
    /// Mean length in bytes. 0 if it is not reported.
    length: f64,
}

impl Frames {
    fn hear(&mut self, sample: &LinkSample) {
        if sample.tx_frames == 0 {
            return;
        }
        let now = (sample.tx_frames, sample.tx_retries.saturating_add(sample.tx_failed));
        let began = self.counted.map_or(now, |c| c[0]);
        self.counted = Some([began, now]);
        if let Some(bytes) = sample.frame_bytes {
            self.lengths = (self.lengths.0 + bytes, self.lengths.1.saturating_add(1));
        }
    }

    fn reported(&self) -> bool {
        self.counted.is_some()
    }

    fn close(&mut self) -> FrameCount {
        let [began, now] = self.counted.unwrap_or_default();
        let (sum, told) = core::mem::take(&mut self.lengths);
        self.counted = self.counted.map(|_| [now; 2]);
        FrameCount {
            // Counters go back if the interface was taken down. The counts of this interval are then unknown.
            frames: now.0.saturating_sub(began.0),
            errors: now.1.saturating_sub(began.1),
            length: sum / f64::from(told.max(1)),
        }
    }
}

#[cfg(test)]
mod tests;
