//! Buffers that grow with the need of the paths: dynamic right-sizing (Fisk and Feng 2001), over several paths.
//!
//! The receive buffer has twice the bytes that arrive in the longest round-trip time of the paths by which data arrive,
//! or twice the bytes that waited for a missing chunk if that is more, because a lost chunk is missing for another
//! round trip. Separate heartbeats measure round-trip times, because a host that only receives data gets no
//! acknowledgements. Only the peer can answer them (RFC 9260 §5.4), and without an answer the buffer does not grow. The
//! buffer grows no faster than the application reads.
//!
//! The send buffer has twice the bytes that all congestion windows carry in the longest round-trip time, or, if that is
//! more, twice the bytes that have arrived and are kept because of a missing chunk.
//!
//! Both buffers shrink after a time of less need. The receive buffer shrinks only as the application reads, because a
//! window that was offered to the peer is not withdrawn.

/// State of a buffer of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Buffer {
    /// Bytes that the buffer may hold now.
    pub size: usize,
    /// Bytes that the buffer holds now.
    pub used: usize,
    /// Maximum number of bytes used at any time.
    pub most_used: usize,
}

/// Both buffers of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Buffers {
    /// Limit of each buffer; `None`: the buffers do not grow.
    pub limit: Option<usize>,
    /// Payload of messages that were submitted and are not yet acknowledged. Messages with a lifetime may exceed the
    /// size of the buffer, up to [`crate::config::TransportConfig::buffer_limit`], because they expire.
    pub send: Buffer,
    /// Data that wait for their order, for the rest of their message or for the application, including 16 bytes for
    /// each chunk.
    pub receive: Buffer,
}
