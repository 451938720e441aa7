//! The configuration of a stream with a sliding window. Both sides of the stream must have the same one.

/// The format of a stream's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Maximum number of source messages that a repair symbol covers.
    pub sources: usize,
    /// Number of source messages that a receiver holds. It must be at least `sources`. With twice `sources`, the
    /// receiver can use repair symbols of windows that overlap.
    pub held: usize,
    /// Length of the payload of a repair symbol in bytes. It is the length of the longest message plus 2. With 0,
    /// repair symbols have no payloads: only coefficients are sent and eliminated.
    pub length: usize,
    /// The number of nonzero coefficients among 16, minus one. With 15, all coefficients are nonzero (RFC 8681 §3.6).
    pub density: u8,
}
