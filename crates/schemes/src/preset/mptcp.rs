//! MPTCP's family over our transport: a congestion control per preset, everything else as an MPTCP sender has it.
//!
//! | MPTCP | here |
//! |---|---|
//! | congestion control of the subflows | `congestion`, the file of the same name |
//! | scheduler: lowest round-trip time with room | `schedule::LowestRtt` |
//! | no growth and one cut in fast recovery (RFC 5681 §3.2), threshold of at least two segments (eq. 4) | `fr-freeze=on`, `half-floor=2` |
//! | loss detection per subflow (RFC 6675) | `recovery::SplitFastRetransmit`: an association has one sequence |
//!
//! `ASSUMED`: retransmission, delayed acknowledgement and path failure are those of `cmt`. [`lia`](super::lia) is older and
//! has RFC 9260's shell, which takes a window's growth in one step.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// The parts that all of them have.
fn parts(cc: Cc, floor: u32) -> Combination {
    let mut parts = Combination::default();
    (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::LowestRtt, cc);
    (parts.windows.fr_freeze, parts.windows.half_floor) = (true, floor);
    parts
}

/// Declares the presets: name, window, least threshold in segments, source, summary, and what the windows are.
macro_rules! family {
    ($($(#[$meta:meta])* $preset:ident = $name:literal: $cc:ident, $floor:literal, $paper:literal, $summary:literal, $windows:literal;)+) => {
        $(
            $(#[$meta])*
            pub const $preset: Preset = Preset {
                name: $name,
                paper: $paper,
                summary: $summary,
                parts: &[
                    ("scheduler", "lowest round-trip time first"),
                    ("congestion control", $windows),
                    ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
                    ("feedback", "acks delayed across gaps (DAC)"),
                ],
                settings: || Box::new(parts(Cc::$cc, $floor)),
            };
        )+
    };
}

family! {
    /// Reno on each path: the baseline of papers on coupled windows.
    UNCOUPLED = "uncoupled": Uncoupled, 2, "RFC 5681; Lee and Chung 2017: MPTCP",
        "all paths at once, TCP's Reno on each: n times a TCP's share behind one bottleneck", "one Reno window per path";
    /// CUBIC on each path.
    CUBIC = "cubic": Cubic, 2, "RFC 9438",
        "all paths at once, CUBIC on each: fills long fat paths, n times a TCP's share behind one bottleneck",
        "one CUBIC window per path";
    /// Balanced linked adaptation.
    BALIA = "balia": Balia, 2, "draft-walid-mptcp-congestion-control-04",
        "all paths at once, windows coupled in growth and in cuts: between friendliness and responsiveness",
        "balanced linked adaptation over all paths";
}
