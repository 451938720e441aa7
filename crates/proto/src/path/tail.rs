//! State of the tail probes of a path.

use crate::time::Instant;
use crate::wire::serial::Tsn;

/// The tail probe of a path. At most one tail probe is sent between two acknowledgements of new data.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// Time at which the tail probe must be sent.
    pub at: Option<Instant>,
    /// True if a tail probe was sent and no data on the path have been acknowledged since then.
    pub spent: bool,
    /// Chunk that was retransmitted on this path as the tail probe, and the time of this. The tail probe's chunk is
    /// kept until the probe is answered.
    pub probe: Option<(Tsn, Instant)>,
    /// Time of the last acknowledgement that gave a round-trip time and returned by this path.
    pub own_trip: Option<Instant>,
}
