//! FQ-CoDel (RFC 8290).

use std::collections::VecDeque;

use strandcast_proto::time::Instant;

use super::backlog::{Backlog, Dropped, Queued};
use super::codel::{Codel, Control};

/// Maximum number of packets that are dropped from the longest queue at one time (RFC 8290 §4.1).
const MOST_DROPPED: usize = 64;

/// Constants of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodel {
    /// Constants of CoDel in each queue.
    pub codel: Codel,
    /// Number of bytes that a queue may send before the next queue has its turn. The number of bytes must be above 0.
    pub quantum: u32,
    /// Number of queues to which flows are hashed. The number of queues must be above 0.
    pub flows: u32,
}

impl Default for FqCodel {
    /// Returns the values of the RFC: 1514 bytes and 1024 queues.
    fn default() -> Self {
        FqCodel { codel: Codel::default(), quantum: 1514, flows: 1024 }
    }
}

/// Queues that take turns by their deficits. Queues that have just become active come first, then the others.
#[derive(Debug)]
pub(super) struct Fair<P> {
    constants: FqCodel,
    /// Number that makes hashes differ between runs.
    salt: u64,
    queues: Vec<Flow<P>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

#[derive(Debug)]
struct Flow<P> {
    backlog: Backlog<P>,
    control: Control,
    deficit: i64,
    /// True if the queue is in one of the two lists of active queues.
    active: bool,
}

impl<P> Fair<P> {
    pub fn new(constants: FqCodel, salt: u64) -> Self {
        let control = Control::new(constants.codel);
        let flow = |_| Flow { backlog: Backlog::default(), control, deficit: 0, active: false };
        Fair {
            constants,
            salt,
            queues: (0..constants.flows).map(flow).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Adds a packet of a flow to its queue.
    pub fn push(&mut self, flow: u64, packet: Queued<P>) {
        let index = (mix(flow ^ self.salt) % self.queues.len() as u64) as usize;
        let queue = &mut self.queues[index];
        self.packets += 1;
        self.bytes += packet.len as u64;
        queue.backlog.push(packet);
        if !queue.active {
            queue.active = true;
            queue.deficit = i64::from(self.constants.quantum);
            self.new.push_back(index);
        }
    }

    /// Drops half of the longest queue, starting at its head, until the function `may_stay` accepts the remaining
    /// numbers of packets and bytes.
    pub fn trim(&mut self, may_stay: impl Fn(usize, u64) -> bool, dropped: Dropped<'_, P>) {
        while !may_stay(self.packets, self.bytes) {
            let active = self.new.iter().chain(&self.old).copied();
            let longest =
                active.max_by_key(|&index| (self.queues[index].backlog.bytes(), usize::MAX - index));
            let Some(index) = longest else { return };
            let backlog = &mut self.queues[index].backlog;
            for _ in 0..(backlog.len() / 2).clamp(1, MOST_DROPPED) {
                let Some(packet) = backlog.pop() else { return };
                self.packets -= 1;
                self.bytes -= packet.len as u64;
                dropped(packet);
            }
        }
    }

    /// Removes and returns the next packet to send.
    pub fn pop(&mut self, now: Instant, dropped: Dropped<'_, P>) -> Option<Queued<P>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = list.pop_front()?;
            let queue = &mut self.queues[index];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.constants.quantum);
                self.old.push_back(index);
                continue;
            }
            let before = (queue.backlog.len(), queue.backlog.bytes());
            let packet = queue.control.dequeue(now, &mut queue.backlog, dropped);
            self.packets -= before.0 - queue.backlog.len();
            self.bytes -= before.1 - queue.backlog.bytes();
            match packet {
                Some(packet) => {
                    queue.deficit -= packet.len as i64;
                    if is_new { &mut self.new } else { &mut self.old }.push_front(index);
                    return Some(packet);
                }
                // An emptied new queue goes to the end of the old ones (RFC 8290 §4.2).
                None if is_new => self.old.push_back(index),
                None => queue.active = false,
            }
        }
    }

    pub fn len(&self) -> usize {
        self.packets
    }

    pub fn iter(&self) -> impl Iterator<Item = &Queued<P>> {
        self.queues.iter().flat_map(|queue| queue.backlog.iter())
    }

    /// Removes and returns all packets.
    pub fn drain(&mut self) -> Vec<Queued<P>> {
        for index in self.new.drain(..).chain(self.old.drain(..)) {
            self.queues[index].active = false;
        }
        (self.packets, self.bytes) = (0, 0);
        self.queues.iter_mut().flat_map(|queue| queue.backlog.drain()).collect()
    }
}

/// Returns a flow's number with its bits spread (the finaliser of SplitMix64).
fn mix(flow: u64) -> u64 {
    let flow = flow.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let flow = (flow ^ flow >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let flow = (flow ^ flow >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    flow ^ flow >> 31
}
