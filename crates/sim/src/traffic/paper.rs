//! A video like that of a paper whose trace is not published.

use core::time::Duration;

use strandcast_media::trace::{FrameTrace, TracedFrame};
use strandcast_media::ts::FrameType::{self, B, I, P};
use strandcast_proto::seeds::Random;

/// The header and the first eight frames, as printed in the paper.
const PRINTED: [(Option<FrameType>, u32); 9] = [
    (None, 29),
    (Some(I), 1508),
    (Some(P), 254),
    (Some(B), 223),
    (Some(B), 204),
    (Some(P), 343),
    (Some(B), 290),
    (Some(B), 336),
    (Some(I), 1616),
];
/// Number of frames after the header.
const FRAMES: u32 = 2000;
/// Sequence of frame types that repeats after the first I frame, in coding order. There are 9 frames from one I frame
/// to the next.
const GROUP: [FrameType; 9] = [P, B, B, P, B, B, I, B, B];
/// Number of frames of each type that need one packet more than the other frames of this type.
const LARGER: [(FrameType, usize); 3] = [(I, 17), (P, 8), (B, 2)];
const FRAMES_PER_S: u32 = 30;
/// Bytes of a frame that a packet holds: at least 1400 and at most 1452. Sizes between these bounds are avoided.
const PACKET: (f64, f64) = (1400.0, 1452.0);

/// Returns a video like that of SCTP-Rev⁺'s evaluation (QCIF, 30 frames per second, groups of 9), whose trace is not
/// published. The returned video has the frames that the paper prints, and all counts that the paper gives. The counts
/// are 223 I, 445 P and 1332 B frames after a header, and 463 + 453 + 1334 packets of 1400 to 1452 bytes.
///
/// ASSUMED: sizes are lognormal around 1560 (I), 300 (P) and 260 bytes (B). The sizes are limited to the number of
/// packets that the counts require. Frames that need one packet more than most frames of their type (17 I, 8 P, 2 B)
/// are drawn among the frames that are not printed.
pub fn synthetic_video(random: &mut Random) -> FrameTrace {
    let kind = |number: u32| match number {
        0 => None,
        1 => Some(I),
        n => Some(GROUP[(n as usize - 2) % GROUP.len()]),
    };
    let mut larger = Vec::new();
    for (of, count) in LARGER {
        let mut others: Vec<u32> = (PRINTED.len() as u32..=FRAMES).filter(|&n| kind(n) == Some(of)).collect();
        for _ in 0..count {
            larger.push(others.swap_remove(random.below(others.len() as u64) as usize));
        }
    }
    let frame = |number: u32| {
        let kind = kind(number);
        let printed = PRINTED.get(number as usize).map(|&(_, bytes)| bytes);
        let bytes = printed.unwrap_or_else(|| size(kind, larger.contains(&number), random));
        let time = Duration::from_secs(1) * (number + 1) / FRAMES_PER_S;
        TracedFrame { number, kind, time, bytes }
    };
    FrameTrace::new((0..=FRAMES).map(frame).collect()).expect("2001 frames are more than none")
}

/// Returns the size of a frame that is not printed in the paper.
fn size(kind: Option<FrameType>, larger: bool, random: &mut Random) -> u32 {
    let (median, sigma, packets) = match kind {
        Some(I) => (1560.0, 0.05, 2),
        Some(P) => (300.0, 0.25, 1),
        _ => (260.0, 0.25, 1),
    };
    let packets = packets + u32::from(larger);
    let (least, most) = (f64::from(packets - 1) * PACKET.1 + 1.0, f64::from(packets) * PACKET.0);
    // Medians of larger frames: they fill their last packet as far as usual I frames do.
    let median = if larger { least + (1560.0 - PACKET.1) } else { median };
    loop {
        let bytes = libm::round(median * libm::exp(sigma * normal(random)));
        if (least..=most).contains(&bytes) {
            return bytes as u32;
        }
    }
}

/// Returns a sample of the standard normal distribution (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.unit()));
    radius * libm::cos(core::f64::consts::TAU * random.unit())
}
