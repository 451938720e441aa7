//! Buffers that grow with what the paths need: dynamic right-sizing (Fisk and Feng 2001), over several paths.
//!
//! The receive buffer: twice what arrives in the longest round trip of the paths by which data come, or twice what waited
//! for a missing chunk if that is more, since a chunk that was lost is missing for another round trip. Round trips are
//! measured with heartbeats of their own, because who only receives acknowledges and is not acknowledged. Without an answer,
//! which only the peer itself can give (RFC 9260 §5.4), nothing grows, and no faster than the application reads.
//!
//! The send buffer: twice what all congestion windows carry in the longest round trip, or twice what arrived and is kept
//! for a missing chunk if that is more.
//!
//! Either shrinks when less was needed for a while, the receive buffer only as the application reads: what was offered
//! to the peer stays so.

/// One of the buffers of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// Bytes it may hold now.
    pub size: usize,
    /// Bytes in it now.
    pub used: usize,
    /// The most there ever were.
    pub most_used: usize,
}

/// Both.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Buffers {
    /// What neither may exceed; `None`: they do not grow.
    pub limit: Option<usize>,
    /// Payload of messages that were handed in and not yet acknowledged. Messages with a lifetime may go beyond its size, up
    /// to [`crate::config::TransportConfig::buffer_limit`]: they leave by themselves.
    pub send: Buffer,
    /// What waits for its order, for the rest of its message or for the application, 16 bytes for each chunk included.
    pub receive: Buffer,
}
