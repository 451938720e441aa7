//! When HELLO messages are sent, and which neighbours were heard (RFC 3561 §6.9).

use core::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use crate::address::Address;

/// HELLO_INTERVAL. Each pause is between 0.75 and 1.25 of it.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long a neighbour counts after its first HELLO: ALLOWED_HELLO_LOSS intervals.
const NEW_NEIGHBOUR: Duration = Duration::from_secs(3);
/// How long it counts after a later one.
const NEIGHBOUR: Duration = Duration::from_millis(4500);
/// Who is there.
#[derive(Clone, Debug)]
pub struct Hellos {
    random: Random,
    next_send: Instant,
    next_check: Instant,
    neighbours: Vec<(Address, Instant)>,
}

impl Hellos {
    /// With the node's `seeds`.
    pub fn new(seeds: &Seeds) -> Self {
        let (next_send, next_check) = (Instant::ZERO, Instant::ZERO);
        Hellos { random: seeds.stream("hello"), next_send, next_check, neighbours: Vec::new() }
    }

    /// When it is to be called.
    pub fn next(&self) -> Instant {
        self.next_send.min(self.next_check)
    }

    /// Whether it is time for a HELLO.
    pub fn due(&mut self, now: Instant) -> bool {
        let due = self.next_send <= now;
        if due {
            self.next_send = now + INTERVAL.mul_f64(self.random.uniform(0.75, 1.25));
        }
        due
    }

    /// A HELLO came.
    pub fn on_received(&mut self, now: Instant, from: Address) {
        match self.neighbours.iter_mut().find(|(neighbour, _)| *neighbour == from) {
            Some((_, until)) => *until = now + NEIGHBOUR,
            None => self.neighbours.push((from, now + NEW_NEIGHBOUR)),
        }
    }

    /// Takes out a neighbour that was silent for too long, when it is time to look.
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
