//! Packets of a station: its interface queue, the packet being sent, and the numbers of received packets.

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

use crate::address::{Destination, StationId};
use crate::output::DropCause;

/// Priority of a packet, which decides its place in an interface queue. Packets of one priority keep their order,
/// except urgent packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// The packet is added at the tail of the queue. A full queue rejects the packet.
    Normal,
    /// The packet is placed before the normal packets. If the queue is full, the packet replaces the last normal
    /// packet.
    High,
    /// The packet is placed at the head of the queue. If the queue is full, the packet replaces the last packet.
    Urgent,
}

/// A packet in an interface queue.
#[derive(Clone, Debug)]
pub(crate) struct Packet<P> {
    pub to: u32,
    /// Bytes on the air, including MAC header and FCS.
    pub bytes: u32,
    pub queued: Instant,
    pub priority: Priority,
    pub packet: P,
}

/// The interface queue of a station. The packet being sent counts as a part of the queue.
#[derive(Clone, Debug)]
pub(crate) struct Queue<P> {
    /// Waiting packets in descending order of priority.
    waiting: VecDeque<Packet<P>>,
    /// The packet that the station is sending.
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

    /// Adds a packet at the place of its priority. If a packet has no room, returns that packet.
    pub fn push(&mut self, packet: Packet<P>, limit: usize) -> Option<(Packet<P>, DropCause)> {
        let full = self.len() >= limit;
        let replaced =
            |last: &mut Packet<P>| packet.priority == Priority::Urgent || last.priority < packet.priority;
        let out = if full { self.waiting.pop_back_if(replaced) } else { None };
        if full && out.is_none() {
            return Some((packet, DropCause::QueueFull));
        }
        match packet.priority {
            Priority::Normal => self.waiting.push_back(packet),
            Priority::High => {
                let normal = self.waiting.partition_point(|other| other.priority >= Priority::High);
                self.waiting.insert(normal, packet);
            }
            Priority::Urgent => self.waiting.push_front(packet),
        }
        out.map(|packet| (packet, DropCause::PushedOut))
    }

    /// Starts to send the packet at the head of the queue, unless a packet is being sent. Returns false if the queue is
    /// empty.
    pub fn serve(&mut self) -> bool {
        if self.service.is_none() {
            self.service = self.waiting.pop_front();
        }
        self.service.is_some()
    }

    /// Removes and returns the first packet for `to`.
    pub fn take(&mut self, to: StationId) -> Option<P> {
        let to = Destination::Station(to).address();
        let at = self.waiting.iter().position(|packet| packet.to == to)?;
        self.waiting.remove(at).map(|packet| packet.packet)
    }
}

/// Number of the last packet received from each sender (IEEE 802.11-2007 §9.2.9). A retransmitted packet keeps its
/// number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Duplicates {
    last: Vec<(u32, u32)>,
}

impl Duplicates {
    /// Records that packet `sequence` of `from` arrived. Returns true if it repeats the last packet of `from`.
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
