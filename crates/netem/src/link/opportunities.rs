//! Recorded times at which a link could send (mahimahi traces).

use std::sync::Arc;

use strandcast_proto::time::{Duration, Instant};

use crate::number::TraceError;

const NANOS_PER_MS: u64 = 1_000_000;

/// A mahimahi trace: the times at which 1500 bytes could leave a link. A trace repeats after the last time.
///
/// Model: the link of mahimahi's `mm-link`. The bytes of a sending opportunity go to the packets that arrived before
/// it, in order. A packet that needs more bytes continues in the next opportunities, and leaves with its last byte.
/// Unused bytes of an opportunity are lost. A packet that arrives at the exact time of an opportunity cannot use it.
/// Differs in three points. Times are exact, while mahimahi uses whole milliseconds of the wall clock. 1500 bytes are
/// counted at IP level, while mahimahi counts 4 additional bytes of its device. Packets may be longer than an
/// opportunity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Times in milliseconds, ascending. A time is repeated for several opportunities. The last time is not 0.
    moments: Vec<u64>,
}

impl Opportunities {
    /// Number of bytes at IP level that may be sent at each time.
    pub const BYTES: u64 = 1500;

    /// Reads a trace. Each line is a whole number of milliseconds, and the numbers must not decrease. The last number
    /// is the length of the trace.
    ///
    /// # Errors
    /// Returns the first invalid line, as an error.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut moments: Vec<u64> = Vec::new();
        let mut number = 0;
        for line in text.lines() {
            number += 1;
            let line = line.trim_end();
            let problem = match line.parse::<u32>() {
                Err(_) => format!("`{line}` is not a time; write one whole number of milliseconds per line"),
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
                Err(TraceError::new(1, "the trace is empty; write one whole number of milliseconds per line"))
            }
            Some(0) => Err(TraceError::new(number, "the trace ends at 0 ms; its last time must be later")),
            Some(_) => Ok(Opportunities { moments }),
        }
    }

    /// Returns the times of the opportunities. A time that occurs n times stands for n opportunities.
    pub fn moments(&self) -> impl Iterator<Item = Duration> + '_ {
        self.moments.iter().map(|&ms| Duration::from_millis(ms))
    }

    /// Returns the number of opportunities per repetition of the trace.
    pub fn count(&self) -> usize {
        self.moments.len()
    }

    /// Returns the time after which the trace repeats.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.period_ms())
    }

    /// Returns the rate in bit/s if every opportunity is used.
    pub fn mean_bps(&self) -> f64 {
        (self.moments.len() as u64 * Self::BYTES * 8) as f64 / self.period().as_secs_f64()
    }

    pub(super) fn period_ns(&self) -> u64 {
        self.period_ms() * NANOS_PER_MS
    }

    fn period_ms(&self) -> u64 {
        *self.moments.last().expect("a trace has a moment")
    }
}

/// State of a trace in use.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    trace: Arc<Opportunities>,
    /// Time in nanoseconds by which repetitions of the trace begin before multiples of its period. This shift moves the
    /// offset within the trace to the origin.
    shift: u64,
    /// Number of the opportunity that follows the last one used.
    next: u64,
    /// Number of unused bytes of the last opportunity.
    left: u64,
}

impl Slots {
    pub fn new(trace: Arc<Opportunities>, origin: Instant, offset: u64) -> Self {
        let period = trace.period_ns();
        let shift = (period - origin.as_nanos() % period + offset % period) % period;
        Slots { trace, shift, next: 0, left: 0 }
    }

    /// Returns the departure time of a packet that arrived at `now`. The packet follows one that leaves at `free`.
    pub fn serve(&mut self, now: Instant, free: Instant, len: u64) -> Instant {
        if free <= now {
            self.next = self.first_after(now);
            self.left = 0;
        }
        // A packet without bytes also needs an opportunity.
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

    /// Returns the bytes that may be sent after `from` and until `to`.
    pub fn bytes(&self, from: Instant, to: Instant) -> u64 {
        (self.first_after(to) - self.first_after(from)) * Opportunities::BYTES
    }

    /// Returns the number of the first opportunity after `now`.
    fn first_after(&self, now: Instant) -> u64 {
        let now = now.as_nanos().saturating_add(self.shift);
        let period = self.trace.period_ns();
        let (cycle, within) = (now / period, now % period);
        let first = self.trace.moments.partition_point(|&ms| ms * NANOS_PER_MS <= within);
        cycle.saturating_mul(self.trace.moments.len() as u64).saturating_add(first as u64)
    }

    fn moment(&self, n: u64) -> Instant {
        let moments = &self.trace.moments;
        let (cycle, n) = (n / moments.len() as u64, n % moments.len() as u64);
        let ms = cycle.saturating_mul(self.trace.period_ms()).saturating_add(moments[n as usize]);
        match ms.checked_mul(NANOS_PER_MS) {
            // Only before the origin.
            Some(ns) => Instant::from_nanos(ns.saturating_sub(self.shift)),
            None => Instant::MAX,
        }
    }
}
