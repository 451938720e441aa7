//! Timeouts of both halves. The timeouts are computed for every packet.

use strandcast_proto::time::Instant;

/// Returns the earlier of two times. A comparison needs a fraction of the time of a chain of iterators.
#[inline]
pub(super) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}
