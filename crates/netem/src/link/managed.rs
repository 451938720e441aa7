//! Managed queues, which choose the next packet when the transmitter is free. Other queues decide when a packet
//! arrives.

use strandcast_proto::time::Instant;

use super::backlog::{Backlog, Dropped, Queued};
use super::codel::Control;
use super::config::{Discipline, QueueLimit};
use super::fq_codel::Fair;

/// A queue with active management.
#[derive(Debug)]
pub(super) enum Managed<P> {
    Codel { backlog: Backlog<P>, control: Control },
    Fair(Fair<P>),
}

impl<P> Managed<P> {
    /// Creates the queue of a discipline; `None` for drop-tail. The function `salt` returns a number for the hash of
    /// flows.
    pub fn new(discipline: Discipline, salt: impl FnOnce() -> u64) -> Option<Self> {
        match discipline {
            Discipline::DropTail => None,
            Discipline::Codel(codel) => {
                Some(Managed::Codel { backlog: Backlog::default(), control: Control::new(codel) })
            }
            Discipline::FqCodel(constants) => Some(Managed::Fair(Fair::new(constants, salt()))),
        }
    }

    /// Returns whether the queue accepts a packet of `len` bytes. A fair queue makes room by dropping other packets.
    pub fn has_room(&self, limit: QueueLimit, len: usize) -> bool {
        let Managed::Codel { backlog, .. } = self else { return true };
        limit.holds(backlog.len() + 1, backlog.bytes() + len as u64)
    }

    pub fn push(&mut self, flow: u64, packet: Queued<P>) {
        match self {
            Managed::Codel { backlog, .. } => backlog.push(packet),
            Managed::Fair(fair) => fair.push(flow, packet),
        }
    }

    /// Drops packets until the queue is within the limit.
    pub fn trim(&mut self, limit: QueueLimit, dropped: Dropped<'_, P>) {
        if let Managed::Fair(fair) = self {
            fair.trim(|packets, bytes| limit.holds(packets, bytes), dropped);
        }
    }

    /// Removes and returns the next packet to send.
    pub fn pop(&mut self, now: Instant, dropped: Dropped<'_, P>) -> Option<Queued<P>> {
        match self {
            Managed::Codel { backlog, control } => control.dequeue(now, backlog, dropped),
            Managed::Fair(fair) => fair.pop(now, dropped),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Managed::Codel { backlog, .. } => backlog.len(),
            Managed::Fair(fair) => fair.len(),
        }
    }

    /// Returns the total waiting time of all packets until `now`, in nanoseconds.
    pub fn waited(&self, now: Instant) -> u128 {
        let waited = |packet: &Queued<P>| (now - packet.since).as_nanos();
        match self {
            Managed::Codel { backlog, .. } => backlog.iter().map(waited).sum(),
            Managed::Fair(fair) => fair.iter().map(waited).sum(),
        }
    }

    /// Removes and returns all packets.
    pub fn drain(&mut self) -> Vec<Queued<P>> {
        match self {
            Managed::Codel { backlog, .. } => backlog.drain().collect(),
            Managed::Fair(fair) => fair.drain(),
        }
    }
}
