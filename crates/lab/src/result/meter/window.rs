//! The part of a run that is measured, and the places at which packets are lost.

use core::time::Duration;

use strandcast_proto::time::Instant;
use strandcast_sim::net::EnqueueOutcome;

/// Time that counts for results. It includes `from` and excludes `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start of the window.
    pub from: Instant,
    /// End of the window.
    pub to: Instant,
}

impl Window {
    /// Returns whether this instant counts.
    pub fn contains(&self, now: Instant) -> bool {
        self.from <= now && now < self.to
    }

    /// Length of the window in seconds.
    pub fn seconds(&self) -> f64 {
        (self.to - self.from).as_secs_f64()
    }

    /// Length of the part of the interval between two instants that is inside the window.
    pub fn clip(&self, from: Instant, to: Instant) -> Duration {
        to.min(self.to) - from.max(self.from)
    }
}

/// Place at which a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossPlace {
    /// A queue was full, or its management or a policer dropped the packet.
    Queue,
    /// A loss model dropped the packet.
    Random,
    /// A link was down.
    Down,
    /// A router on a radio dropped the packet. It had no route, a neighbour did not answer, or there were too many
    /// hops.
    Routing,
}

impl LossPlace {
    /// Place at which a link lost the packet. `None` if the packet is not lost.
    pub fn of(outcome: EnqueueOutcome) -> Option<Self> {
        match outcome {
            EnqueueOutcome::Taken { lost: false, .. } | EnqueueOutcome::Waits => None,
            EnqueueOutcome::Taken { lost: true, .. } => Some(LossPlace::Random),
            EnqueueOutcome::QueueFull | EnqueueOutcome::Policed | EnqueueOutcome::Managed => {
                Some(LossPlace::Queue)
            }
            EnqueueOutcome::Down => Some(LossPlace::Down),
        }
    }
}
