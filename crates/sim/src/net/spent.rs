//! Memory of packets that have arrived.

use super::Packet;

/// Packets that have arrived, whose memory carries the next ones: packets are large, and links and queues move them often.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "the boxes themselves are used again")]
pub(super) struct Spent(Vec<Box<Packet>>);

impl Spent {
    /// Puts a packet into a box.
    pub fn boxed(&mut self, packet: Packet) -> Box<Packet> {
        match self.0.pop() {
            Some(mut place) => {
                *place = packet;
                place
            }
            None => Box::new(packet),
        }
    }

    /// Takes the box of a packet that has arrived.
    pub fn keep(&mut self, mut packet: Box<Packet>) {
        drop(packet.take_body());
        self.0.push(packet);
    }
}
