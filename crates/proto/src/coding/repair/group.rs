//! The source symbols that one repair symbol covers.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::{Source, repair_bytes};
use crate::coding::covered::LENGTH;
use crate::time::{Duration, Instant};

/// Consecutive source symbols, and their state.
#[derive(Debug)]
pub(super) struct Group {
    /// Number of the block; 0 for a window.
    pub block: u32,
    /// Number of the first source symbol.
    pub first: u32,
    /// Number of source symbols.
    pub count: u16,
    /// Number of source symbols that have neither arrived nor been given up.
    pub open: u16,
    /// Number of source symbols that cannot be retransmitted in time if they are lost.
    pub exposed: u16,
    /// True if a source symbol of the group was declared lost.
    pub lost: bool,
    /// Bytes of repair symbols that exposed sources claim.
    wants: u64,
    /// Number of open sources by path slot.
    pub on: SmallVec<[u32; 4]>,
    /// Time at which the first source symbol was sent.
    begun: Instant,
    /// Time at which the first source symbol becomes useless; `last_expires` is the time of the last one.
    pub first_expires: Instant,
    pub last_expires: Instant,
    /// Covered bytes of the longest source symbol, and the number of source symbols with this length.
    longest: (u16, u16),
    /// True if the group takes no further source symbols.
    pub closed: bool,
    /// True if the block is closed and its `budget` is set.
    pub budgeted: bool,
    /// Number of repair symbols that were saved when the block was closed, minus those sent since.
    pub budget: u64,
    /// True if the code can create no further repair symbol.
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

    /// Records that an open source symbol is no longer missing. `source` has the state before this change.
    pub fn settle(&mut self, source: &Source) {
        self.open -= 1;
        self.on[source.path.index()] -= 1;
        if source.exposed {
            self.exposed -= 1;
            self.bound_wants();
        }
    }

    /// Removes the first source symbol from the window. `rest` are the source symbols after the removed one.
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

    /// Adds the claim of an exposed source symbol to the part `share` of a repair symbol.
    pub fn want(&mut self, share: f64) {
        self.wants += (self.cost() as f64 * share) as u64;
        self.bound_wants();
    }

    /// Returns whether the claims of exposed source symbols amount to a repair symbol.
    pub fn wants_one(&self) -> bool {
        self.exposed > 0 && self.wants >= self.cost()
    }

    /// Records that a repair symbol of the group is sent.
    pub fn repaired(&mut self) {
        self.wants = self.wants.saturating_sub(self.cost());
        self.budget = self.budget.saturating_sub(1);
        self.bound_wants();
    }

    /// Limits the claims to one repair symbol per source symbol.
    fn bound_wants(&mut self) {
        self.wants = self.wants.min(u64::from(self.exposed) * self.cost());
        self.lost &= self.wants > 0;
    }

    /// Returns the bytes of claims that amount to one repair symbol.
    fn cost(&self) -> u64 {
        repair_bytes(LENGTH + self.longest()) as u64
    }

    /// Returns the covered bytes of the longest source symbol.
    pub fn longest(&self) -> usize {
        self.longest.0.into()
    }

    /// Returns the latest time at which a block that is being filled is closed. The latest time is after three quarters
    /// of the time in which the block's first source symbol can be repaired. `way` is the transit time of a packet to
    /// the peer.
    pub fn close_at(&self, way: Duration) -> Instant {
        let useful = self.first_expires.saturating_since(self.begun).saturating_sub(way);
        self.begun + useful * 3 / 4
    }
}
