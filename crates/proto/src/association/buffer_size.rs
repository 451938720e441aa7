//! Sizes of an association's buffers, derived from their recent use.

use crate::config::TransportConfig;
use crate::policy::PathSet;
use crate::time::{Duration, Instant};

/// Length of a period in which the largest use is recorded. A recorded use counts for one to two periods.
const PERIOD: Duration = Duration::from_secs(5);
/// Factor that limits the growth of the receive buffer. The buffer may exceed its initial size by this factor times the
/// recently read bytes.
const PER_READ: u64 = 2;

/// Largest value of the current and the previous period.
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

    /// Advances by `periods` periods.
    fn turn(&mut self, periods: u64) {
        self.before = if periods == 1 { self.now } else { 0 };
        self.now = 0;
    }
}

/// Counter of periods.
#[derive(Copy, Clone, Debug, Default)]
struct Periods {
    ends: Instant,
}

impl Periods {
    /// Returns the number of periods that ended since the last call, at most two; `None` if no period ended.
    fn ended(&mut self, now: Instant) -> Option<u64> {
        if now < self.ends {
            return None;
        }
        let periods = if now - self.ends < PERIOD { 1 } else { 2 };
        self.ends = now + PERIOD;
        Some(periods)
    }
}

/// Size of the receive buffer.
#[derive(Debug)]
pub(super) struct ReceiveSize {
    /// Size in bytes.
    pub size: usize,
    /// Size to which the buffer shrinks while the application reads.
    pub wanted: usize,
    /// Time of the next adjustment. If the size is fixed, this time never comes.
    pub due: Instant,
    /// Payload bytes of all new chunks.
    pub arrived: u64,
    /// Largest number of bytes that waited for a missing chunk since the last adjustment. Only times count at which the
    /// application had read all readable bytes.
    pub held: usize,
    /// Maximum number of bytes that the buffer ever held.
    pub most: usize,
    /// Paths by which data arrived in this round and in the previous round.
    pub received_on: PathSet,
    pub received_on_before: PathSet,
    /// Start of the round, and the bytes that had arrived before it.
    pub since: (Instant, u64),
    arrivals: Peak,
    need: Peak,
    periods: Periods,
    /// Bytes that the application had read at the start of this period and of the previous one.
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

    /// Ends a round that lasted `length` until `now`. By then the application had read `read` bytes in total. Returns
    /// two numbers of bytes: the size that the buffer should have, and the amount by which it may exceed its initial
    /// size.
    pub fn end_round(&mut self, now: Instant, length: Duration, read: u64) -> (u64, u64) {
        let elapsed = (now - self.since.0).max(length);
        let came = u128::from(self.arrived - self.since.1) * length.as_nanos() / elapsed.as_nanos().max(1);
        let came = u64::try_from(came).unwrap_or(u64::MAX);
        if let Some(periods) = self.periods.ended(now) {
            self.arrivals.turn(periods);
            self.need.turn(periods);
            self.read = (read, if periods == 1 { self.read.0 } else { read });
        }
        // In slow start, four times the data is in flight at the end of the next round.
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

/// Size of the send buffer.
#[derive(Debug)]
pub(super) struct SendSize {
    /// Size in bytes.
    pub size: usize,
    /// Maximum number of bytes that the buffer ever held.
    pub most: usize,
    need: Peak,
    periods: Periods,
}

impl SendSize {
    pub fn new(config: &TransportConfig) -> Self {
        SendSize { size: config.send_buffer, most: 0, need: Peak::default(), periods: Periods::default() }
    }

    /// Sets the size at `now`, when `need` bytes are needed. The size is the largest recent need, between `least` and
    /// `most`.
    pub fn fit(&mut self, now: Instant, need: u64, least: usize, most: usize) {
        if let Some(periods) = self.periods.ended(now) {
            self.need.turn(periods);
        }
        self.need.see(need);
        self.size = usize::try_from(self.need.get()).unwrap_or(usize::MAX).clamp(least, most);
    }
}
