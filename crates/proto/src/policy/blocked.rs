//! What keeps new data from being sent.

use super::ids::PathId;
use crate::time::Instant;
use crate::wire::serial::Tsn;

/// The buffer that keeps new data from being sent.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BlockedBy {
    /// The peer's receive window.
    ReceiveWindow,
    /// Our send buffer: all that it holds was sent, and the application has more.
    SendBuffer,
}

/// New data can not be sent although a path has room.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// What is full.
    pub by: BlockedBy,
    /// The oldest chunk that is not acknowledged: it would make room.
    pub tsn: Tsn,
    /// The path it was last sent on.
    pub path: PathId,
    /// Since when this chunk blocks.
    pub since: Instant,
}
