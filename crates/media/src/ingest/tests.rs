//! Live, stored and invalid inputs.

use core::time::Duration;

use super::*;
use crate::MediaTime;
use crate::pace::{PaceClock, PaceConfig, PaceError};
use crate::pack::PackConfig;
use crate::testing::Build;
use crate::ts::{Pcr, TsError};

fn at(ms: u64) -> MediaTime {
    MediaTime::from_millis(ms)
}

/// 1 ms per packet, a reference every 10.
fn stream(packets: u64) -> Vec<u8> {
    part(0..packets, 10, 1)
}

/// Packets of a stream: `each` milliseconds per packet, a reference every `references`.
fn part(packets: core::ops::Range<u64>, references: u64, each: u64) -> Vec<u8> {
    let packet = |n: u64| {
        let pcr = n.is_multiple_of(references).then(|| Pcr::from_ticks(n * each * Pcr::HZ / 1000));
        let counter = u8::try_from(n % 16).expect("below 16");
        *Build { pcr, ..Build::new(0x100, counter) }.payload(&n.to_be_bytes()).packet().as_bytes()
    };
    packets.flat_map(packet).collect()
}

/// Send times of the messages until `until`, each taken when the input asks for it, and the longest time by which one was
/// late when it could first be taken.
fn taken(ingest: &mut Ingest, until: MediaTime) -> (Vec<MediaTime>, Duration) {
    let (mut sent, mut late, mut now) = (Vec::new(), Duration::ZERO, MediaTime::ZERO);
    while let Some(next) = ingest.poll_timeout().filter(|next| *next <= until) {
        now = now.max(next);
        ingest.handle_timeout(now);
        while let Some(message) = ingest.poll(now) {
            sent.push(message.send_at);
            late = late.max(now - message.send_at);
        }
    }
    (sent, late)
}

#[test]
fn a_stored_input_goes_at_its_own_pace() {
    let mut ingest = Ingest::paced(at(1000), PaceConfig::default(), PackConfig::new(1));
    ingest.push(at(0), &stream(1000)).expect("a stream");
    assert!(!ingest.wants_input(at(1000)) && ingest.wants_input(at(1600)));
    let mut due = Vec::new();
    while let Some(next) = ingest.poll_timeout() {
        assert!(ingest.poll(MediaTime::from_nanos(next.as_nanos() - 1)).is_none());
        due.push(ingest.poll(next).expect("it is due").send_at);
    }
    // References 0 to 990: later packets wait for the next reference or the end. 991 packets are 141 messages
    // and 4 packets.
    assert_eq!(due, (0..141).map(|n| at(1000 + n * 7)).collect::<Vec<_>>());
    ingest.finish(at(0)).expect("a stream");
    let rest: Vec<_> =
        core::iter::from_fn(|| ingest.poll(MediaTime::MAX)).map(|o| (o.send_at, o.end)).collect();
    assert_eq!(rest, [(at(1987), false), (at(1994), false), (at(1999), true)]);
    assert_eq!(ingest.stats().packed.bytes, 188_000);
    assert_eq!((ingest.stats().framing.packets, ingest.stats().continuity.gaps), (1000, 0));
}

#[test]
fn a_live_input_is_stamped_on_arrival_and_not_held() {
    let mut ingest = Ingest::live(PackConfig::new(1));
    let input = stream(30);
    ingest.push(at(500), &input[..188 * 16]).expect("a stream");
    assert_eq!(ingest.poll_timeout(), Some(at(500)));
    let sent: Vec<_> = core::iter::from_fn(|| ingest.poll(at(500))).map(|o| o.send_at).collect();
    assert_eq!(sent, [at(500), at(500)]);
    assert_eq!(ingest.poll_timeout(), Some(at(520)));
    ingest.handle_timeout(at(520));
    assert_eq!(ingest.poll(at(520)).map(|o| o.wire.len()), Some(20 + 2 * 188));
    ingest.stop(at(600));
    assert!(ingest.poll(at(600)).is_some_and(|o| o.end && o.header.sequence == 3));
    assert_eq!(ingest.poll_timeout(), None);
}

#[test]
fn inputs_that_cannot_be_sent_give_a_reason() {
    let mut text = Ingest::live(PackConfig::new(1));
    let error = text.push(at(0), &b"not video. ".repeat(2000)).expect_err("text");
    assert!(matches!(error, IngestError::Ts(TsError::NotTransportStream { .. })), "{error}");
    let mut empty = Ingest::paced(at(0), PaceConfig::default(), PackConfig::new(1));
    assert_eq!(empty.finish(at(0)), Err(IngestError::Ts(TsError::Empty)));
    let mut timeless = Ingest::paced(at(0), PaceConfig::default(), PackConfig::new(1));
    timeless.push(at(0), &stream(10)).expect("it may still have a clock");
    let error = timeless.finish(at(0)).expect_err("one reference does not determine a pace");
    assert_eq!(error, IngestError::Pace(PaceError::NoPcr { pid: None, looked_at: 1880 }));
}

#[test]
fn a_pipe_that_runs_faster_than_its_clock_is_paced_after_its_credit() {
    let credit = Duration::from_millis(300);
    let mut ingest = Ingest::pipe(credit, Duration::ZERO, PackConfig::new(1));
    ingest.push(at(0), &stream(2000)).expect("a stream");
    assert!(!ingest.wants_input(at(0)) && ingest.paced_by() == Some(PaceClock::Pcr));
    let (due, _) = taken(&mut ingest, MediaTime::MAX);
    let at_once = due.iter().filter(|due| **due == at(0)).count();
    // 310 packets: seven each in a message.
    assert!((43..=46).contains(&at_once), "{at_once}");
    let last = *due.last().expect("there are messages");
    assert!((at(1650)..at(1700)).contains(&last), "1.7 s of the 2 s are left: {last:?}");
    assert_eq!(ingest.stats().continuity.gaps, 0);
}

#[test]
fn a_pipe_that_was_not_read_makes_up_for_that_before_it_is_paced() {
    let (credit, waited) = (Duration::from_millis(300), Duration::from_secs(1));
    let mut ingest = Ingest::pipe(credit, waited, PackConfig::new(1));
    ingest.push(at(0), &stream(1200)).expect("a stream");
    assert_eq!(ingest.paced_by(), None);
    ingest.push(at(0), &part(1200..2000, 10, 1)).expect("a stream");
    assert_eq!(ingest.paced_by(), Some(PaceClock::Pcr));
}

/// The pause has 5 s, more than the credit.
#[test]
fn a_paced_pipe_that_pauses_is_paced_from_then_on_and_nothing_of_it_is_late() {
    let mut ingest = Ingest::pipe(Duration::from_millis(300), Duration::ZERO, PackConfig::new(1));
    ingest.push(at(0), &stream(2003)).expect("a stream");
    let (before, late) = taken(&mut ingest, at(6_999));
    // A message that is not full does not wait for the end of the pause.
    assert!(before.last() < Some(&at(1720)) && late <= Duration::from_millis(20), "{before:?} {late:?}");
    ingest.push(at(7_000), &part(2003..4000, 10, 1)).expect("a stream");
    ingest.finish(at(7_000)).expect("a stream");
    let (after, late) = taken(&mut ingest, MediaTime::MAX);
    assert_eq!((ingest.stats().packed.bytes, late), (188 * 4000, Duration::ZERO));
    assert!(after[0] >= at(7_000), "{:?}", after[0]);
    // 2 s, at the pace of its clock, and none of it at once to make up for the pause.
    let last = *after.last().expect("there are messages");
    assert!((at(8_990)..at(9_020)).contains(&last), "{last:?}");
    assert!(after.iter().filter(|sent| **sent == at(7_000)).count() <= 2);
}

/// An hour of an encoder that runs 0.1 % slower than this clock.
#[test]
fn a_paced_pipe_with_a_slow_clock_is_never_late_and_its_delay_ends() {
    let mut ingest = Ingest::pipe(Duration::from_millis(300), Duration::ZERO, PackConfig::new(1));
    // It is paced, since 2 s come at once.
    ingest.push(at(0), &part(0..100, 5, 20)).expect("a stream");
    assert_eq!(ingest.paced_by(), Some(PaceClock::Pcr));
    let mut waiting = Vec::new();
    for n in 1..36_000_u64 {
        // 100 ms of it take 100.1 ms.
        let now = MediaTime::from_micros(n * 100_100);
        let (_, late) = taken(&mut ingest, now);
        assert!(late <= Duration::from_millis(40), "{late:?} at {now:?}");
        waiting.push(95 + n * 5 - ingest.stats().packed.bytes / 188);
        ingest.push(now, &part(95 + n * 5..100 + n * 5, 5, 20)).expect("a stream");
    }
    // At first 1.5 s of it, beyond its credit; at the end none but those between two references.
    assert!(waiting[0] > 70 && waiting[35_998] < 10, "{} {}", waiting[0], waiting[35_998]);
    assert_eq!(ingest.stats().continuity.gaps, 0);
}

fn by_rate(tolerance: u64) -> Ingest {
    // 188 bytes in 20 ms.
    let pace = PaceConfig { rate_bps: Some(75_200), ..PaceConfig::default() };
    Ingest::paced_live(Duration::from_millis(tolerance), pace, PackConfig::new(1))
}

#[test]
fn a_live_input_with_a_rate_begins_when_it_comes() {
    let mut ingest = by_rate(300);
    ingest.push(at(3_600_000), &part(0..100, 1000, 20)).expect("a stream");
    ingest.finish(at(3_600_000)).expect("a stream");
    let (sent, late) = taken(&mut ingest, MediaTime::MAX);
    assert_eq!((ingest.stats().packed.bytes, late), (18_800, Duration::ZERO));
    assert_eq!((sent[0], sent[sent.len() - 1]), (at(3_600_000), at(3_601_980)));
}

#[test]
fn jitter_of_a_paced_live_input_adds_nothing_to_its_delay() {
    let mut ingest = by_rate(300);
    let mut last = MediaTime::ZERO;
    for n in 0..10_000 {
        // Each second ten packets wait for a quarter of it.
        let held = if n % 50 < 10 && n > 10 { 250 - n % 50 * 20 } else { 0 };
        let now = at(n * 20 + held).max(last);
        last = now;
        let (_, late) = taken(&mut ingest, now);
        assert!(late <= Duration::from_millis(20), "{late:?}");
        ingest.push(now, &part(n..n + 1, 100_000, 20)).expect("a stream");
        if n % 50 == 49 {
            let next = ingest.poll_timeout().expect("there is a message");
            assert!(next <= now + Duration::from_millis(20), "{next:?} {now:?}");
        }
    }
}

#[test]
fn a_live_input_may_begin_with_anything_if_it_may() {
    let mut ingest = Ingest::live(PackConfig::new(1));
    ingest.wait_for_stream();
    ingest.push(at(0), &b"not video. ".repeat(5000)).expect("it waits");
    assert_eq!((ingest.stats().framing.packets, ingest.looks_like()), (0, Some("text")));
    ingest.push(at(1), &stream(20)).expect("a stream");
    assert_eq!(ingest.stats().framing.packets, 20);
}
