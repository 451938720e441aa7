//! The clock is linear between references; behaviour without references.

use core::time::Duration;

use super::*;
use crate::testing::Build;
use crate::ts::{Packet, Pcr};

const MS: u64 = Pcr::HZ / 1000;

fn plain() -> Packet {
    Build::new(0x100, 0).packet()
}

fn clock(ticks: u64) -> Packet {
    Build { pcr: Some(Pcr::from_ticks(ticks)), ..Build::new(0x100, 0) }.packet()
}

fn jump(ticks: u64) -> Packet {
    Build { pcr: Some(Pcr::from_ticks(ticks)), discontinuity: true, ..Build::new(0x100, 0) }.packet()
}

/// Due times of these packets in microseconds.
fn paced(packets: impl IntoIterator<Item = Packet>) -> Vec<u64> {
    let mut pacer = PcrPacer::new(PaceConfig::default());
    for packet in packets {
        pacer.push(packet).expect("it is short");
    }
    pacer.finish().expect("it has a clock");
    let times = core::iter::from_fn(|| pacer.poll());
    times.map(|p| u64::try_from(p.at.as_micros()).expect("short")).collect()
}

#[test]
fn time_runs_evenly_between_references_and_on_at_both_ends() {
    let stream = [
        plain(),
        clock(500 * MS),
        plain(),
        clock(510 * MS),
        plain(),
        plain(),
        plain(),
        clock(530 * MS),
        plain(),
    ];
    // 5 ms per packet up to the second reference, including the first packets, and after it: 20 ms over 4.
    assert_eq!(paced(stream), [0, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 40_000]);
    let faster = [clock(0), plain(), clock(10 * MS), plain(), plain(), plain(), clock(14 * MS), plain()];
    assert_eq!(paced(faster), [0, 5_000, 10_000, 11_000, 12_000, 13_000, 14_000, 15_000]);
}

#[test]
fn the_clock_may_wrap() {
    let stream = [clock(Pcr::WRAP - 5 * MS), plain(), clock(5 * MS), plain(), clock(15 * MS)];
    assert_eq!(paced(stream), [0, 5_000, 10_000, 15_000, 20_000]);
}

#[test]
fn a_new_time_base_continues_at_the_last_rate() {
    for second in [jump(11 * MS), clock(3_000 * MS), clock(5)] {
        let base = second.adaptation().and_then(|a| a.pcr).expect("it has a reference").ticks();
        let stream = [clock(MS), clock(10 * MS), plain(), second, plain(), clock(base + 4 * MS)];
        assert_eq!(paced(stream), [0, 9_000, 18_000, 27_000, 29_000, 31_000], "base {base}");
    }
}

#[test]
fn a_jump_before_any_rate_waits_for_one() {
    let stream = [clock(1_000_000 * MS), plain(), clock(5 * MS), plain(), clock(7 * MS)];
    assert_eq!(paced(stream), [0, 1_000, 2_000, 3_000, 4_000]);
}

#[test]
fn only_the_named_pid_is_the_clock() {
    let other = Build { pcr: Some(Pcr::from_ticks(77)), ..Build::new(0x200, 0) }.packet();
    let stream = [other, clock(0), other, clock(10 * MS), clock(20 * MS)];
    let mut pacer = PcrPacer::new(PaceConfig::default());
    pacer.set_pcr_pid(0x100);
    stream.into_iter().for_each(|p| pacer.push(p).expect("it is short"));
    let times: Vec<_> = core::iter::from_fn(|| pacer.poll()).map(|p| p.at.as_millis()).collect();
    assert_eq!(times, [0, 5, 10, 15, 25], "5 ms per packet, then 10 ms over one");
}

#[test]
fn a_stream_without_clock_is_refused_within_bounds() {
    let config = PaceConfig { look_ahead: 188 * 100, rate_bps: None };
    let mut pacer = PcrPacer::new(config);
    pacer.push(clock(0)).expect("one packet");
    let refused = (1..200).find_map(|n| pacer.push(plain()).err().map(|e| (n, e)));
    assert_eq!(refused, Some((99, PaceError::NoPcr { pid: None, looked_at: 18_800 })));

    let mut short = PcrPacer::new(config);
    short.set_pcr_pid(0x123);
    short.push(plain()).expect("one packet");
    let error = short.finish().expect_err("no reference came");
    assert_eq!(error, PaceError::NoPcr { pid: Some(0x123), looked_at: 188 });
    assert!(error.to_string().contains("on PID 291"), "{error}");
    assert_eq!(PcrPacer::new(config).finish(), Ok(()), "an empty stream needs no pace");
}

#[test]
fn a_given_rate_paces_a_stream_without_clock() {
    let mut pacer = PcrPacer::new(PaceConfig { look_ahead: 188 * 10, rate_bps: Some(1_504_000) });
    for _ in 0..25 {
        pacer.push(plain()).expect("there is a rate");
    }
    pacer.finish().expect("there is a rate");
    let times: Vec<_> = core::iter::from_fn(|| pacer.poll()).map(|p| p.at).collect();
    assert_eq!(times, (0..25).map(Duration::from_millis).collect::<Vec<_>>());
}

#[test]
fn references_that_stop_and_return_leave_no_step() {
    let mut pacer = PcrPacer::new(PaceConfig { look_ahead: 188 * 10, rate_bps: None });
    pacer.push(clock(0)).expect("fits");
    pacer.push(clock(MS)).expect("fits");
    for _ in 0..48 {
        pacer.push(plain()).expect("there is a rate");
    }
    pacer.push(clock(7_777 * MS)).expect("there is a rate");
    pacer.push(clock(7_778 * MS)).expect("there is a rate");
    let times: Vec<_> = core::iter::from_fn(|| pacer.poll()).map(|p| p.at).collect();
    assert_eq!(times, (0..52).map(Duration::from_millis).collect::<Vec<_>>());
}

/// A packet in which a frame begins, with these times of presentation and decoding in milliseconds.
fn frame(pid: u16, pts: u64, dts: Option<u64>) -> Packet {
    let stamp = |mark: u64, ms: u64| {
        let t = ms * 90;
        [
            (mark << 4 | (t >> 30 & 7) << 1 | 1) as u8,
            (t >> 22) as u8,
            ((t >> 15 & 0x7f) << 1 | 1) as u8,
            (t >> 7) as u8,
            ((t & 0x7f) << 1 | 1) as u8,
        ]
    };
    let mut pes = vec![0, 0, 1, 0xe0, 0, 0, 0x80, if dts.is_some() { 0xc0 } else { 0x80 }];
    pes.push(if dts.is_some() { 10 } else { 5 });
    pes.extend(stamp(if dts.is_some() { 3 } else { 2 }, pts));
    pes.extend(dts.into_iter().flat_map(|dts| stamp(1, dts)));
    Build { unit_start: true, ..Build::new(pid, 0) }.payload(&pes).packet()
}

/// Due times in milliseconds, and the clock.
fn clocked(named: Option<u16>, packets: Vec<Packet>) -> (Vec<u64>, Option<PaceClock>) {
    let mut pacer = PcrPacer::new(PaceConfig::default());
    named.into_iter().for_each(|pid| pacer.set_pcr_pid(pid));
    packets.into_iter().for_each(|packet| pacer.push(packet).expect("it is short"));
    pacer.finish().expect("it has a clock");
    let times: Vec<u64> = core::iter::from_fn(|| pacer.poll()).map(|p| p.at.as_millis() as u64).collect();
    (times, pacer.clock())
}

#[test]
fn references_that_are_rare_all_along_count() {
    let stream =
        vec![clock(0), plain(), clock(2500 * MS), plain(), plain(), plain(), clock(5000 * MS), plain()];
    let times = vec![0, 1250, 2500, 3125, 3750, 4375, 5000, 5625];
    assert_eq!(clocked(Some(0x100), stream), (times, Some(PaceClock::SparsePcr)));
}

#[test]
fn another_pid_has_the_clock_where_the_named_one_has_none() {
    let stream = vec![clock(0), plain(), clock(10 * MS), plain(), clock(30 * MS)];
    assert_eq!(clocked(Some(0x1ff), stream), (vec![0, 5, 10, 20, 30], Some(PaceClock::OtherPcr(0x100))));
}

#[test]
fn time_stamps_are_the_clock_of_a_stream_without_pcr_or_with_one_that_stands_still() {
    // In order of decoding: the second frame is shown last.
    let frames = [frame(0x100, 80, Some(0)), frame(0x100, 200, Some(40)), frame(0x100, 120, Some(80))];
    let stream: Vec<Packet> = frames.into_iter().flat_map(|first| [first, plain()]).collect();
    let times = vec![0, 20, 40, 60, 80, 100];
    assert_eq!(clocked(Some(0x100), stream.clone()), (times.clone(), Some(PaceClock::Stamps(0x100))));
    let frozen = stream.iter().flat_map(|packet| [*packet, clock(77)]).collect();
    let (frozen, by) = clocked(Some(0x100), frozen);
    assert_eq!((frozen[4], frozen[8], by), (40, 80, Some(PaceClock::Stamps(0x100))));
    // Without times of decoding, those of presentation that go back do not count.
    let shown = [0, 120, 40, 80, 160].map(|pts| frame(0x100, pts, None)).to_vec();
    assert_eq!(clocked(None, shown).0, [0, 120, 133, 146, 160]);
}

#[test]
fn a_rate_replaces_the_clock() {
    let mut pacer = PcrPacer::new(PaceConfig { rate_bps: Some(1_504_000), ..PaceConfig::default() });
    for packet in [clock(0), clock(500 * MS), plain()] {
        pacer.push(packet).expect("there is a rate");
    }
    let times: Vec<_> = core::iter::from_fn(|| pacer.poll()).map(|p| p.at.as_millis()).collect();
    assert_eq!((times, pacer.clock()), (vec![0, 1, 2], Some(PaceClock::Rate(1_504_000))));
}
