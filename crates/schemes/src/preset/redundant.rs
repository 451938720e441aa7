//! `redundant`: sends every chunk on all paths at once, for streams that must not wait for a retransmission.
//!
//! No single paper describes this scheme. It has the redundant scheduler of MPTCP implementations, and the windows and
//! recovery of `cmt`. Each TSN is sent on several paths. A copy counts in its path's window until it is acknowledged or
//! declared lost. Later arrivals on its path show that it is lost. The core measures no round-trip time with copies.
//! Duplicates that the peer lists do not count as a sign of loss. A chunk is resent when its last copy is lost.
//!
//! `ASSUMED`: a path without room gets its copy later, unless the chunk has already arrived. The fastest path therefore
//! determines the rate.

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
