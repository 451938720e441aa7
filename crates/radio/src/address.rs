//! Names of stations.

use crate::frame::ALL;

/// Names a station of a radio: its place among the positions the radio was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub u32);

/// Who a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One station, which acknowledges it.
    Station(StationId),
    /// All in range, at the basic rate and without acknowledgement.
    All,
}

impl Destination {
    /// The address in a frame.
    pub(crate) fn address(self) -> u32 {
        match self {
            Destination::Station(StationId(id)) => id,
            Destination::All => ALL,
        }
    }

    /// What an address in a frame stands for.
    pub(crate) fn of(address: u32) -> Destination {
        match address {
            ALL => Destination::All,
            id => Destination::Station(StationId(id)),
        }
    }
}
