//! Times of HELLO messages, and the neighbours whose HELLOs arrived (RFC 3561 §6.9).

use core::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use crate::address::Address;

/// HELLO_INTERVAL: mean interval between HELLO messages of a node. Each interval is between 0.75 and 1.25 times this
/// value.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time for which a neighbour counts as present after its first HELLO. A neighbour counts as present for
/// ALLOWED_HELLO_LOSS intervals.
const NEW_NEIGHBOUR: Duration = Duration::from_secs(3);
/// Time for which a neighbour counts as present after a later HELLO.
const NEIGHBOUR: Duration = Duration::from_millis(4500);
/// Timer of HELLO messages, and the neighbours that are present.
#[derive(Clone, Debug)]
pub struct Hellos {
    random: Random,
    next_send: Instant,
    next_check: Instant,
    neighbours: Vec<(Address, Instant)>,
}

impl Hellos {
    /// Creates a timer with the node's `seeds`.
    pub fn new(seeds: &Seeds) -> Self {
        let (next_send, next_check) = (Instant::ZERO, Instant::ZERO);
        Hellos { random: seeds.stream("hello"), next_send, next_check, neighbours: Vec::new() }
    }

    /// Returns the time of the next HELLO or check.
    pub fn next(&self) -> Instant {
        self.next_send.min(self.next_check)
    }

    /// Returns whether a HELLO must be sent.
    pub fn due(&mut self, now: Instant) -> bool {
        let due = self.next_send <= now;
        if due {
            self.next_send = now + INTERVAL.mul_f64(self.random.uniform(0.75, 1.25));
        }
        due
    }

    /// Records a HELLO from a neighbour.
    pub fn on_received(&mut self, now: Instant, from: Address) {
        match self.neighbours.iter_mut().find(|(neighbour, _)| *neighbour == from) {
            Some((_, until)) => *until = now + NEIGHBOUR,
            None => self.neighbours.push((from, now + NEW_NEIGHBOUR)),
        }
    }

    /// Removes and returns a neighbour that was silent for too long. The method does so only when a check is due.
    pub fn silent(&mut self, now: Instant) -> Option<Address> {
        if self.next_check > now {
            return None;
        }
        let at = self.neighbours.iter().position(|(_, until)| *until <= now);
        if at.is_none() {
            self.next_check = now + INTERVAL;
        }
        at.map(|at| self.neighbours.remove(at).0)
    }
}
