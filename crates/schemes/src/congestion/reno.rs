//! Congestion avoidance of RFC 5681: a segment a round trip more, half at a loss.
//!
//! | RFC 5681 | here |
//! |---|---|
//! | §3.1 eq. 3, SMSS·SMSS/cwnd an ACK | [`Halving::increase`] with [`Counting::Acks`](super::Counting::Acks) |
//! | §3.1, RFC 3465 §2.1: a segment for each window of bytes acknowledged | the same with [`Counting::Bytes`](super::Counting::Bytes) |
//! | §3.1 eq. 4, half of FlightSize | [`Halving::decrease`] |

use strandcast_proto::policy::LossTrigger;

use super::tcp::{Avoidance, Progress};

/// Additive increase by one segment a round trip, multiplicative decrease by one half.
#[derive(Copy, Clone, Debug, Default)]
pub struct Halving;

impl Avoidance for Halving {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        now.acked * now.segment / now.cwnd
    }

    fn decrease(&mut self, _segments: f64, _trigger: LossTrigger) -> f64 {
        0.5
    }
}
