//! Constants that Cao et al., 2016, leave open.

use strandcast_keys::keys;
use strandcast_proto::time::Duration;

use crate::estimate::RateConfig;

keys! {
    /// Constants that the paper leaves open.
    #[derive(Copy)]
    pub struct RoundsConfig {
        with rates: RateConfig,
        /// lead of a path in three rounds before the receiver asks for it, as a share; 0: any, at once
        hysteresis: f64 [0.0, 10.0] = 0.0,
        /// least time between two pairs of probes on a path without data
        train: Duration [10, 60_000, "ms"] = Duration::from_millis(100),
    }
}
