//! Identifiers of the parts of a network.

/// Identifier of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentId(pub u32);

/// Identifier of a flow. Agents outside any flow have flow 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FlowId(pub u32);

/// Identifier of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectedLinkId(pub u32);

/// Identifier of a radio: stations that share a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioId(pub u16);

impl RadioId {
    /// Returns the position in the order of creation.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Identifier of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteId(pub u32);

impl DirectedLinkId {
    /// Returns the position in the order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl RouteId {
    /// Returns the position in the order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
