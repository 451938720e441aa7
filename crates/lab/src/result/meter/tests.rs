//! Meters against numbers worked by hand.

use core::time::Duration;
use std::collections::BTreeMap;

use strandcast_media::ts::FrameType;
use strandcast_netem::link::{Link, LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_sim::net::Framing;

use super::*;
use crate::result::{Metric, Subject, definition};

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn spec(paths: &[&str], window: (u64, u64), video: Option<VideoSpec>) -> FlowSpec {
    FlowSpec {
        name: "f".into(),
        paths: paths.iter().map(|&path| path.into()).collect(),
        window: Window { from: ms(window.0), to: ms(window.1) },
        video,
    }
}

fn of(metrics: &[Metric], part: &str) -> BTreeMap<&'static str, f64> {
    let mine = metrics.iter().filter(|metric| metric.subject.words()[2] == part);
    mine.map(|metric| (metric.name, metric.value)).collect()
}

fn flow(meter: &FlowMeter) -> BTreeMap<&'static str, f64> {
    let mut metrics = Vec::new();
    meter.metrics(&mut metrics);
    of(&metrics, "")
}

#[track_caller]
fn assert_has(metrics: &BTreeMap<&'static str, f64>, expected: &[(&str, f64)]) {
    for &(name, value) in expected {
        let got = metrics.get(name).copied().unwrap_or(f64::NAN);
        assert!((got - value).abs() <= 1e-9 * value.abs().max(1.0), "{name} is {got}, not {value}");
    }
}

#[test]
fn packets_are_counted_in_the_window_only() {
    let mut meter = FlowMeter::new(spec(&["a", "b"], (1000, 3000), None));
    for (now, path, payload, again) in
        [(999, 0, 1000, false), (1000, 0, 1000, false), (1500, 1, 500, false), (2000, 1, 1000, true)]
    {
        meter.sent(ms(now), path, payload + 40, payload, again);
    }
    meter.sent(ms(2500), 0, 40, 0, false);
    meter.sent(ms(3000), 0, 1040, 1000, false);
    meter.arrived(ms(1050), 0, ms(1000), 1000, None, true);
    meter.arrived(ms(1600), 1, ms(1500), 500, None, true);
    meter.arrived(ms(2100), 1, ms(2000), 1000, None, false);
    // Besides the three taken one was damaged, and one came to a full buffer.
    for (now, path, damaged) in [
        (1050, 0, false),
        (1600, 1, false),
        (1700, 1, true),
        (2100, 1, false),
        (2200, 0, false),
        (3000, 0, true),
    ] {
        meter.received(ms(now), path, damaged);
    }
    meter.lost(ms(1500), 0, LossPlace::Queue);
    meter.lost(ms(1500), 1, LossPlace::Random);
    meter.lost(ms(2000), 1, LossPlace::Down);
    meter.lost(ms(3500), 1, LossPlace::Down);
    let mut metrics = Vec::new();
    meter.metrics(&mut metrics);
    assert_has(
        &of(&metrics, ""),
        &[
            ("throughput_bps", f64::from(1040 + 540 + 1040 + 40) * 4.0),
            ("sent_packets", 3.0),
            ("control_packets", 1.0),
            ("retransmitted_packets", 1.0),
            ("delivered_packets", 2.0),
            ("duplicate_packets", 1.0),
            ("damaged_packets", 1.0),
            ("refused_packets", 1.0),
            ("lost_packets", 3.0),
            ("lost_queue_packets", 1.0),
            ("lost_random_packets", 1.0),
            ("lost_down_packets", 1.0),
            ("loss_ratio", 1.0),
            ("delay_mean_ms", 250.0 / 3.0),
            ("delay_max_ms", 100.0),
        ],
    );
    let b = [("goodput_bps", 2000.0), ("share", 1.0 / 3.0), ("sent_packets", 2.0), ("lost_packets", 2.0)];
    assert_has(&of(&metrics, "b"), &b);
    assert_has(&of(&metrics, "a"), &[("goodput_bps", 4000.0), ("share", 2.0 / 3.0), ("delay_p50_ms", 50.0)]);
    assert!(metrics.iter().all(|metric| definition(metric.name).is_some()), "{metrics:?}");
}

/// Transit times 50, 60, 40 and 40 ms.
#[test]
fn jitter_is_the_difference_of_transit_times() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 1000), None));
    for (sent, transit) in [(0, 50), (10, 60), (20, 40), (30, 40)] {
        meter.arrived(ms(sent + transit), 0, ms(sent), 100, None, true);
    }
    let smoothed = ((10.0 / 16.0 * 15.0 + 20.0) / 16.0) * 15.0 / 16.0;
    assert_has(&flow(&meter), &[("jitter_mean_ms", 10.0), ("jitter_rfc3550_ms", smoothed)]);
}

#[test]
fn disorder_is_the_distance_of_tsns() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 1000), None));
    for (at, tsn) in [u32::MAX - 1, u32::MAX, 0, 3, 1, 2].into_iter().enumerate() {
        meter.arrived(ms(at as u64), 0, ms(0), 100, Some(tsn), true);
    }
    // 1, 1, 3, 2, 1
    let expected = [("reorder_max_tsn", 3.0), ("reorder_mean_tsn", 1.6), ("reorder_count", 2.0)];
    assert_has(&flow(&meter), &expected);
}

#[test]
fn a_message_waits_for_those_before_it() {
    let mut meter = FlowMeter::new(spec(&["a"], (100, 1100), None));
    meter.delivered(ms(50), 0, 1000, ms(0), true);
    meter.delivered(ms(150), 2, 1000, ms(20), false);
    meter.delivered(ms(210), 1, 1000, ms(10), false);
    // 200 ms and 190 ms; what was delivered before the window does not count.
    let expected = [
        ("message_delay_mean_ms", 195.0),
        ("message_delay_max_ms", 200.0),
        ("delivered_bytes", 2000.0),
        ("goodput_bps", 16_000.0),
    ];
    assert_has(&flow(&meter), &expected);
}

/// Sent at 20, 30 and 40 ms, the second one again at 90 ms; in order at 120, 130 and 130 ms.
#[test]
fn delivery_is_timed_from_the_first_sending() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 1000), None));
    for (at, number) in [(20, 0), (30, 1), (40, 2), (90, 1)] {
        meter.message_sent(ms(at), number);
    }
    for (at, number) in [(120, 0), (125, 2), (130, 1)] {
        meter.delivered(ms(at), number, 1000, ms(10), false);
    }
    let expected = [("delivery_delay_mean_ms", 290.0 / 3.0), ("delivery_delay_max_ms", 100.0)];
    assert_has(&flow(&meter), &expected);
    assert_has(&flow(&meter), &[("message_delay_mean_ms", 350.0 / 3.0)]);
}

/// Unordered delivery: message 1 is sent at 10 ms and arrives after its successors.
#[test]
fn a_message_that_arrives_after_later_ones_has_a_delivery_delay() {
    let mut meter = FlowMeter::new(spec(&["a", "b"], (0, 1000), None));
    (0..4).for_each(|number| meter.message_sent(ms(number * 10), number));
    for (at, number) in [(50, 0), (55, 2), (60, 3), (110, 1)] {
        meter.delivered(ms(at), number, 1000, ms(0), true);
    }
    let expected =
        [("delivery_delay_mean_ms", (50.0 + 35.0 + 30.0 + 100.0) / 4.0), ("delivery_delay_max_ms", 100.0)];
    assert_has(&flow(&meter), &expected);
}

/// Message 1 was given up: it is neither sent nor delivered.
#[test]
fn what_is_never_sent_has_no_delivery_delay() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 1000), None));
    meter.message_sent(ms(0), 0);
    meter.message_sent(ms(10), 2);
    meter.delivered(ms(50), 0, 1000, ms(0), true);
    meter.delivered(ms(50), 2, 1000, ms(0), true);
    assert_has(&flow(&meter), &[("delivery_delay_mean_ms", 45.0)]);
    let unknown = FlowMeter::new(spec(&["a"], (0, 1000), None));
    assert_eq!(flow(&unknown).get("delivery_delay_mean_ms"), None);
}

/// A retransmission, an acknowledgement and a switch before the window do not count; new data took a, b, b, a.
#[test]
fn a_switch_is_new_data_by_another_path() {
    let mut meter = FlowMeter::new(spec(&["a", "b"], (100, 1000), None));
    let packets = [(50, 1, 100, false), (60, 0, 100, false), (100, 0, 100, false), (110, 1, 100, false)];
    let more = [(120, 1, 100, false), (130, 0, 100, true), (140, 0, 0, false), (150, 0, 100, false)];
    for (at, path, payload, again) in packets.into_iter().chain(more) {
        meter.sent(ms(at), path, 140, payload, again);
    }
    assert_has(&flow(&meter), &[("path_changes", 2.0)]);
}

#[test]
fn the_longest_gap_ends_with_the_window_only_if_something_is_missing() {
    let gap = |sent: &[u64], delivered: &[u64]| {
        let mut meter = FlowMeter::new(spec(&["a"], (1000, 2000), None));
        sent.iter().for_each(|&at| meter.sent(ms(at), 0, 140, 100, false));
        for (number, &at) in delivered.iter().enumerate() {
            meter.delivered(ms(at), number as u64, 100, ms(at), true);
        }
        flow(&meter).get("longest_gap_ms").copied()
    };
    assert_eq!(gap(&[], &[]), None);
    assert_eq!(gap(&[1200, 1300], &[1250, 1400]), Some(150.0), "complete");
    assert_eq!(gap(&[1200, 1300], &[1250]), Some(750.0), "one is missing");
    assert_eq!(gap(&[500, 900], &[600, 1900]), Some(900.0), "only the part in the window");
    assert_eq!(gap(&[1200], &[]), Some(800.0), "nothing came");
    assert_eq!(gap(&[500, 2100], &[1500, 2500]), Some(500.0));
}

#[test]
fn counters_are_differences_over_the_window() {
    let mut meter = FlowMeter::new(spec(&["a", "b"], (1000, 2000), None));
    meter.count(ms(1000), Some(0), "timeouts", 3.0);
    meter.count(ms(1000), None, "spurious", 1.0);
    meter.count(ms(2000), Some(0), "timeouts", 5.0);
    meter.count(ms(2000), Some(1), "timeouts", 4.0);
    meter.count(ms(2000), None, "spurious", 1.5);
    // Both ends have one of this name.
    for (at, sender, receiver) in [(1000, 0.5, 0.25), (2000, 0.75, 0.5)] {
        meter.count(ms(at), None, "rwnd_blocked_s", sender);
        meter.count(ms(at), None, "rwnd_blocked_s", receiver);
    }
    let mut metrics = Vec::new();
    meter.metrics(&mut metrics);
    assert_has(&of(&metrics, ""), &[("timeouts", 6.0), ("spurious_packets", 0.5)]);
    assert_has(&of(&metrics, ""), &[("rwnd_blocked_s", 0.5), ("rwnd_blocked_ratio", 0.5)]);
    assert_has(&of(&metrics, "a"), &[("timeouts", 2.0)]);
    assert_has(&of(&metrics, "b"), &[("timeouts", 4.0)]);
}

#[test]
fn redundancy_is_of_the_window() {
    let shares = |framing| {
        let mut meter = FlowMeter::new(spec(&["a"], (1000, 2000), None));
        meter.framed(framing);
        // Before the window 1000 bytes of 10 % redundancy; within it 2000 of 5 %, of which 1600 are delivered.
        for (at, source, repair, recovered) in [(1000, 1000.0, 100.0, 3.0), (2000, 3000.0, 200.0, 8.0)] {
            meter.count(ms(at), None, "source_bytes", source);
            meter.count(ms(at), None, "repair_bytes", repair);
            // The receiver counts what it recovers, the sender nothing.
            meter.count(ms(at), None, "recovered", 0.0);
            meter.count(ms(at), None, "recovered", recovered);
        }
        meter.delivered(ms(1500), 0, 1600, ms(1000), true);
        flow(&meter)
    };
    let repair = shares(Framing::Repair);
    assert_has(&repair, &[("redundancy", 0.05), ("recovered", 5.0), ("repair_bytes", 100.0)]);
    assert!(!repair.contains_key("symbol_overhead"));
    assert_has(&shares(Framing::Blocks), &[("redundancy", 0.05), ("symbol_overhead", 500.0 / 1600.0)]);
    let plain = flow(&FlowMeter::new(spec(&["a"], (1000, 2000), None)));
    assert!(!plain.contains_key("redundancy"), "nothing was coded");
}

#[test]
fn a_coded_flow_misses_what_was_handed_in() {
    let gap = |delivered: bool| {
        let mut meter = FlowMeter::new(spec(&["a"], (0, 2000), None));
        meter.submitted(1000);
        // A symbol with its header, and a repair symbol.
        for payload in [1006, 1010] {
            meter.framed(Framing::Repair);
            meter.sent(ms(0), 0, payload + 40, payload, false);
        }
        if delivered {
            meter.delivered(ms(100), 0, 1000, ms(0), true);
        }
        flow(&meter)["longest_gap_ms"]
    };
    assert_eq!((gap(true), gap(false)), (100.0, 2000.0));
}

/// Figures of the paper and what they mean: MAX = EXP = 1 Mbit/s.
#[test]
fn equation_17_is_a_deficit() {
    for (db, short_kbps) in [(36.0, 15.8), (35.18, 17.4), (24.75, 57.9), (22.7, 73.3)] {
        let got = eq17_db(1e6, 1e6 - short_kbps * 1e3);
        assert!((got - db).abs() < 0.05, "{got} for {db}");
    }
    assert_eq!([eq17_db(1e6, 0.0), eq17_db(1e6, -1.0)], [0.0; 2], "nothing came");
    assert!([1e6, 2e6, 999_999.0].map(|crt| eq17_db(1e6, crt)).iter().all(|db| (db - 60.0).abs() < 1e-9));
}

/// 1 Mbit/s in messages of 1250 bytes, one every 10 ms.
fn constant(end: u64) -> VideoSpec {
    let (start, end) = (ms(0), ms(end));
    VideoSpec {
        source: VideoSource::Constant { rate_bps: 1e6, message_bytes: 1250, start, end },
        deadline: Duration::from_secs(1),
        prebuffer: Duration::from_secs(2),
        complete: true,
        psnr_deadline: Duration::from_secs(2),
    }
}

/// The message `number` comes `delay` ms after its capture.
fn deliver(meter: &mut FlowMeter, number: u64, delay: u64) {
    meter.delivered(ms(number * 10 + delay), number, 1250, ms(number * 10), true);
}

#[test]
fn a_perfect_video_has_60_db_and_no_underflow() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 25_000), Some(constant(20_000))));
    (0..2000).for_each(|number| deliver(&mut meter, number, 50));
    let db = |missing: f64| -20.0 * libm::log10(missing);
    assert_has(
        &flow(&meter),
        &[
            ("psnr_eq17_db", 60.0),
            ("underflows", 0.0),
            // 5 of 1000 messages are missing from the first of two bins.
            ("psnr_eq17_bins_db", (db(0.005) + 60.0) / 2.0),
            // When the last one is captured, 4 of 2000 are still under way.
            ("psnr_eq17_end_db", db(0.002)),
        ],
    );
}

#[test]
fn late_bytes_are_missing_from_equation_17() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 18_000), Some(constant(20_000))));
    for number in 0..1500 {
        let delay = match number {
            500..600 => 3000,
            // In order, so that none comes before the last of the late ones, at 8.99 s.
            600.. => (8_990 - (number * 10) as i64).max(100) as u64,
            _ => 100,
        };
        deliver(&mut meter, number, delay);
    }
    // Messages 500 to 599 are 3 s late, 600 to 698 more than 2 s; and the last 100 of 16 s never come.
    let late = 100.0 + 99.0 + 100.0;
    assert_has(&flow(&meter), &[("psnr_eq17_db", -20.0 * libm::log10(late / 1600.0))]);
}

/// Of 1000 messages in 10 s the first third comes after 0.3 s, the next after 0.8 s, the rest after 1.5 s.
#[test]
fn equation_17_has_a_deadline() {
    for (deadline, in_time) in [(500, 333.0), (1000, 666.0), (2000, 1000.0)] {
        let video = VideoSpec { psnr_deadline: Duration::from_millis(deadline), ..constant(20_000) };
        let mut meter = FlowMeter::new(spec(&["a"], (0, 10_000 + deadline), Some(video)));
        for number in 0..1000 {
            deliver(
                &mut meter,
                number,
                if number < 333 {
                    300
                } else if number < 666 {
                    800
                } else {
                    1500
                },
            );
        }
        assert_has(&flow(&meter), &[("psnr_eq17_db", eq17_db(1e6, 1e6 * in_time / 1000.0))]);
    }
}

/// Plays from 2.04 s on, when the 200th message completes 2 s of media; nothing comes from 5.04 s to 8.04 s, and all is
/// played at 7.04 s.
#[test]
fn a_player_that_waits_stalls_when_nothing_is_in_order() {
    let stalls = |from| {
        let mut meter = FlowMeter::new(spec(&["a"], (from, 30_000), Some(constant(20_000))));
        for number in 0..2000 {
            let delay = if (500..800).contains(&number) { 8_040 - number * 10 } else { 50 };
            deliver(&mut meter, number, delay.max(50));
        }
        flow(&meter)["stalls"]
    };
    assert_eq!([stalls(0), stalls(7_040), stalls(7_041)], [1.0, 1.0, 0.0]);
}

/// Of 100 messages per second one in time, one late, one never, and so on; judged are captures from 1 s to 19 s.
#[test]
fn missed_messages_are_late_ones_and_those_that_never_come() {
    let mut meter = FlowMeter::new(spec(&["a"], (1_000, 20_000), Some(constant(30_000))));
    for number in 0..1900 {
        match number % 3 {
            0 => deliver(&mut meter, number, 1000),
            1 => deliver(&mut meter, number, 1001),
            _ => {}
        }
    }
    assert_has(
        &flow(&meter),
        &[
            ("due_messages", 1800.0),
            ("late_messages", 600.0),
            ("missed_messages", 1200.0),
            ("missed_ratio", 2.0 / 3.0),
            // No nominal picture of 40 ms is without one of them.
            ("decodable_ratio", 0.0),
            ("freezes_per_min", 60.0 / 18.0),
        ],
    );
}

/// Messages 1000 to 1024 are lost: pictures 250 to 256, and with the first of them (a group begins at 250) all to 274.
#[test]
fn a_group_is_lost_with_its_first_picture() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 21_000), Some(constant(20_000))));
    (0..2000).filter(|n| !(1000..1025).contains(n)).for_each(|number| deliver(&mut meter, number, 50));
    let frozen = [("missed_messages", 25.0), ("decodable_ratio", 475.0 / 500.0), ("freezes_per_min", 3.0)];
    assert_has(&flow(&meter), &frozen);
}

/// Messages listed one by one see what messages at even intervals do.
#[test]
fn messages_are_seen_alike_however_they_are_listed() {
    let message = |n: u64| VideoFrame {
        kind: Some(FrameType::I),
        capture: ms(10 * n),
        bytes: 1250,
        messages: n..n + 1,
    };
    let listed = VideoSource::Messages((0..2000).map(message).collect());
    let seen = |video: VideoSpec| {
        let mut meter = FlowMeter::new(spec(&["a"], (3_000, 18_000), Some(video)));
        for number in (0..2000).filter(|n| n % 400 > 3) {
            let delay = if (700..1300).contains(&number) { 14_000 - 10 * number } else { 90 };
            deliver(&mut meter, number, delay);
        }
        let names = [
            "due_messages",
            "late_messages",
            "missed_ratio",
            "decodable_ratio",
            "freezes_per_min",
            "underflows",
        ];
        names.map(|name| flow(&meter)[name])
    };
    let even = seen(constant(20_000));
    assert_eq!(seen(VideoSpec { source: listed, ..constant(20_000) }), even);
    assert!(even[2] > 0.3 && even[5] > 0.0, "{even:?}");
}

/// Each frame has two messages, and the second arrives before the first. All frames are in time, so the player never
/// pauses.
#[test]
fn a_frame_whose_last_message_overtakes_adds_media_all_the_same() {
    let frame = |n: u64| VideoFrame {
        kind: Some(FrameType::P),
        capture: ms(40 * n),
        bytes: 2000,
        messages: 2 * n..2 * n + 2,
    };
    let source = VideoSource::Frames((0..500).map(frame).collect());
    let video = VideoSpec { source, complete: false, ..constant(20_000) };
    let mut meter = FlowMeter::new(spec(&["a"], (0, 25_000), Some(video)));
    for n in 0..500 {
        meter.delivered(ms(40 * n + 50), 2 * n + 1, 1000, ms(40 * n), true);
        meter.delivered(ms(40 * n + 60), 2 * n, 1000, ms(40 * n), true);
    }
    assert_has(&flow(&meter), &[("underflows", 0.0), ("missed_frames", 0.0), ("frames_received", 500.0)]);
    assert!(!flow(&meter).contains_key("stalls"), "a player does not wait for what was given up");
}

/// I B B P B B P, a frame every 100 ms, of two messages of 1000 bytes, sent in coding order: I P B B P B B.
fn gop() -> VideoSpec {
    use FrameType::{B, I, P};
    let coded = [(I, 0), (P, 300), (B, 100), (B, 200), (P, 600), (B, 400), (B, 500)];
    let frame = |(i, (kind, capture)): (usize, (FrameType, u64))| VideoFrame {
        kind: Some(kind),
        capture: ms(capture),
        bytes: 2000,
        messages: 2 * i as u64..2 * i as u64 + 2,
    };
    VideoSpec {
        source: VideoSource::Frames(coded.into_iter().enumerate().map(frame).collect()),
        deadline: Duration::from_secs(1),
        prebuffer: Duration::from_millis(200),
        complete: false,
        psnr_deadline: Duration::from_secs(2),
    }
}

#[test]
fn frames_are_whole_in_time_and_have_their_references() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 5_000), Some(gop())));
    // The second P (messages 8 and 9) is late, the second B (6 and 7) never whole.
    for number in (0..14).filter(|number| *number != 7) {
        let at = if number == 9 { 1601 } else { 700 };
        meter.delivered(ms(at), number, 1000, ms(0), false);
    }
    let frozen = (36.0 + 33.0 + 27.0 + 34.0 + 28.0 + 26.5 + 25.0) / 7.0;
    assert_has(
        &flow(&meter),
        &[
            ("frames_sent", 7.0),
            ("frames_received", 5.0),
            ("frames_decodable", 3.0),
            ("late_frames", 1.0),
            ("frames_received_b", 3.0),
            ("frames_decodable_b", 1.0),
            ("frames_received_p", 1.0),
            ("frames_decodable_i", 1.0),
            ("frames_sent_p", 2.0),
            ("psnr_model_db", frozen),
        ],
    );
}

/// A header and I P B B P B B in the order of sending, 100 ms apart, times as sent; a message each.
fn sent_in_order_of_coding() -> VideoSpec {
    use FrameType::{B, I, P};
    let kinds = [None, Some(I), Some(P), Some(B), Some(B), Some(P), Some(B), Some(B)];
    let frame = |(i, kind): (usize, Option<FrameType>)| VideoFrame {
        kind,
        capture: ms(100 * i as u64),
        bytes: 1000,
        messages: i as u64..i as u64 + 1,
    };
    let source = VideoSource::Frames(kinds.into_iter().enumerate().map(frame).collect());
    VideoSpec {
        source,
        deadline: Duration::from_secs(1),
        prebuffer: Duration::from_millis(200),
        complete: false,
        psnr_deadline: Duration::from_secs(2),
    }
}

/// B frames need the two references sent before them, not the one sent after them.
#[test]
fn frames_are_shown_in_another_order_than_sent() {
    let without = |lost: u64| {
        let mut meter = FlowMeter::new(spec(&["a"], (0, 5_000), Some(sent_in_order_of_coding())));
        (0..8).filter(|n| *n != lost).for_each(|n| meter.delivered(ms(800), n, 1000, ms(0), false));
        flow(&meter)
    };
    // The second P is lost: with it the B frames after it, but not those before it.
    assert_has(
        &without(5),
        &[("frames_received", 6.0), ("frames_decodable", 4.0), ("frames_decodable_b", 2.0)],
    );
    assert_has(&without(2), &[("frames_decodable", 1.0)]);
}

/// The header comes at 1.05 s, before the deadline of the I frame (captured at 100 ms), or at 1.15 s, after it.
#[test]
fn a_header_is_due_when_frames_need_it() {
    let with_header_at = |at: u64| {
        let mut meter = FlowMeter::new(spec(&["a"], (0, 5_000), Some(sent_in_order_of_coding())));
        (1..8).for_each(|n| meter.delivered(ms(800), n, 1000, ms(0), false));
        meter.delivered(ms(at), 0, 1000, ms(0), false);
        flow(&meter)
    };
    assert_has(&with_header_at(1050), &[("frames_received", 7.0), ("frames_decodable", 7.0)]);
    assert_has(&with_header_at(1150), &[("frames_received", 7.0), ("frames_decodable", 0.0)]);
}

#[test]
fn frames_are_judged_where_their_deadline_is_in_the_window() {
    let mut meter = FlowMeter::new(spec(&["a"], (150, 1450), Some(gop())));
    (0..14).for_each(|number| meter.delivered(ms(100), number, 1000, ms(0), true));
    // Captures at 200, 300 and 400 ms; their references before the window are known.
    assert_has(&flow(&meter), &[("frames_sent", 3.0), ("frames_decodable", 3.0), ("frames_sent_i", 0.0)]);
}

#[test]
fn frames_are_found_in_a_stream() {
    let mut meter = FlowMeter::new(spec(&["a"], (0, 5_000), Some(gop())));
    meter.progressed(ms(400), 3_999);
    meter.progressed(ms(450), 1);
    meter.progressed(ms(700), 9_999);
    let got = flow(&meter);
    // I at 400 ms, P at 450 (captured at 300), both first Bs, P and B at 700.
    assert_has(&got, &[("frames_received", 6.0), ("frames_decodable", 6.0), ("delivered_bytes", 13_999.0)]);
    let delays = [400.0, 150.0, 600.0, 500.0, 100.0, 300.0];
    assert_has(&got, &[("message_delay_mean_ms", delays.iter().sum::<f64>() / 6.0)]);
    let mut meter = FlowMeter::new(spec(&["a"], (0, 25_000), Some(constant(20_000))));
    for tick in 0..20_000 {
        meter.progressed(ms(tick + 51), 125);
    }
    // The last byte of message k comes at 10 k + 60 ms.
    assert_has(
        &flow(&meter),
        &[("psnr_eq17_db", 60.0), ("message_delay_mean_ms", 60.0), ("underflows", 0.0)],
    );
}

#[test]
fn cross_traffic_is_a_share_of_the_rate() {
    let mut meter = BackgroundMeter::new("x".into(), 1e6, Window { from: ms(1000), to: ms(2000) });
    for (at, offered, carried) in [(500, 9, 9), (1000, 50_000, 25_000), (1999, 12_500, 0), (2000, 9, 9)] {
        meter.offered(ms(at), offered);
        meter.carried(ms(at), carried);
        meter.tcp_arrived(ms(at), carried / 2);
    }
    let mut metrics = Vec::new();
    meter.metrics(&mut metrics);
    let subject = Subject::Cross("x".into());
    let expected = [("offered_load", 0.5), ("carried_load", 0.2), ("tcp_goodput_bps", 1e5)];
    let expected = expected.map(|(name, value)| Metric { subject: subject.clone(), name, value });
    assert_eq!(metrics, expected);
}

/// 1000 bytes last 1 ms; from 500 ms on 2 ms.
#[test]
fn a_link_is_read_at_both_ends_of_the_window() {
    let steps = vec![(Duration::ZERO, 8e6), (Duration::from_millis(500), 4e6)];
    let rate = Rate::Varying(Number::Steps(steps));
    let config = LinkConfig { rate, queue: Queue::packets(1), ..LinkConfig::default() };
    let mut link = Link::new(config, &Seeds::new(1, 0), "link");
    let offer = |link: &mut Link<Vec<u8>>, at, packets| {
        for _ in 0..packets {
            link.enqueue(ms(at), vec![0; 1000], 1000);
        }
        while link.poll(ms(at)).is_some() {}
    };
    offer(&mut link, 0, 1);
    offer(&mut link, 100, 0);
    let begin = LinkReading::of(&link, ms(100));
    // One is served, one waits for 1 ms, one is too many.
    offer(&mut link, 200, 3);
    offer(&mut link, 600, 1);
    offer(&mut link, 1100, 0);
    let mut metrics = Vec::new();
    link_metrics(("b", "reverse"), &begin, &LinkReading::of(&link, ms(1100)), &mut metrics);
    let expected = [
        // 400 ms at 8 Mbit/s and 600 ms at 4.
        ("utilisation", 24_000.0 / 5.6e6),
        ("served_bps", 24_000.0),
        ("offered_packets", 4.0),
        ("delivered_packets", 3.0),
        ("lost_queue_packets", 1.0),
        ("lost_random_packets", 0.0),
        ("lost_down_packets", 0.0),
        ("queue_mean_packets", 0.001),
        ("queue_max_packets", 1.0),
    ];
    assert_has(&of(&metrics, "reverse"), &expected);
    assert_eq!(metrics.len(), expected.len());
}

#[test]
fn a_link_is_shared_by_the_bytes_that_leave_it() {
    let wires =
        [("core", "forward"), ("core", "reverse")].map(|(link, direction)| (link.into(), direction.into()));
    let flows = ["a", "b", "c"].map(String::from);
    let mut meter = ShareMeter::new(wires.to_vec(), flows.to_vec(), Window { from: ms(1000), to: ms(2000) });
    for (departs, wire, flow, bytes) in [
        (999, 0, 0, 9),
        (1000, 0, 0, 300),
        (1500, 0, 1, 100),
        (1999, 0, 0, 0),
        (2000, 0, 1, 9),
        (1500, 1, 1, 40),
    ] {
        meter.departs(ms(departs), wire, flow, bytes);
    }
    // Background load, of no flow.
    meter.departs(ms(1500), 0, 7, 600);
    let mut metrics = Vec::new();
    meter.metrics(&mut metrics);
    let metric = |direction: &str, flow: &str, name, value| {
        let (link, direction, flow) = ("core".into(), direction.into(), flow.into());
        Metric { subject: Subject::Share { link, direction, flow }, name, value }
    };
    let expected = [
        metric("forward", "a", "served_bps", 2400.0),
        metric("forward", "a", "served_share", 0.3),
        metric("forward", "b", "served_bps", 800.0),
        metric("forward", "b", "served_share", 0.1),
        metric("reverse", "b", "served_bps", 320.0),
        metric("reverse", "b", "served_share", 1.0),
    ];
    assert_eq!(metrics, expected);
}
