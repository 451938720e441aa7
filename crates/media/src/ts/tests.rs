//! Rules of ISO/IEC 13818-1, section by section, and bytes that violate all of them.

use proptest::prelude::*;

use super::psi::crc32_mpeg2;
use super::*;
use crate::testing::{Build, carry, pat, pmt, section};

fn frame(framer: &mut Framer, bytes: &[u8]) -> Vec<Packet> {
    framer.push(bytes);
    core::iter::from_fn(|| framer.poll().expect("the input is a stream")).collect()
}

fn counted(n: u8) -> Packet {
    Build::new(0x100, n).payload(&[n; 100]).packet()
}

fn bytes(packets: &[Packet]) -> Vec<u8> {
    packets.iter().flat_map(|p| *p.as_bytes()).collect()
}

#[test]
fn header_fields_are_where_the_standard_puts_them() {
    let mut bytes = [0xff; PACKET_LEN];
    // PUSI, PID 0x1abc, adaptation field and payload, counter 9; 7 bytes of field: random access and PCR.
    bytes[..12].copy_from_slice(&[0x47, 0x5a, 0xbc, 0x39, 7, 0x50, 0x80, 0x00, 0x00, 0x01, 0xff, 0x2b]);
    let packet = Packet::new(bytes).expect("a sync byte");
    assert_eq!((packet.pid(), packet.continuity_counter()), (0x1abc, 9));
    assert!(packet.unit_start() && !packet.transport_error() && packet.has_payload());
    let adaptation = packet.adaptation().expect("a field of 7 bytes");
    assert!(adaptation.random_access && !adaptation.discontinuity);
    // Base 0x80000001 << 1 | 1, extension 0x12b.
    assert_eq!(adaptation.pcr.map(Pcr::ticks), Some(0x1_0000_0003 * 300 + 0x12b));
    assert_eq!(packet.payload().len(), PACKET_LEN - 12);
    assert_eq!(Packet::new([0; PACKET_LEN]), None);
}

#[test]
fn the_clock_wraps_after_33_bits_of_90_khz() {
    let late = Pcr::from_ticks(Pcr::WRAP - 27_000);
    assert_eq!(Pcr::from_ticks(27_000).since(late), 54_000);
    assert_eq!(late.since(Pcr::from_ticks(27_000)), Pcr::WRAP - 54_000);
    assert_eq!(Pcr::WRAP / Pcr::HZ, 95_443);
}

#[test]
fn the_counter_goes_up_with_payload_and_wraps() {
    let mut checker = ContinuityChecker::new();
    for n in 0..40_u8 {
        assert_eq!(checker.check(&counted(n % 16)), Continuity::Fine);
    }
    assert_eq!(checker.check(&counted(11)), Continuity::Gap { missing: 3 });
    assert_eq!(checker.check(&counted(12)), Continuity::Fine);
    assert_eq!(checker.counts(), ContinuityCounts { gaps: 1, missing_packets: 3, duplicates: 0 });
}

#[test]
fn the_counter_stands_still_without_payload() {
    let mut checker = ContinuityChecker::new();
    let empty = |n| Build { payload: None, ..Build::new(0x100, n) }.packet();
    assert_eq!(checker.check(&counted(5)), Continuity::Fine);
    assert_eq!(checker.check(&empty(5)), Continuity::Fine);
    assert_eq!(checker.check(&empty(5)), Continuity::Fine);
    assert_eq!(checker.check(&counted(6)), Continuity::Fine);
    assert_eq!(checker.check(&empty(7)), Continuity::Gap { missing: 1 });
}

#[test]
fn a_packet_may_be_sent_twice_but_not_three_times() {
    let mut checker = ContinuityChecker::new();
    let at = |ticks| {
        let pcr = Some(Pcr::from_ticks(ticks));
        Build { pcr, ..Build::new(0x100, 3) }.payload(&[7; 50]).packet()
    };
    assert_eq!(checker.check(&at(1000)), Continuity::Fine);
    // Its PCR may differ, because it was sent later.
    assert_eq!(checker.check(&at(2000)), Continuity::Duplicate);
    assert_eq!(checker.check(&at(3000)), Continuity::Gap { missing: 15 });
    // A packet with this counter and other bytes is a different one.
    assert_eq!(checker.check(&counted(3)), Continuity::Gap { missing: 15 });
}

#[test]
fn null_packets_damage_and_announced_jumps_are_exempt() {
    let mut checker = ContinuityChecker::new();
    assert_eq!(checker.check(&counted(0)), Continuity::Fine);
    for n in [0, 9, 9, 9, 4] {
        assert_eq!(checker.check(&Build::new(NULL_PID, n).packet()), Continuity::Fine);
    }
    assert_eq!(checker.check(&Build { error: true, ..Build::new(0x100, 9) }.packet()), Continuity::Fine);
    assert_eq!(checker.check(&Build::new(0x200, 12).packet()), Continuity::Fine, "each PID counts alone");
    assert_eq!(checker.check(&counted(1)), Continuity::Fine);
    assert_eq!(
        checker.check(&Build { discontinuity: true, ..Build::new(0x100, 8) }.packet()),
        Continuity::Fine
    );
    assert_eq!(checker.check(&counted(9)), Continuity::Fine);
}

#[test]
fn sync_is_found_behind_garbage_and_again_after_it() {
    let first: Vec<_> = (0..8).map(counted).collect();
    let second: Vec<_> = (8..16).map(counted).collect();
    // Garbage that contains sync bytes.
    let input = [&[0x47; 100][..], &bytes(&first), &[0x47, 0, 1], &bytes(&second), &[0x47; 60]].concat();
    let mut framer = Framer::new();
    let mut got = frame(&mut framer, &input);
    framer.finish();
    got.extend(frame(&mut framer, &[]));
    let counts = framer.counts();
    assert!(counts.sync_losses >= 1 && counts.packets == got.len() as u64);
    assert_eq!(counts.skipped_bytes + got.len() as u64 * 188, input.len() as u64);
    // The packet after the three stray bytes may be lost with them, no other.
    let kept = first.iter().chain(&second).filter(|p| got.contains(p)).count();
    assert!(kept >= 15, "{kept} of 16 packets");
}

#[test]
fn other_inputs_are_refused() {
    let mut framer = Framer::new();
    framer.push(&[b'x'; SEARCH_LIMIT - 1]);
    assert_eq!(framer.poll(), Ok(None));
    framer.push(b"xy");
    assert!(
        matches!(framer.poll(), Err(TsError::NotTransportStream { looked_at, .. }) if looked_at > SEARCH_LIMIT)
    );

    let mut short = Framer::new();
    short.push(b"\x47 is not enough");
    short.finish();
    assert_eq!(short.poll(), Err(TsError::NotTransportStream { looked_at: 15, like: Some("text") }));

    let mut empty = Framer::new();
    empty.finish();
    assert_eq!(empty.poll(), Err(TsError::Empty));
}

/// M2TS (BDAV): 4 bytes before each packet; ETSI EN 300 429: 16 bytes after each.
#[test]
fn packets_of_192_and_204_bytes_are_read_as_188() {
    let packets: Vec<Packet> = (0..40).map(counted).collect();
    for (before, after, lead) in [(4, 0, 0), (0, 16, 0), (4, 0, 77), (0, 16, 300)] {
        let mut stream = vec![0x11; lead];
        for (n, packet) in (0_u8..).zip(&packets) {
            stream.extend(vec![n.wrapping_mul(71); before]);
            stream.extend(packet.as_bytes());
            stream.extend(vec![n.wrapping_mul(71); after]);
        }
        for cut in [1, 7, 188, 5000] {
            let mut framer = Framer::new();
            let mut found = Vec::new();
            for piece in stream.chunks(cut) {
                framer.push(piece);
                found.extend(core::iter::from_fn(|| framer.poll().expect("a stream")));
            }
            framer.finish();
            found.extend(core::iter::from_fn(|| framer.poll().expect("a stream")));
            assert_eq!(found, packets, "{before}, {after}, {lead}, cut {cut}");
            assert_eq!(framer.stride(), Some(PACKET_LEN + before + after));
            assert_eq!(framer.counts().sync_losses, 0);
        }
    }
}

#[test]
fn a_patient_framer_waits_for_a_stream() {
    let mut framer = Framer::new();
    framer.wait_for_stream();
    for _ in 0..300 {
        framer.push(b"GET / HTTP/1.1\r\nHost: studio.example\r\n\r\n and so on, for as long as it likes");
        assert_eq!(framer.poll(), Ok(None));
    }
    assert_eq!(framer.looks_like(), Some("text"));
    let packets: Vec<Packet> = (0..9).map(counted).collect();
    framer.push(&bytes(&packets));
    assert_eq!(core::iter::from_fn(|| framer.poll().expect("a stream")).count(), 9);
    assert!(framer.counts().skipped_bytes > SEARCH_LIMIT as u64 / 2);
}

#[test]
fn what_an_input_looks_like_is_named() {
    let mut framer = Framer::new();
    framer.push(b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41");
    framer.push(&[0; 20_000]);
    let error = framer.poll().expect_err("it is another kind").to_string();
    assert!(error.contains("it looks like MP4") && error.contains("ffmpeg -i"), "{error}");
}

#[test]
fn one_packet_is_a_stream_when_the_input_ends_there() {
    let mut framer = Framer::new();
    assert_eq!(frame(&mut framer, counted(1).as_bytes()), []);
    framer.finish();
    assert_eq!(frame(&mut framer, &[]), [counted(1)]);
    assert_eq!(framer.counts().skipped_bytes, 0);
}

#[test]
fn checksum_of_annex_a() {
    // The check value of CRC-32/MPEG-2.
    assert_eq!(crc32_mpeg2(b"123456789"), 0x0376_e6e7);
}

fn observe(table: &mut ProgramTable, packets: &[Packet]) {
    packets.iter().for_each(|p| table.observe(p));
}

#[test]
fn tables_name_clock_and_video() {
    let mut table = ProgramTable::new();
    observe(&mut table, &carry(0x1000, &pmt(0x101)));
    assert_eq!(table.program(), None, "PID 0x1000 is unknown so far");
    observe(&mut table, &carry(0, &pat()));
    observe(&mut table, &carry(0x1000, &pmt(0x101)));
    let video = Some(Video { pid: 0x101, stream_type: 0x1b });
    assert_eq!(table.program(), Some(Program { number: 5, pcr_pid: Some(0x101), video }));
    observe(&mut table, &carry(0x1000, &pmt(NULL_PID)));
    assert_eq!(table.program(), Some(Program { number: 5, pcr_pid: None, video }), "a new map is in force");
}

#[test]
fn damaged_and_future_tables_are_not_in_force() {
    let mut damaged = pmt(0x101);
    damaged[20] ^= 1;
    let future = section(2, 5, &[0xe1, 0x01, 0xf0, 0], false);
    let other_program = section(2, 6, &[0xe1, 0x01, 0xf0, 0], true);
    let mut table = ProgramTable::new();
    observe(&mut table, &carry(0, &pat()));
    for section in [damaged, future, other_program] {
        observe(&mut table, &carry(0x1000, &section));
        assert_eq!(table.program(), None);
    }
}

#[test]
fn two_sections_may_share_a_packet() {
    let mut table = ProgramTable::new();
    observe(&mut table, &carry(0, &pat()));
    let other = section(2, 6, &[0xe1, 0x01, 0xf0, 0], true);
    let ours = section(2, 5, &[0xe1, 0x01, 0xf0, 0], true);
    // 0xff in the place of a table_id fills the packet.
    observe(&mut table, &carry(0x1000, &[&other[..], &ours, &[0xff; 30]].concat()));
    assert_eq!(table.program(), Some(Program { number: 5, pcr_pid: Some(0x101), video: None }));
}

#[test]
fn time_stamps_of_a_pes_packet() {
    // PTS 0x1_2345_6789 and DTS 0x0_0000_0001, marker bits set.
    let pts: u64 = 0x1_2345_6789;
    let stamp = |prefix: u8, t: u64| {
        let bits = |shift: u64, mask: u64| u8::try_from(t >> shift & mask).expect("masked");
        [
            prefix << 4 | bits(30, 7) << 1 | 1,
            bits(22, 255),
            bits(15, 127) << 1 | 1,
            bits(7, 255),
            bits(0, 127) << 1 | 1,
        ]
    };
    let payload =
        [&[0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0, 12][..], &stamp(3, pts), &stamp(1, 1), &[0xff, 0xff], b"data"]
            .concat();
    let header = PesHeader::parse(&payload).expect("a header");
    assert_eq!(header, PesHeader { stream_id: 0xe0, pts: Some(pts), dts: Some(1), data_at: 21 });
    assert_eq!(&payload[header.data_at..], b"data");
    assert_eq!(PesHeader::parse(&payload[..20]), None, "cut within its header");
    assert_eq!(
        PesHeader::parse(&[0, 0, 1, 0xbe, 0, 4, 0xff, 0xff, 0xff, 0xff]),
        None,
        "padding has no such header"
    );
}

#[test]
fn frame_types() {
    let delimiter = |kind: u8| [0, 0, 0, 1, 9, kind << 5 | 0x10];
    assert_eq!(frame_type(&delimiter(0)), Some(FrameType::I));
    assert_eq!(frame_type(&delimiter(1)), Some(FrameType::P));
    assert_eq!(frame_type(&delimiter(2)), Some(FrameType::B));
    // first_mb_in_slice 0 is '1'; slice_type 5 (P) is '00110', 6 (B) '00111', 7 (I) '0001000'.
    let slice = |bits: u8| [&delimiter(2)[..], &[0, 0, 1, 6, 5, 1, 0xaa, 0, 0, 1, 0x41, bits]].concat();
    assert_eq!(frame_type(&slice(0b1001_1000)), Some(FrameType::P));
    assert_eq!(frame_type(&slice(0b1001_1100)), Some(FrameType::B));
    assert_eq!(frame_type(&slice(0b1000_1000)), Some(FrameType::I));
    assert_eq!(frame_type(&[0, 0, 1, 0x65, 0xff]), Some(FrameType::I), "an IDR picture");
    assert_eq!(frame_type(&[0, 0, 1, 0x67, 1, 2, 3]), None);
}

proptest! {
    #[test]
    fn packets_do_not_depend_on_how_the_input_is_cut(n in 1_usize..30, cuts in prop::collection::vec(1_usize..600, 1..20)) {
        let packets: Vec<_> = (0..n).map(|k| counted(u8::try_from(k % 16).expect("below 16"))).collect();
        let input = bytes(&packets);
        let mut framer = Framer::new();
        let mut got = Vec::new();
        let mut rest = &input[..];
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            got.extend(frame(&mut framer, now));
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        framer.finish();
        got.extend(frame(&mut framer, &[]));
        prop_assert_eq!(got, packets);
    }

    #[test]
    fn no_packet_makes_anything_panic(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 187), 1..40), pid in 0_u16..3) {
        let mut marker = Marker::new();
        let mut checker = ContinuityChecker::new();
        marker.mark(&carry(0, &section(0, 1, &[0, 1, 0xe0, 1], true))[0]);
        marker.mark(&carry(1, &section(2, 1, &[0xe0, 2, 0xf0, 0, 0x1b, 0xe0, 2, 0xf0, 0], true))[0]);
        for body in bodies {
            let mut bytes = [0x47; PACKET_LEN];
            bytes[1..].copy_from_slice(&body);
            // Most packets use the PIDs that are read.
            if body[10] < 200 {
                bytes[1..3].copy_from_slice(&(pid | u16::from(body[0] & 0x40) << 8).to_be_bytes());
            }
            let packet = Packet::new(bytes).expect("a sync byte");
            prop_assert!(packet.payload().len() <= 184);
            marker.mark(&packet);
            checker.check(&packet);
            PesHeader::parse(packet.payload());
            frame_type(packet.payload());
        }
    }

    #[test]
    fn no_bytes_make_the_framer_panic_or_lose_count(chunks in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0x47_u8), any::<u8>()], 0..900), 0..30)) {
        let mut framer = Framer::new();
        let mut packets = 0;
        for chunk in &chunks {
            framer.push(chunk);
            while let Ok(Some(_)) = framer.poll() {
                packets += 1;
            }
        }
        framer.finish();
        while let Ok(Some(_)) = framer.poll() {
            packets += 1;
        }
        let counts = framer.counts();
        prop_assert_eq!(counts.packets, packets);
        prop_assert_eq!(counts.packets * 188 + counts.skipped_bytes + counts.extra_bytes, chunks.iter().map(Vec::len).sum::<usize>() as u64);
    }
}
