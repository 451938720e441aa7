//! What has changed since the last look.

use super::address::Interface;
use super::list::interfaces;
use std::io;
use std::net::IpAddr;

/// An address that came into use or went out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The interface came up or was given the address.
    Appeared {
        /// Name of the interface.
        interface: String,
        /// The address.
        ip: IpAddr,
    },
    /// The interface went down, or lost the address.
    Vanished {
        /// Name of the interface.
        interface: String,
        /// The address.
        ip: IpAddr,
    },
}

/// Compares the interfaces with what they were. Enumerating takes some tens of microseconds: once a second is fine.
#[derive(Debug, Default)]
pub struct Watch {
    known: Vec<Interface>,
}

impl Watch {
    /// A watch that takes the interfaces as they are now for known.
    ///
    /// # Errors
    /// The system's.
    pub fn start() -> io::Result<Self> {
        Ok(Watch { known: interfaces()? })
    }

    /// The interfaces at the last look.
    pub fn interfaces(&self) -> &[Interface] {
        &self.known
    }

    /// Looks again.
    ///
    /// # Errors
    /// The system's; what was known stays known.
    pub fn poll(&mut self) -> io::Result<Vec<Change>> {
        Ok(self.update(interfaces()?))
    }

    /// Takes `now` for known and says what differs, what vanished first.
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
