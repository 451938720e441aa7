//! Keys of `mpmtp`.

use strandcast_keys::{keys, words};
use strandcast_proto::time::Duration;

words! {
    /// δ, the fraction of the growth with which all paths together are as fast as one CUBIC.
    pub enum Fairness {
        /// Equation 30.
        Computed = "computed",
        /// One δ for all paths: equation 30 with the mean of their mean windows and of their ᾱ.
        Common = "common",
        /// The value of `delta-value`.
        Constant = "constant",
        /// None: δ is 1.
        One = "one",
    }
}

words! {
    /// End of the linear profile.
    pub enum LinearEnds {
        /// The round-trip time is back at the value at which the rise was noticed, or a loss.
        Rtt = "rtt",
        /// A loss.
        Loss = "loss",
    }
}

keys! {
    /// Keys of `mpmtp`.
    #[derive(Copy)]
    pub struct MpmtpConfig {
        /// b: share of the window that a loss takes
        b: f64 [0.01, 0.9] = 0.3,
        /// C of the CUBIC flow that all paths together are like
        c as "cubic-c": f64 [0.001, 100.0, "segments/s³"] = 0.4,
        /// δ: as equation 30 says for each path or for all in common, a constant, or 1
        delta: Fairness = Fairness::Computed,
        /// δ of `delta=constant`
        delta_value: f64 [0.0, 100.0] = 0.1,
        /// least δ
        delta_least: f64 [0.0, 1.0] = 0.01,
        /// largest δ
        delta_most: f64 [0.01, 100.0] = 1.0,
        /// weight of a round trip in δ
        delta_gain: f64 [0.01, 1.0] = 0.25,
        /// weight of a round trip in the mean window that δ reads
        window_gain: f64 [0.01, 1.0] = 0.125,
        /// paths that lose more grow more slowly (B)
        balance: bool = true,
        /// least B
        balance_least: f64 [0.01, 1.0] = 0.1,
        /// largest B
        balance_most: f64 [1.0, 100.0] = 2.0,
        /// growth becomes linear when round-trip times rise (L)
        linear: bool = true,
        /// growth is no longer linear once round-trip times are back, or after a loss only
        linear_ends: LinearEnds = LinearEnds::Loss,
        /// rise of the round-trip time over its base that counts, share of the base
        rise: f64 [0.0, 10.0] = 0.1,
        /// least rise of the round-trip time over its base that counts
        rise_least: Duration [0, 10_000, "ms"] = Duration::from_millis(5),
        /// round trips in a row that rises have to last
        rise_rounds: u32 [1, 100, "round trips"] = 2,
        /// samples that a round trip needs
        rise_samples: u32 [1, 100, "samples"] = 4,
        /// the base is the least round-trip time of the last half to whole of this
        base_window: Duration [100, 3_600_000, "ms"] = Duration::from_secs(10),
        /// weight of a loss in the round-trip time at which losses happen
        limit_gain: f64 [0.01, 1.0] = 0.5,
    }
}
