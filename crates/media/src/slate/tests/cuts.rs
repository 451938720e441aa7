//! Cuts between a sender and its slate.

use core::time::Duration;

use proptest::prelude::*;

use super::stream::{Encoder, World, clip};
use crate::MediaTime;
use crate::slate::{Slate, Splicer};
use crate::ts::{PACKET_LEN, Packet};

#[test]
fn null_packets_keep_the_clock_of_a_sender_that_is_gone() {
    let mut world = World::new(Slate::Null, 1000);
    world.wait(1000);
    assert!(world.seen.nulls >= 7 * 25 && world.seen.pictures.is_empty());
    let mut encoder = Encoder::new();
    world.play(&mut encoder, 50);
    assert_eq!(world.seen.pictures.len(), 50);
    let before = world.seen.packets.len();
    world.wait(3000);
    // A second without packets, and two of the slate: 25 clocks each.
    let clocks =
        world.seen.packets[before..].iter().filter(|(_, packet)| packet.adaptation().is_some()).count();
    assert!((48..=53).contains(&clocks), "{clocks}");
    assert_eq!(world.seen.pictures.len(), 50);
}

#[test]
fn the_senders_packets_are_not_changed_before_the_first_slate_has_played_tables() {
    let mut world = World::new(Slate::Null, 1000);
    let mut encoder = Encoder::new();
    let sent: Vec<Packet> = {
        let mut twin = encoder.clone();
        (0..30).flat_map(|_| twin.next()).collect()
    };
    world.play(&mut encoder, 30);
    let seen: Vec<Packet> =
        world.seen.packets.iter().map(|(_, packet)| *packet).filter(|p| p.pid() == 0x102).collect();
    let audio: Vec<Packet> = sent.into_iter().filter(|packet| packet.pid() == 0x102).collect();
    assert_eq!(seen, audio);
}

#[test]
fn a_sender_returns_at_its_next_key_frame() {
    for marks in [true, false] {
        let mut world = World::new(clip(), 500);
        let mut encoder = Encoder { marks, ..Encoder::new() };
        world.play(&mut encoder, 25);
        world.wait(2000);
        assert!(world.splicer.plays_slate());
        // It comes back in the middle of a group of pictures: frame 25 of groups of 10.
        let before = world.seen.pictures.len();
        world.play(&mut encoder, 5);
        assert!(world.splicer.plays_slate(), "frames 25 to 29 need others");
        world.play(&mut encoder, 1);
        assert!(!world.splicer.plays_slate(), "frame 30 is a key frame");
        assert_eq!(world.seen.pictures.last(), Some(&true));
        assert!(world.seen.pictures.len() > before);
    }
}

#[test]
fn a_clip_has_the_pids_of_the_sender_and_continues_its_clock() {
    let mut world = World::new(clip(), 500);
    let mut encoder = Encoder { clock: (1 << 33) * 300 - 27_000_000, ..Encoder::new() };
    world.play(&mut encoder, 10);
    let before = world.seen.packets.len();
    let last = |world: &World| {
        let clocks = world.seen.packets.iter().rev();
        clocks.filter_map(|(_, packet)| packet.adaptation()?.pcr).next().expect("it has a clock")
    };
    let clock = last(&world);
    world.wait(2500);
    let pids: std::collections::BTreeSet<u16> =
        world.seen.packets[before..].iter().map(|(_, packet)| packet.pid()).collect();
    assert_eq!(pids.into_iter().collect::<Vec<_>>(), [0, 0x101, 0x102, 0x1000]);
    // The last frame was 40 ms before the wait; the clock wraps during it.
    let ahead = last(&world).since(clock);
    assert!((27 * 2_400_000..27 * 2_600_000).contains(&ahead), "{ahead}");
}

#[test]
fn a_stream_without_key_frames_is_played_after_ten_seconds() {
    let mut world = World::new(clip(), 500);
    let mut encoder = Encoder { gop: u64::MAX, frame: 1, ..Encoder::new() };
    world.play(&mut encoder, 240);
    assert!(world.splicer.plays_slate());
    world.play(&mut encoder, 15);
    assert!(!world.splicer.plays_slate());
}

#[test]
fn a_sender_whose_video_has_no_pictures_is_played_after_twenty_seconds() {
    let mut world = World::new(clip(), 500);
    let mut encoder = Encoder { pcr_pid: 0x103, ..Encoder::new() };
    let mut play = |world: &mut World, frames: u64| {
        for _ in 0..frames {
            let silent = encoder.next().into_iter().filter(|packet| packet.pid() != 0x101);
            let bytes: Vec<u8> = silent.flat_map(|packet| *packet.as_bytes()).collect();
            world.splicer.push(world.now, &bytes);
            world.wait(40);
        }
    };
    play(&mut world, 490);
    assert!(world.splicer.plays_slate());
    play(&mut world, 15);
    assert!(!world.splicer.plays_slate());
}

#[test]
fn a_sender_that_ends_is_followed_by_the_slate_at_once() {
    let mut world = World::new(clip(), 60_000);
    let mut encoder = Encoder::new();
    world.play(&mut encoder, 20);
    world.splicer.end(world.now);
    assert!(world.splicer.plays_slate());
    // Another encoder, with other PIDs and another clock.
    world.wait(300);
    let mut other = Encoder {
        video: 0x300,
        audio: None,
        pcr_pid: 0x31,
        map_pid: 0x40,
        number: 9,
        clock: 5,
        ..Encoder::new()
    };
    world.play(&mut other, 20);
    assert!(!world.splicer.plays_slate());
}

/// Part of a script: a sender with one of several encoders, and a time without one.
#[derive(Clone, Debug)]
struct Part {
    frames: u64,
    gone_ms: u64,
    ends: bool,
    /// The encoder begins again: with another clock.
    again: Option<u64>,
    encoder: usize,
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = (0_u64..60, 0_u64..1500, any::<bool>(), prop::option::of(0_u64..(1 << 33) * 300), 0_usize..3);
    let part = part.prop_map(|(frames, gone_ms, ends, again, encoder)| Part {
        frames,
        gone_ms,
        ends,
        again,
        encoder,
    });
    prop::collection::vec(part, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The player of [`World`] checks continuity, versions, clocks, time stamps and key frames.
    #[test]
    fn no_cut_breaks_the_stream(parts in parts(), null in any::<bool>(), gop in 1_u64..20, size in 1_usize..20) {
        let mut world = World::new(if null { Slate::Null } else { clip() }, 300);
        let first = Encoder { gop, size, ..Encoder::new() };
        let mut encoders = [
            first.clone(),
            Encoder { pcr_pid: 0x77, marks: false, ..first.clone() },
            Encoder { video: 0x200, audio: Some(0x101), pcr_pid: 0x200, map_pid: 0x222, number: 8, ..first },
        ];
        let mut last = 0;
        for part in parts {
            if part.encoder != last || part.ends || part.again.is_some() {
                world.splicer.end(world.now);
            }
            last = part.encoder;
            let encoder = &mut encoders[part.encoder];
            encoder.clock = part.again.unwrap_or(encoder.clock);
            world.play(encoder, part.frames);
            // Its clock continues while it is gone.
            encoder.frame += part.gone_ms / super::stream::FRAME_MS;
            world.wait(part.gone_ms);
        }
    }

    #[test]
    fn no_bytes_make_the_splicer_panic_or_grow(
        messages in prop::collection::vec((0_u64..400, prop::collection::vec(any::<[u8; 12]>(), 0..9)), 0..60),
        null in any::<bool>(),
    ) {
        let mut now = MediaTime::ZERO;
        let mut splicer = Splicer::new(if null { Slate::Null } else { clip() }, Duration::from_millis(200), now);
        let mut encoder = Encoder::new();
        for (ms, heads) in messages {
            now = now + Duration::from_millis(ms);
            let mut message: Vec<u8> = encoder.next().iter().flat_map(|packet| *packet.as_bytes()).collect();
            for head in heads {
                let mut bytes = [0xff; PACKET_LEN];
                bytes[..12].copy_from_slice(&head);
                // Most of them look like packets of PIDs that are read.
                if head[11] < 200 {
                    bytes[0] = 0x47;
                    bytes[1] &= 0x41;
                }
                message.extend(bytes);
            }
            let given = message.len();
            splicer.push(now, &message);
            let mut taken = 0;
            while let Some(message) = splicer.poll(now) {
                prop_assert!(message.len().is_multiple_of(PACKET_LEN));
                taken += message.len();
            }
            // The packets that were held, this message, and at most half a second of the slate.
            prop_assert!(taken <= given + 1024 * PACKET_LEN, "{taken}");
        }
    }
}
