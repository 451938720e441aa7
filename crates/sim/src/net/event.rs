//! Future events of the network.

use strandcast_radio::{Alarm, StationId};

use super::{AgentId, DirectedLinkId, RadioId, RouteId};

/// A future event of the network. An event is small, because the heap moves it. Packets are stored elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A packet may leave this link.
    DirectedLink(DirectedLinkId),
    /// The delay of a packet in the sending host ends.
    Leave(RouteId),
    /// The timer of this agent expires.
    Agent(AgentId),
    /// The last bit of a packet leaves this wireless link.
    Departed(DirectedLinkId),
    /// This alarm of a radio fires.
    Radio(RadioId, Alarm),
    /// The timer of a station's router expires.
    Router(RadioId, StationId),
    /// A packet of a router enters the interface queue after its delay.
    Delayed(RadioId, u32),
}
