//! Properties that a link requires of packets.

use bytes::Bytes;
use strandcast_proto::seeds::Random;

/// A packet that a link can duplicate and damage.
pub trait Payload: Clone {
    /// Damages the packet, like a bit error that lower layers did not detect.
    fn corrupt(&mut self, random: &mut Random);

    /// Returns the number of the flow to which the packet belongs. Queues use it to treat flows equally.
    fn flow(&self) -> u64 {
        0
    }

    /// Returns whether the packet is exempt from random loss.
    fn is_spared(&self) -> bool {
        false
    }
}

/// Each call is passed to the packet in the box.
impl<P: Payload> Payload for Box<P> {
    fn corrupt(&mut self, random: &mut Random) {
        (**self).corrupt(random);
    }

    fn flow(&self) -> u64 {
        (**self).flow()
    }

    fn is_spared(&self) -> bool {
        (**self).is_spared()
    }
}

/// Flips one bit. An empty packet does not change.
impl Payload for Vec<u8> {
    fn corrupt(&mut self, random: &mut Random) {
        let bit = random.below(self.len() as u64 * 8) as usize;
        if let Some(byte) = self.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
    }
}

/// Flips one bit, in a copy if the bytes are shared. An empty packet does not change.
impl Payload for Bytes {
    fn corrupt(&mut self, random: &mut Random) {
        let mut bytes = Vec::from(core::mem::take(self));
        bytes.corrupt(random);
        *self = bytes.into();
    }
}
