//! An entry of AODV's routing table (RFC 3561 §2).

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::search::{INFINITE_HOPS, Search};
use crate::sequence::{ended, newer};

/// State of an AODV route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The route is unusable.
    Down,
    /// The route is usable.
    Up,
    /// The next hop was lost, and the node searches for another one.
    InRepair,
}

/// A route to one destination.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub state: State,
    /// Sequence number of the destination; 0 if it is unknown.
    pub sequence: u32,
    /// Length of the route in hops. The length is infinite while the route is down.
    pub hops: u8,
    pub next_hop: Address,
    pub expires: Instant,
    /// Neighbours whose routes to the destination lead through this node.
    pub precursors: Vec<Address>,
    pub search: Search,
}

impl Entry {
    /// Returns an entry for a destination without a route.
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

    /// Returns whether a route with `sequence` over `hops` hops replaces this route (RFC 3561 §6.2). The new route must
    /// be newer, or equally new and shorter. Routes are free of loops, because each next hop has a newer or a shorter
    /// route.
    pub fn improved_by(&self, sequence: u32, hops: u8) -> bool {
        newer(sequence, self.sequence) || (sequence == self.sequence && hops < self.hops)
    }

    /// Replaces the route.
    pub fn update(&mut self, sequence: u32, hops: u8, next_hop: Address, expires: Instant) {
        self.state = State::Up;
        self.sequence = sequence;
        self.hops = hops;
        self.next_hop = next_hop;
        self.expires = expires;
    }

    /// Marks the route as unusable.
    pub fn down(&mut self) {
        if self.state != State::Down {
            self.search.remember(self.hops);
            self.state = State::Down;
            self.hops = INFINITE_HOPS;
            self.expires = Instant::ZERO;
        }
    }

    /// Marks the route as unusable, and makes any later route count as newer.
    pub fn end(&mut self) {
        self.sequence = ended(self.sequence);
        self.down();
    }

    /// Returns whether data can be sent on the route.
    pub fn usable(&self) -> bool {
        self.state == State::Up
    }

    /// Returns whether the route has a finite length. A route in repair has one.
    pub fn finite(&self) -> bool {
        self.hops != INFINITE_HOPS
    }

    pub fn add_precursor(&mut self, neighbour: Address) {
        if !self.precursors.contains(&neighbour) {
            self.precursors.push(neighbour);
        }
    }
}
