//! Timeouts of both halves, asked for with every packet.

use strandcast_proto::time::Instant;

/// The earlier of two: comparing takes a fraction of what a chain of iterators does.
#[inline]
pub(super) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}
