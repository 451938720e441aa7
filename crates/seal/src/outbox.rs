//! Datagrams and events that a seal has yet to deliver.

use std::collections::VecDeque;

use strandcast_proto::association::Transmit;
use strandcast_proto::path::FourTuple;
use strandcast_proto::seeds::Random;

use crate::event::SealEvent;
use crate::stats::SealStats;

/// Maximum number of datagrams that wait to be sent. Further datagrams are dropped.
const MOST_DATAGRAMS: usize = 512;
/// Queues of datagrams and events, and the counters of a seal.
#[derive(Debug)]
pub(crate) struct Outbox {
    datagrams: VecDeque<(FourTuple, Vec<u8>)>,
    events: VecDeque<SealEvent>,
    pub stats: SealStats,
    /// Source of randomness for nonces.
    pub random: Random,
}

impl Outbox {
    pub fn new(random: Random) -> Self {
        let (datagrams, events) = (VecDeque::new(), VecDeque::new());
        Outbox { datagrams, events, stats: SealStats::default(), random }
    }

    /// Queues a datagram to be sent.
    pub fn send(&mut self, tuple: FourTuple, datagram: Vec<u8>) {
        if self.datagrams.len() < MOST_DATAGRAMS {
            self.datagrams.push_back((tuple, datagram));
        } else {
            self.stats.crowded += 1;
        }
    }

    /// Appends the next queued datagram to `buf`.
    pub fn pop(&mut self, buf: &mut Vec<u8>) -> Option<Transmit> {
        let (tuple, datagram) = self.datagrams.pop_front()?;
        buf.extend_from_slice(&datagram);
        Some(Transmit { tuple, len: datagram.len(), segment_size: datagram.len(), fragment: false })
    }

    /// Adds an event to the queue. The owner of the seal reads the events after each call.
    pub fn report(&mut self, event: SealEvent) {
        self.events.push_back(event);
    }

    /// Returns the next event.
    pub fn event(&mut self) -> Option<SealEvent> {
        self.events.pop_front()
    }
}
