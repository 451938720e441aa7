//! Rates and losses over the time between two snapshots.

use super::snapshot::{PathNow, Stats, rate};

impl Stats {
    /// Returns these figures with rates. The rates cover the time since `before`, which is an earlier snapshot of the
    /// same stream.
    pub fn since(&self, before: &Stats) -> Stats {
        let mut stats = self.clone();
        stats.set_rates(Some(before));
        stats
    }

    pub(super) fn set_rates(&mut self, before: Option<&Stats>) {
        // The counters of another stream start at zero.
        let before = before.filter(|before| before.stream == self.stream && before.seconds <= self.seconds);
        let seconds = before.map_or(0.0, |before| self.seconds - before.seconds);
        // The counters of a stream continue over all of its associations.
        let of = |now: u64, then: fn(&Stats) -> u64| {
            rate(before.map_or(0, |before| now.saturating_sub(then(before))), seconds)
        };
        self.interval_s = seconds;
        self.media.rate_bps = of(self.media.bytes, |stats| stats.media.bytes);
        self.wire.sent_bps = of(self.wire.sent_bytes, |stats| stats.wire.sent_bytes);
        self.wire.received_bps = of(self.wire.received_bytes, |stats| stats.wire.received_bytes);
        for path in &mut self.paths {
            let then = before.and_then(|before| same(before, path)).map_or(0, |then| then.bytes);
            let bytes = path.bytes.saturating_sub(then);
            path.rate_bps = rate(bytes, seconds);
            if path.capacity_age_s.is_none() {
                path.capacity_bps = path.capacity_bps.map(|capacity| capacity.max(path.rate_bps));
            }
            path.headroom_bps = path.capacity_bps.map(|capacity| (capacity - path.rate_bps).max(0.0));
        }
    }

    pub(super) fn set_losses(&mut self, before: Option<&Stats>) {
        for path in &mut self.paths {
            let then = before.and_then(|before| same(before, path));
            let (chunks, lost) = then.map_or((0, 0), |then| (then.chunks, then.chunks_lost));
            let chunks = path.chunks.saturating_sub(chunks);
            // Chunks of an earlier interval may be declared lost in this interval.
            let lost = path.chunks_lost.saturating_sub(lost).min(chunks);
            path.loss = path.loss_total.filter(|_| chunks > 0).map(|_| lost as f64 / chunks as f64);
        }
    }
}

/// Returns the same link in another snapshot.
fn same<'a>(stats: &'a Stats, path: &PathNow) -> Option<&'a PathNow> {
    stats.paths.iter().find(|other| other.id == path.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(id: u32, bytes: u64, chunks: u64, chunks_lost: u64) -> PathNow {
        let (loss_total, capacity_bps) = (Some(chunks_lost as f64 / chunks as f64), Some(1e6));
        PathNow { id, bytes, chunks, chunks_lost, loss_total, capacity_bps, ..PathNow::default() }
    }

    fn at(seconds: f64, bytes: u64, paths: Vec<PathNow>) -> Stats {
        let mut stats = Stats { seconds, paths, stream: Some("5eed".to_owned()), ..Stats::default() };
        (stats.media.bytes, stats.wire.sent_bytes) = (bytes, 2 * bytes);
        stats
    }

    #[test]
    fn rates_are_those_of_the_interval_and_losses_recent() {
        let before = at(100.0, 1_000_000, vec![path(3, 500_000, 1000, 10)]);
        let now = at(102.0, 1_250_000, vec![path(4, 5000, 10, 0), path(3, 700_000, 1200, 60)]);
        let mut now = now.since(&before);
        now.set_losses(Some(&before));
        assert_eq!((now.interval_s, now.media.rate_bps, now.wire.sent_bps), (2.0, 1e6, 2e6));
        // If a link is new, all its bytes belong to this interval.
        assert_eq!((now.paths[0].rate_bps, now.paths[1].rate_bps), (20e3, 800e3));
        assert_eq!((now.paths[0].loss, now.paths[1].loss), (Some(0.0), Some(0.25)));
        assert_eq!(now.paths[1].loss_total, Some(0.05));
        assert_eq!(now.paths[1].headroom_bps, Some(200e3));
    }

    #[test]
    fn another_stream_begins_at_zero() {
        let before = at(100.0, 1_000_000, Vec::new());
        let other = Stats { stream: Some("0".to_owned()), ..at(102.0, 2_000_000, vec![path(1, 10, 1, 0)]) };
        let now = other.since(&before);
        assert_eq!((now.interval_s, now.media.rate_bps, now.paths[0].rate_bps), (0.0, 0.0, 0.0));
        assert_eq!(at(102.0, 5, Vec::new()).since(&Stats { seconds: 103.0, ..before }).interval_s, 0.0);
    }
}
