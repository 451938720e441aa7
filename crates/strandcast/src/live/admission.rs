//! Message of a receiver to a sender whose stream it plays. Without this message, a sender could not distinguish two
//! kinds of receivers: one that plays its stream, and one that only accepts its packets.

use bytes::Bytes;
use strandcast_net::driver::AssociationHandle;
use strandcast_proto::association::SendOptions;

/// Number of the SCTP stream that carries the receiver's message. In the other direction, the sender's keep-alive
/// messages use the stream with the same number.
const STREAM: u16 = 1;
/// Content of the message: a version, and a word.
const ADMITTED: &[u8] = b"\x01admitted";

/// Reports to the sender that the receiver plays its stream from now on.
pub(in crate::live) fn admit(association: &AssociationHandle) {
    let options = SendOptions { stream: STREAM, ..SendOptions::default() };
    // A receiver stops playing a stream soon after the stream's association has ended.
    let _ = association.try_send(Bytes::from_static(ADMITTED), options);
}

/// Returns whether a message of the receiver is the word "admitted".
pub(in crate::live) fn admits(message: &[u8]) -> bool {
    message == ADMITTED
}
