//! Packets that wait in a queue.

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

/// Function that receives each packet that a queue drops.
pub(super) type Dropped<'a, P> = &'a mut dyn FnMut(Queued<P>);

/// A packet that waits in a queue.
#[derive(Debug)]
pub(super) struct Queued<P> {
    pub packet: P,
    pub len: usize,
    /// Time at which the packet arrived at the queue.
    pub since: Instant,
}

/// Packets in order of arrival.
#[derive(Debug)]
pub(super) struct Backlog<P> {
    packets: VecDeque<Queued<P>>,
    bytes: u64,
}

impl<P> Default for Backlog<P> {
    fn default() -> Self {
        Backlog { packets: VecDeque::new(), bytes: 0 }
    }
}

impl<P> Backlog<P> {
    pub fn push(&mut self, packet: Queued<P>) {
        self.bytes += packet.len as u64;
        self.packets.push_back(packet);
    }

    pub fn pop(&mut self) -> Option<Queued<P>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.len as u64;
        Some(packet)
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn iter(&self) -> impl Iterator<Item = &Queued<P>> {
        self.packets.iter()
    }

    pub fn drain(&mut self) -> impl Iterator<Item = Queued<P>> {
        self.bytes = 0;
        self.packets.drain(..)
    }
}
