//! Causes that block new data.

use super::ids::PathId;
use crate::time::Instant;
use crate::wire::serial::Tsn;

/// The buffer that blocks new data.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BlockedBy {
    /// The peer's receive window.
    ReceiveWindow,
    /// The send buffer of this side. All its data were sent, and the application has more.
    SendBuffer,
}

/// New data cannot be sent although a path has room.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The full buffer.
    pub by: BlockedBy,
    /// The oldest unacknowledged chunk, whose acknowledgement would make room.
    pub tsn: Tsn,
    /// Path on which the chunk was last sent.
    pub path: PathId,
    /// Time since which this chunk blocks.
    pub since: Instant,
}
