//! What both ends of a stream with a sliding window agree on.

/// The shape of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Source messages that a repair symbol covers at most.
    pub sources: usize,
    /// Source messages that a receiver holds, at least as many: twice as many let it use repair symbols of windows that
    /// overlap.
    pub held: usize,
    /// Bytes of a repair symbol's payload: those of the longest message and 2. With 0 messages have no bytes, and
    /// coefficients alone are sent and eliminated.
    pub length: usize,
    /// Of each 16 coefficients, how many are not 0, less one; 15 is the densest (RFC 8681 §3.6).
    pub density: u8,
}
