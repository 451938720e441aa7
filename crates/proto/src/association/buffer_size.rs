//! How large the buffers of an association are: what was needed of late.

use crate::config::TransportConfig;
use crate::policy::PathSet;
use crate::time::{Duration, Instant};

/// A need is remembered for one to two of these.
const PERIOD: Duration = Duration::from_secs(5);
/// The buffer grows beyond what it began with by this multiple of what the application has read lately.
const PER_READ: u64 = 2;

/// The largest value of the last one to two periods.
#[derive(Copy, Clone, Debug, Default)]
struct Peak {
    now: u64,
    before: u64,
}

impl Peak {
    fn see(&mut self, value: u64) {
        self.now = self.now.max(value);
    }

    fn get(self) -> u64 {
        self.now.max(self.before)
    }

    /// `periods` have passed.
    fn turn(&mut self, periods: u64) {
        self.before = if periods == 1 { self.now } else { 0 };
        self.now = 0;
    }
}

/// Counts periods.
#[derive(Copy, Clone, Debug, Default)]
struct Periods {
    ends: Instant,
}

impl Periods {
    /// How many ended since last asked, two at most; `None` if none did.
    fn ended(&mut self, now: Instant) -> Option<u64> {
        if now < self.ends {
            return None;
        }
        let periods = if now - self.ends < PERIOD { 1 } else { 2 };
        self.ends = now + PERIOD;
        Some(periods)
    }
}

/// The size of the receive buffer.
#[derive(Debug)]
pub(super) struct ReceiveSize {
    /// Bytes.
    pub size: usize,
    /// What it shrinks to while the application reads.
    pub wanted: usize,
    /// When it is looked at again; never if it is fixed.
    pub due: Instant,
    /// Payload of all new chunks.
    pub arrived: u64,
    /// The most that waited for a missing chunk since it was last looked at, everything else having been read.
    pub held: usize,
    /// The most ever held.
    pub most: usize,
    /// Paths by which data came in this round, and in the last one.
    pub received_on: PathSet,
    pub received_on_before: PathSet,
    /// When the round began, and what had arrived.
    pub since: (Instant, u64),
    arrivals: Peak,
    need: Peak,
    periods: Periods,
    /// What the application had read when this period began, and the last one.
    read: (u64, u64),
}

impl ReceiveSize {
    pub fn new(config: &TransportConfig) -> Self {
        let size = config.receive_buffer as usize;
        ReceiveSize {
            size,
            wanted: size,
            due: if config.buffer_limit.is_some() { Instant::ZERO } else { Instant::MAX },
            arrived: 0,
            held: 0,
            most: 0,
            received_on: PathSet::default(),
            received_on_before: PathSet::default(),
            since: (Instant::ZERO, 0),
            arrivals: Peak::default(),
            need: Peak::default(),
            periods: Periods::default(),
            read: (0, 0),
        }
    }

    /// A round of `length` ends `now`, and the application has read so much so far: what the buffer should hold, and how
    /// much more than in the beginning it may.
    pub fn end_round(&mut self, now: Instant, length: Duration, read: u64) -> (u64, u64) {
        let elapsed = (now - self.since.0).max(length);
        let came = u128::from(self.arrived - self.since.1) * length.as_nanos() / elapsed.as_nanos().max(1);
        let came = u64::try_from(came).unwrap_or(u64::MAX);
        if let Some(periods) = self.periods.ended(now) {
            self.arrivals.turn(periods);
            self.need.turn(periods);
            self.read = (read, if periods == 1 { self.read.0 } else { read });
        }
        // In slow start four times as much is in flight when the next round ends.
        let more = came.saturating_sub(self.arrivals.get());
        self.arrivals.see(came);
        self.need.see(2 * came.max(self.held as u64) + 4 * more);
        self.begin_round(now);
        (self.need.get(), PER_READ * (read - self.read.1))
    }

    fn begin_round(&mut self, now: Instant) {
        self.since = (now, self.arrived);
        self.held = 0;
        self.received_on_before = self.received_on;
        self.received_on = PathSet::default();
    }
}

/// The size of the send buffer.
#[derive(Debug)]
pub(super) struct SendSize {
    /// Bytes.
    pub size: usize,
    /// The most ever held.
    pub most: usize,
    need: Peak,
    periods: Periods,
}

impl SendSize {
    pub fn new(config: &TransportConfig) -> Self {
        SendSize { size: config.send_buffer, most: 0, need: Peak::default(), periods: Periods::default() }
    }

    /// `need` bytes are needed `now`: the size becomes the largest need of late, from `least` to `most`.
    pub fn fit(&mut self, now: Instant, need: u64, least: usize, most: usize) {
        if let Some(periods) = self.periods.ended(now) {
            self.need.turn(periods);
        }
        self.need.see(need);
        self.size = usize::try_from(self.need.get()).unwrap_or(usize::MAX).clamp(least, most);
    }
}
