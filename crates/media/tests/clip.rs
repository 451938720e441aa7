//! The committed clip end to end: its properties, its pace, and the unchanged delivery of everything not lost
//! in transit.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use strandcast_media::MediaTime;
use strandcast_media::ingest::Ingest;
use strandcast_media::pace::PaceConfig;
use strandcast_media::pack::{Outgoing, PackConfig, Unpacker};
use strandcast_media::playout::{Ended, Output, Playout, PlayoutConfig, PlayoutStats};
use strandcast_media::ts::{ContinuityChecker, FrameType, Framer, Marker, NULL_PID, PACKET_LEN};

const LATENCY: Duration = Duration::from_millis(500);
const MESSAGES: u64 = 2280;

fn clip() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../media/clip.ts");
    std::fs::read(path).expect("the clip is committed")
}

/// The clip's messages, in order of send times from 1 s on, the end last.
fn messages(clip: &[u8]) -> Vec<Outgoing> {
    let mut ingest = Ingest::paced(MediaTime::from_millis(1000), PaceConfig::default(), PackConfig::new(99));
    for chunk in clip.chunks(10_007) {
        ingest.push(MediaTime::ZERO, chunk).expect("the clip is a stream");
    }
    ingest.finish(MediaTime::ZERO).expect("the clip has a clock");
    core::iter::from_fn(|| ingest.poll(MediaTime::MAX)).collect()
}

#[test]
fn the_clip_matches_its_readme() {
    let clip = clip();
    let mut framer = Framer::new();
    framer.push(&clip);
    let (mut marker, mut checker) = (Marker::new(), ContinuityChecker::new());
    let (mut nulls, mut random_access) = (0, 0);
    let mut frames = BTreeMap::new();
    while let Some(packet) = framer.poll().expect("a stream") {
        checker.check(&packet);
        nulls += u64::from(packet.pid() == NULL_PID);
        let marks = marker.mark(&packet);
        random_access += u64::from(marks.random_access);
        if marks.frame_start {
            *frames.entry(marks.frame_type).or_insert(0) += 1;
        }
    }
    let expected = [(Some(FrameType::B), 380), (Some(FrameType::P), 196), (Some(FrameType::I), 24)];
    assert_eq!(frames, BTreeMap::from(expected));
    assert_eq!((framer.counts().packets, framer.counts().skipped_bytes), (15_957, 0));
    assert_eq!((checker.counts().gaps, checker.counts().duplicates, random_access), (0, 0, 24));
    assert!(nulls * 50 < 15_957, "{nulls} null packets");
    assert_eq!(marker.program().map(|p| (p.pcr_pid, p.video.map(|v| v.pid))), Some((Some(256), Some(256))));
}

#[test]
fn the_clip_runs_at_one_megabit_per_second() {
    let clip = clip();
    let out = messages(&clip);
    assert_eq!(out.len() as u64, MESSAGES + 1);
    assert!(out.windows(2).all(|w| w[0].send_at <= w[1].send_at));
    assert_eq!(out[0].send_at, MediaTime::from_millis(1000));
    let span = out.last().expect("the end").send_at - out[0].send_at;
    assert!((23.99..24.01).contains(&span.as_secs_f64()), "{span:?}");
    // No second contains more than 1.5 % above the mean: one message more than its share.
    for (n, first) in out.iter().enumerate() {
        let within = out[n..].iter().take_while(|o| o.send_at - first.send_at < Duration::from_secs(1));
        let bits: usize = within.map(|o| (o.wire.len() - 20) * 8).sum();
        assert!(bits <= 1_015_000, "{bits} bits in the second from message {n}");
    }
    let payload: Vec<u8> = out.iter().filter(|o| !o.end).flat_map(|o| o.wire[20..].to_vec()).collect();
    assert!(payload == clip);
    assert!(out.iter().filter(|o| o.header.marks.random_access).count() == 24);
}

/// SplitMix64, sufficient for losses and delays.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }
}

/// The output of a playout.
struct Played {
    bytes: Vec<u8>,
    end: Ended,
    stats: PlayoutStats,
}

/// Plays arrivals at the times that the playout requests.
fn play(mut arrivals: Vec<(MediaTime, Bytes)>) -> Played {
    arrivals.sort_by_key(|&(at, _)| at);
    let (mut playout, mut unpacker) = (Playout::new(PlayoutConfig::new(LATENCY)), Unpacker::new());
    let (mut bytes, mut end, mut last) = (Vec::new(), None, MediaTime::ZERO);
    let mut poll = |playout: &mut Playout, until: MediaTime| {
        while let Some(now) = playout.poll_timeout().filter(|&due| due <= until) {
            match playout.poll(now) {
                Some(Output::Data(released)) => {
                    assert!(released.due >= last && released.due == now, "in order, and when asked for");
                    last = released.due;
                    bytes.extend_from_slice(&released.payload);
                }
                Some(Output::Ended(ended)) => end = Some(ended),
                other => panic!("at {now:?}: {other:?}"),
            }
        }
    };
    for (at, wire) in arrivals {
        poll(&mut playout, at);
        playout.push(at, unpacker.unpack(wire).expect("it was packed"));
    }
    poll(&mut playout, MediaTime::MAX);
    Played { bytes, end: end.expect("the end arrived"), stats: playout.stats() }
}

/// A receiver whose clock is an hour ahead, with delays of 20 to 20 + `jitter` ms.
fn arrive(out: &Outgoing, draw: &mut Draw, jitter: u64) -> (MediaTime, Bytes) {
    let way = Duration::from_micros(20_000 + draw.below(jitter * 1000 + 1));
    (out.send_at + Duration::from_secs(3600) + way, out.wire.clone())
}

#[test]
fn reordered_and_duplicated_it_comes_out_identical() {
    let clip = clip();
    for seed in 0..3 {
        let mut draw = Draw(seed);
        let mut arrivals: Vec<_> = messages(&clip).iter().map(|o| arrive(o, &mut draw, 400)).collect();
        let doubles: Vec<_> = arrivals.iter().filter(|_| draw.below(20) == 0).cloned().collect();
        let doubled = doubles.len() as u64;
        arrivals.extend(doubles);
        let played = play(arrivals);
        assert!(played.end.identical() && played.bytes == clip, "seed {seed}: {:?}", played.end);
        let stats = played.stats;
        assert_eq!((stats.played, stats.duplicates + stats.stale), (MESSAGES, doubled), "seed {seed}");
        assert_eq!((stats.late, stats.lost, stats.gaps, stats.underflows), (0, 0, 0, 0), "seed {seed}");
        assert_eq!(stats.continuity(), 1.0);
    }
}

#[test]
fn lost_and_late_messages_are_all_that_is_missing() {
    let clip = clip();
    for seed in 10..13 {
        let mut draw = Draw(seed);
        let (mut arrivals, mut kept, mut lost, mut late) = (Vec::new(), Vec::new(), 0, 0);
        for out in messages(&clip) {
            let (at, wire) = arrive(&out, &mut draw, 100);
            match if out.end || out.header.sequence == 0 { 99 } else { draw.below(100) } {
                0 | 1 => lost += 1,
                // Later than any offset allows.
                2 => {
                    late += 1;
                    arrivals.push((at + LATENCY + Duration::from_millis(101), wire));
                }
                _ => {
                    kept.extend_from_slice(if out.end { &[] } else { &wire[20..] });
                    arrivals.push((at, wire));
                }
            }
        }
        let played = play(arrivals);
        let stats = played.stats;
        assert!(lost > 0 && late > 0 && played.bytes == kept, "seed {seed}: {stats:?}");
        assert_eq!(
            (stats.lost, stats.late, stats.played),
            (lost, late, MESSAGES - lost - late),
            "seed {seed}"
        );
        assert!(!played.end.identical(), "seed {seed}");
        assert_eq!((played.end.sent.messages, played.end.sent.bytes), (MESSAGES, clip.len() as u64));
        // The messages are evenly spaced, so the fraction of time in gaps equals the fraction of missing
        // messages.
        let missing = (lost + late) as f64 / MESSAGES as f64;
        assert!(
            (1.0 - stats.continuity() - missing).abs() < 0.001,
            "seed {seed}: {} {missing}",
            stats.continuity()
        );
        assert!(stats.gaps <= lost + late && stats.underflows == 0, "seed {seed}: {stats:?}");
    }
}

#[test]
fn an_outage_longer_than_the_latency_is_one_underflow() {
    let clip = clip();
    let mut draw = Draw(20);
    let dark = MediaTime::from_millis(11_000)..MediaTime::from_millis(13_000);
    let out = messages(&clip);
    let arrivals =
        out.iter().filter(|o| !dark.contains(&o.send_at)).map(|o| arrive(o, &mut draw, 50)).collect();
    let stats = play(arrivals).stats;
    assert_eq!((stats.gaps, stats.underflows, stats.late), (1, 1, 0));
    let off = stats.gap_time.as_secs_f64() - 2.0;
    assert!(off.abs() < 0.03, "{:?}", stats.gap_time);
}

#[test]
fn a_cut_in_the_input_is_seen() {
    let clip = clip();
    // Without packet 5000, a video packet, and with three bytes of noise in its place.
    let cut = [&clip[..5000 * PACKET_LEN], b"...", &clip[5001 * PACKET_LEN..]].concat();
    let mut ingest = Ingest::live(PackConfig::new(1));
    ingest.push(MediaTime::ZERO, &cut).expect("a stream");
    ingest.finish(MediaTime::ZERO).expect("a stream");
    let stats = ingest.stats();
    assert_eq!(
        (stats.framing.packets, stats.framing.skipped_bytes, stats.framing.sync_losses),
        (15_956, 3, 1)
    );
    assert_eq!((stats.continuity.gaps, stats.continuity.missing_packets), (1, 1));
}
