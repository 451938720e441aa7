//! Packets of a station: its interface queue, the packet being sent, and numbers of received packets.

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

use crate::address::{Destination, StationId};
use crate::output::DropCause;

/// A packet in an interface queue.
#[derive(Clone, Debug)]
pub(crate) struct Packet<P> {
    pub to: u32,
    /// Bytes on the air, MAC header and FCS included.
    pub bytes: u32,
    pub queued: Instant,
    pub packet: P,
}

/// The interface queue. The packet being sent counts as part of it.
#[derive(Clone, Debug)]
pub(crate) struct Queue<P> {
    waiting: VecDeque<Packet<P>>,
    /// The packet being sent.
    pub service: Option<Packet<P>>,
}

impl<P> Queue<P> {
    pub fn new() -> Self {
        Queue { waiting: VecDeque::new(), service: None }
    }

    pub fn len(&self) -> usize {
        self.waiting.len() + usize::from(self.service.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a packet, and returns the packet for which there is no room, if any. An urgent packet goes to the head and
    /// pushes out the last packet.
    pub fn push(&mut self, packet: Packet<P>, urgent: bool, limit: usize) -> Option<(Packet<P>, DropCause)> {
        if !urgent {
            if self.len() >= limit {
                return Some((packet, DropCause::QueueFull));
            }
            self.waiting.push_back(packet);
            return None;
        }
        let full = self.len() >= limit;
        let out = if full { self.waiting.pop_back() } else { None };
        if full && out.is_none() {
            return Some((packet, DropCause::QueueFull));
        }
        self.waiting.push_front(packet);
        out.map(|packet| (packet, DropCause::PushedOut))
    }

    /// Starts to send the packet at the head, unless one is being sent. Returns false if the queue is empty.
    pub fn serve(&mut self) -> bool {
        if self.service.is_none() {
            self.service = self.waiting.pop_front();
        }
        self.service.is_some()
    }

    /// Removes the first packet for `to`.
    pub fn take(&mut self, to: StationId) -> Option<P> {
        let to = Destination::Station(to).address();
        let at = self.waiting.iter().position(|packet| packet.to == to)?;
        self.waiting.remove(at).map(|packet| packet.packet)
    }
}

/// The last packet received from each sender (IEEE 802.11-2007 §9.2.9): a retransmitted packet keeps its
/// number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Duplicates {
    last: Vec<(u32, u32)>,
}

impl Duplicates {
    /// Records packet `sequence` of `from`. Returns true if it repeats the last one.
    pub fn seen(&mut self, from: u32, sequence: u32) -> bool {
        match self.last.iter_mut().find(|(sender, _)| *sender == from) {
            Some((_, last)) => core::mem::replace(last, sequence) == sequence,
            None => {
                self.last.push((from, sequence));
                false
            }
        }
    }
}
