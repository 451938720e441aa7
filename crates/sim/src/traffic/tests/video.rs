//! Videos: counts and sums of a trace, messages of a frame, and the paper's counts.

use core::time::Duration;
use std::sync::Arc;

use strandcast_media::trace::FrameTrace;
use strandcast_media::ts::FrameType::{B, I, P};
use strandcast_proto::policy::Importance;
use strandcast_proto::seeds::Seeds;

use super::{Emission, all, s, stream};
use crate::traffic::{ConstantVideo, Frame, TracedVideo, synthetic_video};

fn frame(message: &Emission) -> Frame {
    message.frame.expect("a video's message is of a frame")
}

#[test]
fn constant_video_is_a_message_a_frame() {
    let messages = all(ConstantVideo::new(1250, 1e6, s(10), s(11)));
    assert_eq!(messages.len(), 100);
    for (n, message) in (0..).zip(&messages) {
        let at = s(10) + Duration::from_millis(10) * n;
        let importance = Importance::Normal;
        let frame = Frame { number: n, kind: None, importance, capture: at, last: true };
        assert_eq!(*message, Emission { at, bytes: 1250, frame: Some(frame) });
    }
}

/// Coding order, as published by libraries; the second frame is shown last and takes three messages, the
/// encoder skipped the fourth.
const TRACE: &str = "# number type time bytes\n5 I 1.00 1000\n8 P 1.12 2001\n6 B 1.04 10\n7 B 1.08 0\n";

#[test]
fn frames_are_cut_into_messages() {
    let trace = Arc::new(FrameTrace::parse(TRACE).expect("well-formed"));
    let messages = all(TracedVideo::new(trace, false, 1000, s(10), s(11)));
    let ms = |at: strandcast_proto::time::Instant| at.as_nanos() / 1_000_000;
    let seen: Vec<_> =
        messages.iter().map(|m| (ms(m.at), m.bytes, frame(m).number, frame(m).kind, frame(m).last)).collect();
    let p = Some(P);
    let expected = [
        (10_000, 1000, 0, Some(I), true),
        (10_120, 1000, 1, p, false),
        (10_120, 1000, 1, p, false),
        (10_120, 1, 1, p, true),
        // Captured before the P frame, but sent after it.
        (10_120, 10, 2, Some(B), true),
    ];
    assert_eq!(seen, expected);
    assert_eq!(ms(frame(&messages[4]).capture), 10_040);
}

#[test]
fn a_trace_begins_again() {
    let trace = Arc::new(FrameTrace::parse(TRACE).expect("well-formed"));
    let messages = all(TracedVideo::new(trace.clone(), true, 5000, s(0), s(16)));
    // 4 frames 40 ms apart last 160 ms: 100 times in 16 s, 3 messages each.
    assert_eq!(messages.len(), 300);
    assert_eq!(messages.iter().map(|m| u64::from(m.bytes)).sum::<u64>(), 100 * trace.bytes());
    for (again, messages) in (0u32..).zip(messages.chunks(3)) {
        assert_eq!(messages[0].at, s(0) + Duration::from_millis(160) * again);
        assert_eq!(
            messages.iter().map(|m| frame(m).number).collect::<Vec<_>>(),
            [4 * again, 4 * again + 1, 4 * again + 2]
        );
    }
    // A trace without bytes, or without duration, does not cause an endless loop.
    for text in ["0 I 0 0\n1 P 1 0\n", "0 I 0 9\n"] {
        let trace = Arc::new(FrameTrace::parse(text).expect("well-formed"));
        assert_eq!(
            all(TracedVideo::new(trace.clone(), true, 5000, s(0), s(16))).len() as u64,
            trace.bytes() / 9
        );
    }
}

#[test]
fn a_video_ends_before_its_stop() {
    let trace = Arc::new(FrameTrace::parse(TRACE).expect("well-formed"));
    let stop = s(10) + Duration::from_millis(120);
    assert_eq!(all(TracedVideo::new(trace, true, 1000, s(10), stop)).len(), 1);
}

/// All numbers in the paper: 223 I, 445 P, 1332 B frames, 463 + 453 + 1334 packets; for the largest payloads
/// that a packet may have held.
#[test]
fn the_papers_video_has_the_papers_counts() {
    for seed in 1..=5 {
        let trace = synthetic_video(&mut Seeds::new(seed, 0).stream("video"));
        let of = |kind| trace.frames().iter().filter(|f| f.kind == kind).count();
        assert_eq!([of(None), of(Some(I)), of(Some(P)), of(Some(B))], [1, 223, 445, 1332], "seed {seed}");
        for payload in [1400, 1452] {
            let messages = all(TracedVideo::new(Arc::new(trace.clone()), false, payload, s(0), s(100)));
            let of = |kind| messages.iter().filter(|m| frame(m).kind == kind).count();
            assert_eq!([of(None), of(Some(I)), of(Some(P)), of(Some(B))], [1, 463, 453, 1334], "seed {seed}");
            assert_eq!(messages.iter().map(|m| u64::from(m.bytes)).sum::<u64>(), trace.bytes());
        }
        let printed: Vec<_> = trace.frames()[..9].iter().map(|f| f.bytes).collect();
        assert_eq!(printed, [29, 1508, 254, 223, 204, 343, 290, 336, 1616]);
        let ms: Vec<_> = trace.frames()[..9].iter().map(|f| f.time.as_millis()).collect();
        assert_eq!(ms, [33, 66, 100, 133, 166, 200, 233, 266, 300]);
    }
    assert_ne!(synthetic_video(&mut stream(1)), synthetic_video(&mut stream(2)));
}

/// The trace among the scenarios equals the output of `examples/paper_video.rs`.
#[test]
fn the_scenarios_video_is_the_synthetic_one() {
    let text = include_str!("../../../../../experiments/cao2016/video.txt");
    assert_eq!(FrameTrace::parse(text), Ok(synthetic_video(&mut Seeds::new(1, 0).stream("video"))));
}
