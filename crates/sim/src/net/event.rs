//! What is still to happen.

use strandcast_radio::{Alarm, StationId};

use super::{AgentId, DirectedLinkId, RadioId, RouteId};

/// Small, since the heap moves it around: packets wait elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// Something may come out of a link.
    DirectedLink(DirectedLinkId),
    /// A host's own delay is over.
    Leave(RouteId),
    /// An agent wanted to be called.
    Agent(AgentId),
    /// A packet's last bit leaves a wireless link.
    Departed(DirectedLinkId),
    /// A radio wanted to be called.
    Radio(RadioId, Alarm),
    /// A station's router wanted to be called.
    Router(RadioId, StationId),
    /// A router's packet has waited long enough to enter the interface queue.
    Delayed(RadioId, u32),
}
