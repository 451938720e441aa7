//! `cmt-qa`: quality-aware concurrent transfer, reconstructed.
//!
//! C. Xu, T. Liu, J. Guan, H. Zhang, G.-M. Muntean, "CMT-QA: Quality-Aware Adaptive Concurrent Multipath Data Transfer in
//! Heterogeneous Wireless Networks", IEEE Transactions on Mobile Computing 12(11), 2013, the baseline of paper 000. Only
//! its abstract and what paper 000 says of it are at hand: **the scheme here is a reconstruction**, paper 000 without
//! its link layer and its friendliness window, and not the authors' own.
//!
//! What is public: each path's ability to handle data is watched regularly; the estimation interval follows the losses
//! and a confidence interval; a distribution period is the longest handling time; data go to qualified paths so that
//! they arrive in order; kinds of losses are told apart and windows are not cut without need; nothing is done for
//! fairness, nothing is heard from the link layer.
//!
//! | idea | here |
//! |---|---|
//! | estimation interval u, R_e (eq. 6 of paper 000), RTT_ref (its eq. 5) | `estimate::{EstimationInterval, TransmissionRate, ReferenceRtt}` |
//! | quality Q̄ | [`QualityJudge::close`] |
//! | handling time cwnd/Q̄, period, PathList by Q̄, quota ⌊P_d/T⌋ cwnd | `schedule::{Offer, Distribution}` |
//! | causes of losses | [`QualityJudge::cause`] |
//! | windows after a loss | [`QualityJudge::reduction`] |
//! | resent on the path with the largest window, before new data | `quality::QualityAware` |
//!
//! Constants: none are public.
//!
//! `ASSUMED`, all that goes beyond the public facts:
//! - Q̄ is a moving average of R_e that takes a quarter of each new interval (`gain=`);
//! - a loss is by the radio if the rate since the interval began is at least 90 % (`epsilon=`) of Q̄ before the last
//!   interval: the rate did not fall before the loss, so no queue was full. With fewer than two intervals it is
//!   congestion;
//! - by the radio: ssthresh = max {Q̄ RTT_ref, cwnd/2, 4 MTU} and the window stays; by congestion: both are
//!   max {cwnd/2, 4 MTU}; a timeout as in RFC 9260;
//! - a path of unknown quality comes last in PathList and has its window as quota;
//! - what `quality::QualityAware`, `schedule::Distribution` and the estimators say, as for `cmt-cl`.

use strandcast_proto::policy::{Estimate, LossCause, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use crate::preset::quality::{After, Config, Judge, Measured, QualityAware, Reduction, join, tune};
use crate::registry::{Key, Params, Preset};
use crate::schedule::Quota;

const KEYS: [Key; 15] = join([
    Key::decimal(
        "epsilon",
        (0.0, 1.0, ""),
        "0.1",
        "by how much the rate may have fallen before a loss that is not congestion",
    ),
    Key::decimal("gain", (0.01, 1.0, ""), "0.25", "weight of an interval's rate in the path's quality"),
]);

/// Quality-aware concurrent transfer.
pub const PRESET: Preset = Preset {
    name: "cmt-qa",
    paper: "Xu et al.: CMT-QA, IEEE TMC 12(11), 2013, reconstructed from its abstract and from paper 000",
    summary: "fast paths first, by what they delivered lately; losses that are not congestion cut no window",
    parts: &[
        ("estimators", "rate and round-trip time of each path in intervals that follow its losses"),
        ("scheduler", "in periods, each path its share, the one with the highest rate first"),
        ("congestion control", "RFC 9260 window a path; after a loss without congestion it stays"),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    keys: &KEYS,
    defaults: &[],
    build,
    tune,
};

fn build(params: &Params, seeds: &Seeds) -> Box<dyn Scheme> {
    let judge = QualityJudge { epsilon: params.decimal("epsilon"), gain: params.decimal("gain") };
    Box::new(QualityAware::new("cmt-qa", Config::of(params), judge, seeds))
}

/// Judges paths by what they delivered.
#[derive(Copy, Clone, Debug)]
struct QualityJudge {
    epsilon: f64,
    gain: f64,
}

/// What it keeps of a path, all in bytes a second.
#[derive(Copy, Clone, Default, Debug)]
struct Quality {
    /// Q̄.
    mean: Option<f64>,
    /// Q̄ before the last interval, once there were two.
    before: Option<f64>,
    /// The last interval's rate.
    last: f64,
}

impl Judge for QualityJudge {
    type Path = Quality;

    fn path(&self) -> Quality {
        Quality::default()
    }

    fn close(&self, path: &mut Quality, rate: f64, _: Instant) {
        if path.mean.is_none() && rate <= 0.0 {
            return;
        }
        path.before = path.mean;
        path.mean = Some(path.mean.map_or(rate, |mean| mean + self.gain * (rate - mean)));
        path.last = rate;
    }

    fn handling_rate(&self, path: &Quality) -> Option<f64> {
        path.mean
    }

    fn rank(&self, path: &Quality) -> f64 {
        path.mean.unwrap_or(f64::NEG_INFINITY)
    }

    fn quota(&self, path: &Quality) -> Quota {
        if path.mean.is_some() { Quota::Windows } else { Quota::Window }
    }

    fn cause(&self, path: &Quality, measured: &Measured<'_>) -> LossCause {
        let now = measured.rate.so_far(measured.now, measured.srtt).unwrap_or(path.last);
        match path.before {
            Some(before) if now >= (1.0 - self.epsilon) * before => LossCause::Wireless,
            _ => LossCause::Congestion,
        }
    }

    fn reduction(&self, path: &Quality, _: f64, cause: LossCause) -> Reduction {
        match cause {
            LossCause::Wireless => Reduction { rate: path.mean.unwrap_or(0.0), window: After::Kept },
            _ => Reduction { rate: 0.0, window: After::Threshold },
        }
    }

    fn estimate(&self, path: &Quality, _: usize, out: &mut Estimate) {
        out.bandwidth = path.mean.map(Rate::from_bytes_per_s);
    }
}
