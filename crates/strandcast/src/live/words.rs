//! What senders and receivers say to each other when one of them ends an association.

/// Prefix of the reason of a deliberate abort: the peer need not wait or retry.
pub const REFUSED: &str = "refused: ";
/// The reason after [`REFUSED`] while another sender is received.
pub(in crate::live) const BUSY: &str = "already receiving from another sender";
/// The reason after [`REFUSED`] of a sender whose key another sender has, too, and uses now.
pub(in crate::live) const REPLACED: &str = "another sender with the same key has taken over";
