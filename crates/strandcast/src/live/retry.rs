//! Time for which a sender tries.

use std::time::Duration;

/// Time to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// This time.
    For(Duration),
    /// Until stopped.
    Forever,
}
