//! Clips that can be a slate, and those that cannot.

use super::stream::{Encoder, FRAME_MS};
use crate::slate::{Clip, ClipError};
use crate::testing::Build;
use crate::ts::{PACKET_LEN, TsError};

fn refused(file: &[u8]) -> ClipError {
    Clip::read(file).expect_err("it cannot be a slate")
}

/// Packets of a file that satisfy a condition.
fn only(file: &[u8], keep: impl Fn(&crate::ts::Packet) -> bool) -> Vec<u8> {
    let packets = file.as_chunks::<PACKET_LEN>().0.iter();
    packets
        .filter(|bytes| keep(&crate::ts::Packet::new(**bytes).expect("a packet")))
        .flatten()
        .copied()
        .collect()
}

#[test]
fn a_clip_lasts_as_long_as_its_frames() {
    let clip = Clip::read(&Encoder::new().file(25)).expect("it is a clip");
    assert_eq!(clip.duration().as_millis(), 1000);
    // Longer audio would be longer; a clip that begins in the middle of a group begins at its first picture.
    assert_eq!((clip.first_pcr.ticks(), clip.lead), (27_000_000, 6000 * 300));
}

/// ffmpeg puts many frames of audio into a unit, and into the last unit what is left.
#[test]
fn the_last_unit_of_audio_lasts_as_long_as_its_bytes() {
    for (bytes, length) in [(9, 1000), (45, 1120), (90, 1280)] {
        let mut encoder = Encoder::new();
        // The first unit, of 90 bytes, comes with the first picture.
        let mut packets = encoder.next();
        encoder.audio = None;
        for frame in 1..25 {
            packets.extend(encoder.next());
            if frame % 8 == 0 {
                packets.push(encoder.audio_unit(
                    0x102,
                    frame * FRAME_MS,
                    if frame == 24 { bytes } else { 90 },
                ));
            }
        }
        let file: Vec<u8> = packets.iter().flat_map(|packet| *packet.as_bytes()).collect();
        let clip = Clip::read(&file).expect("it is a clip");
        assert_eq!(clip.duration().as_millis(), length, "{bytes} bytes");
    }
}

#[test]
fn what_cannot_be_a_slate_is_named() {
    let file = Encoder::new().file(25);
    let cases = [
        (b"ID3 and much more".repeat(2000), "not an MPEG transport stream"),
        (Vec::new(), "empty"),
        (vec![0; super::super::MAX_CLIP + 1], "16777216 at most"),
        (only(&file, |packet| packet.pid() != 0), "it has no PAT"),
        (only(&file, |packet| packet.pid() != 0x1000), "it has no PMT"),
        (Encoder { frame: 1, marks: false, ..Encoder::new() }.file(25), "does not begin with a key frame"),
        (Encoder { pcr_pid: 0x101, ..Encoder::new() }.file(2), "shorter than 0.2 s"),
        (
            only(&file, |packet| packet.pid() <= 0x1000 && packet.pid() != 0x101 || packet.pid() > 0x1000),
            "no PCR",
        ),
        ([&file[..PACKET_LEN * 30], &file[PACKET_LEN * 37..]].concat(), "it is damaged"),
    ];
    for (file, words) in cases {
        let line = refused(&file).to_string();
        assert!(line.contains(words) && !line.contains('\n'), "{words}: {line}");
    }
    assert_eq!(refused(b""), ClipError::Ts(TsError::Empty));
}

#[test]
fn a_clock_that_jumps_is_named_with_its_packet() {
    let mut encoder = Encoder::new();
    let mut packets: Vec<_> = (0..10).flat_map(|_| encoder.next()).collect();
    let at = packets.len();
    encoder.clock += 54_000_000;
    packets.extend((0..10).flat_map(|_| encoder.next()));
    let first = packets[at..].iter().position(|packet| packet.pid() == 0x101).expect("video");
    let file: Vec<u8> = packets.iter().flat_map(|packet| *packet.as_bytes()).collect();
    assert_eq!(refused(&file), ClipError::PcrJumps(at + first));
}

#[test]
fn a_time_stamp_far_from_the_clock_is_named() {
    let mut encoder = Encoder::new();
    let mut packets: Vec<_> = (0..25).flat_map(|_| encoder.next()).collect();
    let file = |packets: &[crate::ts::Packet]| -> Vec<u8> {
        packets.iter().flat_map(|packet| *packet.as_bytes()).collect()
    };
    assert!(Clip::read(&file(&packets)).is_ok());
    encoder.clock += 13 * 3600 * 27_000_000;
    packets.extend(encoder.next().into_iter().filter(|packet| packet.pid() == 0x102));
    assert_eq!(refused(&file(&packets)), ClipError::StampsJump);
}

#[test]
fn scrambled_packets_and_split_headers_are_named() {
    let file = Encoder::new().file(25);
    let mut scrambled = file.clone();
    let at = (0..file.len() / PACKET_LEN).rev().find(|n| scrambled[n * PACKET_LEN + 2] == 1).expect("video");
    scrambled[at * PACKET_LEN + 3] |= 0x80;
    assert_eq!(refused(&scrambled), ClipError::Scrambled(at));
    let counter = scrambled[at * PACKET_LEN + 3] & 15;
    let split =
        Build { unit_start: true, ..Build::new(0x101, counter + 1) }.payload(&[0, 0, 1, 0xe0, 0]).packet();
    let last = file.len() / PACKET_LEN;
    assert_eq!(refused(&[&file[..], split.as_bytes()].concat()), ClipError::SplitHeader(last));
}
