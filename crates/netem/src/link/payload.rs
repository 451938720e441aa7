//! What a link asks of packets.

use bytes::Bytes;
use strandcast_proto::seeds::Random;

/// A packet, as far as a link must handle it: duplicated and damaged.
pub trait Payload: Clone {
    /// Damages the packet, as a bit error that the lower layers missed would.
    fn corrupt(&mut self, random: &mut Random);

    /// Whether random loss spares it.
    fn is_spared(&self) -> bool {
        false
    }
}

/// Flips one bit; an empty packet stays as it is.
impl Payload for Vec<u8> {
    fn corrupt(&mut self, random: &mut Random) {
        let bit = random.below(self.len() as u64 * 8) as usize;
        if let Some(byte) = self.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
    }
}

/// Flips one bit, in a copy if the bytes are shared; an empty packet stays as it is.
impl Payload for Bytes {
    fn corrupt(&mut self, random: &mut Random) {
        let mut bytes = Vec::from(core::mem::take(self));
        bytes.corrupt(random);
        *self = bytes.into();
    }
}
