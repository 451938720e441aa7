//! `nc-mptcp`: good paths carry original data, and poor paths carry coded packets. The scheme is a reconstruction.
//!
//! Li M., Lukyanenko A., Cui Y., "Network Coding Based Multipath TCP", IEEE INFOCOM Workshops 2012. The scheme is a
//! baseline of Xu et al., 2015. Only its abstract and the description in Xu et al., 2015, are available. **This scheme
//! is a reconstruction**, and not the authors' own.
//!
//! | public | here |
//! |---|---|
//! | regular and NC subflows, redundancy, packet scheduling | `schedule::NcMptcp`, which says what is public of it |
//! | linear combinations, decoding | `strandcast_proto::coding`, `Code::Rlc`: random linear over GF(256) |
//! | in the worst case about one regular TCP | a single path carries originals alone |
//! | windows | `congestion::Lia` |
//!
//! Xu et al., 2015, say that the scheme is fair to TCP. They also say that "network coding … will filter some packet
//! loss events", so that the scheme is more aggressive than their CMT-CL/FD. In their view, its authors ignored that
//! wireless networks change.
//!
//! `ASSUMED`:
//! * The choices of `schedule::NcMptcp` apply: classes of paths, redundancy, and the batch of a coded packet.
//! * The windows are those of RFC 6356, because Xu et al., 2015, call the scheme TCP-friendly. In fast recovery,
//!   windows do not grow, and are reduced once. The threshold is at least two segments.
//! * Lost originals are retransmitted on the path that lost them (`rtx=same`).
//! * Every lost packet affects the windows. With `mask-losses=on`, only losses that leave a block incomplete affect
//!   them, as Xu et al., 2015, claim.
//! * Loss detection, acknowledgement and path failure are as in `cmt`.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::recovery::Rtx;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Network-coded multipath transfer.
pub const PRESET: Preset = Preset {
    name: "nc-mptcp",
    paper: "Li, Lukyanenko and Cui 2012: NC-MPTCP, INFOCOM Workshops, reconstructed from its abstract and from Xu et al. 2015",
    summary: "original data on good paths, coded packets that make up for what is lost or late on poor ones (a reconstruction)",
    parts: &[
        ("coding", "blocks, random linear code over GF(256)"),
        ("estimators", "loss of each path, a moving average by round trips"),
        (
            "scheduler",
            "originals by regular paths, lowest round-trip time first, coded packets by the others",
        ),
        ("congestion control", "linked increases over all paths"),
        ("loss", "split fast retransmit (SFR); originals resent on their path, coded packets not"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || {
        Combination::default().with(|parts| {
            (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::NcMptcp, Cc::Lia);
            (parts.windows.fr_freeze, parts.windows.half_floor) = (true, 2);
            parts.losses.sfr.rtx = Rtx::Same;
        })
    },
};
