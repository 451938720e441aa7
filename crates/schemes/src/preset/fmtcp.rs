//! `fmtcp`: symbols of a fountain code. An expected arrival time determines the block of each symbol and the path on
//! which it leaves.
//!
//! Cui Y., Wang L., Wang X., Wang H., Wang Y., "FMTCP: A Fountain Code-Based Multipath Transmission Control Protocol",
//! ICDCS 2012; IEEE/ACM Transactions on Networking 23(2), 2015. The scheme is a baseline of Xu et al., 2015.
//!
//! | FMTCP | here |
//! |---|---|
//! | fountain code, decoding, blocks | `strandcast_proto::coding`, `Code::Fountain`: bits are added, coefficients are 0 or 1 |
//! | EDT, EAT, allocation, δ̂-completeness | `schedule::Fmtcp`, which compares its readings with the public ns-2 code |
//! | loss rates | `estimate::LossShare` |
//! | acknowledgements with blocks and symbols | SACKs: the sender knows which symbol each TSN carried |
//! | windows | `congestion::Lia` |
//!
//! Xu et al., 2015, say that the scheme is fair to TCP. They also say that "network coding … will filter some packet
//! loss events", so that the scheme is more aggressive than their CMT-CL/FD. In their view, its authors ignored that
//! wireless networks change. In their section 5, the scheme has less throughput and lower quality than CMT-CL.
//!
//! `ASSUMED`:
//! * The windows are those of RFC 6356, because Xu et al., 2015, call the scheme TCP-friendly. The authors' code has
//!   one Reno window per path (`cc=uncoupled`). In fast recovery, windows do not grow, and are reduced once. The
//!   threshold is at least two segments.
//! * Every lost packet affects the windows. With `mask-losses=on`, only losses that leave a block incomplete affect
//!   them, as Xu et al., 2015, claim.
//! * Blocks have 16 symbols. If the receive buffer is smaller than 128 KiB, they have 8 symbols. The 32 blocks of 32
//!   packets in the authors' code would not fit a buffer of 256 KiB.
//! * Loss detection, acknowledgement and path failure are as in `cmt`.

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
