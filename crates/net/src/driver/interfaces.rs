//! The driver's list of the machine's interfaces.

use std::io;
use std::task::Context;

use crate::interface::{Interface, InterfaceEvents, Routes, interfaces};

/// The machine's interfaces, as the system listed them last. The system may fail to list the interfaces for a while,
/// because it has too little memory or too few descriptors. The list then does not change.
pub(super) struct InterfaceList {
    /// Function that queries the system.
    pub list: fn() -> io::Result<Vec<Interface>>,
    /// The kernel's routing tables.
    pub routes: Routes,
    /// The kernel's announcements of changes. `None` while there are no links to watch.
    events: Option<InterfaceEvents>,
    known: Vec<Interface>,
    fresh: bool,
    changed: bool,
}

impl InterfaceList {
    /// The current interfaces. The list is empty if the system does not list its interfaces.
    pub fn now() -> Self {
        let (routes, events, known) = (Routes::default(), None, Vec::new());
        let mut list =
            InterfaceList { list: interfaces, routes, events, known, fresh: false, changed: false };
        list.poll();
        list
    }

    /// Begins to listen to the kernel's announcements.
    pub fn watch(&mut self) {
        self.events.get_or_insert_with(InterfaceEvents::open);
    }

    /// Returns whether the kernel has announced a change.
    pub fn poll_events(&mut self, cx: &mut Context<'_>) -> bool {
        let announced = self.events.as_mut().is_some_and(|events| events.poll(cx));
        self.changed |= announced;
        announced
    }

    /// Queries the system's interfaces again.
    pub fn poll(&mut self) {
        let listed = (self.list)();
        self.fresh = listed.is_ok();
        if let Ok(listed) = listed {
            self.changed |= listed != self.known;
            self.known = listed;
        }
    }

    /// The interfaces at the last successful query, and the routing tables.
    pub fn known(&mut self) -> (&[Interface], &mut Routes) {
        (&self.known, &mut self.routes)
    }

    /// Returns whether the last query succeeded.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Returns whether anything has changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}
