//! `nc-mptcp`: original data on good paths and coded packets on poor paths. The scheme is a reconstruction.
//!
//! M. Li, A. Lukyanenko, Y. Cui, "Network Coding Based Multipath TCP", IEEE INFOCOM Workshops 2012, a baseline of Xu et
//! al. (2015). Only its abstract and the description in Xu et al. (2015) are available. **This scheme is a
//! reconstruction**, and not the authors' own.
//!
//! | public | here |
//! |---|---|
//! | regular and NC subflows, redundancy, packet scheduling | `schedule::NcMptcp`, which says what is public of it |
//! | linear combinations, decoding | `strandcast_proto::coding`, `Code::Rlc`: random linear over GF(256) |
//! | in the worst case about one regular TCP | a single path carries originals alone |
//! | windows | `congestion::Lia` |
//!
//! Xu et al. (2015) say that the scheme is fair to TCP, but that "network coding … will filter some packet loss
//! events", so that it is more aggressive than their CMT-CL/FD, and that its proposers ignored that wireless networks
//! change.
//!
//! `ASSUMED`:
//! - the choices of `schedule::NcMptcp`: classes of paths, redundancy, the batch of a coded packet;
//! - the windows are RFC 6356's, since Xu et al. (2015) call the scheme TCP-friendly. In fast recovery windows do not
//!   grow and are reduced once. The threshold is at least two segments;
//! - lost originals are retransmitted on the path that lost them (`rtx=same`);
//! - every lost packet reaches the windows; with `mask-losses=on` only losses that leave a block incomplete do, as Xu
//!   et al. (2015) claim;
//! - loss detection, acknowledgement and path failure are those of `cmt`.

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
