//! Delivery rate of a path, measured in one interval after the other. An interval lasts at least a round-trip time. The
//! rate of the interval is the number of acknowledged bytes divided by a time. This is the time in which the bytes were
//! sent, or the time in which they were acknowledged, whichever is longer. Acknowledgements that arrive in a batch
//! therefore do not raise the rate. This idea is from Cardwell et al., draft-cheng-iccrg-delivery-rate-estimation. If
//! the peer may have delayed the acknowledgement that ends an interval, the length of the interval is known only
//! between two bounds.

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
    /// Greatest possible rate of the interval. The greatest possible rate assumes a delay of the last acknowledgement.
    /// This is the longest possible delay if that is most of the interval, and half of the longest possible delay
    /// otherwise. The rate is infinite if the longest possible delay is the whole interval.
    pub most: f64,
    /// Number of bytes acknowledged.
    pub bytes: u64,
    /// True if the window was full at some time. The path, and not the source, then determined the rate.
    pub limited: bool,
}

#[derive(Clone, Debug)]
struct Running {
    began: Instant,
    /// Time at which a certain chunk was sent. It is the newest chunk that had been acknowledged when the interval
    /// began.
    sent: Instant,
    newest: Instant,
    /// Time of the last acknowledgement, and the longest time for which the peer may have delayed it.
    acked: Instant,
    held: Duration,
    bytes: u64,
    limited: bool,
}

impl Running {
    fn new(began: Instant, sent: Instant) -> Self {
        Running { began, sent, newest: sent, acked: began, held: Duration::ZERO, bytes: 0, limited: false }
    }

    /// Returns the sample of an interval that lasted `time`.
    fn sample(&self, time: Duration) -> RateSample {
        let bytes = self.bytes as f64;
        let rate = bytes / time.as_secs_f64();
        let most = match time.saturating_sub(self.held) {
            Duration::ZERO => f64::INFINITY,
            // The path accounts for most of the interval.
            least if least >= self.held => bytes / (least + self.held / 2).as_secs_f64(),
            least => bytes / least.as_secs_f64(),
        };
        RateSample { rate, most, bytes: self.bytes, limited: self.limited }
    }
}

impl DeliveryInterval {
    /// Records that a chunk left while no other data were in flight. The time before it therefore does not count for
    /// the path. Returns the sample of the interval until then. That interval may be as short as a burst on a short
    /// path. The sample then gives the least amount that the path carries in 10 ms.
    pub fn sent_alone(&mut self, now: Instant) -> Option<RateSample> {
        let ended = self.running.replace(Running::new(now, now)).filter(|r| r.bytes > 0)?;
        let sent = ended.newest.saturating_since(ended.sent);
        let time = ended.acked.saturating_since(ended.began).max(sent).max(SHORTEST);
        Some(RateSample { limited: false, ..ended.sample(time) })
    }

    /// Processes the acknowledgement `ack` of `path`. Returns the sample of the interval if the interval ends. If the
    /// sending time of data is unknown (Karn's rule), the data only add their bytes.
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
