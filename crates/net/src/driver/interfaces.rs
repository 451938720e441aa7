//! The interfaces as a driver knows them.

use std::io;

use crate::interface::{Interface, interfaces};

/// The machine's interfaces, as the system listed them last. That it cannot list them for a moment, for want of memory or of a
/// descriptor, says nothing about them.
pub(super) struct InterfaceList {
    /// Asks the system.
    pub list: fn() -> io::Result<Vec<Interface>>,
    known: Vec<Interface>,
    fresh: bool,
}

impl InterfaceList {
    /// The interfaces now; none if the system does not list them.
    pub fn now() -> Self {
        let mut list = InterfaceList { list: interfaces, known: Vec::new(), fresh: false };
        list.poll();
        list
    }

    /// Asks the system again.
    pub fn poll(&mut self) {
        let listed = (self.list)();
        self.fresh = listed.is_ok();
        if let Ok(listed) = listed {
            self.known = listed;
        }
    }

    /// The interfaces at the last poll that had an answer.
    pub fn known(&self) -> &[Interface] {
        &self.known
    }

    /// Whether the last poll had one.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }
}
