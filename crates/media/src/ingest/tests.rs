//! Live, stored and invalid inputs.

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
    let packet = |n: u64| {
        let pcr = n.is_multiple_of(10).then(|| Pcr::from_ticks(n * Pcr::HZ / 1000));
        let counter = u8::try_from(n % 16).expect("below 16");
        *Build { pcr, ..Build::new(0x100, counter) }.payload(&n.to_be_bytes()).packet().as_bytes()
    };
    (0..packets).flat_map(packet).collect()
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
    let credit = core::time::Duration::from_millis(300);
    let mut ingest = Ingest::pipe(credit, PackConfig::new(1));
    ingest.push(at(0), &stream(2000)).expect("a stream");
    assert!(!ingest.wants_input(at(0)) && ingest.paced_by() == Some(PaceClock::Pcr));
    let mut due = Vec::new();
    while let Some(next) = ingest.poll_timeout() {
        due.extend(ingest.poll(next).map(|message| message.send_at.as_nanos() / 1_000_000));
    }
    let at_once = due.iter().filter(|ms| **ms == 0).count();
    // 310 packets: seven each in a message.
    assert!((43..=46).contains(&at_once), "{at_once}");
    let last = *due.last().expect("there are messages");
    assert!((1650..1700).contains(&last), "1.7 s of the 2 s are left: {last}");
    assert_eq!(ingest.stats().continuity.gaps, 0);
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
