//! `redundant`: every chunk on all paths at once, for streams that must not wait for a retransmission.
//!
//! The scheme is not from a single paper: it is the redundant scheduler of MPTCP implementations on `cmt`'s windows and
//! recovery. One TSN is sent on several paths; each copy fills its path's window until it is acknowledged or declared
//! lost, and is found lost by later arrivals on its own path. The core takes no round-trip time from copies, and a
//! peer's list of duplicates is no sign of loss. A chunk is resent when its last copy is lost.
//!
//! `ASSUMED`: a path without room gets its copy later, unless the chunk has arrived by then, so the fastest path sets the pace.

use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Copies on all paths.
pub const PRESET: Preset = Preset {
    name: "redundant",
    paper: "none: the redundant scheduler of MPTCP implementations",
    summary: "every chunk on all paths: lowest delay, no more throughput than the best path",
    parts: &[
        ("scheduler", "one chunk on all usable paths, later on those without room"),
        ("congestion control", "one RFC 9260 window per path, growth by the path's own progress (CUC)"),
        ("loss", "split fast retransmit (SFR), each copy by its own path"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || Combination::default().with(|parts| parts.roles.scheduler = SchedulerName::Redundant),
};
