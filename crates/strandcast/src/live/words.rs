//! Number of the stream of media messages. This module also defines the reasons that senders and receivers send when
//! they end an association.

/// Number of the transport's stream for media messages.
pub(in crate::live) const MEDIA: u16 = 0;

/// Prefix of the reason of a deliberate abort. A peer that receives it need not wait or try again.
pub const REFUSED: &str = "refused: ";
/// Text after [`REFUSED`] while another sender is received.
pub(in crate::live) const BUSY: &str = "already receiving from another sender";
/// Text after [`REFUSED`] for a sender that must give way to another sender with the same key.
pub(in crate::live) const REPLACED: &str = "another sender with the same key has taken over";
