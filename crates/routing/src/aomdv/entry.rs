//! An entry of AOMDV's routing table: a list of disjoint paths under one sequence number (Marina and Das 2001).

use strandcast_proto::time::Instant;

use super::config::{Disjoint, MultipathConfig};
use super::path::Path;
use crate::address::Address;
use crate::qaomdv::{improves, replaceable};
use crate::search::{INFINITE_HOPS, Search};
use crate::sequence::{ended, newer, newest};

/// The paths to one destination.
#[derive(Clone, Debug)]
pub struct Entry {
    /// True if the entry has a path.
    pub up: bool,
    /// Sequence number of the destination; 0 if unknown.
    pub sequence: u32,
    /// Length announced to others under this sequence number. It is the length of the longest path at the first
    /// announcement, and infinite before.
    pub advertised: u8,
    pub paths: Vec<Path>,
    /// Newest number in an error about a lost path.
    pub highest_received: u32,
    /// True if another node's route to the destination uses this node. Such a node must be notified when the last path
    /// ends.
    pub report: bool,
    /// State of the split `even`: path of the last datagram.
    pub turn: bool,
    /// Time of the last search or measurement of the paths.
    pub measured: Instant,
    pub search: Search,
}

/// Result of offering a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The path was added at this index.
    Taken(usize),
    /// The path shares its next hop or its last hop with another.
    Overlapping,
    /// The path has too many hops more than the shortest path.
    TooLong,
    /// The list is full.
    Full,
    /// The path is older than the entry, or not shorter than the announced length.
    Old,
}

impl Entry {
    /// An entry for an unknown destination.
    pub fn new() -> Self {
        Entry {
            up: false,
            sequence: 0,
            advertised: INFINITE_HOPS,
            paths: Vec::new(),
            highest_received: 0,
            report: false,
            turn: false,
            measured: Instant::ZERO,
            search: Search::new(false),
        }
    }

    /// Adds a path that a neighbour announced with `announced` hops, if the rules allow it.
    ///
    /// Two rules prevent loops: all paths of an entry have the same sequence number, and a path is accepted only from a
    /// neighbour that announced fewer hops than this node announced under that number. No other property of a path may
    /// override these rules.
    pub fn offer(&mut self, now: Instant, sequence: u32, announced: u8, path: Path, rules: &Rules) -> Offer {
        if newer(sequence, self.sequence) {
            self.sequence = sequence;
            self.advertised = INFINITE_HOPS;
            self.paths.clear();
            self.up = true;
            self.measured = now;
            return self.insert(path);
        }
        if sequence != self.sequence || !self.up || self.advertised <= announced {
            return Offer::Old;
        }
        let same = |known: &Path| known.next_hop == path.next_hop && known.last_hop == path.last_hop;
        if let Some(at) = self.paths.iter().position(same) {
            self.paths[at].expires = self.paths[at].expires.max(path.expires);
            return Offer::Taken(at);
        }
        if self.paths.len() >= rules.paths && rules.replace {
            let Some(at) = replaceable(&self.paths, &path) else { return self.refusal(&path) };
            self.paths.remove(at);
            return self.insert(path);
        }
        if self.paths.iter().any(|known| known.overlaps(&path)) {
            return Offer::Overlapping;
        }
        if path.hops.saturating_sub(self.shortest()) > rules.difference {
            return Offer::TooLong;
        }
        if self.paths.len() >= rules.paths {
            return Offer::Full;
        }
        if rules.better && !improves(&self.paths, &path) {
            return Offer::Full;
        }
        self.insert(path)
    }

    fn refusal(&self, path: &Path) -> Offer {
        if self.paths.iter().any(|known| known.overlaps(path)) { Offer::Overlapping } else { Offer::Full }
    }

    fn insert(&mut self, path: Path) -> Offer {
        self.paths.push(path);
        self.search.remember(self.longest());
        Offer::Taken(self.paths.len() - 1)
    }

    /// Hops of the shortest path.
    pub fn shortest(&self) -> u8 {
        self.paths.iter().map(|path| path.hops).min().unwrap_or(INFINITE_HOPS)
    }

    /// Hops of the longest path.
    pub fn longest(&self) -> u8 {
        self.paths.iter().map(|path| path.hops).max().unwrap_or(INFINITE_HOPS)
    }

    /// Returns the length to announce, which is fixed at the first call.
    pub fn advertise(&mut self) -> u8 {
        if self.advertised == INFINITE_HOPS {
            self.advertised = self.longest();
        }
        self.advertised
    }

    /// Removes the path over `neighbour`. Returns whether it existed.
    pub fn remove(&mut self, neighbour: Address) -> bool {
        let before = self.paths.len();
        self.paths.retain(|path| path.next_hop != neighbour);
        self.paths.len() < before
    }

    /// Ends the entry after its last path: any later path counts as newer.
    pub fn end(&mut self) {
        self.sequence = newest(ended(self.sequence), self.highest_received) | 1;
        self.up = false;
        self.advertised = INFINITE_HOPS;
        self.paths.clear();
    }

    /// Index of the path with this last hop.
    pub fn with_last_hop(&self, last_hop: Address) -> Option<usize> {
        self.paths.iter().position(|path| path.last_hop == last_hop)
    }
}

/// Selection of the paths that are kept.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub disjoint: Disjoint,
    pub paths: usize,
    pub difference: u8,
    /// QAOMDV: true if a better path may replace another.
    pub replace: bool,
    /// QAOMDV: true if a path that is neither wider nor faster than all others is refused.
    pub better: bool,
}

impl Rules {
    /// The rules of a configuration.
    pub fn new(config: &MultipathConfig, replace: bool, better: bool) -> Self {
        let difference = u8::try_from(config.difference).unwrap_or(u8::MAX);
        Rules { disjoint: config.disjoint, paths: config.paths, difference, replace, better }
    }
}
