//! Reuse of the memory of packets that have arrived.

use super::Packet;

/// Memory (boxes) of packets that have arrived. New packets reuse this memory, because packets are large and are often
/// moved by links and queues.
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

    /// Removes a packet from its box, and keeps the box for reuse.
    pub fn unboxed(&mut self, mut packet: Box<Packet>) -> Packet {
        let whole = Packet { meta: packet.meta, body: packet.take_body() };
        self.0.push(packet);
        whole
    }
}
