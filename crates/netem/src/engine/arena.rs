//! Arenas that store the nodes and links of a network. Nodes and links refer to each other by id. No value therefore
//! contains a reference into the network.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

/// Identifier of an element of an [`Arena<T>`]: the number of elements inserted before it.
pub struct Id<T>(u32, PhantomData<fn() -> T>);

impl<T> Id<T> {
    /// Returns the position in insertion order, for fingerprints and output.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Elements that are added while a network is built and stay until the run ends.
#[derive(Clone, Debug)]
pub struct Arena<T>(Vec<T>);

impl<T> Arena<T> {
    /// Creates an empty arena.
    pub const fn new() -> Self {
        Arena(Vec::new())
    }

    /// Adds `element`, and returns its id.
    ///
    /// # Panics
    /// Panics after 2³² elements.
    pub fn insert(&mut self, element: T) -> Id<T> {
        let index = u32::try_from(self.0.len()).expect("a network has fewer than 2^32 elements");
        self.0.push(element);
        Id(index, PhantomData)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the arena is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all elements with their ids, in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = (Id<T>, &T)> {
        (0..).map(|index| Id(index, PhantomData)).zip(&self.0)
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena::new()
    }
}

impl<T> Index<Id<T>> for Arena<T> {
    type Output = T;
    fn index(&self, id: Id<T>) -> &T {
        &self.0[id.index()]
    }
}

impl<T> IndexMut<Id<T>> for Arena<T> {
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        &mut self.0[id.index()]
    }
}

// Written out, because derived impls would require the traits of `T`, which an id does not contain.

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_elements_in_insertion_order() {
        let mut arena = Arena::new();
        let (a, b) = (arena.insert("a"), arena.insert("b"));
        arena[b] = "B";
        assert_eq!((arena[a], arena[b]), ("a", "B"));
        assert!(a < b);
        let all: Vec<_> = arena.iter().map(|(id, element)| (id.index(), *element)).collect();
        assert_eq!(all, [(0, "a"), (1, "B")]);
    }
}
