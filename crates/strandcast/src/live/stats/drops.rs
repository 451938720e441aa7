//! Messages that a sender drops: their number, the cause, and the remedy.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use strandcast_proto::time::Instant;

use crate::text::{bits_per_s, percent};

/// Time over which shares and rates are computed.
const WINDOW: Duration = Duration::from_secs(10);
/// Time from the first drop to its report. A share over a shorter time is not meaningful.
const FIRST: Duration = Duration::from_secs(2);
/// Time without a drop after which the drops count as over.
const OVER: Duration = Duration::from_secs(5);
/// Rate of the advice to an encoder, as a share of the rate that the links carry.
const ADVISED: f64 = 0.9;
/// Share of the time for which the peer's buffer must be full to count as the cause.
const HELD: f64 = 0.2;
/// Multiple of the mean rate. The input of a quarter of a second is a burst if its rate is higher.
const BURST: f64 = 2.5;
/// IP-level size of packets that nearly all links pass, in bytes (RFC 8899 §5.1.2).
const SMALL: u16 = 1200;
/// Time after the drops within which their cause may be detected.
const SHOWS_LATER: Duration = Duration::from_secs(5);
/// Longest time for which the drops of a single burst may last.
const BURST_TIME: Duration = Duration::from_secs(1);

/// Cause for which a sender drops messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DropCause {
    /// There is no connection to the receiver.
    NotConnected,
    /// There is a connection, but none of its links answers.
    NoPath,
    /// Large packets do not arrive on any link, but small ones do.
    PacketSize,
    /// The receiver's buffer is full: its output or its machine is too slow.
    Receiver,
    /// The allowance of a link is used up.
    Allowance,
    /// The messages were already too late when this process could handle them.
    Suspended,
    /// The encoder's bursts far exceed its mean rate, although the links carry the mean rate.
    Burst,
    /// The links carry less than the input.
    Capacity,
}

impl DropCause {
    /// Name of the cause in outputs.
    pub fn name(self) -> &'static str {
        match self {
            DropCause::NotConnected => "not-connected",
            DropCause::NoPath => "no-path",
            DropCause::PacketSize => "packet-size",
            DropCause::Receiver => "receiver",
            DropCause::Allowance => "allowance",
            DropCause::Suspended => "suspended",
            DropCause::Burst => "burst",
            DropCause::Capacity => "capacity",
        }
    }
}

/// Messages that were dropped recently.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drops {
    /// Cause of most of these drops.
    pub cause: DropCause,
    /// Number of messages dropped since the stream began.
    pub messages: u64,
    /// Share of the messages that were dropped in the last `seconds`.
    pub share: f64,
    /// Time over which share and rates are computed, at most 10 s.
    pub seconds: f64,
    /// Rate of the input.
    pub input_bps: f64,
    /// Rate of the messages that were not dropped.
    pub carried_bps: f64,
}

impl fmt::Display for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Drops { cause, share, seconds, input_bps, carried_bps, .. } = *self;
        let (input, carried) = (bits_per_s(input_bps), bits_per_s(carried_bps));
        write!(f, "{} of the last {seconds:.0} s dropped: ", percent(share))?;
        match cause {
            DropCause::NotConnected => f.write_str("there is no connection"),
            DropCause::NoPath => f.write_str("no link answers"),
            DropCause::PacketSize => write!(
                f,
                "large packets do not arrive on any link, and small ones do: a size that fits is being found; \
                 --mtu {SMALL} begins with one"
            ),
            DropCause::Receiver => f.write_str(
                "the receiver does not keep up: its output is not read, or its machine is too slow",
            ),
            DropCause::Allowance => {
                f.write_str("the allowance of a link is used up: raise left= of --tariff, or add a link")
            }
            DropCause::Suspended => f.write_str(
                "this machine was suspended or is too slow: messages were late before they could be sent",
            ),
            DropCause::Burst => write!(
                f,
                "the input comes in bursts of more than {BURST} times its mean of {input}: bound them in the encoder \
                 (VBV buffer), or raise --latency"
            ),
            DropCause::Capacity => {
                let advised = bits_per_s(carried_bps * ADVISED);
                write!(
                    f,
                    "input {input}, links carry {carried}: set the encoder to {advised} or raise --latency"
                )
            }
        }
    }
}

/// State of a sender at one time. The counters of the state start with the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::live) struct Moment {
    /// Number of messages of the input, and their bytes.
    pub(in crate::live) messages: u64,
    pub(in crate::live) bytes: u64,
    /// Numbers of messages: dropped messages, messages that were due without a connection, and overdue messages.
    pub(in crate::live) dropped: u64,
    pub(in crate::live) unconnected: u64,
    pub(in crate::live) overdue: u64,
    /// Time in which only the peer's full buffer blocked data of this association.
    pub(in crate::live) peer_blocked_s: f64,
    /// True if no link answers.
    pub(in crate::live) no_path: bool,
    /// True if large packets do not arrive on any link, but small ones do.
    pub(in crate::live) vanishing: bool,
    /// Two flags. The first is true if the allowance of a link is used up. The second is true if the allowances of all
    /// links are used up, so that no data are sent and no link answers.
    pub(in crate::live) spent: bool,
    pub(in crate::live) all_spent: bool,
}

/// Difference of two states.
#[derive(Debug)]
struct Step {
    at: Instant,
    messages: u64,
    bytes: u64,
    dropped: BTreeMap<DropCause, u64>,
    time: Duration,
}

/// A change of the drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::live) enum DropNews {
    /// Messages are dropped.
    Dropping(Drops),
    /// Dropping has ended. The values are the number of messages that were dropped since dropping began, and the
    /// duration.
    Over(u64, Duration),
}

/// Detects drops and their causes.
#[derive(Debug, Default)]
pub(in crate::live) struct DropWatch {
    steps: VecDeque<Step>,
    last: Option<(Instant, Moment)>,
    /// Number of messages dropped since the stream began, by cause.
    totals: BTreeMap<DropCause, u64>,
    /// State of the current series of drops: start of the series, number of drops before it, and time of the last drop.
    since: Option<(Instant, u64, Instant)>,
    told: Option<Instant>,
    /// Last time at which large packets did not arrive.
    vanished: Option<Instant>,
}

impl DropWatch {
    /// Number of messages dropped since the stream began, by cause.
    pub(in crate::live) fn totals(&self) -> BTreeMap<&'static str, u64> {
        self.totals.iter().map(|(cause, messages)| (cause.name(), *messages)).collect()
    }

    /// Prepares for counters that begin at zero.
    pub(in crate::live) fn restart(&mut self) {
        self.last = None;
    }

    /// Takes the next state. Returns the report to make, if any.
    pub(in crate::live) fn update(&mut self, now: Instant, moment: Moment) -> Option<DropNews> {
        self.note_size(now, moment.vanishing);
        let (before, then) = self.last.replace((now, moment)).unwrap_or((now, Moment::default()));
        let step = self.step(now, before, &then, &moment);
        let fresh: u64 = step.dropped.values().sum();
        for (cause, messages) in &step.dropped {
            *self.totals.entry(*cause).or_default() += messages;
        }
        self.steps.push_back(step);
        while self.steps.front().is_some_and(|step| now - step.at >= WINDOW) {
            self.steps.pop_front();
        }
        if fresh > 0 {
            let (_, _, last) = self.since.get_or_insert((now, moment.dropped - fresh, now));
            *last = now;
        }
        // A suspension drops all its messages at once, so that their share is computed over the whole suspension.
        let suspended =
            self.steps.back().is_some_and(|step| step.dropped.contains_key(&DropCause::Suspended));
        let (since, number, last) = self.since?;
        if now - last >= OVER {
            self.since = None;
            let told = self.told.take().is_some();
            return told.then(|| DropNews::Over(moment.dropped.saturating_sub(number), last - since));
        }
        let due = match self.told {
            None => now - since >= FIRST || suspended,
            Some(told) => now - told >= WINDOW && now - last < FIRST,
        };
        if !due {
            return None;
        }
        self.told = Some(now);
        Some(DropNews::Dropping(self.drops(moment.dropped)?))
    }

    /// Records whether large packets do not arrive. Messages that were dropped shortly before have the same cause,
    /// because the cause is detected later.
    fn note_size(&mut self, now: Instant, vanishing: bool) {
        if !vanishing {
            return;
        }
        let known = self.vanished.replace(now).is_some_and(|at| now - at < SHOWS_LATER);
        for step in self.steps.iter_mut().filter(|step| !known && now - step.at <= SHOWS_LATER) {
            for cause in [DropCause::NoPath, DropCause::Burst, DropCause::Capacity] {
                let Some(messages) = step.dropped.remove(&cause) else { continue };
                *step.dropped.entry(DropCause::PacketSize).or_default() += messages;
                *self.totals.entry(DropCause::PacketSize).or_default() += messages;
                self.totals.entry(cause).and_modify(|all| *all -= messages);
            }
        }
        self.totals.retain(|_, messages| *messages > 0);
    }

    fn step(&self, at: Instant, before: Instant, then: &Moment, now: &Moment) -> Step {
        let (time, messages) = (at - before, now.messages.saturating_sub(then.messages));
        let bytes = now.bytes.saturating_sub(then.bytes);
        let dropped = now.dropped.saturating_sub(then.dropped);
        let unconnected = now.unconnected.saturating_sub(then.unconnected).min(dropped);
        let overdue = now.overdue.saturating_sub(then.overdue).min(dropped - unconnected);
        let rest = dropped - unconnected - overdue;
        let held = now.peer_blocked_s - then.peer_blocked_s;
        let cause = if self.vanished.is_some_and(|seen| at - seen <= FIRST) {
            DropCause::PacketSize
        } else if now.all_spent {
            DropCause::Allowance
        } else if now.no_path {
            DropCause::NoPath
        } else if held > HELD * time.as_secs_f64() {
            DropCause::Receiver
        } else if now.spent {
            DropCause::Allowance
        } else if self.is_burst(at, bytes, time) {
            DropCause::Burst
        } else {
            DropCause::Capacity
        };
        let causes = [(DropCause::NotConnected, unconnected), (DropCause::Suspended, overdue), (cause, rest)];
        let dropped = causes.into_iter().filter(|(_, messages)| *messages > 0).collect();
        Step { at, messages, bytes, dropped, time }
    }

    /// Returns whether the input was much faster than its mean rate just now, although the links carry the mean rate.
    /// The links carry the mean rate if no message was dropped for a lack of capacity until a second ago.
    fn is_burst(&self, now: Instant, bytes: u64, time: Duration) -> bool {
        let mut earlier = self.steps.iter().filter(|step| now - step.at >= BURST_TIME);
        if earlier.any(|step| step.dropped.contains_key(&DropCause::Capacity)) {
            return false;
        }
        let recent: Vec<&Step> = self.steps.iter().collect();
        let seconds: f64 = recent.iter().map(|step| step.time.as_secs_f64()).sum();
        let mean = recent.iter().map(|step| step.bytes).sum::<u64>() as f64 / seconds.max(1e-3);
        // A burst leaves in the next quarter of a second.
        let last = recent.last().map_or(0, |step| step.bytes).max(bytes) as f64;
        seconds >= 2.0 && mean > 0.0 && last / time.as_secs_f64().max(1e-3) > BURST * mean
    }

    fn drops(&self, messages: u64) -> Option<Drops> {
        let seconds: f64 = self.steps.iter().map(|step| step.time.as_secs_f64()).sum();
        let (all, bytes) = self.steps.iter().fold((0, 0), |(m, b), step| (m + step.messages, b + step.bytes));
        let mut causes: BTreeMap<DropCause, u64> = BTreeMap::new();
        for (cause, dropped) in self.steps.iter().flat_map(|step| &step.dropped) {
            *causes.entry(*cause).or_default() += dropped;
        }
        let (cause, _) = causes.iter().max_by_key(|(_, dropped)| **dropped)?;
        let dropped: u64 = causes.values().sum();
        let share = (dropped as f64 / all.max(dropped).max(1) as f64).min(1.0);
        let input_bps = bytes as f64 * 8.0 / seconds.max(1e-3);
        let carried_bps = input_bps * (1.0 - share);
        Some(Drops { cause: *cause, messages, share, seconds, input_bps, carried_bps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream of 100 messages of 1250 bytes per quarter of a second, which is 4 Mbit/s.
    struct Stream {
        watch: DropWatch,
        now: Instant,
        moment: Moment,
    }

    impl Stream {
        fn new() -> Stream {
            let (watch, now, moment) = Default::default();
            Stream { watch, now, moment }
        }

        fn quarter(&mut self, dropped: u64) -> Option<DropNews> {
            self.now += Duration::from_millis(250);
            self.moment.messages += 100;
            self.moment.bytes += 125_000;
            self.moment.dropped += dropped;
            self.watch.update(self.now, self.moment)
        }

        fn quarters(&mut self, number: u32, dropped: u64) -> Vec<DropNews> {
            (0..number).filter_map(|_| self.quarter(dropped)).collect()
        }

        /// Returns the cause of drops that last for 3 s.
        fn cause(&mut self, change: impl Fn(&mut Moment)) -> DropCause {
            let mut cause = None;
            for _ in 0..12 {
                change(&mut self.moment);
                if let Some(DropNews::Dropping(drops)) = self.quarter(30) {
                    cause = Some(drops.cause);
                }
            }
            cause.expect("a report within 3 s")
        }
    }

    #[test]
    fn a_lack_of_capacity_has_rates_and_a_remedy_again_and_again_until_it_is_over() {
        let mut stream = Stream::new();
        assert_eq!(stream.quarters(40, 0), []);
        let told = stream.quarters(40, 30);
        let [DropNews::Dropping(first)] = told[..] else { panic!("{told:?}") };
        assert!(first.share > 0.05 && first.share < 0.1, "of 10 s it is 2: {first:?}");
        let told = stream.quarters(40, 30);
        let [DropNews::Dropping(second)] = told[..] else { panic!("{told:?}") };
        let line = "30 % of the last 10 s dropped: input 4.00 Mbit/s, links carry 2.80 Mbit/s: set the encoder to \
                    2.52 Mbit/s or raise --latency";
        assert_eq!(second.to_string().replace("30.00 %", "30 %").replace("30.0 %", "30 %"), line);
        let told = stream.quarters(40, 0);
        let [DropNews::Over(messages, after)] = told[..] else { panic!("{told:?}") };
        assert_eq!((messages, after.as_secs()), (80 * 30, 19));
        assert_eq!(stream.quarters(80, 0), []);
        assert_eq!(stream.watch.totals(), BTreeMap::from([("capacity", 2400)]));
    }

    #[test]
    fn each_cause_is_told_from_the_others() {
        let of = |change: fn(&mut Moment)| Stream::new().cause(change);
        assert_eq!(of(|_| ()), DropCause::Capacity);
        assert_eq!(of(|m| m.unconnected += 30), DropCause::NotConnected);
        assert_eq!(of(|m| m.overdue += 30), DropCause::Suspended);
        assert_eq!(of(|m| m.no_path = true), DropCause::NoPath);
        assert_eq!(of(|m| m.vanishing = true), DropCause::PacketSize);
        assert_eq!(of(|m| m.peer_blocked_s += 0.1), DropCause::Receiver);
        assert_eq!(of(|m| m.spent = true), DropCause::Allowance);
        // No data are sent, so that no link answers.
        assert_eq!(of(|m| (m.no_path, m.all_spent) = (true, true)), DropCause::Allowance);
    }

    /// Links that pass no large packets seem to fail and return. The drops of such links look like a lack of capacity.
    #[test]
    fn packets_that_are_too_large_are_the_cause_from_the_first_drop_on() {
        let mut stream = Stream::new();
        assert_eq!(stream.quarters(4, 30), []);
        stream.moment.no_path = true;
        assert_eq!(stream.quarters(2, 30), []);
        stream.moment.vanishing = true;
        let told = stream.quarters(3, 30);
        let [DropNews::Dropping(drops)] = told[..] else { panic!("{told:?}") };
        assert_eq!(drops.cause, DropCause::PacketSize);
        let line = drops.to_string();
        assert!(line.contains("large packets do not arrive") && line.contains("--mtu 1200"), "{line}");
        // The maximum packet size has been found, but messages that waited for it are late.
        (stream.moment.no_path, stream.moment.vanishing) = (false, false);
        stream.quarters(2, 30);
        assert_eq!(stream.watch.totals(), BTreeMap::from([("packet-size", 330)]));
        stream.quarters(40, 0);
        stream.quarters(4, 30);
        assert_eq!(stream.watch.totals(), BTreeMap::from([("capacity", 120), ("packet-size", 330)]));
    }

    #[test]
    fn a_burst_of_the_encoder_is_not_a_lack_of_capacity() {
        let mut stream = Stream::new();
        stream.quarters(40, 0);
        let mut told = Vec::new();
        for n in 0..12 {
            if n % 4 == 0 {
                stream.moment.bytes += 500_000;
                told.extend(stream.quarter(50));
            } else {
                told.extend(stream.quarter(0));
            }
        }
        let [DropNews::Dropping(drops)] = told[..] else { panic!("{told:?}") };
        assert_eq!(drops.cause, DropCause::Burst);
    }

    #[test]
    fn a_few_drops_have_one_line_and_its_end() {
        let mut stream = Stream::new();
        stream.quarters(40, 0);
        assert_eq!((stream.quarters(1, 3), stream.quarters(7, 0)), (vec![], vec![]));
        let told = stream.quarters(40, 0);
        assert!(
            matches!(told[..], [DropNews::Dropping(Drops { messages: 3, .. }), DropNews::Over(3, _)]),
            "{told:?}"
        );
    }
}
