//! The format of messages and the packer's guarantees.

use core::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::MediaTime;
use crate::testing::Build;
use crate::ts::{FrameType, Marks, Packet};

fn packet(n: u64) -> Packet {
    Build::new(0x100, 0).payload(&n.to_be_bytes()).packet()
}

fn drain(packer: &mut Packer) -> Vec<Outgoing> {
    core::iter::from_fn(|| packer.poll()).collect()
}

fn data(message: &Message) -> &Bytes {
    match &message.body {
        Body::Data(payload) => payload,
        Body::End(end) => panic!("the end, {end:?}, where data should be"),
    }
}

#[test]
fn the_bytes_match_the_diagram() {
    let marks = Marks { random_access: true, frame_start: true, frame_type: Some(FrameType::B) };
    let header = Header {
        session: 0x0102_0304,
        sequence: 0x0506_0708,
        sent: MediaTime::from_micros(0x0009_0a0b_0c0d_0e0f & 0x0003_ffff_ffff_ffff),
        lifetime: Some(Duration::from_millis(0x1234)),
        marks,
    };
    let end = End { messages: 5, bytes: 6, crc32c: 7 };
    let wire = Message { header, body: Body::End(end) }.encode();
    let expected = [
        &[1, 0b0011_0111, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f][..],
        &[0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 7],
    ]
    .concat();
    assert_eq!(wire, expected);
    assert_eq!(Message::decode(wire), Ok(Message { header, body: Body::End(end) }));
}

#[test]
fn malformed_messages_are_named() {
    let header = Header::default();
    let good = Message { header, body: Body::Data(Bytes::copy_from_slice(packet(1).as_bytes())) }.encode();
    assert!(Message::decode(good.clone()).is_ok());
    let change = |at: usize, to: u8| {
        let mut wire = good.to_vec();
        wire[at] = to;
        Message::decode(wire.into())
    };
    assert_eq!(Message::decode(good.slice(..19)), Err(Malformed::Short));
    assert_eq!(change(0, 2), Err(Malformed::Version(2)));
    assert_eq!(change(12, 1), Err(Malformed::SendTime));
    assert_eq!(change(20, 0), Err(Malformed::Payload), "no sync byte");
    assert_eq!(change(1, 1), Err(Malformed::Payload), "an end has no packets");
    assert_eq!(Message::decode(good.slice(..20)), Err(Malformed::Payload));
    assert_eq!(Message::decode(good.slice(..207)), Err(Malformed::Payload));
    let eight = [&good[..20], &good[20..].repeat(8)].concat();
    assert_eq!(Message::decode(eight.into()), Err(Malformed::Payload));
    // Reserved bits are ignored.
    assert_eq!(change(1, 0b1100_1000), Message::decode(good.clone()));
    let mut unpacker = Unpacker::new();
    assert!(unpacker.unpack(good.slice(..19)).is_none() && unpacker.unpack(good).is_some());
    assert_eq!(unpacker.malformed(), 1);
}

#[test]
fn seven_packets_per_message_and_totals_at_the_end() {
    let mut packer = Packer::new(PackConfig { lifetime: Some(Duration::from_secs(2)), ..PackConfig::new(9) });
    let start = MediaTime::from_millis(1000);
    let mut all = Vec::new();
    for n in 0..16 {
        let at = start + Duration::from_millis(n);
        let marks =
            Marks { frame_start: n == 8, frame_type: (n < 9).then_some(FrameType::P), ..Marks::default() };
        packer.push(at, &packet(n), marks);
        all.extend_from_slice(packet(n).as_bytes());
    }
    packer.finish(start + Duration::from_millis(17));
    let out = drain(&mut packer);
    let sizes: Vec<_> = out.iter().map(|o| o.wire.len()).collect();
    assert_eq!(sizes, [20 + 7 * 188, 20 + 7 * 188, 20 + 2 * 188, 40]);
    assert_eq!(out.iter().map(|o| o.end).collect::<Vec<_>>(), [false, false, false, true]);
    let send_at: Vec<_> = out.iter().map(|o| o.send_at - start).map(|d| d.as_millis()).collect();
    assert_eq!(send_at, [0, 7, 14, 17], "the time of each message's first packet");
    let messages: Vec<_> = out.iter().map(|o| Message::decode(o.wire.clone()).expect("we made it")).collect();
    assert!(messages.iter().zip(&out).all(|(m, o)| m.header == o.header));
    assert_eq!(messages.iter().map(|m| m.header.sequence).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(messages[1].header.sent, MediaTime::from_millis(7), "counted from the session's first");
    assert_eq!(messages[1].header.lifetime, Some(Duration::from_secs(2)));
    let marks = [messages[0].header.marks, messages[1].header.marks, messages[2].header.marks];
    assert_eq!(marks.map(|m| m.frame_start), [false, true, false]);
    assert_eq!(marks.map(|m| m.frame_type), [Some(FrameType::P), Some(FrameType::P), None]);
    assert_eq!(messages[..3].iter().map(data).fold(Vec::new(), |v, p| [&v, &p[..]].concat()), all);
    let end = End { messages: 3, bytes: 16 * 188, crc32c: crc32c::crc32c(&all) };
    assert_eq!(messages[3].body, Body::End(end));
}

/// 20 bytes of header and 188 for each packet: 1326 bytes hold six.
#[test]
fn messages_keep_below_a_limit() {
    let mut packer = Packer::new(PackConfig::new(9));
    let mut lengths = |limit: usize| {
        packer.limit(limit);
        (0..12).for_each(|n| packer.push(MediaTime::ZERO, &packet(n), Marks::default()));
        packer.handle_timeout(MediaTime::from_millis(1000));
        drain(&mut packer).iter().map(|message| message.wire.len()).collect::<Vec<_>>()
    };
    assert_eq!(lengths(1326), [1148, 1148]);
    assert_eq!(lengths(1336), [1336, 20 + 5 * 188]);
    assert_eq!(lengths(9000), [1336, 20 + 5 * 188], "never more than configured");
    assert_eq!(lengths(100), [208; 12], "at least one");
}

/// A clip of N packets takes ⌈N/k⌉ messages, where k packets of 188 bytes and a header of 20 fit the
/// transport's payload; each of them fits one datagram. MTU 1400: 1344 bytes over IPv4, 1324 over IPv6, and
/// 1312 and 1292 with a seal of 29 bytes.
#[test]
fn a_clip_takes_as_few_datagrams_as_its_packets_allow() {
    const CLIP: u64 = 10_000;
    let datagrams = |payload: usize| {
        let mut packer = Packer::new(PackConfig::new(9));
        packer.limit(payload);
        (0..CLIP).for_each(|n| packer.push(MediaTime::ZERO, &packet(n), Marks::default()));
        packer.handle_timeout(MediaTime::from_millis(1000));
        let out = drain(&mut packer);
        assert!(out.iter().all(|message| message.wire.len() <= payload), "none is cut");
        out.len() as u64
    };
    for (payload, k) in
        [(1444, 7), (1344, 7), (1336, 7), (1335, 6), (1324, 6), (1312, 6), (1292, 6), (1148, 6), (1147, 5)]
    {
        assert_eq!(datagrams(payload), CLIP.div_ceil(k), "{payload} bytes");
    }
    // Sealed compared with plain, by tenths.
    assert!(10 * datagrams(1312) <= 12 * datagrams(1344), "IPv4");
    assert!(10 * datagrams(1292) <= 12 * datagrams(1324), "IPv6");
}

/// A path with smaller packets joins: a waiting message with as many packets as now fit leaves unchanged.
#[test]
fn a_lower_limit_holds_for_the_message_that_is_being_filled() {
    for waiting in 1..7 {
        let mut packer = Packer::new(PackConfig::new(9));
        (0..waiting).for_each(|n| packer.push(MediaTime::ZERO, &packet(n), Marks::default()));
        packer.limit(20 + 6 * 188);
        packer.push(MediaTime::ZERO, &packet(waiting), Marks::default());
        packer.handle_timeout(MediaTime::from_millis(1000));
        let lengths: Vec<_> = drain(&mut packer).iter().map(|message| message.wire.len()).collect();
        assert!(lengths.iter().all(|len| *len <= 20 + 6 * 188), "{waiting}: {lengths:?}");
        assert_eq!(lengths.iter().map(|len| (len - 20) / 188).sum::<usize>(), waiting as usize + 1);
    }
}

#[test]
fn a_slow_stream_is_held_no_longer_than_promised() {
    let mut packer = Packer::new(PackConfig::new(1));
    assert_eq!(packer.poll_timeout(), None);
    packer.push(MediaTime::from_millis(5), &packet(0), Marks::default());
    packer.push(MediaTime::from_millis(15), &packet(1), Marks::default());
    assert_eq!(packer.poll_timeout(), Some(MediaTime::from_millis(25)));
    packer.handle_timeout(MediaTime::from_millis(24));
    assert!(packer.poll().is_none());
    packer.handle_timeout(MediaTime::from_millis(25));
    assert_eq!(packer.poll().map(|o| o.wire.len()), Some(20 + 2 * 188));
    assert_eq!(packer.poll_timeout(), None);
    // The next packet has the same effect without a timer.
    packer.push(MediaTime::from_millis(30), &packet(2), Marks::default());
    packer.push(MediaTime::from_millis(60), &packet(3), Marks::default());
    assert_eq!(packer.poll().map(|o| o.wire.len()), Some(20 + 188));
}

#[test]
fn a_stop_counts_only_sent_messages() {
    let mut packer = Packer::new(PackConfig::new(1));
    for n in 0..30 {
        packer.push(MediaTime::from_millis(n), &packet(n), Marks::default());
    }
    let first = packer.poll().expect("seven packets are in");
    packer.stop(MediaTime::from_millis(8));
    let rest = drain(&mut packer);
    assert_eq!(rest.len(), 1);
    let payload = &first.wire[20..];
    let end = End { messages: 1, bytes: 7 * 188, crc32c: crc32c::crc32c(payload) };
    assert_eq!(Message::decode(rest[0].wire.clone()).map(|m| m.body), Ok(Body::End(end)));
    assert_eq!(rest[0].header.sequence, 1);
}

fn any_message() -> impl Strategy<Value = Message> {
    let frame_type =
        prop::option::of(prop_oneof![Just(FrameType::I), Just(FrameType::P), Just(FrameType::B)]);
    let marks =
        (any::<bool>(), any::<bool>(), frame_type).prop_map(|(random_access, frame_start, frame_type)| {
            Marks { random_access, frame_start, frame_type }
        });
    let lifetime = prop::option::of((1_u64..65_536).prop_map(Duration::from_millis));
    let header = (any::<u32>(), any::<u32>(), 0..=1_u64 << 51, lifetime, marks).prop_map(
        |(session, sequence, us, lifetime, marks)| Header {
            session,
            sequence,
            sent: MediaTime::from_micros(us),
            lifetime,
            marks,
        },
    );
    let packets = prop::collection::vec(any::<u64>(), 1..=7)
        .prop_map(|ns| Body::Data(ns.iter().flat_map(|&n| *packet(n).as_bytes()).collect()));
    let end = (any::<u64>(), any::<u64>(), any::<u32>())
        .prop_map(|(messages, bytes, crc32c)| Body::End(End { messages, bytes, crc32c }));
    (header, prop_oneof![packets, end]).prop_map(|(header, body)| Message { header, body })
}

proptest! {
    #[test]
    fn encoded_messages_decode_to_themselves(message in any_message()) {
        prop_assert_eq!(Message::decode(message.encode()), Ok(message));
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(message in any_message(), cut in 0_usize..1400, at in 0_usize..1400, to in any::<u8>(), noise in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Message::decode(noise.into());
        let mut wire = message.encode().to_vec();
        let len = wire.len();
        wire[at % len] = to;
        wire.truncate(cut.max(1));
        if let Ok(Message { body: Body::Data(payload), .. }) = Message::decode(wire.into()) {
            prop_assert!(payload.len() % 188 == 0 && (1..=7).contains(&(payload.len() / 188)));
        }
    }
}
