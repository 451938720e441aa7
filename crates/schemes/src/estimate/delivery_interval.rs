//! Delivery rate of a path, interval by interval. An interval lasts at least a round-trip time. Its rate is the number
//! of bytes acknowledged, divided by the time in which they were acknowledged or by the time in which they were sent,
//! whichever is longer. Acknowledgements that arrive in a batch therefore do not raise the rate (the idea of Cardwell
//! et al., draft-cheng-iccrg-delivery-rate-estimation). If the peer may have delayed an acknowledgement, the length of
//! the interval that it ends is known only between two bounds.

use strandcast_proto::policy::{AckInfo, PathView};
use strandcast_proto::time::{Duration, Instant};

/// Least length of an interval.
const SHORTEST: Duration = Duration::from_millis(10);

/// The running interval of one path.
#[derive(Clone, Debug, Default)]
pub struct DeliveryInterval {
    running: Option<Running>,
}

/// Sample of one interval.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RateSample {
    /// Delivery rate in bytes per second.
    pub rate: f64,
    /// Greatest possible rate. It assumes that the last acknowledgement was held for its longest possible time if that
    /// is most of the interval, and for half of it otherwise. It is infinite if that time is the whole interval.
    pub most: f64,
    /// Number of bytes acknowledged.
    pub bytes: u64,
    /// True if the window was full at some time. The path and not the source then determined the rate.
    pub limited: bool,
}

#[derive(Clone, Debug)]
struct Running {
    began: Instant,
    /// Time at which the newest chunk that was acknowledged at the beginning was sent.
    sent: Instant,
    newest: Instant,
    /// Time of the last acknowledgement, and longest time for which it may have been held.
    acked: Instant,
    held: Duration,
    bytes: u64,
    limited: bool,
}

impl Running {
    fn new(began: Instant, sent: Instant) -> Self {
        Running { began, sent, newest: sent, acked: began, held: Duration::ZERO, bytes: 0, limited: false }
    }

    /// Sample of an interval that lasted `time`.
    fn sample(&self, time: Duration) -> RateSample {
        let bytes = self.bytes as f64;
        let rate = bytes / time.as_secs_f64();
        let most = match time.saturating_sub(self.held) {
            Duration::ZERO => f64::INFINITY,
            // Most of the interval is the path's.
            least if least >= self.held => bytes / (least + self.held / 2).as_secs_f64(),
            least => bytes / least.as_secs_f64(),
        };
        RateSample { rate, most, bytes: self.bytes, limited: self.limited }
    }
}

impl DeliveryInterval {
    /// Records that a chunk left while nothing else was in flight, so that the time before does not count for the path.
    /// Returns the sample of the interval until then. That interval may be as short as a burst on a short path; the
    /// sample is then the least that the path carries in 10 ms.
    pub fn sent_alone(&mut self, now: Instant) -> Option<RateSample> {
        let ended = self.running.replace(Running::new(now, now)).filter(|r| r.bytes > 0)?;
        let sent = ended.newest.saturating_since(ended.sent);
        let time = ended.acked.saturating_since(ended.began).max(sent).max(SHORTEST);
        Some(RateSample { limited: false, ..ended.sample(time) })
    }

    /// Takes the acknowledgement `ack` of `path`. Returns the sample of the interval if it ends. Data whose time of
    /// sending is unknown (Karn's rule) only add their bytes.
    pub fn acked(&mut self, now: Instant, path: &PathView, ack: &AckInfo) -> Option<RateSample> {
        let Some(sent) = ack.newest_sent else {
            if let Some(running) = &mut self.running {
                running.bytes += ack.newly_acked;
            }
            return None;
        };
        let running = self.running.get_or_insert_with(|| Running::new(sent, sent));
        running.bytes += ack.newly_acked;
        (running.acked, running.held) = (now, ack.held);
        running.newest = running.newest.max(sent);
        running.limited |= ack.window_limited(path);
        let elapsed = now.saturating_since(running.began);
        if elapsed < path.srtt.unwrap_or(Duration::ZERO).max(SHORTEST) {
            return None;
        }
        let time = elapsed.max(running.newest.saturating_since(running.sent));
        let sample = running.sample(time);
        self.running = Some(Running::new(now, running.newest));
        Some(sample)
    }
}
