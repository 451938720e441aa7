//! The state of tail probes.

use crate::time::Instant;
use crate::wire::serial::Tsn;

/// The tail probe of a path. One leaves after the last progress at most.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// When it is due.
    pub at: Option<Instant>,
    /// It left, and nothing was acknowledged on the path since.
    pub spent: bool,
    /// What was sent again on this path, and when, until it is answered.
    pub probe: Option<(Tsn, Instant)>,
    /// When an acknowledgement last came back by this path itself and gave a round trip.
    pub own_trip: Option<Instant>,
}
