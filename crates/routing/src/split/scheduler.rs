//! Scheduler with one queue of originals and one queue of retransmissions. Retransmissions are sent first (Guo, Liu and
//! Lian 2010, §5.1).

use std::collections::VecDeque;

use super::classifier::Classifier;
use crate::datagram::{Class, Datagram};
use crate::node::Body;

/// Capacity of each queue in datagrams.
const CAPACITY: usize = 50;

/// Datagrams that wait at their source for room in the interface queue.
#[derive(Clone, Debug)]
pub struct Scheduler<B> {
    /// True if retransmissions are expedited on each hop.
    expedite: bool,
    classifier: Classifier,
    retransmissions: VecDeque<Datagram<B>>,
    originals: VecDeque<Datagram<B>>,
}

impl<B> Scheduler<B> {
    /// Creates empty queues. `expedite` marks retransmissions for the interface queues of all nodes.
    pub fn new(expedite: bool) -> Self {
        let (retransmissions, originals) = (VecDeque::new(), VecDeque::new());
        Scheduler { expedite, classifier: Classifier::default(), retransmissions, originals }
    }

    /// Returns the next datagram to send.
    pub fn pop(&mut self) -> Option<Datagram<B>> {
        self.retransmissions.pop_front().or_else(|| self.originals.pop_front())
    }

    /// Returns the number of waiting datagrams.
    pub fn len(&self) -> usize {
        self.retransmissions.len() + self.originals.len()
    }
}

impl<B: Body> Scheduler<B> {
    /// Classifies a datagram, and adds it to a queue. If this queue is full, returns the datagram.
    pub fn push(&mut self, mut datagram: Datagram<B>) -> Result<(), Datagram<B>> {
        datagram.class = self.classifier.classify(datagram.body.transmission());
        let queue = match datagram.class {
            Class::Original => &mut self.originals,
            Class::Retransmission => &mut self.retransmissions,
        };
        datagram.expedited = self.expedite && datagram.class == Class::Retransmission;
        if queue.len() >= CAPACITY {
            return Err(datagram);
        }
        queue.push_back(datagram);
        Ok(())
    }
}
