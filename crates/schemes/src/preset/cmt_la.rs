//! `cmt-la`: concurrent transfer that fills the paths in the order of their loss rates.
//!
//! Liu Q., Ke F., Liu Z., Zeng J., "Loss-Aware CMT-Based Multipathing Scheme for Efficient Data Delivery to
//! Heterogeneous Wireless Networks", International Journal of Digital Multimedia Broadcasting, 2019. Everything except
//! the scheduler is as in `cmt`, as the paper says ("associated with existing CMT").
//!
//! | Liu et al. (2019) | here |
//! |---|---|
//! | eqs 1-4, loss rate of a path | `estimate::LossRate` |
//! | eqs 5-7, its jitter indicator; "unreliable transmission condition" | `estimate::Deviation` |
//! | Algorithm 1 | `estimate::LossRate`, once per round trip and path |
//! | Algorithm 2 | `schedule::LossOrdered` |
//! | windows, SFR, CUC, DAC, RTX-CWND | as in `cmt` |
//!
//! Constants: MSS is 1500 bytes. ψ, C, m and all equations are missing in the paper's text (see `estimate::LossRate`).
//!
//! `ASSUMED`: the choices that `cmt`, `estimate::LossRate` and `schedule::LossOrdered` list. The loss rate is a
//! function of the window. With `rttmin=path` and no queues, the order is simply "largest window first". A loss halves
//! the window, so that the estimate becomes four times as large. The paper's "minimum in all paths" is `rttmin=global`.

use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Loss-aware concurrent transfer.
pub const PRESET: Preset = Preset {
    name: "cmt-la",
    paper: "Liu et al. 2019: Loss-Aware CMT-Based Multipathing Scheme for Efficient Data Delivery to Heterogeneous Wireless Networks",
    summary: "all paths at once, the one that seems to lose least first",
    parts: &[
        ("estimators", "loss rate by Mathis' and Vegas' models, and how it stands out from its past"),
        ("scheduler", "lowest loss rate first, the next path when its window is full"),
        ("congestion control", "one RFC 9260 window per path, growth by the path's own progress (CUC)"),
        ("loss", "split fast retransmit (SFR), resent on the path with the largest window"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || Combination::default().with(|parts| parts.roles.scheduler = SchedulerName::LossOrder),
};
