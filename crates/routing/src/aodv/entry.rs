//! An entry of AODV's routing table (RFC 3561 §2).

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::search::{INFINITE_HOPS, Search};
use crate::sequence::{ended, newer};

/// Whether a route can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can't.
    Down,
    /// It can.
    Up,
    /// Its next hop is lost, and another is being searched.
    InRepair,
}

/// A route to one destination.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub state: State,
    /// The destination's; 0 if none is known.
    pub sequence: u32,
    /// Infinite while the route is down.
    pub hops: u8,
    pub next_hop: Address,
    pub expires: Instant,
    /// Neighbours that use this node on their way to the destination.
    pub precursors: Vec<Address>,
    pub search: Search,
}

impl Entry {
    /// Of a destination of which nothing is known.
    pub fn new(ring: bool) -> Self {
        Entry {
            state: State::Down,
            sequence: 0,
            hops: INFINITE_HOPS,
            next_hop: Address(0),
            expires: Instant::ZERO,
            precursors: Vec::new(),
            search: Search::new(ring),
        }
    }

    /// Whether a route with `sequence` over `hops` replaces this one (RFC 3561 §6.2): it is newer, or as new and shorter. That
    /// next hops are always newer or nearer is what keeps routes free of loops.
    pub fn improved_by(&self, sequence: u32, hops: u8) -> bool {
        newer(sequence, self.sequence) || (sequence == self.sequence && hops < self.hops)
    }

    /// Takes a route.
    pub fn update(&mut self, sequence: u32, hops: u8, next_hop: Address, expires: Instant) {
        self.state = State::Up;
        self.sequence = sequence;
        self.hops = hops;
        self.next_hop = next_hop;
        self.expires = expires;
    }

    /// The route can't be used any more.
    pub fn down(&mut self) {
        if self.state != State::Down {
            self.search.remember(self.hops);
            self.state = State::Down;
            self.hops = INFINITE_HOPS;
            self.expires = Instant::ZERO;
        }
    }

    /// The same, and any later route counts as newer.
    pub fn end(&mut self) {
        self.sequence = ended(self.sequence);
        self.down();
    }

    /// Whether data can be sent over it.
    pub fn usable(&self) -> bool {
        self.state == State::Up
    }

    /// A route with a length, also one in repair.
    pub fn finite(&self) -> bool {
        self.hops != INFINITE_HOPS
    }

    pub fn add_precursor(&mut self, neighbour: Address) {
        if !self.precursors.contains(&neighbour) {
            self.precursors.push(neighbour);
        }
    }
}
