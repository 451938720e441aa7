//! What a receiver says to a sender that it plays: without it, a sender that was let in knows only that somebody took its
//! packets.

use bytes::Bytes;
use strandcast_net::driver::AssociationHandle;
use strandcast_proto::association::SendOptions;

/// The stream of it, that of a sender's keep-alive messages.
const STREAM: u16 = 1;
/// A version, and a word.
const ADMITTED: &[u8] = b"\x01admitted";

/// Says to the sender that its stream is played from now on.
pub(in crate::live) fn admit(association: &AssociationHandle) {
    let options = SendOptions { stream: STREAM, ..SendOptions::default() };
    // An association that has ended is not played for long.
    let _ = association.try_send(Bytes::from_static(ADMITTED), options);
}

/// Whether a message of the receiver is the one that says "admitted".
pub(in crate::live) fn admits(message: &[u8]) -> bool {
    message == ADMITTED
}
