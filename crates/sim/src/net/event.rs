//! Future events.

use strandcast_radio::{Alarm, StationId};

use super::{AgentId, DirectedLinkId, RadioId, RouteId};

/// A future event. The event is small, because the heap moves it: packets are stored elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A packet may leave a link.
    DirectedLink(DirectedLinkId),
    /// The sending host's delay ends.
    Leave(RouteId),
    /// An agent's timer expires.
    Agent(AgentId),
    /// A packet's last bit leaves a wireless link.
    Departed(DirectedLinkId),
    /// A radio's alarm fires.
    Radio(RadioId, Alarm),
    /// The timer of a station's router expires.
    Router(RadioId, StationId),
    /// A router's packet enters the interface queue after its delay.
    Delayed(RadioId, u32),
}
