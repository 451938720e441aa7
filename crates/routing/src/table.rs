//! A routing table with one entry per destination, in the order of addresses. Entries are never removed, so sequence
//! numbers are kept.

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
    /// Returns the entry of `destination`.
    pub fn get(&self, destination: Address) -> Option<&E> {
        self.slot(destination).map(|slot| &self.entries[slot])
    }

    /// Returns the entry of `destination`, to be changed.
    pub fn get_mut(&mut self, destination: Address) -> Option<&mut E> {
        self.slot(destination).map(|slot| &mut self.entries[slot])
    }

    /// Returns the slot of the entry of `destination`. The slot is valid until another entry is added.
    pub fn slot(&self, destination: Address) -> Option<usize> {
        self.destinations.binary_search(&destination).ok()
    }

    /// Returns the slot of the entry of `destination`. If the entry is missing, it is added.
    pub fn slot_or_insert(&mut self, destination: Address, entry: impl FnOnce() -> E) -> usize {
        self.destinations.binary_search(&destination).unwrap_or_else(|slot| {
            self.destinations.insert(slot, destination);
            self.entries.insert(slot, entry());
            slot
        })
    }

    /// Returns the destination of an entry.
    pub fn destination(&self, slot: usize) -> Address {
        self.destinations[slot]
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the function `such` is true for any entry.
    pub fn any(&self, such: impl Fn(&E) -> bool) -> bool {
        self.entries.iter().any(such)
    }

    /// Returns all entries, to be changed.
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
