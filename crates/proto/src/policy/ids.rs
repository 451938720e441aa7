//! Names of paths and links.

/// A path of one association: the index of its slot. It does not change while the path is open, and is reused after the
/// path is closed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathId(pub u8);

impl PathId {
    /// Position in [`View::paths`](super::View::paths).
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A small set of paths.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct PathSet(u32);

impl PathSet {
    /// Every path.
    pub(crate) const ALL: PathSet = PathSet(u32::MAX);

    /// The set of one path.
    #[inline]
    pub fn one(path: PathId) -> Self {
        PathSet(1 << path.0)
    }

    /// Returns the paths with ids below `slots`, lowest id first.
    #[inline]
    pub(crate) fn up_to(self, slots: usize) -> impl Iterator<Item = PathId> {
        let below = if slots < 32 { (1 << slots) - 1 } else { u32::MAX };
        PathSet(self.0 & below).iter()
    }

    /// Adds `path`.
    #[inline]
    pub fn insert(&mut self, path: PathId) {
        self.0 |= 1 << path.0;
    }

    /// Removes `path`.
    pub fn remove(&mut self, path: PathId) {
        self.0 &= !(1 << path.0);
    }

    /// Returns whether `path` is in the set.
    #[inline]
    pub fn contains(self, path: PathId) -> bool {
        self.0 & (1 << path.0) != 0
    }

    /// Number of paths.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether no path is in the set.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The paths, lowest id first.
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

/// A link (interface) as the driver numbers it. Several paths may share one.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LinkId(pub u32);
