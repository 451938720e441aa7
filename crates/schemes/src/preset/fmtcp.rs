//! `fmtcp`: symbols of a fountain, each on the path and of the block for which it comes at the right time.
//!
//! Y. Cui, L. Wang, X. Wang, H. Wang, Y. Wang, "FMTCP: A Fountain Code-Based Multipath Transmission Control Protocol",
//! ICDCS 2012; IEEE/ACM Transactions on Networking 23(2), 2015. A baseline of Xu et al. (2015).
//!
//! | FMTCP | here |
//! |---|---|
//! | fountain code, decoding, blocks | `strandcast_proto::coding`, `Code::Fountain`: bits are added, coefficients are 0 or 1 |
//! | EDT, EAT, allocation, δ̂-completeness | `schedule::Fmtcp`, which compares its readings with the public ns-2 code |
//! | loss rates | `estimate::LossShare` |
//! | acknowledgements with blocks and symbols | SACKs: the sender knows which symbol each TSN carried |
//! | windows | `congestion::Lia` |
//!
//! Xu et al. (2015) say: it is fair to TCP, but "network coding … will filter some packet loss events", so that it is
//! more aggressive than their CMT-CL/FD; its proposers ignored that wireless networks change. Section 5 finds less
//! throughput and quality than CMT-CL's.
//!
//! `ASSUMED`:
//! - the windows are RFC 6356's, since Xu et al. (2015) call the scheme TCP-friendly; the authors' code has one Reno
//!   window per
//!   path (`cc=uncoupled`). No growth and one cut in fast recovery, threshold of at least two segments;
//! - every lost packet reaches the windows; with `mask-losses=on` only those that leave a block incomplete do, the
//!   claim of Xu et al. (2015);
//! - blocks of 16 symbols, of 8 towards receive buffers of less than 128 KiB: as many blocks as the code's 32 of 32
//!   packets fit no
//!   buffer of 256 KiB;
//! - loss detection, acknowledgement and path failure are those of `cmt`.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::scheme::Preset;
use crate::shelf::SchedulerName;

/// Fountain-coded multipath transfer.
pub const PRESET: Preset = Preset {
    name: "fmtcp",
    paper: "Cui et al. 2015: FMTCP, IEEE/ACM ToN 23(2); ICDCS 2012",
    summary: "all paths at once with fountain-coded symbols alone: fast paths carry the blocks due, slow ones later blocks",
    parts: &[
        ("coding", "blocks, random linear fountain over GF(2), no source symbol sent"),
        ("estimators", "loss of each path, a moving average by round trips"),
        (
            "scheduler",
            "each symbol to the path on which it arrives first, of the first block that is not complete",
        ),
        ("congestion control", "linked increases over all paths"),
        ("loss", "split fast retransmit (SFR); lost symbols are replaced, not resent"),
        ("feedback", "acks delayed across gaps (DAC)"),
    ],
    settings: || {
        Combination::default().with(|parts| {
            (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::Fmtcp, Cc::Lia);
            (parts.windows.fr_freeze, parts.windows.half_floor) = (true, 2);
        })
    },
};
