//! Live video: bursts, key frames and pauses.

use core::time::Duration;

use strandcast_media::ts::FrameType::{I, P};
use strandcast_netem::number::{Every, Number, Varying};
use strandcast_proto::policy::Importance;
use strandcast_proto::time::Instant;

use super::{Emission, all, s, stream};
use crate::traffic::{Burst, Frame, KeyFrames, LiveConfig, LiveVideo, Pause};

/// 4 Mbit/s in messages of 1316 bytes.
fn config(burst: Burst) -> LiveConfig {
    let (spacing, key_frames, pauses) = (Box::new(0.0), None, Vec::new());
    LiveConfig { rate_bps: 4e6, size: 1316, burst: Some(burst), spacing, key_frames, pauses }
}

/// Messages from 5 s on, before 15 s.
fn messages(config: LiveConfig) -> Vec<Emission> {
    all(LiveVideo::new(config, s(5), s(15)))
}

fn ms(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

fn frame(message: &Emission) -> Frame {
    message.frame.expect("a video's message is of a frame")
}

/// Milliseconds from 5 s, and the number of messages at that time.
fn bursts(messages: &[Emission]) -> Vec<(u64, usize)> {
    let mut bursts: Vec<(u64, usize)> = Vec::new();
    for message in messages {
        let at = ms(message.at) - 5000;
        match bursts.last_mut() {
            Some((last, count)) if *last == at => *count += 1,
            _ => bursts.push((at, 1)),
        }
    }
    bursts
}

#[test]
fn what_is_due_within_a_time_comes_at_once() {
    let messages = messages(config(Burst::Time(Duration::from_millis(100))));
    // 4 Mbit/s are 37.99 messages in 100 ms, 3799.4 in 10 s.
    assert_eq!(messages.len(), 3799);
    let bursts = bursts(&messages);
    assert_eq!(
        bursts.iter().map(|burst| burst.0).collect::<Vec<_>>(),
        (0..100).map(|n| n * 100).collect::<Vec<_>>()
    );
    assert!(bursts.iter().all(|&(_, count)| count == 37 || count == 38));
    for (number, message) in (0..).zip(&messages) {
        let (importance, capture) = (Importance::Normal, message.at);
        let frame = Frame { number, kind: Some(I), importance, capture, last: true };
        assert_eq!((message.bytes, message.frame), (1316, Some(frame)));
    }
}

#[test]
fn blocks_of_bytes_come_at_the_streams_rate() {
    for bytes in [1316, 8 << 10, 32 << 10, 64 << 10] {
        let messages = messages(config(Burst::Bytes(bytes)));
        let interval_s = bytes as f64 * 8.0 / 4e6;
        let blocks = (10.0 / interval_s).ceil();
        assert_eq!(messages.len(), (blocks * bytes as f64 / 1316.0 + 1e-6) as usize, "{bytes}");
        for message in &messages {
            let blocks = (message.at - s(5)).as_secs_f64() / interval_s;
            assert!((blocks - blocks.round()).abs() < 1e-6, "{bytes}: {:?}", message.at);
        }
    }
}

#[test]
fn messages_of_a_burst_are_apart_by_the_spacing() {
    let spacing = Duration::from_micros(20);
    let messages = messages(LiveConfig {
        spacing: Box::new(spacing.as_secs_f64()),
        ..config(Burst::Time(Duration::from_millis(40)))
    });
    assert!(messages.windows(2).all(|pair| pair[1].at - pair[0].at >= spacing));
    assert_eq!(messages.windows(2).filter(|pair| pair[1].at - pair[0].at > spacing).count(), 249);
}

#[test]
fn the_spacing_is_drawn_for_each_burst() {
    let number = Number::Uniform { low: 0.0, high: 50e-6, every: Every::Packet };
    let of = |seed| {
        let spacing = Box::new(Varying::new(&number, stream(seed), s(5)));
        messages(LiveConfig { spacing, ..config(Burst::Time(Duration::from_millis(100))) })
    };
    let drawn = of(1);
    let mut spacings: Vec<f64> = drawn
        .chunk_by(|a, b| b.at - a.at < Duration::from_millis(1))
        .map(|burst| {
            let first = burst[1].at - burst[0].at;
            assert!(burst.windows(2).all(|pair| pair[1].at - pair[0].at == first));
            first.as_secs_f64()
        })
        .collect();
    spacings.sort_unstable_by(f64::total_cmp);
    let mean = spacings.iter().sum::<f64>() / spacings.len() as f64;
    // 100 draws of a law with a standard deviation of 50 us / sqrt(12).
    assert!(spacings.len() == 100 && (mean - 25e-6).abs() < 4.0 * 14.4e-6 / 10.0, "{mean}");
    assert!(of(1) == drawn && of(2) != drawn);
}

#[test]
fn key_frames_are_longer_and_the_rate_stays() {
    let key_frames = Some(KeyFrames { every: 50, times: 10.0 });
    let messages = messages(LiveConfig { key_frames, ..config(Burst::Time(Duration::from_millis(40))) });
    assert_eq!(messages.len(), 3799, "the same in the mean: five whole groups");
    let bursts = bursts(&messages);
    assert_eq!(bursts.len(), 250);
    // A group is 2 s of 4 Mbit/s, 59 frames' worth: 1 MB / 59 are 12.88 messages.
    for (n, (at, count)) in bursts.iter().enumerate() {
        assert_eq!(*at, n as u64 * 40);
        let expected = if n % 50 == 0 { 128..=130 } else { 12..=13 };
        assert!(expected.contains(count), "frame {n}: {count}");
    }
    for message in &messages {
        let Frame { number, kind, importance, capture, last: _ } = frame(message);
        let expected =
            if number % 50 == 0 { (Some(I), Importance::Key) } else { (Some(P), Importance::Reference) };
        assert_eq!((kind, importance), expected);
        assert_eq!(ms(capture) - 5000, u64::from(number) * 40);
    }
    assert_eq!(messages.iter().filter(|message| frame(message).last).count(), 250);
}

#[test]
fn a_pause_stops_the_video_or_keeps_it() {
    let pause = |from: u64, to: u64, keep| {
        let [from, to] = [from, to].map(Duration::from_millis);
        Pause { from, to, keep }
    };
    let of = |pauses: Vec<Pause>| {
        bursts(&messages(LiveConfig { pauses, ..config(Burst::Time(Duration::from_millis(100))) }))
    };
    let idle = of(vec![pause(0, 3000, false)]);
    assert_eq!((idle[0].0, idle[1].0, idle.len()), (3000, 3100, 70));
    let stopped = of(vec![pause(1050, 2000, false), pause(4000, 4100, false)]);
    let times: Vec<u64> = stopped.iter().map(|burst| burst.0).collect();
    assert_eq!(times[9..13], [900, 1000, 2050, 2150]);
    assert!(times.contains(&3950) && !times.contains(&4050) && times.contains(&4150));
    // A probe: nothing for a second, then all messages at once.
    let probed = of(vec![pause(0, 1000, true)]);
    assert_eq!(probed[0], (1000, 417), "the burst of 1.1 s, which includes that of 1 s");
    assert_eq!(probed[1].0, 1100);
    assert_eq!(probed.iter().map(|burst| burst.1).sum::<usize>(), 3799);
}
