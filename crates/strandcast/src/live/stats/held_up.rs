//! Causes of a sender's late messages. The cause of each message is the reason that delayed it longest.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use strandcast_proto::association::{HeldBy, HeldTimes};
use strandcast_proto::time::Instant;

/// Shortest time for which past states are kept. The time covers two checks of the sender.
const LEAST: Duration = Duration::from_millis(500);

/// State of a sender at one time. The counters of the state start with the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::live) struct Held {
    /// Number of messages that were late for any reason.
    pub(in crate::live) late: u64,
    /// Number of messages that were due without an association, and number of messages that this process handled too
    /// late.
    pub(in crate::live) unconnected: u64,
    pub(in crate::live) overdue: u64,
    /// Number of messages for which the send buffer had no room.
    pub(in crate::live) refused: u64,
    /// Number of messages of which only a part was sent.
    pub(in crate::live) begun: u64,
    /// True if no link answers.
    pub(in crate::live) silent: bool,
    /// Number of chunks of this association that were declared lost, and times for which new data waited. `None`
    /// without an association.
    pub(in crate::live) transport: Option<(u64, HeldTimes)>,
}

/// Attributes each late message to the reason that delayed it longest while it could still be sent. The names of
/// reasons are those of `explain`.
#[derive(Debug, Default)]
pub(in crate::live) struct HeldUp {
    /// Number of late messages by cause.
    late: BTreeMap<&'static str, u64>,
    /// Waiting times of all associations, and of the time between them.
    times: HeldTimes,
    last: Option<(Instant, Held)>,
    /// Last checks, each with lost chunks and waiting times of all associations.
    past: VecDeque<(Instant, u64, HeldTimes)>,
}

impl HeldUp {
    /// Number of messages that were late since the stream began, by cause.
    pub(in crate::live) fn messages(&self) -> BTreeMap<&'static str, u64> {
        self.late.clone()
    }

    /// Seconds for which new data waited, by reason.
    pub(in crate::live) fn seconds(&self) -> BTreeMap<&'static str, f64> {
        let waited = self.times.iter().filter(|(_, time)| !time.is_zero());
        waited.map(|(by, time)| (by.name(), time.as_secs_f64())).collect()
    }

    /// Prepares for a stream that begins again, with counters from zero.
    pub(in crate::live) fn restart(&mut self) {
        *self = HeldUp::default();
    }

    /// Prepares for another association, whose counters begin at zero.
    pub(in crate::live) fn lost(&mut self) {
        if let Some((_, last)) = &mut self.last {
            last.transport = None;
        }
        self.past.clear();
    }

    /// Takes the next state of a stream with a playout `latency`.
    pub(in crate::live) fn update(&mut self, now: Instant, latency: Duration, held: Held) {
        let (at, then) = self.last.replace((now, held)).unwrap_or((now, Held::default()));
        let before = then.transport.unwrap_or_default().1;
        match held.transport {
            Some((_, times)) => self.add_times(held.silent, &times.since(&before)),
            None => self.times.add(HeldBy::Handshake, now - at),
        }
        let lost = held.transport.unwrap_or_default().0;
        self.past.push_back((now, lost, self.times));
        while self.past.get(1).is_some_and(|(at, ..)| now - *at >= latency.max(LEAST)) {
            self.past.pop_front();
        }
        let grown = |of: fn(&Held) -> u64| of(&held).saturating_sub(of(&then));
        let late = grown(|held| held.late);
        if late == 0 {
            return;
        }
        let begun_by = if self.chunks_were_lost() { "retransmission" } else { "transit" };
        let longest = self.longest();
        let parts = [
            (HeldBy::Handshake.name(), grown(|held| held.unconnected)),
            ("suspended", grown(|held| held.overdue)),
            (longest.unwrap_or("send-buffer"), grown(|held| held.refused)),
            (begun_by, grown(|held| held.begun)),
        ];
        let mut rest = late;
        for (cause, messages) in parts {
            let messages = messages.min(rest);
            rest -= messages;
            self.add(cause, messages);
        }
        // The scheduler gives up messages that it cannot deliver in time, even if no message waits.
        self.add(longest.unwrap_or(HeldBy::Scheduler.name()), rest);
    }

    /// Adds the waiting times of one step. If no link answers, full windows do not count as a separate reason.
    fn add_times(&mut self, silent: bool, step: &HeldTimes) {
        for (by, time) in step.iter() {
            let own = !silent || by == HeldBy::ReceiveWindow;
            self.times.add(if own { by } else { HeldBy::NoPath }, time);
        }
    }

    fn add(&mut self, cause: &'static str, messages: u64) {
        if messages > 0 {
            *self.late.entry(cause).or_default() += messages;
        }
    }

    fn chunks_were_lost(&self) -> bool {
        let ends = self.past.front().zip(self.past.back());
        ends.is_some_and(|((_, before, _), (_, now, _))| now > before)
    }

    /// Returns the reason for which data waited longest in the recent past.
    fn longest(&self) -> Option<&'static str> {
        let ((_, _, before), (_, _, now)) = self.past.front().zip(self.past.back())?;
        let waited = now.since(before);
        let (by, time) = waited.iter().max_by_key(|(_, time)| *time)?;
        (!time.is_zero()).then(|| by.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a stream with a latency of one second every quarter of a second.
    #[derive(Default)]
    struct Stream {
        watch: HeldUp,
        now: Instant,
        held: Held,
    }

    impl Stream {
        fn quarter(&mut self, change: impl Fn(&mut Held, &mut u64, &mut HeldTimes)) {
            self.now += Duration::from_millis(250);
            let (mut lost, mut times) = self.held.transport.unwrap_or_default();
            change(&mut self.held, &mut lost, &mut times);
            self.held.transport = Some((lost, times));
            self.watch.update(self.now, Duration::from_secs(1), self.held);
        }

        fn late(&self) -> Vec<(&'static str, u64)> {
            self.watch.messages().into_iter().collect()
        }
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_message_that_was_never_sent_counts_for_what_held_it_longest() {
        let mut stream = Stream::default();
        for _ in 0..4 {
            stream.quarter(|_, _, times| {
                times.add(HeldBy::CongestionWindow, 100 * MS);
                times.add(HeldBy::Pacing, 60 * MS);
            });
        }
        stream.quarter(|held, _, _| held.late += 7);
        assert_eq!(stream.late(), [("congestion-window", 7)]);
        // After another second the window is no longer the cause.
        for _ in 0..5 {
            stream.quarter(|_, _, times| times.add(HeldBy::NoPath, 250 * MS));
        }
        stream.quarter(|held, _, _| held.late += 3);
        assert_eq!(stream.late(), [("congestion-window", 7), ("no-path", 3)]);
        let seconds = stream.watch.seconds();
        assert!(
            (seconds["congestion-window"] - 0.4).abs() < 1e-9 && (seconds["no-path"] - 1.25).abs() < 1e-9
        );
    }

    #[test]
    fn each_part_has_its_cause_and_their_sum_is_all() {
        let mut stream = Stream::default();
        stream.quarter(|_, _, _| ());
        stream.quarter(|held, lost, _| {
            held.late += 15;
            (held.unconnected, held.overdue, held.refused, held.begun) = (1, 2, 3, 4);
            *lost += 1;
        });
        let expected =
            [("handshake", 1), ("retransmission", 4), ("scheduler", 5), ("send-buffer", 3), ("suspended", 2)];
        assert_eq!(stream.late(), expected);
        for _ in 0..5 {
            stream.quarter(|_, _, _| ());
        }
        stream.quarter(|held, _, _| {
            held.late += 2;
            held.begun += 2;
        });
        assert!(stream.late().contains(&("transit", 2)), "nothing was lost: the way took longer");
        assert_eq!(stream.late().iter().map(|(_, messages)| messages).sum::<u64>(), stream.held.late);
    }

    #[test]
    fn windows_that_are_full_while_no_link_answers_are_no_lack_of_capacity() {
        let mut stream = Stream::default();
        for quarter in 0..8 {
            stream.quarter(|held, _, times| {
                held.silent = quarter >= 3;
                times.add(HeldBy::CongestionWindow, 250 * MS);
            });
        }
        stream.quarter(|held, _, _| held.late += 7);
        assert_eq!(stream.late(), [("no-path", 7)]);
        let seconds = stream.watch.seconds();
        assert!((seconds["no-path"] - 1.25).abs() < 1e-9, "{seconds:?}");
        assert!((seconds["congestion-window"] - 0.75).abs() < 1e-9, "{seconds:?}");
    }

    #[test]
    fn times_continue_over_associations_and_between_them() {
        let mut stream = Stream::default();
        stream.quarter(|_, _, times| times.add(HeldBy::NoPath, 100 * MS));
        stream.watch.lost();
        for _ in 0..2 {
            stream.now += 250 * MS;
            stream.held.transport = None;
            stream.watch.update(stream.now, Duration::from_secs(1), stream.held);
        }
        stream.quarter(|_, _, times| times.add(HeldBy::NoPath, 20 * MS));
        let seconds = stream.watch.seconds();
        assert!((seconds["no-path"] - 0.12).abs() < 1e-9, "{seconds:?}");
        assert!((seconds["handshake"] - 0.5).abs() < 1e-9, "{seconds:?}");
        stream.watch.restart();
        assert!(stream.watch.seconds().is_empty() && stream.watch.messages().is_empty());
    }
}
