//! The keys that the family shares.

use strandcast_proto::rfc::{Advance, WindowConfig};

use crate::estimate::IntervalConfig;
use crate::preset::combine;
use crate::registry::{Key, Params};
use crate::schedule::Allocation;

const LOSS_FLOOR: Key =
    Key::number("loss-floor", (1, 64, "MTU"), "4", "least threshold that a loss leaves (eqs 14 to 16)");
const INACTIVE: Key = Key::one_of(
    "inactive",
    &["timeouts", "literal", "off"],
    "which paths are put aside: where timeouts follow each other within an RTO; where losses do, as printed; none",
);
const CONFIDENCE: Key = Key::decimal(
    "confidence",
    (0.5, 0.999, ""),
    "0.95",
    "level of the confidence interval in which the estimation interval follows the losses",
);
const ALLOCATION: Key = Key::one_of(
    "alg4",
    &["credits", "literal"],
    "quotas are credits, used whenever there is room; or Algorithm 4 as printed, which stalls",
);

/// The shared keys.
pub(in crate::preset) const COMMON: [Key; 13] = [
    LOSS_FLOOR,
    INACTIVE,
    CONFIDENCE,
    ALLOCATION,
    combine::DAC,
    combine::RTX_AGAIN,
    combine::FR_FREEZE,
    combine::INITIAL_CWND,
    combine::INITIAL_SSTHRESH,
    combine::STRICT,
    combine::PF,
    combine::PROBE_INTERVAL,
    combine::RTO_MIN,
];

/// `own` keys, then the shared ones: `N` is the sum of their numbers.
pub(in crate::preset) const fn join<const A: usize, const N: usize>(own: [Key; A]) -> [Key; N] {
    assert!(A + COMMON.len() == N, "all keys and no more");
    let mut all = [COMMON[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < A { own[i] } else { COMMON[i - A] };
        i += 1;
    }
    all
}

/// When a path takes no part although the transport thinks it works.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::preset) enum Inactive {
    /// Three timeouts in a row that follow each other within srtt + 4 rttvar.
    Timeouts,
    /// u ≤ RTO.
    Literal,
    /// Never.
    Off,
}

/// The values of the shared keys.
#[derive(Copy, Clone, Debug)]
pub(in crate::preset) struct Config {
    pub windows: WindowConfig,
    pub interval: IntervalConfig,
    pub inactive: Inactive,
    pub allocation: Allocation,
    pub dac: bool,
    pub rtx_again: bool,
    /// A path that timed out and was not heard of since gets nothing of Reward.
    pub exempt: bool,
}

impl Config {
    pub fn of(params: &Params) -> Self {
        let set = |key| Some(params.number(key)).filter(|n| *n > 0);
        Config {
            windows: WindowConfig {
                initial_mtus: set("initial-cwnd").map(|n| n as u32),
                initial_ssthresh: set("initial-ssthresh"),
                half_floor_mtus: params.number("loss-floor") as u32,
                advance: Advance::Pseudo,
                freeze_in_recovery: params.switch("fr-freeze"),
                strict: params.switch("strict"),
            },
            interval: IntervalConfig {
                confidence: params.decimal("confidence"),
                ..IntervalConfig::default()
            },
            inactive: match params.word("inactive") {
                "literal" => Inactive::Literal,
                "off" => Inactive::Off,
                _ => Inactive::Timeouts,
            },
            allocation: if params.word("alg4") == "literal" {
                Allocation::Literal
            } else {
                Allocation::Credits
            },
            dac: params.switch("dac"),
            rtx_again: params.switch("rtx-again"),
            exempt: true,
        }
    }
}
