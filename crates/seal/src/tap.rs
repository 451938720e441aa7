//! Packets before encryption and after decryption, for captures.

use strandcast_proto::path::{Envelope, FourTuple};
use strandcast_proto::time::Instant;

/// Function that gets each packet sent (`true`) or received, without its envelope.
pub type PacketTap = Box<dyn FnMut(Instant, &FourTuple, bool, &[u8]) + Send>;

/// Shows `tap` the packets in datagrams with room for `envelope`, each but the last of `stride` bytes.
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
