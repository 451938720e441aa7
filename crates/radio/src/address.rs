//! Identifiers of stations.

use crate::frame::ALL;

/// Identifier of a station: its index among the positions with which the radio was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub u32);

/// Receiver of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One station, which acknowledges it.
    Station(StationId),
    /// All stations in range, at the basic rate and without acknowledgement.
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

    /// Returns the receiver that an address in a frame represents.
    pub(crate) fn of(address: u32) -> Destination {
        match address {
            ALL => Destination::All,
            id => Destination::Station(StationId(id)),
        }
    }
}
