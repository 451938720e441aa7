//! Configuration of a stream with a sliding window. Both ends of the stream need an identical configuration.

/// Configuration of the window of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Maximum number of source messages that a repair symbol covers.
    pub sources: usize,
    /// Number of source messages that a receiver holds. The number of held messages must be at least `sources`. With
    /// twice `sources`, the receiver can use repair symbols whose windows overlap.
    pub held: usize,
    /// Length in bytes of a repair symbol's payload. The length is the length of the longest message plus 2. With 0,
    /// repair symbols have no payload: only their coefficients are sent and eliminated.
    pub length: usize,
    /// Number of nonzero coefficients among 16 coefficients, minus one. With 15, all coefficients are nonzero (RFC 8681
    /// §3.6).
    pub density: u8,
}
