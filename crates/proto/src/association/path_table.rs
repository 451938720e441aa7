//! Table of an association's paths, by slot. Each path has the state that the core keeps and the view that policies
//! receive.

use core::ops::{Index, IndexMut};

use crate::path::Path;
use crate::policy::{PathId, PathSet, PathState, PathView, PathViews};

/// All slots of paths, including the slots of closed paths. Each slot has both a path and a view.
#[derive(Debug, Default)]
pub(super) struct PathTable {
    slots: Vec<Path>,
    views: PathViews,
    revision: u32,
}

impl PathTable {
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Number that changes whenever a path changes its state. A decision made before the change may no longer be valid.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Records that a path changed its state.
    pub fn touch(&mut self) {
        self.revision = self.revision.wrapping_add(1);
    }

    /// Returns the slot of a closed path, or the next new slot.
    pub fn free_slot(&self) -> PathId {
        let closed = self.views().iter().position(|v| v.state == PathState::Closed);
        PathId(closed.unwrap_or(self.slots.len()) as u8)
    }

    /// Puts a path into a free slot.
    pub fn put(&mut self, path: Path, view: PathView) {
        let i = view.id.index();
        if i == self.slots.len() {
            // Most associations keep their initial paths. Growth would reserve four slots.
            self.slots.reserve_exact(1);
            self.slots.push(path);
        } else {
            self.slots[i] = path;
        }
        self.views.put(view);
    }

    pub fn get(&self, i: usize) -> Option<&Path> {
        self.slots.get(i)
    }

    pub fn get_mut(&mut self, i: usize) -> Option<&mut Path> {
        self.slots.get_mut(i)
    }

    pub fn iter(&self) -> core::slice::Iter<'_, Path> {
        self.slots.iter()
    }

    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, Path> {
        self.slots.iter_mut()
    }

    /// Returns the path and the view of each slot.
    pub fn rows(&self) -> impl Iterator<Item = (&Path, &PathView)> + Clone {
        self.slots.iter().zip(self.views.paths())
    }

    pub fn rows_mut(&mut self) -> impl Iterator<Item = (&mut Path, &mut PathView)> {
        self.slots.iter_mut().zip(self.views.paths_mut())
    }

    /// Returns the path and the view of a slot.
    pub fn row_mut(&mut self, i: usize) -> (&mut Path, &mut PathView) {
        (&mut self.slots[i], &mut self.views.paths_mut()[i])
    }

    /// Returns the path of slot `i`, and the views of all slots.
    pub fn split(&mut self, i: usize) -> (&mut Path, &mut PathViews) {
        (&mut self.slots[i], &mut self.views)
    }

    pub fn views(&self) -> &[PathView] {
        self.views.paths()
    }

    pub fn view(&self, i: usize) -> &PathView {
        &self.views.paths()[i]
    }

    pub fn view_mut(&mut self, i: usize) -> &mut PathView {
        &mut self.views.paths_mut()[i]
    }

    /// Returns the views for policies.
    pub fn seen(&self) -> &PathViews {
        &self.views
    }

    pub fn seen_mut(&mut self) -> &mut PathViews {
        &mut self.views
    }

    pub fn is_open(&self, path: PathId) -> bool {
        self.views().get(path.index()).is_some_and(|v| v.state != PathState::Closed)
    }

    /// See [`crate::policy::View::usable`].
    pub fn usable(&self) -> PathSet {
        self.views.usable()
    }
}

impl Index<usize> for PathTable {
    type Output = Path;
    fn index(&self, i: usize) -> &Path {
        &self.slots[i]
    }
}

impl IndexMut<usize> for PathTable {
    fn index_mut(&mut self, i: usize) -> &mut Path {
        &mut self.slots[i]
    }
}
