//! Presets of the MPTCP family over SCTP. Each has one congestion control, and everything else is as in an MPTCP
//! sender.
//!
//! | MPTCP | here |
//! |---|---|
//! | congestion control of the subflows | `congestion`, the file of the same name |
//! | scheduler: lowest round-trip time with room; `mptcp` has upstream's | `schedule::LowestRtt`, `schedule::Linux` |
//! | no growth and one cut in fast recovery (RFC 5681 §3.2), threshold of at least two segments (eq. 4) | `fr-freeze=on`, `half-floor=2` |
//! | loss detection per subflow (RFC 6675) | `recovery::SplitFastRetransmit`: an association has one sequence |
//!
//! `ASSUMED`: retransmission, delayed acknowledgement and path failure are as in `cmt`. `balia` and the older
//! [`lia`](super::lia) use RFC 9260's windows (`rfc::Aimd`). Such a window grows in one step once all of it is
//! acknowledged. The other presets use `TcpWindows`.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Parts that all presets of the family have. The least threshold is `floor` segments.
fn parts(cc: Cc, scheduler: SchedulerName, floor: u32) -> Combination {
    let mut parts = Combination::default();
    (parts.roles.scheduler, parts.roles.cc) = (scheduler, cc);
    (parts.windows.fr_freeze, parts.windows.half_floor) = (true, floor);
    parts
}

const LOWEST_RTT: &str = "lowest round-trip time first";

/// Declares the presets: name, window, scheduler, least threshold in segments, source, summary, and kind of the
/// windows.
macro_rules! family {
    ($(
        $(#[$meta:meta])*
        $preset:ident = $name:literal: $cc:ident by $scheduler:ident ($order:expr), floor $floor:literal,
            from $paper:literal, $summary:literal, $windows:literal;
    )+) => {
        $(
            $(#[$meta])*
            pub const $preset: Preset = Preset {
                name: $name,
                paper: $paper,
                summary: $summary,
                parts: &[
                    ("scheduler", $order),
                    ("congestion control", $windows),
                    ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
                    ("feedback", "acks delayed across gaps (DAC)"),
                ],
                settings: || Box::new(parts(Cc::$cc, SchedulerName::$scheduler, $floor)),
            };
        )+
    };
}

family! {
    /// CUBIC on each path, with the scheduler of Linux.
    MPTCP = "mptcp": Cubic by Linux ("the path whose queued bytes leave first, as Linux does"), floor 2,
        from "RFC 8684, RFC 9438; Linux",
        "all paths at once as today's Linux: CUBIC on each, Linux's scheduler",
        "one CUBIC window per path";
    /// Reno on each path: the baseline of papers on coupled windows.
    UNCOUPLED = "uncoupled": Uncoupled by LowestRtt (LOWEST_RTT), floor 2,
        from "RFC 5681; Lee and Chung 2017: MPTCP",
        "all paths at once, TCP's Reno on each, the baseline of coupled windows",
        "one Reno window per path";
    /// CUBIC on each path.
    CUBIC = "cubic": Cubic by LowestRtt (LOWEST_RTT), floor 2,
        from "RFC 9438",
        "all paths at once, CUBIC on each, for long fat paths",
        "one CUBIC window per path";
    /// Equally weighted TCPs.
    EWTCP = "ewtcp": Ewtcp by LowestRtt (LOWEST_RTT), floor 2,
        from "Honda et al. 2009; Lee and Chung 2017 eq. 2",
        "all paths at once, each window growing by a fixed share of a TCP's",
        "equally weighted Reno windows";
    /// Fully coupled windows.
    COUPLED = "coupled": Coupled by LowestRtt (LOWEST_RTT), floor 1,
        from "Wischik et al. 2011; Lee and Chung 2017 eq. 3",
        "one window over all paths, which leaves those that lose more",
        "one window in all, cut on the path that lost";
    /// Opportunistic linked increases.
    OLIA = "olia": Olia by LowestRtt (LOWEST_RTT), floor 2,
        from "draft-khalili-mptcp-congestion-control-05",
        "all paths at once, coupled, growing on the paths that lose least",
        "opportunistic linked increases over all paths";
    /// Balanced linked adaptation.
    BALIA = "balia": Balia by LowestRtt (LOWEST_RTT), floor 2,
        from "draft-walid-mptcp-congestion-control-04",
        "all paths at once, windows coupled in growth and in cuts: between friendliness and responsiveness",
        "balanced linked adaptation over all paths";
    /// Weighted Vegas.
    WVEGAS = "wvegas": Wvegas by LowestRtt (LOWEST_RTT), floor 2,
        from "Cao, Xu and Fu 2012",
        "all paths at once, by delay: a fixed number of packets queued over all paths",
        "weighted Vegas over all paths";
    /// Multipath square-root windows.
    MPSQRT = "mpsqrt": Mpsqrt by LowestRtt (LOWEST_RTT), floor 1,
        from "Le et al. 2012; Lee and Chung 2017 eq. 9",
        "all paths at once, smooth windows that shrink by the square root",
        "binomial windows (SQRT) coupled over all paths";
    /// Multipath inverse-increase windows.
    MPIAD = "mpiad": Mpiad by LowestRtt (LOWEST_RTT), floor 1,
        from "Le et al. 2012; Lee and Chung 2017 eq. 9",
        "all paths at once, smooth windows that shrink by a segment",
        "binomial windows (IIAD) coupled over all paths";
    /// CUBIC coupled over all paths.
    MPCUBIC = "mpcubic": Mpcubic by LowestRtt (LOWEST_RTT), floor 2,
        from "Le et al. 2011; Lee and Chung 2017 eq. 10",
        "all paths at once, CUBIC with its growth shared out over all paths",
        "CUBIC windows coupled over all paths";
    /// The multipath media transport protocol.
    MPMTP = "mpmtp": Mpmtp by LowestRtt (LOWEST_RTT), floor 2,
        from "Lee and Chung 2017",
        "all paths at once for video: fast up to the last maximum, slow once round-trip times rise",
        "concave, convex and linear growth, balanced by loss, fair to CUBIC";
}
