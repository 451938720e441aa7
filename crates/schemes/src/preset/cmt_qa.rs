//! `cmt-qa`: quality-aware concurrent transfer, reconstructed.
//!
//! Xu C., Liu T., Guan J., Zhang H., Muntean G.-M., "CMT-QA: Quality-Aware Adaptive Concurrent Multipath Data Transfer
//! in Heterogeneous Wireless Networks", IEEE Transactions on Mobile Computing 12(11), 2013. CMT-QA is the baseline of
//! Xu et al., 2015. Only its abstract and the description in Xu et al., 2015, are available. **This scheme is a
//! reconstruction** and not the authors' own. It is the scheme of Xu et al., 2015, without link layer and friendliness
//! window.
//!
//! Public facts: the sender regularly measures the ability of each path to handle data. The estimation interval follows
//! from losses and a confidence interval. A distribution period is the longest handling time. Data go to qualified
//! paths, so that they arrive in order. The scheme distinguishes kinds of losses, and does not reduce windows without
//! need. The scheme has no means for fairness, and uses no reports of the link layer.
//!
//! | idea | here |
//! |---|---|
//! | estimation interval u, R_e (eq. 6 of Xu et al. 2015), RTT_ref (its eq. 5) | `estimate::{EstimationInterval, TransmissionRate, ReferenceRtt}` |
//! | quality Q̄ | `CmtQaModel::close` |
//! | handling time cwnd/Q̄, period, PathList by Q̄, quota ⌊P_d/T⌋ cwnd | `schedule::{Offer, Distribution}` |
//! | causes of losses | `CmtQaModel::cause` |
//! | windows after a loss | `CmtQaModel::reduction` |
//! | resent on the path with the largest window, before new data | `quality::QualityAware` |
//!
//! Constants: no constants are public.
//!
//! `ASSUMED` is everything beyond the public facts:
//! * Q̄ is a moving average of R_e. Each new interval has the weight 1/4 (`gain=`).
//! * The radio caused a loss if the rate has not fallen. The rate since the beginning of the interval must be at least
//!   90 % (`epsilon=`) of the value that Q̄ had before the last interval. If the rate did not fall before a loss, no
//!   queue was full. With fewer than two intervals, a loss counts as congestion.
//! * After a loss by the radio, ssthresh = max {Q̄ RTT_ref, cwnd/2, 4 MTU}, and the window does not change. After a
//!   loss by congestion, both become max {cwnd/2, 4 MTU}. A timeout has the effect of RFC 9260.
//! * A path of unknown quality is last in PathList, and its quota is its window.
//! * The choices of `quality::QualityAware`, `schedule::Distribution` and the estimators apply, as for `cmt-cl`.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{Estimate, LossCause, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use crate::preset::quality::{After, Measured, QualityAware, QualityKeys, QualityModel, Reduction};
use crate::schedule::Quota;
use crate::scheme::{Preset, Settings};

keys! {
    /// The keys of `cmt-qa`.
    #[derive(Copy)]
    struct QaKeys {
        /// fall of the rate up to which a loss is not congestion
        epsilon: f64 [0.0, 1.0] = 0.1,
        /// weight of an interval's rate in the path's quality
        gain: f64 [0.01, 1.0] = 0.25,
        and common: QualityKeys,
    }
}

impl Settings for QaKeys {
    fn build(&self, name: &'static str, seeds: &Seeds) -> Box<dyn Scheme> {
        let model = CmtQaModel { epsilon: self.epsilon, gain: self.gain };
        Box::new(QualityAware::new(name, &self.common, model, seeds))
    }

    fn tune(&self, config: &mut TransportConfig) {
        self.common.tune(config);
    }

    fn boxed(&self) -> Box<dyn Settings> {
        Box::new(*self)
    }
}

/// Quality-aware concurrent transfer.
pub const PRESET: Preset = Preset {
    name: "cmt-qa",
    paper: "Xu et al. 2013: CMT-QA, IEEE TMC 12(11), reconstructed from its abstract and from Xu et al. 2015",
    summary: "fast paths first, by what they delivered lately; losses that are not congestion cut no window",
    parts: &[
        ("estimators", "rate and round-trip time of each path in intervals that follow its losses"),
        ("scheduler", "in periods, each path its share, the one with the highest rate first"),
        ("congestion control", "one RFC 9260 window per path; after a loss without congestion it stays"),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || Box::<QaKeys>::default(),
};

/// Quality model of paths by their delivered data.
#[derive(Copy, Clone, Debug)]
struct CmtQaModel {
    epsilon: f64,
    gain: f64,
}

/// State of a path. All rates are in bytes per second.
#[derive(Copy, Clone, Default, Debug)]
struct Quality {
    /// Q̄.
    mean: Option<f64>,
    /// Q̄ before the last interval. `None` until there have been two intervals.
    before: Option<f64>,
    /// Rate of the last interval.
    last: f64,
}

impl QualityModel for CmtQaModel {
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

#[cfg(test)]
mod tests {
    use strandcast_proto::time::Duration;

    use super::*;
    use crate::estimate::TransmissionRate;

    const JUDGE: CmtQaModel = CmtQaModel { epsilon: 0.1, gain: 0.25 };
    const RTT: Option<Duration> = Some(Duration::from_millis(100));

    fn ms(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn after(rates: &[f64]) -> Quality {
        let mut path = JUDGE.path();
        rates.iter().for_each(|r| JUDGE.close(&mut path, *r, ms(0)));
        path
    }

    /// Returns the verdict at `elapsed` ms into an interval. `acked` bytes were acknowledged in it.
    fn cause(path: &Quality, elapsed: u64, acked: u64) -> LossCause {
        let mut rate = TransmissionRate::new(ms(0));
        rate.acked(acked);
        JUDGE.cause(path, &Measured { now: ms(elapsed), rate: &rate, srtt: RTT, weight: 1.0 })
    }

    /// The averages are 100, then ¾ · 100 + ¼ · 60 = 90, then ¾ · 90 + ¼ · 10 = 70.
    #[test]
    fn quality_is_a_moving_average() {
        assert_eq!(after(&[]).mean, None);
        assert_eq!(after(&[0.0]).mean, None, "an interval before the first data says nothing");
        assert_eq!(after(&[100.0]).mean, Some(100.0));
        assert_eq!(after(&[100.0, 60.0, 10.0]).mean, Some(70.0));
    }

    /// Before the last interval, Q̄ is 100 kB/s. A rate of 90 kB/s is enough, and 89 kB/s is not.
    #[test]
    fn a_rate_that_did_not_fall_means_the_radio() {
        let path = after(&[100_000.0, 60_000.0]);
        assert_eq!(cause(&path, 200, 18_000), LossCause::Wireless);
        assert_eq!(cause(&path, 200, 17_800), LossCause::Congestion);
        // Less than a round trip of the interval has passed, so that the 60 kB/s of the last interval count.
        assert_eq!(cause(&path, 99, 18_000), LossCause::Congestion);
        assert_eq!(cause(&after(&[100_000.0, 95_000.0]), 99, 0), LossCause::Wireless);
    }

    #[test]
    fn fewer_than_two_intervals_mean_congestion() {
        assert_eq!(cause(&after(&[]), 200, 1 << 20), LossCause::Congestion);
        assert_eq!(cause(&after(&[1.0]), 200, 1 << 20), LossCause::Congestion);
        assert_eq!(cause(&after(&[1.0, 1.0]), 200, 1 << 20), LossCause::Wireless);
    }

    #[test]
    fn windows_after_a_loss() {
        let path = after(&[80_000.0]);
        let wireless = JUDGE.reduction(&path, 5.0, LossCause::Wireless);
        assert_eq!(wireless, Reduction { rate: 80_000.0, window: After::Kept });
        let congestion = JUDGE.reduction(&path, 5.0, LossCause::Congestion);
        assert_eq!(congestion, Reduction { rate: 0.0, window: After::Threshold });
    }

    #[test]
    fn unknown_paths_come_last_and_have_their_window() {
        assert_eq!((JUDGE.rank(&after(&[])), JUDGE.quota(&after(&[]))), (f64::NEG_INFINITY, Quota::Window));
        assert_eq!((JUDGE.rank(&after(&[7.0])), JUDGE.quota(&after(&[7.0]))), (7.0, Quota::Windows));
        assert_eq!(JUDGE.handling_rate(&after(&[7.0])), Some(7.0));
    }
}
