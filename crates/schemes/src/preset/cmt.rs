//! `cmt`: concurrent multipath transfer over all paths at once.
//!
//! Iyengar J.R., Amer P.D., Stewart R., "Concurrent Multipath Transfer Using SCTP Multihoming Over Independent
//! End-to-End Paths", IEEE/ACM Transactions on Networking 14(5), 2006. Retransmission policies: the same authors,
//! ICON 2004. Potentially failed paths: Natarajan P. et al., "Concurrent multipath transfer using SCTP multihoming:
//! introducing the potentially-failed destination state", 2008, and RFC 7829.
//!
//! | paper | here |
//! |---|---|
//! | SFR, split fast retransmit | `recovery::SplitFastRetransmit` |
//! | CUC, window growth by each path's own progress | `rfc::Advance::Pseudo`; the core finds the pseudo-cumack |
//! | DAC, delayed acks across gaps | receiver `feedback::DelayedAck`, sender `SplitFastRetransmit` (count of the SACK) |
//! | RTX-SAME, -ASAP, -CWND, -SSTHRESH, -LOSSRATE | `recovery::Rtx` |
//! | round robin that fills windows | `schedule::RoundRobin` |
//! | one window per path, uncoupled | `rfc::Aimd` with `rfc::Reno` |
//!
//! Constants: three misses, and the windows of RFC 9260. `probe-interval` is 500 ms, so that some probes of a radio
//! fall between its bursts of losses.
//!
//! `ASSUMED`. Each choice has a key that restores the original:
//! * Growth continues in fast recovery, and each new window may be reduced (`fr-freeze=off`). The published simulations
//!   do the same.
//! * The default retransmission policy is RTX-CWND (`rtx=`).
//! * The state potentially failed is used (`pf=on`). Without it, a dead path blocks all data for over a minute.
//! * If a retransmission on a path was lost again, later packets of the path show this (`rtx-again=on`). The papers
//!   wait for T3.
//! * The loss rate of RTX-LOSSRATE is the share of the path's last 1000 transmissions that were marked lost. In the
//!   simulations it was a parameter.
//! * Initial window, floor and thresholds are those of RFC 9260. `initial-cwnd=2,half-floor=2,initial-ssthresh=65536`
//!   sets the values of the simulations.

use crate::preset::combine::Combination;
use crate::scheme::Preset;

/// Concurrent multipath transfer.
pub const PRESET: Preset = Preset {
    name: "cmt",
    paper: "Iyengar et al. 2006: Concurrent Multipath Transfer Using SCTP Multihoming, IEEE/ACM ToN 14(5)",
    summary: "all paths at once, each with its own window",
    parts: &[
        ("scheduler", "round robin that fills each path's window"),
        ("congestion control", "one RFC 9260 window per path, growth by the path's own progress (CUC)"),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || Box::<Combination>::default(),
};
