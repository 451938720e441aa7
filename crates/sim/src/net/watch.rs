//! Whoever measures.

use strandcast_proto::time::Instant;

use super::{AgentId, FlowId, Head, Note, Packet, WireId};

/// Hears everything that happens in a network. Watching changes nothing: no draw, no order, no fingerprint.
pub trait Watch {
    /// An agent handed a packet to the network.
    fn sent(&mut self, _now: Instant, _from: AgentId, _packet: &Packet) {}

    /// A packet came to a link.
    fn offered(&mut self, _now: Instant, _wire: WireId, _head: &Head, _fate: Fate) {}

    /// A packet came out of a link.
    fn arrived(&mut self, _now: Instant, _wire: WireId, _head: &Head) {}

    /// An agent has something to note.
    fn note(&mut self, _now: Instant, _flow: FlowId, _from: AgentId, _note: &Note) {}
}

/// Nobody.
impl Watch for () {}

/// What becomes of a packet that came to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits its turn and leaves the transmitter then.
    Taken {
        /// End of its serialisation.
        departs: Instant,
        /// A loss model takes it behind the transmitter.
        lost: bool,
    },
    /// The queue was full.
    QueueFull,
    /// The link was down.
    Down,
}
