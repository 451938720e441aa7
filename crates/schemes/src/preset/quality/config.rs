//! Keys that all schemes of the family `cmt-qa`, `cmt-cl`, `cmt-cl-fd` have.

use strandcast_keys::{keys, words};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::rfc::{Advance, WindowConfig};

use crate::congestion::StartConfig;
use crate::estimate::IntervalConfig;
use crate::preset::transport::TransportKeys;
use crate::schedule::Allocation;

words! {
    /// Conditions under which a path is suspended although the transport considers it active.
    pub(in crate::preset) enum Inactive {
        /// Three timeouts in a row that follow each other within srtt + 4 rttvar.
        Timeouts = "timeouts",
        /// u ≤ RTO.
        Literal = "literal",
        /// Never.
        Off = "off",
    }
}

keys! {
    /// Keys that all schemes of the family have.
    #[derive(Copy)]
    pub(in crate::preset) struct QualityKeys {
        /// least threshold that a loss leaves (eqs 14 to 16)
        loss_floor: u32 [1, 64, "MTU"] = 4,
        /// paths that are suspended: where timeouts follow each other within an RTO; where losses do, as printed;
        /// none
        inactive: Inactive = Inactive::Timeouts,
        /// level of the confidence interval in which the estimation interval follows the losses
        confidence: f64 [0.5, 0.999] = 0.95,
        /// quotas are credits, used whenever there is room; or Algorithm 4 as printed, which stalls
        allocation as "alg4": Allocation = Allocation::Credits,
        /// count the packets that a SACK stands for as misses, and ask the receiver to delay SACKs
        dac: bool = true,
        /// notice the loss of a retransmission by later packets of its path, not by timeout only
        rtx_again: bool = true,
        /// no growth and no second cut in fast recovery
        fr_freeze: bool = false,
        and start: StartConfig,
        and transport: TransportKeys,
    }
}

impl QualityKeys {
    /// Sets the values of the transport that the family needs.
    pub fn tune(&self, config: &mut TransportConfig) {
        self.transport.tune(self.start.strict, config);
    }
}

/// Values computed from the shared keys.
#[derive(Copy, Clone, Debug)]
pub(in crate::preset) struct Config {
    pub windows: WindowConfig,
    pub interval: IntervalConfig,
    pub inactive: Inactive,
    pub allocation: Allocation,
    pub dac: bool,
    pub rtx_again: bool,
    /// True if Reward gives nothing to a path that timed out and has delivered nothing since.
    pub exempt: bool,
}

impl From<&QualityKeys> for Config {
    fn from(keys: &QualityKeys) -> Self {
        Config {
            windows: WindowConfig {
                initial_mtus: keys.start.initial_cwnd,
                initial_ssthresh: keys.start.initial_ssthresh,
                half_floor_mtus: keys.loss_floor,
                advance: Advance::Pseudo,
                freeze_in_recovery: keys.fr_freeze,
                strict: keys.start.strict,
                doubles: false,
            },
            interval: IntervalConfig { confidence: keys.confidence, ..IntervalConfig::default() },
            inactive: keys.inactive,
            allocation: keys.allocation,
            dac: keys.dac,
            rtx_again: keys.rtx_again,
            exempt: true,
        }
    }
}
