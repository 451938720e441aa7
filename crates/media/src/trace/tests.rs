//! Frame traces: the format as libraries publish it, diagnostics with line numbers, and conversion back to text.

use core::time::Duration;

use proptest::prelude::*;

use super::{FrameTrace, TracedFrame};
use crate::ts::FrameType;

fn error(text: &str) -> String {
    FrameTrace::parse(text).expect_err(text).to_string()
}

#[test]
fn one_line_per_frame_with_comments_headings_and_more_columns() {
    let text = "\u{feff}Frame No.\tFrametype\tTime[s]\tLength [byte]\n# a comment\n\n0 H 0.033 29\n1,IDR,0.066,1508\n\
                % another\n2;p;0.099;254;38.2;40.1\n\t3 b 0.132 223\r\n";
    let trace = FrameTrace::parse(text).expect("well-formed");
    let kinds: Vec<_> = trace.frames().iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [None, Some(FrameType::I), Some(FrameType::P), Some(FrameType::B)]);
    let times: Vec<_> = trace.frames().iter().map(|f| f.time.as_millis()).collect();
    assert_eq!(times, [33, 66, 99, 132]);
    assert_eq!(trace.bytes(), 29 + 1508 + 254 + 223);
    // Four frames 33 ms apart.
    assert_eq!(trace.duration(), Some(Duration::from_millis(132)));
}

#[test]
fn milliseconds_are_named_in_the_heading() {
    // Coding order, as in the library's traces: the P frame precedes the B frames that are shown before it.
    let frames = "1 I 0 534\n2 P 120 1542\n3 B 40 134\n4 B 80 390\n";
    let trace = FrameTrace::parse(&format!("No Type Time[ms] Length\n{frames}")).expect("well-formed");
    assert_eq!(trace.frames()[1].time, Duration::from_millis(120));
    assert_eq!((trace.begin(), trace.duration()), (Duration::ZERO, Some(Duration::from_millis(160))));
    let mend = "line 4: frames lie 40 s apart; if times are in milliseconds, declare it above the first frame: `# time in ms`";
    assert_eq!(error(frames), mend);
    assert_eq!(FrameTrace::parse(&format!("# time in ms\n{frames}")), Ok(trace));
}

#[test]
fn a_bad_line_is_reported_with_its_number() {
    assert_eq!(error(""), "line 1: no frame; expected one line per frame: number type time bytes");
    assert_eq!(
        error("# only\n# words\n"),
        "line 2: no frame; expected one line per frame: number type time bytes"
    );
    assert_eq!(
        error("0 I 0 9\n\n1 P 0.04\n"),
        "line 3: bytes is missing; a frame is: number type time bytes"
    );
    assert_eq!(
        error("0 X 0 9"),
        "line 1: `X` is not a type of frame; choose from I, P, B, and H for a header"
    );
    assert_eq!(error("0 I 0 9\nend"), "line 2: type is missing; a frame is: number type time bytes");
    assert_eq!(error("0 I 0 9\nx I 0 9"), "line 2: `x` is not a frame number");
    for time in ["-1", "NaN", "inf", "1e10", "soon"] {
        assert_eq!(error(&format!("0 I {time} 9")), format!("line 1: `{time}` is not the time of a frame"));
    }
    for bytes in ["-1", "1.5", "5000000000"] {
        assert_eq!(
            error(&format!("0 I 0 {bytes}")),
            format!("line 1: `{bytes}` is not a size in whole bytes")
        );
    }
}

#[test]
fn a_single_frame_has_no_duration() {
    assert_eq!(FrameTrace::parse("0 I 5 9").expect("well-formed").duration(), None);
    assert_eq!(FrameTrace::new(Vec::new()), None);
}

proptest! {
    #[test]
    fn written_traces_parse_to_themselves(frames in prop::collection::vec((any::<u32>(), 0..4usize, 0..10_000_000_000u64, any::<u32>()), 1..50)) {
        let kind = |i: usize| [None, Some(FrameType::I), Some(FrameType::P), Some(FrameType::B)][i];
        let frames = frames.into_iter().map(|(number, k, ns, bytes)| {
            TracedFrame { number, kind: kind(k), time: Duration::from_nanos(ns), bytes }
        });
        let trace = FrameTrace::new(frames.collect()).expect("at least one frame");
        prop_assert_eq!(FrameTrace::parse(&trace.to_string()), Ok(trace));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}") {
        let _ = FrameTrace::parse(&text);
    }
}
