//! Packets as plaintext, before encryption or after decryption, for captures.

use strandcast_proto::path::{Envelope, FourTuple};
use strandcast_proto::time::Instant;

/// Function that receives each packet without header and tag. The `bool` is true if the packet is sent, and false if it
/// was received.
pub type PacketTap = Box<dyn FnMut(Instant, &FourTuple, bool, &[u8]) + Send>;

/// Passes the packets in `datagrams` to the function `tap`. Each datagram has room for `envelope` around its packet.
/// Each datagram except the last has `stride` bytes.
pub(crate) fn show(
    tap: &mut Option<PacketTap>,
    now: Instant,
    tuple: &FourTuple,
    sent: bool,
    (datagrams, stride, envelope): (&[u8], usize, Envelope),
) {
    let Some(tap) = tap else { return };
    for datagram in datagrams.chunks(stride.max(1)) {
        let end = datagram.len().saturating_sub(envelope.back);
        if let Some(packet) = datagram.get(envelope.front..end) {
            tap(now, tuple, sent, packet);
        }
    }
}
