//! Tests of the table in the module's documentation: the conditions that shift playout, and those that do
//! not. Times are in milliseconds unless stated otherwise.

use core::time::Duration;

use proptest::prelude::*;

use super::tests::{at, data, ms};
use super::*;
use crate::MediaTime;

/// Time between two messages.
const STEP: u64 = 10;
/// The minimum delay.
const MIN_DELAY: u64 = 30;

/// The outcome of a stream.
struct Played {
    /// Sequence number, play time, and delay since the send time.
    messages: Vec<(u32, u64, i64)>,
    /// Reported changes and their times.
    changes: Vec<(u64, ClockChange)>,
    stats: PlayoutStats,
}

impl Played {
    /// Delays from sending to playing, in microseconds, of messages sent in this interval.
    fn delays(&self, sent: core::ops::Range<u64>) -> Vec<i64> {
        let sent = sent.start / STEP..sent.end / STEP;
        self.messages.iter().filter(|m| sent.contains(&u64::from(m.0))).map(|m| m.2).collect()
    }

    fn longest(&self, sent: core::ops::Range<u64>) -> f64 {
        self.delays(sent).into_iter().max().map_or(0.0, |us| us as f64 / 1e3)
    }

    fn shifts(&self) -> Vec<(u64, u64, ShiftCause)> {
        let shifts = self.changes.iter().filter_map(|&(now, change)| match change {
            ClockChange::Shifted { by, cause, .. } => Some((now, by.as_millis() as u64, cause)),
            _ => None,
        });
        shifts.collect()
    }
}

/// Plays one message every 10 ms for `seconds`. `delay` gives the delay of a message sent at a time, if it arrives;
/// `stamp` the sender's clock at that time.
fn played(
    latency: u64,
    seconds: u64,
    delay: impl Fn(u64) -> Option<u64>,
    stamp: impl Fn(u64) -> u64,
) -> Played {
    let mut playout = Playout::new(PlayoutConfig::new(ms(latency)));
    let sent = (0..seconds * 1000 / STEP).map(|n| n * STEP);
    let mut arrivals: Vec<(u64, u64)> = sent.filter_map(|sent| Some((sent + delay(sent)?, sent))).collect();
    arrivals.sort_unstable();
    let (mut messages, mut changes) = (Vec::new(), Vec::new());
    let mut clock = MediaTime::ZERO;
    let mut poll = |playout: &mut Playout, until: u64| {
        while let Some(next) = playout.poll_timeout().filter(|&next| next <= at(until)) {
            // Changes are reported at once.
            clock = clock.max(next);
            while let Some(output) = playout.poll(clock) {
                match output {
                    Output::Data(released) => {
                        let sent = u64::from(released.header.sequence) * STEP;
                        let delay = clock.as_micros() as i64 - (sent * 1000) as i64;
                        messages.push((released.header.sequence, clock.as_micros() / 1000, delay));
                    }
                    Output::Clock(change) => changes.push((until, change)),
                    other => panic!("{other:?}"),
                }
            }
        }
    };
    for (now, sent) in arrivals {
        poll(&mut playout, now);
        playout.push(at(now), data((sent / STEP) as u32, stamp(sent)));
        poll(&mut playout, now);
    }
    poll(&mut playout, u64::MAX / 4_000_000);
    let stats = playout.stats();
    assert!(messages.windows(2).all(|m| m[0].0 < m[1].0 && m[0].1 <= m[1].1), "in order");
    Played { messages, changes, stats }
}

fn as_it_is(sent: u64) -> u64 {
    sent
}

/// Delays over a link of 8 Mbit/s with a queue of `queue` ms, which the stream of 4 Mbit/s shares with a load, in
/// Mbit/s, until it is full. Returns the delay of each message, `None` for dropped ones.
fn shared_link(seconds: u64, queue: f64, load: impl Fn(u64) -> f64) -> Vec<Option<u64>> {
    let mut waiting = 0.0_f64;
    let mut delay = |n: u64| {
        // In each 10 ms step, 10 ms of the queue leave, and arrivals add their share of the link's rate.
        let arrives = (4.0 + load(n * STEP)) / 8.0 * STEP as f64;
        waiting = (waiting + arrives - STEP as f64).max(0.0);
        let full = waiting >= queue;
        waiting = waiting.min(queue);
        // The stream and the load have equal loss: every third message finds room.
        (!full || n.is_multiple_of(3)).then_some(MIN_DELAY + waiting as u64)
    };
    (0..seconds * 1000 / STEP).map(&mut delay).collect()
}

#[test]
fn a_burst_on_the_link_leaves_no_delay_behind() {
    // 4 s of UDP at 20 Mbit/s before a queue of 3 s and of 1.3 s.
    for queue in [3000.0, 1300.0] {
        let delays = shared_link(60, queue, |sent| if (10_000..14_000).contains(&sent) { 20.0 } else { 0.0 });
        assert!(delays.iter().flatten().max() > Some(&1290), "the queue is longer than the latency");
        let p = played(1000, 60, |sent| delays[(sent / STEP) as usize], as_it_is);
        assert_eq!((p.stats.clock_jumps, p.stats.shifts, p.stats.shift), (0, 0, Duration::ZERO));
        assert!(p.longest(0..60_000) <= (MIN_DELAY + 1000) as f64, "{} ms", p.longest(0..60_000));
        assert!(p.stats.late > 100, "congestion makes messages late: {:?}", p.stats);
        assert_eq!(p.delays(25_000..60_000).len(), 3500, "and none afterwards");
    }
}

#[test]
fn persistent_congestion_shifts_playout_and_is_reported() {
    // A queue of 2 s stays full for 60 s; its length varies a little with each message.
    let load = |sent| if (5_000..65_000).contains(&sent) { 12.0 } else { 0.0 };
    let delays = shared_link(120, 2000.0, load);
    let jitter = |sent: u64| sent / STEP * 7919 % 40;
    let p = played(500, 120, |sent| Some(delays[(sent / STEP) as usize]? + jitter(sent)), as_it_is);
    let shifts = p.shifts();
    let (when, by, cause) = shifts[0];
    assert_eq!(cause, ShiftCause::Congestion);
    // Once the window of 30 s contains no other values, this is the minimum delay.
    assert!(shifts[1..].iter().all(|s| s.0 > when + 20_000 && s.2 == ShiftCause::LongerDelay), "{shifts:?}");
    // 500 ms of queue after 0.5 s; then 10 s.
    assert!((15_000..17_500).contains(&when), "at {when}");
    assert!((1500..1620).contains(&by), "no more than necessary: {by}");
    let least = p.delays(20_000..60_000).len();
    assert!(least > 4000 / 3 - 40, "playout continues: {least}");
    assert!(p.longest(20_000..60_000) < 2150.0, "{}", p.longest(20_000..60_000));
    // It recovers by 5 %, then 6.25 %, without loss.
    assert_eq!(p.delays(75_000..120_000).len(), 4500, "{:?}", p.stats);
    assert!(p.longest(110_000..120_000) <= 560.0, "{}", p.longest(110_000..120_000));
    assert!(matches!(p.changes.last(), Some((_, ClockChange::Returned))), "{:?}", p.changes);
    assert_eq!(p.stats.shift, Duration::ZERO);
    let seconds = p.messages.windows(101).filter(|m| m[0].0 > 7000);
    let fastest = seconds.map(|m| 1_000_000 + m[100].2 - m[0].2).min().unwrap();
    assert!(fastest >= 933_000, "6.25 % of a second, and a step of jitter: {fastest} us");
}

#[test]
fn a_lasting_longer_delay_shifts_and_recovers_with_the_short_path() {
    // The path with the short delay is down from 20 s to 60 s; the other one's delay is 400 ms longer.
    let delay = |sent: u64| {
        let jitter = sent / STEP * 7919 % 30;
        Some(MIN_DELAY + jitter + if (20_000..60_000).contains(&sent) { 400 } else { 0 })
    };
    let p = played(300, 90, delay, as_it_is);
    let shifts = p.shifts();
    assert_eq!(shifts.len(), 1, "{shifts:?}");
    let (when, by, cause) = shifts[0];
    assert_eq!(cause, ShiftCause::LongerDelay);
    assert!((21_300..21_600).contains(&when) && (395..=405).contains(&by), "{by} at {when}");
    // Only the messages of the first second are late.
    assert!((60..=110).contains(&p.stats.late), "{:?}", p.stats);
    assert!(p.longest(0..19_000) <= 331.0 && p.longest(25_000..60_000) <= 735.0);
    assert!(p.longest(70_000..90_000) <= 340.0, "back within 10 s: {}", p.longest(70_000..90_000));
    assert_eq!(p.stats.largest_shift.as_millis() as u64, by);
    assert_eq!(p.delays(25_000..90_000).len(), 6500, "nothing is dropped on the delay back");
}

#[test]
fn a_longer_delay_without_late_messages_is_reported_too() {
    let p = played(1000, 200, |sent| Some(if sent < 20_000 { MIN_DELAY } else { MIN_DELAY + 200 }), as_it_is);
    assert_eq!(p.shifts().iter().map(|s| (s.1, s.2)).collect::<Vec<_>>(), [(200, ShiftCause::LongerDelay)]);
    assert_eq!((p.stats.late, p.stats.lost, p.stats.clock_jumps), (0, 0, 0));
    // 500 ppm of the 150 s after the window of 30 s.
    assert!((1090.0..1110.0).contains(&p.longest(199_000..200_000)), "{}", p.longest(199_000..200_000));
    assert!((65..=80).contains(&p.stats.shift.as_millis()), "{:?}", p.stats);
}

#[test]
fn a_shorter_path_reduces_the_delay() {
    let p = played(500, 40, |sent| Some(if sent < 5_000 { MIN_DELAY + 300 } else { MIN_DELAY }), as_it_is);
    assert_eq!((p.shifts().len(), p.stats.late, p.stats.lost), (0, 0, 0));
    assert!((p.longest(0..4_000), p.longest(14_000..40_000)) <= (830.0, 580.0));
}

#[test]
fn the_backlog_of_an_outage_is_dropped_and_shifts_nothing() {
    // Nothing arrives for 8 s. Then the backlog arrives, all of it late, at the stream's own pace and at 1, 3
    // and 30 times that pace in addition to new messages.
    for faster in [1, 3, 30] {
        let delay = |sent: u64| {
            let behind = 18_000_u64.saturating_sub(sent);
            let waits = if (10_000..18_000).contains(&sent) { behind + (sent - 10_000) / faster } else { 0 };
            Some(MIN_DELAY + waits)
        };
        let p = played(1000, 60, delay, as_it_is);
        assert_eq!((p.stats.shifts, p.stats.clock_jumps), (0, 0), "{faster}: {:?}", p.changes);
        assert!(p.longest(0..60_000) <= (MIN_DELAY + 1000) as f64);
        assert_eq!(p.delays(18_000..60_000).len(), 4200, "{faster}");
        // A straggler before the outage does not turn it into a run.
        let late = |sent| if sent == 9_990 { Some(2_500) } else { delay(sent) };
        assert_eq!(played(1000, 60, late, as_it_is).stats.shifts, 0);
    }
}

#[test]
fn a_clock_that_stood_still_is_a_jump_and_not_a_delay() {
    // The sender's machine slept: its clock is an hour late, and nothing was sent during that time.
    let hour = 3_600_000;
    let delay = |sent: u64| Some(if sent < 10_000 { MIN_DELAY } else { MIN_DELAY + hour });
    let p = played(500, 40, delay, as_it_is);
    assert_eq!(
        (p.stats.clock_jumps, p.stats.shifts, p.stats.shift),
        (1, 0, Duration::ZERO),
        "{:?}",
        p.changes
    );
    assert!(matches!(p.changes[..], [(_, ClockChange::Jumped { back: true, by })] if by == ms(hour)));
    assert!(p.longest(12_000..40_000) <= (hour + MIN_DELAY + 500) as f64);
    assert!(p.stats.late <= 110, "{:?}", p.stats);
}

#[test]
fn a_clock_set_during_congestion_is_distinguished_from_it() {
    let delays = shared_link(40, 1500.0, |sent| if (8_000..12_000).contains(&sent) { 12.0 } else { 0.0 });
    for set in [-700, -5_000, 5_000] {
        let stamp = |sent: u64| (sent + 60_000).saturating_add_signed(if sent < 9_000 { 0 } else { set });
        let p = played(600, 40, |sent| delays[(sent / STEP) as usize], stamp);
        assert_eq!((p.stats.clock_jumps, p.stats.shifts), (1, 0), "{set}: {:?}", p.changes);
        // The message that indicated it may have waited in the queue.
        assert!(p.longest(20_000..40_000) <= 630.0 + 20.0, "{set}: {}", p.longest(20_000..40_000));
    }
}

/// A segment of a stream: added delay at its beginning and end, jitter, fraction of lost messages, seconds.
fn any_pieces() -> impl Strategy<Value = Vec<(u64, u64, u64, u64, u64)>> {
    let level = || prop_oneof![3 => Just(0_u64), 1 => 0_u64..400, 1 => 0_u64..4000];
    prop::collection::vec((level(), level(), 0_u64..80, 0_u64..40, 1_u64..20), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Under any behaviour of the network, nothing is played twice, out of order, early, or later than
    /// reported.
    #[test]
    fn latency_never_grows_silently(pieces in any_pieces(), latency in 100_u64..1500) {
        let mut delays = vec![Some(MIN_DELAY); 100];
        for (from, to, jitter, lost, seconds) in pieces {
            let n = seconds * 1000 / STEP;
            let before = delays.len() as u64;
            delays.extend((0..n).map(|i| {
                let random = (before + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
                let level = (from * (n - i) + to * i) / n;
                (random % 100 >= lost).then_some(MIN_DELAY + level + random / 100 % (jitter + 1))
            }));
        }
        let seconds = delays.len() as u64 * STEP / 1000;
        let p = played(latency, seconds, |sent| delays[(sent / STEP) as usize], as_it_is);
        prop_assert_eq!(p.stats.clock_jumps, 0);
        let mut told = 0;
        let mut changes = p.changes.iter().filter_map(|&(when, change)| match change {
            ClockChange::Shifted { total, .. } => Some((when, total.as_micros() as i64)),
            _ => None,
        }).peekable();
        for &(sequence, now, delay) in &p.messages {
            while let Some((_, total)) = changes.next_if(|&(when, _)| when <= now) {
                told = told.max(total);
            }
            let asked = ((MIN_DELAY + latency) * 1000) as i64;
            prop_assert!(delay >= asked, "message {} after {} us", sequence, delay);
            // Changes beyond drift are reported from 50 ms on.
            prop_assert!(delay <= asked + told + 50_000, "message {sequence} after {delay} us, reported {told}");
        }
        let told = changes.map(|(_, total)| total).fold(told, i64::max);
        prop_assert_eq!(p.stats.largest_shift.as_micros() as i64, told);
        let arrived = delays.iter().flatten().count() as u64;
        prop_assert_eq!(p.stats.played + p.stats.late, arrived);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A sender may send any time stamp. Nothing overflows, and the buffer stays bounded.
    #[test]
    fn any_send_times_are_tolerated(
        latency in prop_oneof![100_u64..1500, Just(u64::MAX / 4_000_000)],
        start in prop_oneof![Just(0_u64), 0_u64..100_000, Just(1 << 42)],
        pieces in prop::collection::vec((any::<bool>(), 0_u32..63, any::<u64>(), 1_u64..3000, 1_u32..400), 1..12),
    ) {
        let mut playout = Playout::new(PlayoutConfig::new(ms(latency)));
        let (mut now, mut sequence) = (start, 0);
        for (steady, shift, value, step, count) in pieces {
            for n in 0..u64::from(count) {
                now += step / 20;
                sequence += 1;
                let sent = if steady { value >> shift } else { value.rotate_left(n as u32) >> shift };
                let sent = (sent / 1_000_000).saturating_add(n * (step / 20));
                playout.push(at(now), data(sequence, sent.min(u64::MAX / 1_000_000)));
                while playout.poll(at(now)).is_some() {}
            }
        }
        let stats = playout.stats();
        prop_assert!(stats.shifts + stats.clock_jumps <= u64::from(sequence));
    }
}
