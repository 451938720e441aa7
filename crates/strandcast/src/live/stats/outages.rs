//! Outages: times without packets from the peer.

use std::time::Duration;

use strandcast_proto::time::Instant;

use super::stream::StreamEvent;

/// Silence after which an outage is reported. Without an outage, a sender sends at least once per second and gets
/// answers.
const SILENCE: Duration = Duration::from_secs(2);

/// Counts outages. An outage is a silence of 2 s, or a lost association until another one is established.
#[derive(Debug, Default)]
pub struct Outages {
    /// Time of the last activity before the current outage.
    since: Option<Instant>,
    count: u64,
    longest: Duration,
    /// Total duration of finished outages.
    total: Duration,
}

impl Outages {
    /// Updates the state at `now`. `last_received` is the time of the peer's last activity. `silence_over` is the end
    /// of the last time in which no packet arrived, if it is known. Returns an event to report.
    pub fn update(
        &mut self,
        peer: &str,
        now: Instant,
        last_received: Instant,
        silence_over: Option<Instant>,
    ) -> Option<StreamEvent> {
        match self.since {
            None if now - last_received >= SILENCE => {
                self.start(last_received);
                Some(StreamEvent::Outage { peer: peer.to_owned(), lost: false })
            }
            Some(since) if last_received > since => {
                let over = silence_over.filter(|over| *over > since).unwrap_or(last_received);
                let outage_s = self.end(over)?.as_secs_f64();
                Some(StreamEvent::OutageOver { peer: peer.to_owned(), outage_s, lost: false, returned: true })
            }
            _ => None,
        }
    }

    /// Records that the association was lost. The last activity was at `last_received`. Returns an event if this begins an
    /// outage.
    pub fn begin(&mut self, peer: &str, last_received: Instant) -> Option<StreamEvent> {
        self.start(last_received).then(|| StreamEvent::Outage { peer: peer.to_owned(), lost: true })
    }

    /// Records that another association follows. Returns the event of the end of the outage.
    pub fn resume(&mut self, peer: &str, now: Instant) -> Option<StreamEvent> {
        let outage_s = self.end(now)?.as_secs_f64();
        Some(StreamEvent::OutageOver { peer: peer.to_owned(), outage_s, lost: true, returned: true })
    }

    /// Records the end of the stream. The end of the stream also ends an outage.
    pub fn close(&mut self, peer: &str, now: Instant) -> Option<StreamEvent> {
        let outage_s = self.end(now)?.as_secs_f64();
        Some(StreamEvent::OutageOver { peer: peer.to_owned(), outage_s, lost: true, returned: false })
    }

    /// Begins an outage, unless one is in progress. Returns whether an outage began.
    fn start(&mut self, last_received: Instant) -> bool {
        let begins = self.since.is_none();
        if begins {
            self.since = Some(last_received);
            self.count += 1;
        }
        begins
    }

    /// Records that the peer is active again. Returns the duration of the outage, if there was one.
    pub fn end(&mut self, last_received: Instant) -> Option<Duration> {
        let length = last_received - self.since.take()?;
        self.longest = self.longest.max(length);
        self.total += length;
        Some(length)
    }

    /// Returns whether an outage is in progress.
    pub fn goes_on(&self) -> bool {
        self.since.is_some()
    }

    /// Number of outages.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Total duration of all outages up to `now`.
    pub fn total(&self, now: Instant) -> Duration {
        self.total + self.since.map_or(Duration::ZERO, |since| now - since)
    }

    /// Duration of the longest outage, up to `now`.
    pub fn longest(&self, now: Instant) -> Duration {
        self.since.map_or(self.longest, |since| self.longest.max(now - since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_reported_once_and_its_end_with_its_duration() {
        let mut outages = Outages::default();
        let at = Instant::from_millis;
        for now in (0..3000).step_by(250) {
            assert_eq!(outages.update("p", at(now), at(now.saturating_sub(1000)), None), None);
        }
        let told: Vec<_> =
            (0..40).filter_map(|k| outages.update("p", at(3000 + 250 * k), at(2000), None)).collect();
        assert_eq!(told, [StreamEvent::Outage { peer: "p".into(), lost: false }]);
        assert_eq!((outages.count(), outages.longest(at(12_750))), (1, Duration::from_millis(10_750)));
        let over = StreamEvent::OutageOver { peer: "p".into(), outage_s: 8.0, lost: false, returned: true };
        // The outage ends with the first packet after it. Later packets that arrived before this check do not count.
        assert_eq!(outages.update("p", at(10_250), at(10_200), Some(at(10_000))), Some(over));
        assert_eq!(outages.update("p", at(10_500), at(10_400), Some(at(10_000))), None);
        assert_eq!((outages.count(), outages.longest(at(90_000))), (1, Duration::from_secs(8)));
    }

    #[test]
    fn a_lost_association_is_an_outage_until_the_next_one() {
        let mut outages = Outages::default();
        let at = Instant::from_millis;
        assert_eq!(outages.end(at(100)), None);
        assert_eq!(outages.begin("p", at(1000)), Some(StreamEvent::Outage { peer: "p".into(), lost: true }));
        assert_eq!(outages.begin("p", at(1500)), None);
        let over = |outage_s, returned| {
            Some(StreamEvent::OutageOver { peer: "p".into(), outage_s, lost: true, returned })
        };
        assert_eq!(outages.resume("p", at(1500)), over(0.5, true));
        assert_eq!(outages.resume("p", at(1800)), None);
        assert_eq!(outages.count(), 1);
        // Each outage ends, at the latest at the end of its stream.
        assert!(outages.update("p", at(9000), at(2000), Some(at(1000))).is_some());
        assert_eq!((outages.begin("p", at(2000)), outages.close("p", at(10_000))), (None, over(8.0, false)));
        assert_eq!((outages.close("p", at(11_000)), outages.count()), (None, 2));
    }
}
