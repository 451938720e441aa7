//! Detection of links that pass small packets but not large ones.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use strandcast_net::driver::{PathSnapshot, Snapshot};
use strandcast_proto::policy::PathId;
use strandcast_proto::time::Instant;

/// Shortest time over which a link is examined. The time covers several acknowledgements on any link.
const TIME: Duration = Duration::from_secs(2);
/// Least number of bytes that must be sent in that time, so that there is a result. Retransmissions alone are fewer
/// bytes.
const SENT: u64 = 2000;
/// Least share of the sent bytes that must be acknowledged. If the share is smaller, the link passes no large packets.
/// Small packets also count in the share.
const SHARE: f64 = 0.05;

/// Counters of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    sent: u64,
    acked: u64,
    /// Number of packets received, and number of heartbeats that were not answered.
    received: u64,
    unanswered: u64,
}

impl Counts {
    fn of(path: &PathSnapshot) -> Counts {
        let stats = &path.stats;
        Counts {
            sent: stats.payload_sent,
            acked: stats.payload_acked,
            received: stats.packets_received,
            unanswered: stats.heartbeats_lost,
        }
    }

    /// Returns whether the path has answered since `before`, although data did not arrive. Returns `None` if too few
    /// data were sent.
    fn loses_data_alone(&self, before: &Counts) -> Option<bool> {
        let sent = self.sent.saturating_sub(before.sent);
        let acked = self.acked.saturating_sub(before.acked);
        let answers = self.received > before.received && self.unanswered == before.unanswered;
        (sent >= SENT).then_some(answers && (acked as f64) < SHARE * sent as f64)
    }
}

/// Compares the sent bytes with the acknowledged bytes of each link.
#[derive(Debug, Default)]
pub(super) struct Vanishing {
    /// Counters of the confirmed paths in the last seconds.
    seen: VecDeque<(Instant, BTreeMap<PathId, Counts>)>,
}

impl Vanishing {
    /// Returns true if every link that lately carried data answers probes but passes no data.
    pub(super) fn update(&mut self, now: Instant, seen: &Snapshot) -> bool {
        let confirmed = seen.paths.iter().filter(|path| path.confirmed);
        let trip = seen.paths.iter().filter_map(|path| path.view.srtt).max().unwrap_or_default();
        self.judge(now, TIME.max(trip * 3), confirmed.map(|path| (path.view.id, Counts::of(path))).collect())
    }

    fn judge(&mut self, now: Instant, time: Duration, paths: BTreeMap<PathId, Counts>) -> bool {
        while self.seen.get(1).is_some_and(|(at, _)| now - *at >= time) {
            self.seen.pop_front();
        }
        let before = self.seen.front().filter(|(at, _)| now - *at >= time);
        let verdicts = before.into_iter().flat_map(|(_, before)| {
            paths.iter().filter_map(|(id, counts)| counts.loses_data_alone(before.get(id)?))
        });
        let (mut any, mut all) = (false, true);
        for loses in verdicts {
            (any, all) = (true, all && loses);
        }
        self.seen.push_back((now, paths));
        any && all
    }

    /// Prepares for another association, whose counters begin at zero.
    pub(super) fn restart(&mut self) {
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four checks per second of two links. Each link sends 50 kB per second.
    #[derive(Default)]
    struct Links {
        watch: Vanishing,
        now: Instant,
        paths: [Counts; 2],
    }

    impl Links {
        fn quarter(&mut self, change: impl Fn(&mut [Counts; 2])) -> bool {
            self.now += Duration::from_millis(250);
            for path in &mut self.paths {
                path.sent += 12_500;
                path.received += 1;
            }
            change(&mut self.paths);
            let paths = self.paths.iter().enumerate().map(|(n, path)| (PathId(n as u8), *path)).collect();
            self.watch.judge(self.now, TIME, paths)
        }

        /// Returns the result after two and a half seconds.
        fn after(change: impl Fn(&mut [Counts; 2])) -> bool {
            let mut links = Links::default();
            (0..10).map(|_| links.quarter(&change)).last() == Some(true)
        }
    }

    #[test]
    fn links_that_answer_and_pass_no_data_are_told_from_others() {
        assert!(Links::after(|_| ()));
        // Small messages arrive.
        assert!(Links::after(|paths| paths[0].acked += 20));
        // One link carries data, or both links carry few data.
        assert!(!Links::after(|paths| paths[0].acked += 12_000));
        assert!(!Links::after(|paths| paths.iter_mut().for_each(|path| path.acked += 1200)));
        // Nothing answers.
        assert!(!Links::after(|paths| paths.iter_mut().for_each(|path| path.received = 0)));
        assert!(!Links::after(|paths| paths.iter_mut().for_each(|path| path.unanswered += 1)));
        // Nothing was sent.
        assert!(!Links::after(|paths| *paths = Default::default()));
        // A link that is not used shows nothing about the other link.
        assert!(Links::after(|paths| paths[1].sent = 0));
    }

    #[test]
    fn it_takes_a_while_and_ends_with_the_first_data_that_arrive() {
        let mut links = Links::default();
        let looks: Vec<bool> = (0..10).map(|_| links.quarter(|_| ())).collect();
        assert_eq!((looks.iter().position(|look| *look), looks[9]), (Some(8), true), "{looks:?}");
        assert!(!links.quarter(|paths| paths.iter_mut().for_each(|path| path.acked += 40_000)));
        links.watch.restart();
        assert!(!links.quarter(|_| ()));
    }
}
