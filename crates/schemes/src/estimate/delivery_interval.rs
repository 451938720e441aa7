//! Delivery rate of a path, interval by interval: the bytes acknowledged over at least a round-trip time, divided by
//! the time in which they were acknowledged or sent, whichever is longer, so that acknowledgements that arrive in a
//! batch don't raise it (the idea of Cardwell et al., draft-cheng-iccrg-delivery-rate-estimation). An acknowledgement
//! that the peer may have held back ends an interval of unknown length, between two bounds.

use strandcast_proto::policy::{AckInfo, PathView};
use strandcast_proto::time::{Duration, Instant};

/// An interval is at least this long.
const SHORTEST: Duration = Duration::from_millis(10);

/// The running interval of one path.
#[derive(Clone, Debug, Default)]
pub struct DeliveryInterval {
    running: Option<Running>,
}

/// Sample of one interval.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes per second.
    pub rate: f64,
    /// Rate if the last acknowledgement was held back for as long as it may have been, where that is most of the
    /// time: infinite if it is all of it.
    pub most: f64,
    /// Bytes acknowledged.
    pub bytes: u64,
    /// The window was full at some time, so that the path, not the source, set the pace.
    pub limited: bool,
}

#[derive(Clone, Debug)]
struct Running {
    began: Instant,
    /// Time at which the newest chunk acknowledged by then was sent.
    sent: Instant,
    newest: Instant,
    /// The last acknowledgement, and how long it may have been held back.
    acked: Instant,
    held: Duration,
    bytes: u64,
    limited: bool,
}

impl Running {
    fn new(began: Instant, sent: Instant) -> Self {
        Running { began, sent, newest: sent, acked: began, held: Duration::ZERO, bytes: 0, limited: false }
    }

    /// Sample after `time`.
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
    /// A chunk left while nothing else was in flight: the time before was not the path's. Returns the sample of the
    /// interval until then, which may be as short as a burst on a short path: the least that the path carries in 10
    /// ms.
    pub fn sent_alone(&mut self, now: Instant) -> Option<RateSample> {
        let ended = self.running.replace(Running::new(now, now)).filter(|r| r.bytes > 0)?;
        let sent = ended.newest.saturating_since(ended.sent);
        let time = ended.acked.saturating_since(ended.began).max(sent).max(SHORTEST);
        Some(RateSample { limited: false, ..ended.sample(time) })
    }

    /// Takes the acknowledgement `ack` of `path`. Returns the sample of the interval if it ends. Data that are
    /// acknowledged without a known time of sending (Karn) only add their bytes.
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
