//! Keys of all windows of SCTP associations.

use strandcast_keys::keys;
use strandcast_proto::rfc::{Advance, WindowConfig};

keys! {
    /// Beginning and growth of windows, apart from the effect of losses.
    #[derive(Copy)]
    pub struct StartConfig {
        /// initial window, 0: RFC 9260's min(4·MTU, max(2·MTU, 4404))
        initial_cwnd: Option<u32> [0, 64, "MTU"] = None,
        /// initial slow-start threshold, 0: arbitrarily high
        initial_ssthresh: Option<u64> [0, 1 << 30, "bytes"] = None,
        /// RFC 9260 to the letter in slow start and Max.Burst, however many packets a SACK stands for
        strict: bool = false,
    }
}

keys! {
    /// The keys of all windows of presets that are made of parts.
    #[derive(Copy)]
    pub struct SctpConfig {
        /// windows grow by their own path's progress, not by the cumulative TSN
        cuc: bool = true,
        /// no growth and no second cut in fast recovery
        fr_freeze: bool = false,
        /// least window after a halving
        half_floor: u32 [1, 64, "MTU"] = 4,
        and start: StartConfig,
    }
}

impl From<SctpConfig> for WindowConfig {
    fn from(config: SctpConfig) -> Self {
        WindowConfig {
            initial_mtus: config.start.initial_cwnd,
            initial_ssthresh: config.start.initial_ssthresh,
            half_floor_mtus: config.half_floor,
            advance: if config.cuc { Advance::Pseudo } else { Advance::Cumulative },
            freeze_in_recovery: config.fr_freeze,
            strict: config.start.strict,
            doubles: false,
        }
    }
}
