//! The playout model as the module's documentation defines it. Times are in milliseconds unless stated otherwise.

use core::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::MediaTime;
use crate::pack::{Body, End, Header, Message};

const LATENCY: u64 = 200;

pub(super) fn at(ms: u64) -> MediaTime {
    MediaTime::from_millis(ms)
}

pub(super) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn payload(sequence: u32) -> Bytes {
    let mut packet = [0x47; 188];
    packet[4..8].copy_from_slice(&sequence.to_be_bytes());
    Bytes::copy_from_slice(&packet)
}

fn message(sequence: u32, sent: MediaTime) -> Message {
    let header = Header { session: 7, sequence, sent, ..Header::default() };
    Message { header, body: Body::Data(payload(sequence)) }
}

pub(super) fn data(sequence: u32, sent: u64) -> Message {
    message(sequence, at(sent))
}

/// The end of a stream of `messages`.
pub(super) fn end(messages: u32, sent: u64) -> Message {
    let crc32c = (0..messages).fold(0, |crc, n| crc32c::crc32c_append(crc, &payload(n)));
    let end = End { messages: u64::from(messages), bytes: u64::from(messages) * 188, crc32c };
    Message { body: Body::End(end), ..data(messages, sent) }
}

fn playout() -> Playout {
    Playout::new(PlayoutConfig::new(ms(LATENCY)))
}

/// Sequence numbers and due times of messages played up to `now`, each polled at its timeout.
fn play(playout: &mut Playout, now: MediaTime) -> Vec<(u32, MediaTime)> {
    let outputs = core::iter::from_fn(|| playout.poll(now));
    outputs
        .filter_map(|output| match output {
            Output::Data(released) => Some((released.header.sequence, released.due)),
            Output::Ended(_) | Output::Restarted(_) | Output::Clock(_) => None,
        })
        .collect()
}

fn sequences(playout: &mut Playout, now: u64) -> Vec<u32> {
    play(playout, at(now)).into_iter().map(|(sequence, _)| sequence).collect()
}

/// Messages 0.. of 10 ms each; message `n` arrives 30 ms after it was sent unless `missing`.
fn feed(playout: &mut Playout, n: core::ops::Range<u32>, missing: impl Fn(u32) -> bool) {
    for sequence in n.filter(|&n| !missing(n)) {
        let sent = u64::from(sequence) * 10;
        play(playout, at(sent + 30));
        playout.push(at(sent + 30), data(sequence, sent));
    }
}

#[test]
fn due_at_send_time_plus_minimum_delay_plus_latency() {
    let mut p = playout();
    // The receiver's clock is 1000 ahead. The first delay is 50 ms, the next 30 ms, the third 90 ms.
    p.push(at(1050), data(0, 0));
    assert_eq!(p.poll_timeout(), Some(at(1250)));
    p.push(at(1040), data(1, 10));
    assert_eq!(p.poll_timeout(), Some(at(1230)), "a shorter delay was seen");
    p.push(at(1110), data(2, 20));
    assert_eq!(play(&mut p, at(1229)), []);
    assert_eq!(play(&mut p, at(1250)), [(0, at(1230)), (1, at(1240)), (2, at(1250))]);
    assert_eq!(p.poll_timeout(), None);
    assert_eq!(p.stats(), PlayoutStats { played: 3, played_bytes: 564, play_time: ms(20), ..p.stats() });
    assert_eq!((p.stats().gaps, p.stats().lost, p.stats().late), (0, 0, 0));
}

#[test]
fn played_in_order_and_once() {
    let mut p = playout();
    p.push(at(50), data(2, 20));
    for n in [4, 1, 0, 3, 1] {
        p.push(at(80), data(n, u64::from(n) * 10));
    }
    assert_eq!(p.level(at(80)), ms(190), "message 4 is due at 40 + 30 + 200");
    assert_eq!(p.held_bytes(), 5 * 188);
    assert_eq!(sequences(&mut p, 400), [0, 1, 2, 3, 4]);
    assert_eq!((p.held_bytes(), p.level(at(400))), (0, Duration::ZERO));
    p.push(at(401), data(3, 30));
    assert!(sequences(&mut p, 500).is_empty());
    assert_eq!((p.stats().played, p.stats().duplicates, p.stats().late), (5, 2, 0));
}

#[test]
fn messages_after_their_due_time_are_late() {
    let mut p = playout();
    feed(&mut p, 0..10, |n| n == 4 || n == 9);
    // Message 4 was due at 270: its turn is over when 5 is played at 280.
    assert_eq!(sequences(&mut p, 280), [0, 1, 2, 3, 5]);
    assert_eq!((p.stats().lost, p.stats().late), (1, 0));
    p.push(at(285), data(4, 40));
    assert_eq!((p.stats().lost, p.stats().late, p.stats().largest_lateness), (0, 1, ms(15)));
    p.push(at(286), data(4, 40));
    assert_eq!(p.stats().duplicates, 1);
    // Message 9 was due at 320; no later message has arrived, but it is still late.
    assert_eq!(sequences(&mut p, 330), [6, 7, 8]);
    p.push(at(330), data(9, 90));
    assert!(sequences(&mut p, 400).is_empty());
    assert_eq!((p.stats().lost, p.stats().late, p.stats().played), (0, 2, 8));
}

#[test]
fn arriving_when_due_is_in_time() {
    let mut p = playout();
    feed(&mut p, 0..2, |_| false);
    assert_eq!(sequences(&mut p, 249), [0, 1]);
    p.push(at(250), data(2, 20));
    p.push(at(261), data(3, 30));
    assert_eq!(sequences(&mut p, 300), [2]);
    assert_eq!((p.stats().late, p.stats().largest_lateness), (1, ms(1)));
}

#[test]
fn a_gap_with_a_filled_buffer_is_no_underflow() {
    let mut p = playout();
    feed(&mut p, 0..50, |n| n == 5 || (20..23).contains(&n));
    play(&mut p, at(2000));
    let stats = p.stats();
    assert_eq!((stats.gaps, stats.underflows, stats.lost), (2, 0, 4));
    assert_eq!((stats.gap_time, stats.longest_gap, stats.play_time), (ms(40), ms(30), ms(490)));
    assert!((stats.continuity() - 450.0 / 490.0).abs() < 1e-12);
}

#[test]
fn an_empty_buffer_when_the_next_is_due_is_an_underflow() {
    let mut p = playout();
    // Nothing for 500 ms: the buffer lasts 200.
    feed(&mut p, 0..100, |n| (30..80).contains(&n));
    play(&mut p, at(3000));
    let stats = p.stats();
    assert_eq!((stats.gaps, stats.underflows, stats.gap_time), (1, 1, ms(500)));
    // Nothing for 150 ms: later messages have arrived by the time of the first missing one.
    let mut q = playout();
    feed(&mut q, 0..100, |n| (30..45).contains(&n));
    play(&mut q, at(3000));
    assert_eq!((q.stats().gaps, q.stats().underflows, q.stats().gap_time), (1, 0, ms(150)));
}

#[test]
fn an_outage_that_delays_everything_is_an_underflow_too() {
    let mut p = playout();
    feed(&mut p, 0..30, |_| false);
    // Messages 30 to 79 all arrive at 830: those sent before 600 are late, the rest are played.
    play(&mut p, at(830));
    for n in 30..80 {
        p.push(at(830), data(n, u64::from(n) * 10));
    }
    feed(&mut p, 80..100, |_| false);
    play(&mut p, at(3000));
    let stats = p.stats();
    assert_eq!((stats.late, stats.lost, stats.played), (30, 0, 70));
    assert_eq!((stats.gaps, stats.underflows, stats.gap_time), (1, 1, ms(300)));
    assert_eq!(stats.largest_lateness, ms(300));
}

#[test]
fn a_receiver_present_from_the_start_misses_earlier_messages() {
    let mut p = playout();
    p.push(at(50), data(3, 30));
    assert_eq!(sequences(&mut p, 250), [3]);
    assert_eq!((p.stats().lost, p.stats().gaps), (3, 0), "the start is not a gap");
    p.push(at(260), data(1, 10));
    assert_eq!((p.stats().lost, p.stats().late), (2, 1));

    let mut joined = playout();
    joined.push(at(50), data(3, 201));
    assert_eq!(sequences(&mut joined, 250), [3]);
    assert_eq!((joined.stats().lost, joined.stats().before), (0, 3));
}

#[test]
fn the_end_says_whether_all_was_played() {
    let ended = |missing: Option<u32>| {
        let mut p = playout();
        feed(&mut p, 0..20, |n| Some(n) == missing);
        p.push(at(230), end(20, 200));
        let outputs: Vec<_> = core::iter::from_fn(|| p.poll(at(430))).collect();
        let Some(Output::Ended(ended)) = outputs.last() else { panic!("no end but {outputs:?}") };
        (ended.identical(), ended.played.messages, p.stats())
    };
    let (identical, played, _) = ended(None);
    assert!(identical && played == 20);
    let (identical, played, stats) = ended(Some(7));
    assert!(!identical && played == 19 && stats.lost == 1);
    let (identical, played, stats) = ended(Some(19));
    assert!(!identical && played == 19 && stats.lost == 1, "the last one is missed as well");
    assert_eq!((stats.gaps, stats.gap_time), (1, ms(10)), "its place is between 18 and the end, 20 ms later");
}

#[test]
fn the_end_waits_for_its_time_and_is_played_even_if_late() {
    let mut p = playout();
    feed(&mut p, 0..3, |_| false);
    play(&mut p, at(1000));
    p.push(at(1000), end(3, 30));
    assert!(matches!(p.poll(at(1000)), Some(Output::Ended(e)) if e.identical()));
    p.push(at(1001), data(1, 10));
    assert_eq!(p.stats().stale, 1);
}

#[test]
fn a_new_session_starts_over() {
    let mut p = playout();
    feed(&mut p, 0..10, |_| false);
    let mut fresh = data(0, 0);
    fresh.header.session = 8;
    p.push(at(130), fresh.clone());
    let outputs: Vec<_> = core::iter::from_fn(|| p.poll(at(130))).collect();
    assert_eq!(outputs.len(), 11, "the rest of the old session is not discarded");
    assert!(matches!(outputs[10], Output::Restarted(8)));
    assert_eq!(p.poll_timeout(), Some(at(330)));
    p.push(at(131), data(10, 100));
    assert_eq!((p.stats().stale, p.stats().restarts), (1, 1));
    fresh.header.sequence = 1;
    p.push(at(132), fresh);
    assert_eq!(sequences(&mut p, 500), [0, 1]);
}

#[test]
fn sequence_numbers_wrap() {
    let mut p = playout();
    for (n, sequence) in [u32::MAX, u32::MAX - 1, 1, 0, 2].into_iter().enumerate() {
        let sent = 5000 + u64::from(sequence.wrapping_add(2)) * 10;
        p.push(at(6000 + n as u64), data(sequence, sent));
    }
    assert_eq!(sequences(&mut p, 9000), [u32::MAX - 1, u32::MAX, 0, 1, 2]);
    assert_eq!(p.stats().lost, 0);
}

#[test]
fn memory_is_bounded() {
    let mut p = Playout::new(PlayoutConfig { max_bytes: 188 * 10, ..PlayoutConfig::new(ms(LATENCY)) });
    for n in 0..15 {
        p.push(at(30), data(n, u64::from(n)));
    }
    assert_eq!((p.held_bytes(), p.stats().overflows), (1880, 5));
    // Messages that are due but not polled count as played.
    p.push(at(1000), data(20, 970));
    assert_eq!(p.stats().overflows, 6);
    assert_eq!(sequences(&mut p, 1000).len(), 10);
    p.push(at(1001), data(21, 971));
    assert_eq!(sequences(&mut p, 2000), [21]);
    assert_eq!(p.stats().lost, 11);
}

#[test]
fn drain_leaves_nothing() {
    let mut p = playout();
    feed(&mut p, 0..10, |_| false);
    p.drain();
    assert_eq!(p.poll_timeout(), Some(MediaTime::ZERO));
    assert_eq!(sequences(&mut p, 0), (0..10).collect::<Vec<_>>());
}

/// Plays an hour of a message every 20 ms from a sender whose clock runs `ppm` fast, over delays of 30 to 50 ms.
/// Returns the largest distance from true send time + 30 ms + latency, in microseconds, and the largest change of
/// playing speed.
fn drifting(ppm: i64) -> (u64, f64) {
    let mut p = playout();
    let (mut off, mut speed, mut last) = (0, 0.0_f64, None);
    for n in 0..180_000_u32 {
        let true_us = u64::from(n) * 20_000;
        let sent = true_us.saturating_add_signed(i64::from(n) * 20_000 / 1_000 * ppm / 1_000);
        let way_us = 30_000 + u64::from(n) * 7919 % 20_001;
        let now = MediaTime::from_micros(true_us + way_us);
        p.push(now, message(n, MediaTime::from_micros(sent)));
        for (sequence, due) in play(&mut p, now) {
            let ideal = u64::from(sequence) * 20_000 + 30_000 + LATENCY * 1000;
            // The minimum delay has not occurred in the first second.
            if sequence > 50 {
                off = off.max(due.as_micros().abs_diff(ideal));
                let step = last.map_or(0.02, |l: MediaTime| (due - l).as_secs_f64());
                speed = speed.max((step / 0.02 - 1.0).abs());
            }
            last = Some(due);
        }
    }
    let stats = p.stats();
    assert_eq!((stats.late, stats.lost, stats.clock_jumps, stats.shifts), (0, 0, 0, 0), "{ppm} ppm");
    (off, speed)
}

#[test]
fn drift_is_followed_evenly() {
    for ppm in [-200, -100, 0, 100, 200] {
        let (off_us, speed) = drifting(ppm);
        // A window of 30 s holds 6 ms of drift at 200 ppm; one bucket and the jitter come on top.
        assert!(off_us < 8_000, "{ppm} ppm: {off_us} us off");
        // 500 ppm on average; a step covers the time since the last arrival, 40 ms at most, plus the drift itself.
        assert!(speed < 0.0015, "{ppm} ppm: speed changes by {speed}");
    }
}

#[test]
fn losing_the_shortest_path_for_seconds_changes_nothing() {
    let mut p = playout();
    let mut dues = Vec::new();
    for n in 0..2000_u32 {
        let sent = u64::from(n) * 10;
        let delay = if (500..1000).contains(&n) { 120 } else { 30 };
        dues.extend(play(&mut p, at(sent + delay)));
        p.push(at(sent + delay), data(n, sent));
    }
    dues.extend(play(&mut p, at(60_000)));
    assert_eq!(dues.len(), 2000);
    assert!(dues.iter().all(|&(n, due)| due == at(u64::from(n) * 10 + 30 + LATENCY)));
}

/// A stream of a message every 10 ms over delays of 30 ms, whose clock is ahead by `jump` ms from message 100 on;
/// messages 100 and 101 are swapped. Returns the due times of the played messages.
fn jumping(jump: i64) -> (Vec<(u32, MediaTime)>, PlayoutStats) {
    let mut p = playout();
    let mut played = Vec::new();
    for n in 0..600_u32 {
        let sequence = if n == 100 || n == 101 { 201 - n } else { n };
        let base = 5_000_000 + u64::from(sequence) * 10;
        let sent = if sequence < 100 { base } else { base.saturating_add_signed(jump) };
        let now = at(u64::from(n) * 10 + 30);
        played.extend(play(&mut p, now));
        p.push(now, data(sequence, sent));
    }
    played.extend(play(&mut p, at(100_000)));
    (played, p.stats())
}

#[test]
fn a_clock_that_jumps_ahead_is_followed_at_once() {
    let (played, stats) = jumping(3_600_000);
    assert_eq!(played.iter().map(|p| p.0).collect::<Vec<_>>(), (0..600).collect::<Vec<_>>());
    assert_eq!((stats.clock_jumps, stats.implausible, stats.late), (1, 0, 0));
    // The message that indicated the jump arrived 10 ms early in its stream; the offset is smaller by that
    // amount from there on.
    assert!(
        played.iter().all(|&(n, due)| due.saturating_since(at(u64::from(n) * 10 + 210)) <= ms(20)),
        "{played:?}"
    );
}

#[test]
fn a_clock_that_is_set_back_is_followed_at_once() {
    // The smallest one makes no message late.
    for back in [3_600_000, 1_000, 150, 100] {
        let (played, stats) = jumping(-back);
        assert_eq!(played.iter().map(|p| p.0).collect::<Vec<_>>(), (0..600).collect::<Vec<_>>(), "{back} ms");
        assert_eq!((stats.clock_jumps, stats.shifts, stats.late), (1, 0, 0), "{back} ms");
        let off = |&(n, due): &(u32, MediaTime)| due.as_micros().abs_diff(u64::from(n) * 10_000 + 230_000);
        // Message 100 arrived 10 ms after its turn in the stream.
        assert!(played.iter().all(|p| off(p) <= 20_000), "{back} ms: {played:?}");
    }
}

#[test]
fn one_wild_send_time_does_not_stop_the_stream() {
    for (n, wild) in [(50_u32, 1 << 41), (50, 0), (0, 1 << 41), (1, 0), (0, 0)] {
        let mut p = playout();
        let mut played = Vec::new();
        for k in 0..600 {
            let now = at(u64::from(k) * 10 + 30);
            played.extend(play(&mut p, now));
            let sent = 1_000_000 + u64::from(k) * 10;
            p.push(now, data(k, if k == n { wild } else { sent }));
        }
        played.extend(play(&mut p, at(100_000)));
        // In the worst case the outlier is taken for a jump, and recovery takes a second.
        assert!(played.len() >= 600 - 130, "message {n} at {wild}: {} played, {:?}", played.len(), p.stats());
        let (last, due) = played.last().expect("many were played");
        assert!(*last == 599 && *due <= at(599 * 10 + 30 + LATENCY + 1000), "due {due:?}");
    }
}

#[test]
fn a_playout_can_be_sent_to_a_thread() {
    fn is_send<T: Send>() {}
    is_send::<Playout>();
    is_send::<crate::ingest::Ingest>();
}

/// One message: its delay, or `None` if lost; true if it is duplicated.
fn any_delays() -> impl Strategy<Value = Vec<(Option<u64>, bool)>> {
    let delay =
        prop_oneof![8 => (30_u64..150).prop_map(Some), 2 => (150_u64..500).prop_map(Some), 1 => Just(None)];
    prop::collection::vec((delay, prop::bool::weighted(0.1)), 1..150)
}

proptest! {
    #[test]
    fn played_is_what_arrived_in_time(delays in any_delays()) {
        // Message 0 has the minimum delay, so the offset is known; message n is sent at 10 n.
        let delay = |n: usize| if n == 0 { Some(30) } else { delays[n].0 };
        let mut arrivals: Vec<_> = (0..delays.len())
            .filter_map(|n| Some((n as u64 * 10 + delay(n)?, n)))
            .flat_map(|(now, n)| [Some((now, n)), delays[n].1.then_some((now + 17, n))])
            .flatten()
            .collect();
        arrivals.sort_unstable();
        let mut p = playout();
        let mut played = Vec::new();
        for &(now, n) in &arrivals {
            while let Some(due) = p.poll_timeout().filter(|&due| due <= at(now)) {
                played.extend(play(&mut p, due));
            }
            p.push(at(now), data(u32::try_from(n).expect("few"), n as u64 * 10));
        }
        let messages = u32::try_from(delays.len()).expect("few");
        p.push(at(5000), end(messages, u64::from(messages) * 10));
        played.extend(play(&mut p, at(5000)));
        let in_time = |&n: &u32| delay(n as usize).is_some_and(|delay| delay <= 30 + LATENCY);
        let expected: Vec<_> = (0..messages).filter(in_time).map(|n| (n, at(u64::from(n) * 10 + 30 + LATENCY))).collect();
        prop_assert_eq!(&played, &expected);
        let stats = p.stats();
        let lost = (0..delays.len()).filter(|&n| delay(n).is_none()).count() as u64;
        prop_assert_eq!(stats.lost, lost);
        prop_assert_eq!(stats.late, delays.len() as u64 - lost - expected.len() as u64);
        prop_assert_eq!(stats.duplicates, arrivals.len() as u64 - stats.played - stats.late);
    }

    #[test]
    fn nothing_makes_it_panic_or_lose_count(ops in prop::collection::vec((0_u64..400, any::<u32>(), 0_u32..40, prop_oneof![3 => 0_u64..4000, 1 => 0..(1_u64 << 51) / 1000], 0_u32..12), 1..200)) {
        let mut p = Playout::new(PlayoutConfig { max_bytes: 188 * 20, ..PlayoutConfig::new(ms(LATENCY)) });
        let (mut now, mut pushed, mut ends, mut released) = (0, 0, 0, 0);
        for (wait, wild, near, sent, kind) in ops {
            now += wait;
            let sequence = if kind == 0 { wild } else { near };
            let mut message = if kind == 1 { end(sequence.min(50), sent) } else { data(sequence, sent) };
            message.header.session = u32::from(kind == 2);
            ends += u64::from(kind == 1);
            pushed += 1;
            p.push(at(now), message);
            if kind > 3 {
                while let Some(output) = p.poll(at(now)) {
                    released += u64::from(matches!(output, Output::Data(_)));
                }
                prop_assert!(p.poll_timeout().is_none_or(|due| due > at(now)));
            }
            prop_assert!(p.held_bytes() <= 188 * 20);
        }
        p.drain();
        released += core::iter::from_fn(|| p.poll(at(now))).filter(|o| matches!(o, Output::Data(_))).count() as u64;
        let stats = p.stats();
        prop_assert_eq!((p.held_bytes(), p.poll_timeout()), (0, None));
        prop_assert_eq!(stats.played, released);
        let fates = stats.played + stats.late + stats.duplicates + stats.overflows + stats.stale + stats.implausible;
        prop_assert!(fates <= pushed && pushed <= fates + ends, "{:?} of {} with {} ends", stats, pushed, ends);
    }
}
