//! The sources that one repair symbol covers.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::{Source, repair_bytes};
use crate::coding::covered::LENGTH;
use crate::time::{Duration, Instant};

/// Sources in a row, and what is known of them.
#[derive(Debug)]
pub(super) struct Group {
    /// The number of the block; 0 for a window.
    pub block: u32,
    /// The number of the first source.
    pub first: u32,
    /// Sources.
    pub count: u16,
    /// Of these, those that neither arrived nor were given up.
    pub open: u16,
    /// Of these, those that can't be sent again in time if they are lost.
    pub exposed: u16,
    /// One of them was declared lost.
    pub lost: bool,
    /// Bytes of repair symbols that exposed sources want.
    wants: u64,
    /// Open sources by path slot.
    pub on: SmallVec<[u32; 4]>,
    /// When the first source left.
    begun: Instant,
    /// When the first and the last source are worthless.
    pub first_expires: Instant,
    pub last_expires: Instant,
    /// Covered bytes of the longest source, and how many are as long.
    longest: (u16, u16),
    /// No source joins it.
    pub closed: bool,
    /// Of a closed block: `budget` was set.
    pub budgeted: bool,
    /// Of a closed block: repair symbols that were saved for when it was closed, less those sent.
    pub budget: u64,
    /// The code has no further repair symbol.
    pub spent: bool,
}

impl Group {
    pub fn new(block: u32, first: u32) -> Self {
        Group {
            block,
            first,
            count: 0,
            open: 0,
            exposed: 0,
            lost: false,
            wants: 0,
            on: SmallVec::new(),
            begun: Instant::ZERO,
            first_expires: Instant::MAX,
            last_expires: Instant::ZERO,
            longest: (0, 0),
            closed: false,
            budgeted: false,
            budget: 0,
            spent: false,
        }
    }

    pub fn push(&mut self, source: &Source) {
        if self.count == 0 {
            (self.begun, self.first_expires) = (source.sent, source.expires);
        }
        self.last_expires = self.last_expires.max(source.expires);
        self.count += 1;
        self.open += 1;
        let path = source.path.index();
        if self.on.len() <= path {
            self.on.resize(path + 1, 0);
        }
        self.on[path] += 1;
        match source.len.cmp(&self.longest.0) {
            core::cmp::Ordering::Greater => self.longest = (source.len, 1),
            core::cmp::Ordering::Equal => self.longest.1 += 1,
            core::cmp::Ordering::Less => {}
        }
    }

    /// An open source is no longer missing; `source` is as it was.
    pub fn settle(&mut self, source: &Source) {
        self.open -= 1;
        self.on[source.path.index()] -= 1;
        if source.exposed {
            self.exposed -= 1;
            self.bound_wants();
        }
    }

    /// The window slides over its first source; `rest` are those behind it.
    pub fn drop_first(&mut self, source: &Source, rest: &VecDeque<Source>) {
        if source.open {
            self.settle(source);
        }
        self.first = self.first.wrapping_add(1);
        self.count -= 1;
        if let Some(next) = rest.front() {
            (self.begun, self.first_expires) = (next.sent, next.expires);
        }
        if source.len == self.longest.0 {
            self.longest.1 -= 1;
            if self.longest.1 == 0 {
                let longest = rest.iter().map(|s| s.len).max().unwrap_or(0);
                let as_long = rest.iter().filter(|s| s.len == longest).count();
                self.longest = (longest, as_long as u16);
            }
        }
    }

    /// An exposed source wants this share of a repair symbol.
    pub fn want(&mut self, share: f64) {
        self.wants += (self.cost() as f64 * share) as u64;
        self.bound_wants();
    }

    /// Whether exposed sources want a repair symbol.
    pub fn wants_one(&self) -> bool {
        self.exposed > 0 && self.wants >= self.cost()
    }

    /// A repair symbol leaves.
    pub fn repaired(&mut self) {
        self.wants = self.wants.saturating_sub(self.cost());
        self.budget = self.budget.saturating_sub(1);
        self.bound_wants();
    }

    /// No source wants more than a repair symbol.
    fn bound_wants(&mut self) {
        self.wants = self.wants.min(u64::from(self.exposed) * self.cost());
        self.lost &= self.wants > 0;
    }

    /// Bytes of a repair symbol, as wants are counted.
    fn cost(&self) -> u64 {
        repair_bytes(LENGTH + self.longest()) as u64
    }

    /// Covered bytes of the longest source.
    pub fn longest(&self) -> usize {
        self.longest.0.into()
    }

    /// When a block that is being filled is closed at the latest, if the way to the peer takes `way`: three quarters of the time
    /// in which its first source can be repaired.
    pub fn close_at(&self, way: Duration) -> Instant {
        let useful = self.first_expires.saturating_since(self.begun).saturating_sub(way);
        self.begun + useful * 3 / 4
    }
}
