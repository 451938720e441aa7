//! Datagrams that wait for a route.

use core::time::Duration;
use std::collections::VecDeque;

use strandcast_proto::time::Instant;

use crate::address::Address;
use crate::counters::Counters;
use crate::datagram::Datagram;
use crate::output::{DropCause, RoutingOutput};

/// Maximum number of waiting datagrams (ns-2.35).
const CAPACITY: usize = 64;

/// Maximum wait of a datagram (ns-2.35).
const MAX_WAIT: Duration = Duration::from_secs(30);

/// A queue of datagrams that wait for a route. For each destination, it is first in, first out. If the queue is full, a
/// new datagram replaces the oldest one.
#[derive(Clone, Debug)]
pub struct SendBuffer<B> {
    waiting: VecDeque<(Instant, Datagram<B>)>,
}

impl<B> Default for SendBuffer<B> {
    fn default() -> Self {
        SendBuffer { waiting: VecDeque::new() }
    }
}

impl<B> SendBuffer<B> {
    /// Adds `datagram` to the queue. The method drops datagrams that have waited too long, and the oldest datagram of a
    /// full queue.
    pub fn push(
        &mut self,
        now: Instant,
        datagram: Datagram<B>,
        counters: &mut Counters,
        out: &mut RoutingOutput<B>,
    ) {
        self.expire(now, counters, out);
        if self.waiting.len() == CAPACITY
            && let Some((_, oldest)) = self.waiting.pop_front()
        {
            counters.drop(out, oldest, DropCause::SendBuffer);
        }
        self.waiting.push_back((now + MAX_WAIT, datagram));
    }

    /// Drops datagrams that have waited too long.
    pub fn expire(&mut self, now: Instant, counters: &mut Counters, out: &mut RoutingOutput<B>) {
        while let Some((_, late)) = self.waiting.pop_front_if(|(until, _)| *until < now) {
            counters.drop(out, late, DropCause::SendBuffer);
        }
    }

    /// Removes and returns the oldest datagram for `destination`.
    pub fn take(&mut self, destination: Address) -> Option<Datagram<B>> {
        let at = self.waiting.iter().position(|(_, waiting)| waiting.destination == destination)?;
        self.waiting.remove(at).map(|(_, datagram)| datagram)
    }

    /// Returns whether a datagram waits for `destination`.
    pub fn contains(&self, destination: Address) -> bool {
        self.waiting.iter().any(|(_, waiting)| waiting.destination == destination)
    }

    /// Returns the number of waiting datagrams.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(buffer: &mut SendBuffer<u32>, now: Instant, number: u32, out: &mut RoutingOutput<u32>) {
        let datagram = Datagram::new(Address(0), Address(number % 2), 100, number);
        buffer.push(now, datagram, &mut Counters::default(), out);
    }

    #[test]
    fn the_sixty_fifth_pushes_the_oldest_out() {
        let (mut buffer, mut out) = (SendBuffer::default(), RoutingOutput::default());
        (0..64).for_each(|number| push(&mut buffer, Instant::ZERO, number, &mut out));
        assert!(out.drop.is_empty());
        push(&mut buffer, Instant::ZERO, 64, &mut out);
        assert_eq!(
            out.drop.iter().map(|(d, cause)| (d.body, *cause)).collect::<Vec<_>>(),
            [(0, DropCause::SendBuffer)]
        );
        assert_eq!(buffer.len(), 64);
    }

    #[test]
    fn after_thirty_seconds_a_datagram_is_dropped() {
        let (mut buffer, mut out) = (SendBuffer::default(), RoutingOutput::default());
        push(&mut buffer, Instant::from_millis(1), 1, &mut out);
        buffer.expire(Instant::from_millis(30_001), &mut Counters::default(), &mut out);
        assert_eq!((buffer.len(), out.drop.len()), (1, 0));
        buffer.expire(Instant::from_millis(30_002), &mut Counters::default(), &mut out);
        assert_eq!((buffer.len(), out.drop.len()), (0, 1));
    }

    #[test]
    fn each_destination_is_served_in_order() {
        let (mut buffer, mut out) = (SendBuffer::default(), RoutingOutput::default());
        (0..6).for_each(|number| push(&mut buffer, Instant::ZERO, number, &mut out));
        let odd: Vec<u32> = core::iter::from_fn(|| buffer.take(Address(1))).map(|d| d.body).collect();
        assert_eq!(odd, [1, 3, 5]);
        assert!(buffer.contains(Address(0)) && !buffer.contains(Address(1)));
    }
}
