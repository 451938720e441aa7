//! Buffers that grow with the use of the paths: dynamic right-sizing (Fisk and Feng 2001), extended to several paths.
//!
//! The size of the receive buffer is the larger of two values. The first value is twice the bytes that arrive in one
//! round-trip time, which is the longest round-trip time of the paths by which data arrive. The second value is twice
//! the bytes that have waited for a missing chunk, because a lost chunk is missing for another round trip. Separate
//! heartbeats measure round-trip times, because a host that only receives data gets no acknowledgements. Only the peer
//! can answer these heartbeats (RFC 9260 §5.4). Without an answer the buffer does not grow. The buffer grows no faster
//! than the application reads.
//!
//! The size of the send buffer is also the larger of two values. The first value is twice the bytes that all congestion
//! windows carry in the longest round-trip time. The second value is twice the bytes that have arrived but are kept
//! because an earlier chunk is missing.
//!
//! Both buffers shrink after less than their size was needed for some time. The receive buffer shrinks only as the
//! application reads, because a window that was offered to the peer is not withdrawn.

/// State of a buffer of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Buffer {
    /// Bytes that the buffer may hold now.
    pub size: usize,
    /// Bytes that the buffer holds now.
    pub used: usize,
    /// Maximum number of bytes that the buffer has held at any time.
    pub most_used: usize,
}

/// Both buffers of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Buffers {
    /// Largest size of each buffer. `None` means that the buffers do not grow.
    pub limit: Option<usize>,
    /// Payload of messages that the application submitted and the peer has not acknowledged. Messages with a lifetime
    /// may exceed the size of the buffer, because they expire. The limit of such messages is
    /// [`crate::config::TransportConfig::buffer_limit`].
    pub send: Buffer,
    /// Received data that wait for missing data or for the application. Each chunk counts 16 bytes more than its
    /// payload.
    pub receive: Buffer,
}
