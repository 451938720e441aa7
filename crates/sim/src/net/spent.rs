//! Reuse of the memory of packets that have arrived.

use super::Packet;

/// Boxes of packets that have arrived. New packets reuse them, because packets are large and links and queues move them
/// often.
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

    /// Takes a packet out of its box, and keeps the box.
    pub fn unboxed(&mut self, mut packet: Box<Packet>) -> Packet {
        let whole = Packet { meta: packet.meta, body: packet.take_body() };
        self.0.push(packet);
        whole
    }
}
