//! Identifiers of stations.

use crate::frame::ALL;

/// Identifier of a station: the station's index in the list of positions with which the radio was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub u32);

/// Receiver to which a packet is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One station, which acknowledges the packet.
    Station(StationId),
    /// All stations in range. The packet is sent at the basic rate and is not acknowledged.
    All,
}

impl Destination {
    /// Returns the address in a frame that represents this receiver.
    pub(crate) fn address(self) -> u32 {
        match self {
            Destination::Station(StationId(id)) => id,
            Destination::All => ALL,
        }
    }

    /// Returns the receiver that the address in a frame represents.
    pub(crate) fn of(address: u32) -> Destination {
        match address {
            ALL => Destination::All,
            id => Destination::Station(StationId(id)),
        }
    }
}
