//! Changes of interfaces since the last poll.

use std::io;
use std::net::IpAddr;

use super::address::Interface;
use super::list::interfaces;

/// An address that appeared or vanished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The interface came up, or the address was added.
    Appeared {
        /// Name of the interface.
        interface: String,
        /// The address.
        ip: IpAddr,
    },
    /// The interface went down, or the address was removed.
    Vanished {
        /// Name of the interface.
        interface: String,
        /// The address.
        ip: IpAddr,
    },
}

/// Compares the interfaces with their previous state. An enumeration takes some tens of microseconds; one per second is
/// affordable.
#[derive(Debug, Default)]
pub struct InterfaceMonitor {
    known: Vec<Interface>,
}

impl InterfaceMonitor {
    /// A monitor that starts from the current interfaces.
    ///
    /// # Errors
    /// The system's error.
    pub fn start() -> io::Result<Self> {
        Ok(InterfaceMonitor { known: interfaces()? })
    }

    /// The interfaces at the last poll.
    pub fn interfaces(&self) -> &[Interface] {
        &self.known
    }

    /// The changes since the last poll.
    ///
    /// # Errors
    /// The system's error; the known state is kept.
    pub fn poll(&mut self) -> io::Result<Vec<Change>> {
        Ok(self.update(interfaces()?))
    }

    /// Makes `now` the known state and returns the differences, vanished addresses first.
    pub(super) fn update(&mut self, now: Vec<Interface>) -> Vec<Change> {
        let gone = in_use(&self.known).filter(|a| !in_use(&now).any(|b| *a == b));
        let come = in_use(&now).filter(|a| !in_use(&self.known).any(|b| *a == b));
        let gone = gone.map(|(name, ip)| Change::Vanished { interface: name.to_owned(), ip });
        let come = come.map(|(name, ip)| Change::Appeared { interface: name.to_owned(), ip });
        let changes = gone.chain(come).collect();
        self.known = now;
        changes
    }
}

fn in_use(interfaces: &[Interface]) -> impl Iterator<Item = (&str, IpAddr)> {
    let up = interfaces.iter().filter(|i| i.up);
    up.flat_map(|i| i.addresses.iter().map(|a| (i.name.as_str(), a.ip)))
}
