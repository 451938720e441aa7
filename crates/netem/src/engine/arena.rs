//! Nodes and links live in arenas and know each other by id, so that nothing holds a reference into the network.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

/// Names one element of an [`Arena<T>`]: the number of elements inserted before it.
pub struct Id<T>(u32, PhantomData<fn() -> T>);

impl<T> Id<T> {
    /// The position in insertion order, for fingerprints and output.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Elements that are added while a network is built and stay for the run.
#[derive(Clone, Debug)]
pub struct Arena<T>(Vec<T>);

impl<T> Arena<T> {
    /// An empty arena.
    pub const fn new() -> Self {
        Arena(Vec::new())
    }

    /// Adds `element` and names it.
    ///
    /// # Panics
    /// After 2³² elements.
    pub fn insert(&mut self, element: T) -> Id<T> {
        let index = u32::try_from(self.0.len()).expect("a network has fewer than 2^32 elements");
        self.0.push(element);
        Id(index, PhantomData)
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All elements with their ids, in insertion order.
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

// By hand: derived impls would ask the same of `T`, which an id does not hold.

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
