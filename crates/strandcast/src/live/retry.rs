//! Time for which a sender tries to connect.

use std::time::Duration;

/// Time for which a sender tries to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// A limited time.
    For(Duration),
    /// Attempts continue without a limit, until the sender is stopped.
    Forever,
}
