//! How long a sender tries.

use std::time::Duration;

/// How long to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// For this long.
    For(Duration),
    /// Until stopped.
    Forever,
}
