//! `lia`: concurrent transfer with coupled windows. If paths share a bottleneck, it is fair to a single TCP.
//!
//! Raiciu C., Handley M., Wischik D., "Coupled Congestion Control for Multipath Transport Protocols", RFC 6356.
//!
//! | RFC 6356 | here |
//! |---|---|
//! | §3 increase, §4 alpha | `congestion::Lia` |
//! | slow start, halving, timeout | `rfc::Aimd`, the windows of RFC 9260 |
//!
//! The path with the lowest round-trip time comes first, as in MPTCP's default scheduler. Everything else is as in
//! `cmt`.
//!
//! `ASSUMED`: alpha is computed at each increase, from the current windows and round-trip times. It is not kept for a
//! round trip. A window grows in one step once a whole window is acknowledged. The floor of a halving remains 4·MTU.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Coupled windows.
pub const PRESET: Preset = Preset {
    name: "lia",
    paper: "RFC 6356",
    summary: "all paths at once, windows coupled so that together they take no more than one TCP",
    parts: &[
        ("scheduler", "lowest round-trip time first"),
        ("congestion control", "linked increases over all paths"),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || {
        Combination::default().with(|parts| {
            (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::LowestRtt, Cc::Lia);
        })
    },
};
