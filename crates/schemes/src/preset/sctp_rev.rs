//! `sctp-rev`, `sctp-rev-plus`: one path at a time. The receiver requests the path and the rate.
//!
//! Cao Y., Liu Q., Zuo Y., Luo G., Wang H., Huang M., "Receiver-assisted cellular/wifi handover management for
//! efficient multipath multimedia delivery in heterogeneous wireless networks", 2016. SCTP-Rev is the authors' earlier
//! scheme (ICME 2014). `-plus` adds RAF-rtx.
//!
//! | paper | here |
//! |---|---|
//! | seven states of TEAR | `estimate::Tear` |
//! | Definitions 1 and 2, rounds | `feedback::rounds`, `estimate::PathRate` |
//! | eqs 1, 2: RTT and RTO from rounds | `estimate::RoundTrip` |
//! | eqs 3, 4: AIMD on the rate | `estimate::Round::rate` |
//! | eqs 5-8: smoothing | `estimate::Smoothed`, `estimate::weight` |
//! | Fig. 3: a_rdsr, PPSN | `feedback::rounds::Notice` |
//! | eqs 9-12: rate on the new path | `feedback::rounds::new_rate` |
//! | Algorithm 1, receiver | `feedback::rounds` |
//! | Algorithm 1, sender | `schedule::ReceiverChoice`, `congestion::ReceiverPaced` |
//! | retransmissions of what the old path lost | `recovery::OnChosenPath` |
//! | eqs 13-15, RAF-rtx (`-plus`) | `estimate::RetransmissionQueue`, `recovery::RetransmissionAware` |
//!
//! Constants: α = 1/8 (eq. 1), Ξ = Φ = 1/2 (eq. 4). The paper lists no other constants.
//!
//! Equations 1, 4 and 9 contain errors of print, and the paper leaves choices open. The modules that use them list
//! them: `estimate::receiver_rate`, `feedback::rounds`, `congestion::receiver_rate`, `schedule::receiver_choice`,
//! `estimate::retransmission_queue`. `ASSUMED` for the whole scheme: loss detection is that of RFC 9260 over all paths.
//! A switch to a faster path can therefore look like loss. `loss=sfr` distinguishes the two. Acknowledgement is as in
//! RFC 9260. The receiver detects a failed path. `pf=on` adds the sender's verdict.

use crate::congestion::Cc;
use crate::preset::combine::{Combination, Roles};
use crate::scheme::{Preset, Settings};
use crate::shelf::{FeedbackName, LossName, SchedulerName};

const PAPER: &str = "Cao et al. 2016: Receiver-assisted cellular/wifi handover management for efficient multipath multimedia \
                     delivery in heterogeneous wireless networks, 2016";

fn rev(loss: LossName) -> Box<dyn Settings> {
    Combination::rfc().with(|parts| {
        parts.roles = Roles {
            scheduler: SchedulerName::Receiver,
            cc: Cc::ReceiverRate,
            loss,
            feedback: FeedbackName::Rounds,
        };
    })
}

/// SCTP-Rev.
pub const REV: Preset = Preset {
    name: "sctp-rev",
    paper: PAPER,
    summary: "one path at a time, the receiver says which one and how fast",
    parts: &[
        ("scheduler", "the path the receiver chose"),
        ("congestion control", "paced at the receiver's rate, RFC 9260 window before the first one"),
        ("loss", "three misses; sent again on the path the receiver chose"),
        ("feedback", "rounds, a rate for each path, path switches; RFC 9260 acknowledgement"),
    ],
    settings: || rev(LossName::Rfc),
};

/// SCTP-Rev+.
pub const REV_PLUS: Preset = Preset {
    name: "sctp-rev-plus",
    summary: "sctp-rev, and two misses instead of three while losses grow",
    parts: &[
        ("scheduler", "the path the receiver chose"),
        ("congestion control", "paced at the receiver's rate, RFC 9260 window before the first one"),
        ("loss", "two or three misses by the retransmission queue's jitter (RAF-rtx), else RFC 9260"),
        ("feedback", "rounds, a rate for each path, path switches; RFC 9260 acknowledgement"),
    ],
    settings: || rev(LossName::Raf),
    ..REV
};
