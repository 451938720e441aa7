//! Random delay of packets in the sending host.

use core::time::Duration;
use std::collections::VecDeque;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use super::Packet;

/// Delay of each packet by U(0, `most`), without reordering. Without this delay, a deterministic simulator locks the
/// phases of drop-tail queues: packets of one flow always find the queue full (S. Floyd, V. Jacobson, "On traffic phase
/// effects in packet-switched gateways", 1992).
#[derive(Debug)]
pub(super) struct Nic {
    most: Duration,
    random: Random,
    last: Instant,
    held: VecDeque<(Instant, Box<Packet>)>,
}

impl Nic {
    pub fn new(most: Duration, random: Random) -> Self {
        Nic { most, random, last: Instant::ZERO, held: VecDeque::new() }
    }

    /// Adds a packet. Returns its departure time if no other packet waits.
    pub fn hold(&mut self, now: Instant, packet: Box<Packet>) -> Option<Instant> {
        let wait = Duration::from_nanos(self.random.below(self.most.as_nanos() as u64 + 1));
        self.last = self.last.max(now + wait);
        self.held.push_back((self.last, packet));
        (self.held.len() == 1).then_some(self.last)
    }

    /// Removes and returns the next packet that leaves until `now`.
    pub fn release(&mut self, now: Instant) -> Option<Box<Packet>> {
        self.held.pop_front_if(|(at, _)| *at <= now).map(|(_, packet)| packet)
    }

    /// Returns the departure time of the next packet.
    pub fn next(&self) -> Option<Instant> {
        self.held.front().map(|(at, _)| *at)
    }
}
