//! `mpr`: original data take the widest path, and retransmissions take the fastest path.
//!
//! Guo X., Liu J., Lian S., "Real-time video streaming over multipath in multi-hop wireless networks", 2010: multiple
//! path retransmission. In the paper, TCP does not distinguish paths. It passes its segments to a classifier above a
//! routing protocol. Here, the transport separates originals from retransmissions and measures its paths. It therefore
//! needs neither a classifier nor a routing protocol.
//!
//! | paper | here |
//! |---|---|
//! | §4, §5.1: originals on the path of maximum bandwidth | `schedule::Widest` |
//! | §4, §5.1: retransmissions on the path of minimum end-to-end delay | `recovery::Rtx::LowestRtt` |
//! | §5.1: retransmissions go first | the core's order of sending |
//! | §4: no estimates of round-trip times from retransmissions (Karn) | the core's rule |
//! | TCP Reno | `congestion::Uncoupled`, no growth and one cut in fast recovery, threshold of at least two segments |
//!
//! `ASSUMED`: in the paper, TCP Reno has one window for both paths. Here, each path has a window. A loss reduces the
//! window of the path that lost the chunk. Delay is the smoothed round-trip time. The delay includes the queue that
//! originals cause on their path. The fastest path is therefore usually another path, as in the paper. Losses are
//! detected per path (SFR), so that reordering between two paths does not look like loss. Acknowledgement and path
//! failure are as in `cmt`. `schedule::widest` defines the bandwidth.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::recovery::Rtx;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Multiple path retransmission.
pub const PRESET: Preset = Preset {
    name: "mpr",
    paper: "Guo, Liu and Lian 2010: Real-time video streaming over multipath in multi-hop wireless networks",
    summary: "original data on the widest path alone, retransmissions on the fastest",
    parts: &[
        ("scheduler", "the path that delivers most"),
        ("congestion control", "one Reno window per path"),
        ("loss", "split fast retransmit (SFR), resent on the path with the lowest round-trip time"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || {
        Combination::default().with(|parts| {
            (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::Widest, Cc::Uncoupled);
            (parts.windows.fr_freeze, parts.windows.half_floor) = (true, 2);
            parts.losses.sfr.rtx = Rtx::LowestRtt;
        })
    },
};
