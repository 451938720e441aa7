//! Names of what a network is made of.

/// Names an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentId(pub u32);

/// Names a flow; what belongs to none has flow 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FlowId(pub u32);

/// Names one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectedLinkId(pub u32);

/// Names a radio: stations that share a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioId(pub u16);

impl RadioId {
    /// Position in order of creation.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Names a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteId(pub u32);

impl DirectedLinkId {
    /// Position in order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl RouteId {
    /// Position in order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
