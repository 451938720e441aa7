//! Buffers that prevent new data from being sent.

use super::ids::PathId;
use crate::time::Instant;
use crate::wire::serial::Tsn;

/// The buffer that prevents new data from being sent.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BlockedBy {
    /// The peer's receive window.
    ReceiveWindow,
    /// The send buffer of this side is full. All its data were sent, and the application has more data.
    SendBuffer,
}

/// State in which new data cannot be sent although a path has room.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The buffer that is full.
    pub by: BlockedBy,
    /// The oldest unacknowledged chunk. An acknowledgement of this chunk would make room in the buffer.
    pub tsn: Tsn,
    /// Path on which the chunk was last sent.
    pub path: PathId,
    /// Time since which this chunk prevents new data.
    pub since: Instant,
}
