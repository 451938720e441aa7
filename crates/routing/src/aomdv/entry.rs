//! An entry of AOMDV's routing table: a list of disjoint paths under one sequence number (Marina and Das 2001).

use strandcast_proto::time::Instant;

use super::config::{Disjoint, MultipathConfig};
use super::path::Path;
use crate::address::Address;
use crate::qaomdv::replaceable;
use crate::search::{INFINITE_HOPS, Search};
use crate::sequence::{ended, newer, newest};

/// The paths to one destination.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Whether there is a path.
    pub up: bool,
    /// The destination's; 0 if none is known.
    pub sequence: u32,
    /// The length that was announced to others under this number: that of the longest path at that time; infinite before.
    pub advertised: u8,
    pub paths: Vec<Path>,
    /// The newest number in an error about a path that is gone.
    pub highest_received: u32,
    /// Whether somebody uses this node on the way to the destination, and wants to know when it ends.
    pub report: bool,
    /// The split `even`: which of the two paths had the last datagram.
    pub turn: bool,
    /// When the paths were found or searched last.
    pub measured: Instant,
    pub search: Search,
}

/// The outcome of an offered path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It is in the list, here.
    Taken(usize),
    /// It shares its next hop or its last hop with another.
    Overlapping,
    /// It is too much longer than the shortest.
    TooLong,
    /// There is no room for it.
    Full,
    /// It is older, or as long as what is announced.
    Old,
}

impl Entry {
    /// Of a destination of which nothing is known.
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

    /// Takes a path that a neighbour announced with `announced` hops, or doesn't.
    ///
    /// Loops can't arise because of two rules: all paths of an entry have one sequence number, and one is taken only from a
    /// neighbour that announced less than this node did under that number. No other property of the path may override them.
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

    /// The length to announce. It stands from the first time on.
    pub fn advertise(&mut self) -> u8 {
        if self.advertised == INFINITE_HOPS {
            self.advertised = self.longest();
        }
        self.advertised
    }

    /// Takes out the path over `neighbour`; whether there was one.
    pub fn remove(&mut self, neighbour: Address) -> bool {
        let before = self.paths.len();
        self.paths.retain(|path| path.next_hop != neighbour);
        self.paths.len() < before
    }

    /// The last path is gone: any later one counts as newer.
    pub fn end(&mut self) {
        self.sequence = newest(ended(self.sequence), self.highest_received) | 1;
        self.up = false;
        self.advertised = INFINITE_HOPS;
        self.paths.clear();
    }

    /// The path with this last hop.
    pub fn with_last_hop(&self, last_hop: Address) -> Option<usize> {
        self.paths.iter().position(|path| path.last_hop == last_hop)
    }
}

/// Which paths are kept.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub disjoint: Disjoint,
    pub paths: usize,
    pub difference: u8,
    /// QAOMDV: a better path may take the place of another.
    pub replace: bool,
}

impl Rules {
    /// Those of a configuration.
    pub fn new(config: &MultipathConfig, replace: bool) -> Self {
        let difference = u8::try_from(config.difference).unwrap_or(u8::MAX);
        Rules { disjoint: config.disjoint, paths: config.paths, difference, replace }
    }
}
