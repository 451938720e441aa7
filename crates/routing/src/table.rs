//! A routing table: one entry per destination, in the order of addresses. Entries stay, so that sequence numbers are remembered.

use core::ops::{Index, IndexMut};

use crate::address::Address;

/// Entries by destination.
#[derive(Clone, Debug)]
pub struct Table<E> {
    destinations: Vec<Address>,
    entries: Vec<E>,
}

impl<E> Default for Table<E> {
    fn default() -> Self {
        Table { destinations: Vec::new(), entries: Vec::new() }
    }
}

impl<E> Table<E> {
    /// The entry of `destination`, if there is one.
    pub fn get(&self, destination: Address) -> Option<&E> {
        self.slot(destination).map(|slot| &self.entries[slot])
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, destination: Address) -> Option<&mut E> {
        self.slot(destination).map(|slot| &mut self.entries[slot])
    }

    /// Where the entry of `destination` is, until one is added.
    pub fn slot(&self, destination: Address) -> Option<usize> {
        self.destinations.binary_search(&destination).ok()
    }

    /// The same; an entry is added if there is none.
    pub fn slot_or_insert(&mut self, destination: Address, entry: impl FnOnce() -> E) -> usize {
        self.destinations.binary_search(&destination).unwrap_or_else(|slot| {
            self.destinations.insert(slot, destination);
            self.entries.insert(slot, entry());
            slot
        })
    }

    /// Whose entry this is.
    pub fn destination(&self, slot: usize) -> Address {
        self.destinations[slot]
    }

    /// Entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether one is such.
    pub fn any(&self, such: impl Fn(&E) -> bool) -> bool {
        self.entries.iter().any(such)
    }

    /// All entries, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Address, &mut E)> {
        self.destinations.iter().copied().zip(&mut self.entries)
    }
}

impl<E> Index<usize> for Table<E> {
    type Output = E;
    fn index(&self, slot: usize) -> &E {
        &self.entries[slot]
    }
}

impl<E> IndexMut<usize> for Table<E> {
    fn index_mut(&mut self, slot: usize) -> &mut E {
        &mut self.entries[slot]
    }
}
