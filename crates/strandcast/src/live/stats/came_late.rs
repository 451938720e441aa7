//! Causes of messages that were late or lost, as far as a receiver can determine them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use strandcast_proto::time::Instant;

/// Time without any packet that counts as silence of all links.
const SILENT: Duration = Duration::from_millis(500);
/// Time within which a sender's message about a lost link must have arrived. The time covers several timeouts.
const TOLD: Duration = Duration::from_secs(3);

/// Cause of messages that were late or never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// No packet arrived over any link.
    Silence,
    /// A link of the sender was lost or fell silent shortly before.
    LinkLost,
    /// Links worked. The sender dropped the messages, sent them late or retransmitted them, and reports the reason.
    Sender,
}

impl Cause {
    fn name(self) -> &'static str {
        match self {
            Cause::Silence => "silence",
            Cause::LinkLost => "link-lost",
            Cause::Sender => "sender",
        }
    }
}

/// Attributes messages that were late or lost.
#[derive(Debug, Default)]
pub(in crate::live) struct CameLate {
    totals: BTreeMap<Cause, u64>,
    /// Messages of the last seconds that were late or lost while no lost link was known.
    recent: VecDeque<(Instant, u64)>,
    /// Number of messages that were late or lost so far.
    counted: u64,
    /// End of the last silence, and time at which a link was last lost.
    silent: Option<Instant>,
    link_lost: Option<Instant>,
}

impl CameLate {
    /// Messages that were late or lost since the stream began, by cause.
    pub(in crate::live) fn messages(&self) -> BTreeMap<&'static str, u64> {
        let counted = self.totals.iter().filter(|(_, messages)| **messages > 0);
        counted.map(|(cause, messages)| (cause.name(), *messages)).collect()
    }

    /// Takes the next state of a stream with a playout `latency`. `count` is the number of messages that were late or
    /// lost so far. The last packet arrived at `seen`. `link_lost` is true if the sender reports a further lost link.
    pub(in crate::live) fn update(
        &mut self,
        now: Instant,
        latency: Duration,
        count: u64,
        seen: Instant,
        link_lost: bool,
    ) {
        if now.saturating_since(seen) >= SILENT {
            self.silent = Some(now);
        }
        while self.recent.front().is_some_and(|(at, _)| now - *at > TOLD) {
            self.recent.pop_front();
        }
        if link_lost {
            self.link_lost = Some(now);
            let before: u64 = self.recent.drain(..).map(|(_, messages)| messages).sum();
            self.take(Cause::Sender, before);
            self.add(Cause::LinkLost, before);
        }
        let fresh = count.saturating_sub(self.counted);
        // If a lost message arrives after all, it counts as late and no longer as lost. The sum does not change.
        self.counted = self.counted.max(count);
        if fresh == 0 {
            return;
        }
        // A message is judged when it is due, which is one latency after it was sent.
        let lately = |at: Option<Instant>, more: Duration| at.is_some_and(|at| now - at <= latency + more);
        let cause = if lately(self.silent, SILENT) {
            Cause::Silence
        } else if lately(self.link_lost, TOLD) {
            Cause::LinkLost
        } else {
            self.recent.push_back((now, fresh));
            Cause::Sender
        };
        self.add(cause, fresh);
    }

    fn add(&mut self, cause: Cause, messages: u64) {
        *self.totals.entry(cause).or_default() += messages;
    }

    fn take(&mut self, cause: Cause, messages: u64) {
        self.totals.entry(cause).and_modify(|all| *all -= messages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a stream every quarter of a second.
    #[derive(Default)]
    struct Stream {
        watch: CameLate,
        now: Instant,
        seen: Instant,
        count: u64,
    }

    impl Stream {
        fn quarter(&mut self, late: u64, packets: bool, link_lost: bool) {
            self.now += Duration::from_millis(250);
            self.count += late;
            if packets {
                self.seen = self.now;
            }
            self.watch.update(self.now, Duration::from_secs(1), self.count, self.seen, link_lost);
        }

        fn causes(&self) -> Vec<(&'static str, u64)> {
            self.watch.messages().into_iter().collect()
        }
    }

    #[test]
    fn silence_is_a_cause_until_a_latency_later() {
        let mut stream = Stream::default();
        stream.quarter(1, true, false);
        (0..3).for_each(|_| stream.quarter(0, false, false));
        for _ in 0..6 {
            stream.quarter(2, true, false);
        }
        assert_eq!(stream.causes(), [("sender", 1), ("silence", 12)]);
        stream.quarter(3, true, false);
        assert_eq!(stream.causes(), [("sender", 4), ("silence", 12)]);
    }

    #[test]
    fn a_lost_link_is_the_cause_also_of_what_was_late_before_it_was_known() {
        let mut stream = Stream::default();
        stream.quarter(5, true, false);
        (0..16).for_each(|_| stream.quarter(0, true, false));
        stream.quarter(2, true, false);
        stream.quarter(1, true, true);
        (0..16).for_each(|_| stream.quarter(1, true, false));
        assert_eq!(stream.causes(), [("link-lost", 19), ("sender", 5)]);
        stream.quarter(1, true, false);
        assert_eq!(stream.causes(), [("link-lost", 19), ("sender", 6)]);
        assert_eq!(stream.causes().iter().map(|(_, messages)| messages).sum::<u64>(), stream.count);
    }
}
