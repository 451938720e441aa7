//! An entry of AOMDV's routing table: a list of disjoint paths with one sequence number (Marina and Das 2001).

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
    /// True if the entry has at least one path.
    pub up: bool,
    /// Sequence number of the destination; 0 if it is unknown.
    pub sequence: u32,
    /// Length in hops that is announced to other nodes under this sequence number. The announced length is the length
    /// of the longest path at the first announcement. Before that announcement it is infinite.
    pub advertised: u8,
    pub paths: Vec<Path>,
    /// Newest sequence number in a route error about a lost path.
    pub highest_received: u32,
    /// True if the route of another node to the destination leads through this node. That node must be notified when
    /// the last path of the entry ends.
    pub report: bool,
    /// State of the split `even`: which path the last datagram took.
    pub turn: bool,
    /// Time at which the paths were last searched or measured.
    pub measured: Instant,
    pub search: Search,
}

/// Result of offering a path to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The path was added at this index.
    Taken(usize),
    /// The path has the same next hop or the same last hop as another path of the entry.
    Overlapping,
    /// The path has too many more hops than the shortest path.
    TooLong,
    /// The list of paths is full.
    Full,
    /// The path is older than the entry, or is not shorter than the announced length.
    Old,
}

impl Entry {
    /// Returns an entry for a destination without a path.
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

    /// Adds a path that a neighbour announced with `announced` hops, if the rules permit it.
    ///
    /// Two rules prevent loops. All paths of an entry have the same sequence number. A path is accepted only from a
    /// neighbour that announced fewer hops than this node announced under that number. These rules take precedence over
    /// all other properties of a path.
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

    /// Returns the number of hops of the shortest path.
    pub fn shortest(&self) -> u8 {
        self.paths.iter().map(|path| path.hops).min().unwrap_or(INFINITE_HOPS)
    }

    /// Returns the number of hops of the longest path.
    pub fn longest(&self) -> u8 {
        self.paths.iter().map(|path| path.hops).max().unwrap_or(INFINITE_HOPS)
    }

    /// Returns the length to announce. The first call fixes it.
    pub fn advertise(&mut self) -> u8 {
        if self.advertised == INFINITE_HOPS {
            self.advertised = self.longest();
        }
        self.advertised
    }

    /// Removes the path whose next hop is `neighbour`. Returns whether there was such a path.
    pub fn remove(&mut self, neighbour: Address) -> bool {
        let before = self.paths.len();
        self.paths.retain(|path| path.next_hop != neighbour);
        self.paths.len() < before
    }

    /// Ends the entry after its last path was removed. Any later path then counts as newer.
    pub fn end(&mut self) {
        self.sequence = newest(ended(self.sequence), self.highest_received) | 1;
        self.up = false;
        self.advertised = INFINITE_HOPS;
        self.paths.clear();
    }

    /// Returns the index of the path with this last hop.
    pub fn with_last_hop(&self, last_hop: Address) -> Option<usize> {
        self.paths.iter().position(|path| path.last_hop == last_hop)
    }
}

/// Rules for the paths that an entry keeps.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub disjoint: Disjoint,
    pub paths: usize,
    pub difference: u8,
    /// QAOMDV: true if a better path may replace another path.
    pub replace: bool,
    /// QAOMDV: true if a path that is neither wider nor faster than all other paths is refused.
    pub better: bool,
}

impl Rules {
    /// Returns the rules of a configuration.
    pub fn new(config: &MultipathConfig, replace: bool, better: bool) -> Self {
        let difference = u8::try_from(config.difference).unwrap_or(u8::MAX);
        Rules { disjoint: config.disjoint, paths: config.paths, difference, replace, better }
    }
}
