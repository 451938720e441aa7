//! The driver's list of the machine's interfaces.

use std::io;

use crate::interface::{Interface, interfaces};

/// The machine's interfaces, as last listed by the system. A temporary failure to list them, from a lack of
/// memory or descriptors, leaves the list unchanged.
pub(super) struct InterfaceList {
    /// Function that queries the system.
    pub list: fn() -> io::Result<Vec<Interface>>,
    known: Vec<Interface>,
    fresh: bool,
}

impl InterfaceList {
    /// The present interfaces; empty if the system does not list them.
    pub fn now() -> Self {
        let mut list = InterfaceList { list: interfaces, known: Vec::new(), fresh: false };
        list.poll();
        list
    }

    /// Queries the system again.
    pub fn poll(&mut self) {
        let listed = (self.list)();
        self.fresh = listed.is_ok();
        if let Ok(listed) = listed {
            self.known = listed;
        }
    }

    /// Interfaces at the last successful query.
    pub fn known(&self) -> &[Interface] {
        &self.known
    }

    /// Returns whether the last query succeeded.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }
}
