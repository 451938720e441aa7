//! CoDel (RFC 8289).

use strandcast_proto::time::{Duration, Instant};

use super::backlog::{Backlog, Dropped, Queued};

/// Number of bytes up to which a queue drops no packets. The number is MAXPACKET of the RFC, the MTU of an interface.
const MAXPACKET: u64 = 1500;
/// Number of intervals for which a queue keeps its drop rate. A queue that starts to drop again within this time starts
/// near its last drop rate.
const RECENT: u32 = 16;

/// Constants of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// Queueing delay that is acceptable permanently.
    pub target: Duration,
    /// Time for which the delay must exceed the target before the first packet is dropped. The time must be above 0.
    pub interval: Duration,
}

impl Default for Codel {
    /// Returns the values of the RFC: 5 ms and 100 ms.
    fn default() -> Self {
        Codel { target: Duration::from_millis(5), interval: Duration::from_millis(100) }
    }
}

/// State of CoDel, with the names of RFC 8289 section 5.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    constants: Codel,
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Control {
    pub fn new(constants: Codel) -> Self {
        Control {
            constants,
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }

    /// Removes and returns the next packet to send. Packets that CoDel drops before it are passed to the function
    /// `dropped`.
    pub fn dequeue<P>(
        &mut self,
        now: Instant,
        backlog: &mut Backlog<P>,
        dropped: Dropped<'_, P>,
    ) -> Option<Queued<P>> {
        let (mut first, mut may_drop) = self.look(now, backlog);
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                first.into_iter().for_each(&mut *dropped);
                self.count += 1;
                (first, may_drop) = self.look(now, backlog);
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if may_drop {
            first.into_iter().for_each(&mut *dropped);
            (first, _) = self.look(now, backlog);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let recent = now - self.drop_next < self.constants.interval * RECENT;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.lastcount = self.count;
            self.drop_next = self.control_law(now);
        }
        first
    }

    /// Removes a packet. Returns it, and whether the waiting time has been above the target for an interval.
    fn look<P>(&mut self, now: Instant, backlog: &mut Backlog<P>) -> (Option<Queued<P>>, bool) {
        let Some(first) = backlog.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        if now - first.since < self.constants.target || backlog.bytes() <= MAXPACKET {
            self.first_above_time = None;
            return (Some(first), false);
        }
        let above = *self.first_above_time.get_or_insert(now + self.constants.interval);
        (Some(first), now >= above)
    }

    /// Returns the time of the next drop. The time between drops is the interval divided by the square root of the
    /// number of drops.
    fn control_law(&self, from: Instant) -> Instant {
        let nanos = self.constants.interval.as_secs_f64() * 1e9 / libm::sqrt(f64::from(self.count));
        from + Duration::from_nanos(libm::round(nanos) as u64)
    }
}
