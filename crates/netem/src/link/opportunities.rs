//! Recorded moments at which a link could send.

use std::sync::Arc;

use strandcast_proto::time::{Duration, Instant};

use crate::number::TraceError;

const NANOS_PER_MS: u64 = 1_000_000;

/// A mahimahi trace: the moments at which 1500 bytes could leave a link, beginning again after the last one.
///
/// Model: mahimahi's `mm-link`. The bytes of an opportunity go to the packets that came before it, in order; what it
/// leaves of a packet the next ones send, and the packet leaves with its last byte; what the packets leave of it is
/// lost. A packet that comes at the very moment of an opportunity is too late for it. Differs: moments are exact, while
/// mahimahi sees whole milliseconds of the wall clock; 1500 bytes are IP's, mahimahi counts 4 bytes of its device more;
/// packets may be longer than an opportunity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Milliseconds from the beginning, ascending, several alike for several opportunities; the last is not 0.
    moments: Vec<u64>,
}

impl Opportunities {
    /// Bytes at IP level that may leave at each moment.
    pub const BYTES: u64 = 1500;

    /// Reads a trace: a whole number of milliseconds per line, not descending; the last is the length of the trace.
    ///
    /// # Errors
    /// The first line that is none of these.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut moments: Vec<u64> = Vec::new();
        let mut number = 0;
        for line in text.lines() {
            number += 1;
            let line = line.trim_end();
            let problem = match line.parse::<u32>() {
                Err(_) => format!("`{line}` is no time; write one whole number of milliseconds per line"),
                Ok(ms) if moments.last().is_some_and(|&last| last > u64::from(ms)) => {
                    format!("{ms} ms comes after a later time; sort the lines")
                }
                Ok(ms) => {
                    moments.push(u64::from(ms));
                    continue;
                }
            };
            return Err(TraceError::new(number, problem));
        }
        match moments.last() {
            None => {
                Err(TraceError::new(1, "there is no time; write one whole number of milliseconds per line"))
            }
            Some(0) => Err(TraceError::new(number, "the trace ends at 0 ms; its last time must be later")),
            Some(_) => Ok(Opportunities { moments }),
        }
    }

    /// The moments, from the beginning; several alike are several opportunities.
    pub fn moments(&self) -> impl Iterator<Item = Duration> + '_ {
        self.moments.iter().map(|&ms| Duration::from_millis(ms))
    }

    /// How many there are until it begins again.
    pub fn count(&self) -> usize {
        self.moments.len()
    }

    /// After which time it begins again.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period_ms())
    }

    /// bit/s, if every opportunity is used.
    pub fn mean_bps(&self) -> f64 {
        (self.moments.len() as u64 * Self::BYTES * 8) as f64 / self.period().as_secs_f64()
    }

    fn period_ms(&self) -> u64 {
        *self.moments.last().expect("a trace has a moment")
    }
}

/// A trace at work.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    trace: Arc<Opportunities>,
    /// Begins of the trace are so many nanoseconds before multiples of its period, so that one is at the origin.
    shift: u64,
    /// The opportunity behind the last one used.
    next: u64,
    /// Bytes that packets have left of the last one used.
    left: u64,
}

impl Slots {
    pub fn new(trace: Arc<Opportunities>, origin: Instant) -> Self {
        let period = trace.period_ms() * NANOS_PER_MS;
        let shift = (period - origin.as_nanos() % period) % period;
        Slots { trace, shift, next: 0, left: 0 }
    }

    /// When a packet leaves that came at `now`, behind one that leaves at `free`.
    pub fn serve(&mut self, now: Instant, free: Instant, len: u64) -> Instant {
        if free <= now {
            self.next = self.first_after(now);
            self.left = 0;
        }
        // A packet without bytes needs an opportunity, too.
        let len = len.max(1);
        if len <= self.left {
            self.left -= len;
            return free;
        }
        let more = len - self.left;
        let needed = more.div_ceil(Opportunities::BYTES);
        self.left = needed * Opportunities::BYTES - more;
        self.next = self.next.saturating_add(needed);
        self.moment(self.next - 1)
    }

    /// Bytes that may leave after `from` and until `to`.
    pub fn bytes(&self, from: Instant, to: Instant) -> u64 {
        (self.first_after(to) - self.first_after(from)) * Opportunities::BYTES
    }

    /// The number of the first opportunity after `now`.
    fn first_after(&self, now: Instant) -> u64 {
        let now = now.as_nanos().saturating_add(self.shift);
        let period = self.trace.period_ms() * NANOS_PER_MS;
        let (cycle, within) = (now / period, now % period);
        let first = self.trace.moments.partition_point(|&ms| ms * NANOS_PER_MS <= within);
        cycle.saturating_mul(self.trace.moments.len() as u64).saturating_add(first as u64)
    }

    fn moment(&self, n: u64) -> Instant {
        let moments = &self.trace.moments;
        let (cycle, n) = (n / moments.len() as u64, n % moments.len() as u64);
        let ms = cycle.saturating_mul(self.trace.period_ms()).saturating_add(moments[n as usize]);
        match ms.checked_mul(NANOS_PER_MS) {
            Some(ns) => Instant::from_nanos(ns - self.shift),
            None => Instant::MAX,
        }
    }
}
