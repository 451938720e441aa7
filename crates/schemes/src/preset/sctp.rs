//! `sctp`: one path at a time, as in RFC 9260. It is the baseline of every comparison.
//!
//! | RFC 9260 | here |
//! |---|---|
//! | §7.2 windows | `rfc::Aimd` with `rfc::Reno`, `rfc::Window` |
//! | §7.2.4 misses, fast retransmit on the same path | `rfc::RfcLoss` |
//! | §6.3.3, §6.4.1 timed out data go to an alternate | `rfc::RfcLoss::retransmit` |
//! | §6.4, §8.2 primary path and failover | `rfc::PrimaryPath`; errors are the core's |
//! | §6.2, §6.7 acknowledgement | `rfc::RfcFeedback` |
//!
//! Constants: those of §16, from the transport's configuration; three misses; and a floor of 4·MTU (§7.2.3).
//!
//! `ASSUMED`: L of §7.2.1 is larger than 1 if one SACK covers several packets (`strict=on`: L = 1). An inactive path
//! restarts with two MTU.

use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// RFC 9260.
pub const PRESET: Preset = Preset {
    name: "sctp",
    paper: "RFC 9260",
    summary: "one path at a time, with failover to the others",
    parts: &[
        ("scheduler", "primary path, alternates when it fails"),
        ("congestion control", "RFC 9260 window"),
        ("loss", "three misses, fast retransmit on the same path, timeouts on an alternate"),
        ("feedback", "RFC 9260 acknowledgement"),
    ],
    settings: || Combination::rfc().with(|parts| parts.roles.scheduler = SchedulerName::Primary),
};
