//! Identifiers of paths and links.

/// Identifier of a path within one association: the index of its slot. The identifier does not change while the path is
/// open. An identifier is reused after the path is closed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathId(pub u8);

impl PathId {
    /// Returns the position of the path in [`View::paths`](super::View::paths).
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A small set of paths.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct PathSet(u32);

impl PathSet {
    /// The set of all paths.
    pub(crate) const ALL: PathSet = PathSet(u32::MAX);

    /// Returns the set that contains one path.
    #[inline]
    pub fn one(path: PathId) -> Self {
        PathSet(1 << path.0)
    }

    /// Returns the paths of the set with ids below `slots`, lowest id first.
    #[inline]
    pub(crate) fn up_to(self, slots: usize) -> impl Iterator<Item = PathId> {
        let below = if slots < 32 { (1 << slots) - 1 } else { u32::MAX };
        PathSet(self.0 & below).iter()
    }

    /// Adds `path` to the set.
    #[inline]
    pub fn insert(&mut self, path: PathId) {
        self.0 |= 1 << path.0;
    }

    /// Removes `path` from the set.
    pub fn remove(&mut self, path: PathId) {
        self.0 &= !(1 << path.0);
    }

    /// Returns whether `path` is in the set.
    #[inline]
    pub fn contains(self, path: PathId) -> bool {
        self.0 & (1 << path.0) != 0
    }

    /// Returns the number of paths in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the paths of the set, lowest id first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = PathId> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let lowest = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            Some(PathId(lowest as u8))
        })
    }
}

impl FromIterator<PathId> for PathSet {
    fn from_iter<I: IntoIterator<Item = PathId>>(iter: I) -> Self {
        let mut set = PathSet::default();
        for p in iter {
            set.insert(p);
        }
        set
    }
}

/// Identifier of a link (interface), assigned by the driver. Several paths may use one link.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LinkId(pub u32);
