//! The state of tail probes.

use crate::time::Instant;
use crate::wire::serial::Tsn;

/// The tail probe of a path. At most one probe leaves between two acknowledgements of new data.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// Time at which the probe is due.
    pub at: Option<Instant>,
    /// True if the probe left and no data on the path have been acknowledged since.
    pub spent: bool,
    /// Chunk that was sent again on this path as the probe, and the time, until it is answered.
    pub probe: Option<(Tsn, Instant)>,
    /// Time of the last acknowledgement that returned by this path and gave a round-trip time.
    pub own_trip: Option<Instant>,
}
