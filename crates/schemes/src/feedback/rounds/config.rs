//! What Cao et al. (2016) leave open.

use strandcast_proto::time::Duration;

use crate::estimate::RateConfig;

/// What the paper leaves open.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RoundsConfig {
    /// How rates are found.
    pub rates: RateConfig,
    /// The lead that a path must have before the receiver asks for a switch, as a share; 0: any.
    pub hysteresis: f64,
    /// Least time between two pairs of probes on a path without data.
    pub train: Duration,
}

impl Default for RoundsConfig {
    fn default() -> Self {
        RoundsConfig { rates: RateConfig::default(), hysteresis: 0.0, train: Duration::from_millis(100) }
    }
}
