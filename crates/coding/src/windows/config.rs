//! Configuration that both ends of a stream with a sliding window share.

/// The shape of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Maximum number of source messages that a repair symbol covers.
    pub sources: usize,
    /// Number of source messages that a receiver holds, at least `sources`. Twice `sources` lets it use
    /// repair symbols of overlapping windows.
    pub held: usize,
    /// Payload of a repair symbol in bytes: the longest message plus 2. 0 omits the payloads, so that only
    /// coefficients are sent and eliminated.
    pub length: usize,
    /// Nonzero coefficients per 16, minus one; 15 is the densest (RFC 8681 §3.6).
    pub density: u8,
}
