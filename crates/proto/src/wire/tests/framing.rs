//! The frame of a packet: length, checksum, chunk frames, padding, bundling, AUTH.

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::Sha256;

use crate::path::Envelope;
use crate::wire::chunk::auth::HmacId;
use crate::wire::chunk::*;
use crate::wire::*;

const HEADER: Header = Header { source_port: 1, destination_port: 2, verification_tag: VerificationTag(3) };

fn packet(write: impl FnOnce(&mut PacketWriter<'_>)) -> Packet {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, HEADER);
    write(&mut writer);
    writer.finish();
    Packet::parse(out.into()).expect("what is written parses")
}

/// Returns the packet with a correct checksum after `change`.
fn resealed(packet: &Packet, change: impl FnOnce(&mut Vec<u8>)) -> Result<Packet, ParseError> {
    let mut bytes = packet.bytes().to_vec();
    change(&mut bytes);
    let checksum = super::super::packet::checksum(&bytes);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    Packet::parse(bytes.into())
}

fn data(payload: &'static [u8]) -> Data {
    Data { header: DataHeader { tsn: Tsn(9), ..DataHeader::default() }, payload: Bytes::from_static(payload) }
}

#[test]
fn lengths_that_no_packet_has() {
    for len in [0, 1, 11] {
        assert_eq!(Packet::parse(vec![0; len].into()), Err(ParseError::PacketLength(len)));
    }
    let bytes = packet(|writer| assert!(writer.chunk(&CookieAck))).bytes().clone();
    assert_eq!(Packet::parse(bytes.slice(..15)), Err(ParseError::PacketLength(15)));
}

#[test]
fn one_flipped_bit_anywhere_is_seen() {
    let bytes = packet(|writer| assert!(writer.chunk(&data(b"payload")))).bytes().to_vec();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(matches!(Packet::parse(flipped.into()), Err(ParseError::Checksum { .. })), "bit {bit}");
    }
}

#[test]
fn chunks_come_in_order_with_their_places() {
    let packet = packet(|writer| {
        writer.chunk(&CookieEcho { cookie: Bytes::from_static(b"12345") });
        writer.chunk(&data(b"ab"));
        writer.chunk(&CookieAck);
    });
    let spans: Vec<_> = packet.chunks().map(|item| item.expect("a good chunk").0).collect();
    let expected = [(12, 9), (24, 18), (44, 4)].map(|(offset, len)| Span { offset, len });
    assert_eq!(spans, expected);
    assert_eq!(packet.chunk_bytes(spans[0])[..], [10, 0, 0, 9, b'1', b'2', b'3', b'4', b'5']);
}

#[test]
fn a_bad_chunk_ends_the_packet_after_the_good_ones() {
    let good = packet(|writer| {
        writer.chunk(&CookieAck);
        writer.chunk(&data(b"abcd"));
        writer.chunk(&CookieAck);
    });
    for (length, error) in [
        (0, ParseError::ChunkLength { chunk_type: 0, length: 0 }),
        (3, ParseError::ChunkLength { chunk_type: 0, length: 3 }),
        (25, ParseError::ChunkLength { chunk_type: 0, length: 25 }),
        (15, ParseError::Truncated),
    ] {
        let packet = resealed(&good, |bytes| bytes[19] = length).expect("the packet is good");
        let mut chunks = packet.chunks();
        assert!(matches!(chunks.next(), Some(Ok((_, Chunk::CookieAck(_))))));
        assert_eq!(chunks.next(), Some(Err(error)));
        assert_eq!(chunks.next(), None);
    }
}

#[test]
fn payload_is_the_datagram_itself() {
    let packet = packet(|writer| assert!(writer.chunk(&data(b"payload"))));
    let Some(Ok((_, Chunk::Data(chunk)))) = packet.chunks().next() else { panic!("one DATA chunk") };
    assert_eq!(chunk.payload.as_ptr(), packet.bytes()[28..].as_ptr());
}

#[test]
fn padding_is_written_as_zero_and_read_as_anything() {
    let packet = packet(|writer| {
        writer.chunk(&data(b"a"));
        writer.chunk(&CookieAck);
    });
    assert_eq!(packet.bytes()[29..32], [0, 0, 0]);
    let noisy = resealed(&packet, |bytes| bytes[29..32].fill(0xff)).expect("the packet is good");
    assert!(noisy.chunks().eq(packet.chunks()));
}

#[test]
fn packets_follow_one_another_in_one_buffer() {
    let mut out = vec![0xee; 5];
    let mut lens = Vec::new();
    for payload in [&b"first"[..], b"2", b"third one"] {
        let mut writer = PacketWriter::new(&mut out, HEADER);
        assert!(writer.is_empty());
        assert!(writer.data(&DataHeader::default(), payload));
        assert_eq!(writer.packet_len(), 12 + DataHeader::encoded_len(payload.len()));
        assert_eq!(writer.remaining(100), 100 - writer.packet_len());
        assert_eq!(writer.remaining(20), 0);
        lens.push(writer.finish());
    }
    assert_eq!(PacketWriter::new(&mut out, HEADER).finish(), 0, "no packet without chunks");
    assert_eq!(out.len(), 5 + lens.iter().sum::<usize>());
    let mut rest = Bytes::from(out).split_off(5);
    for len in lens {
        assert!(Packet::parse(rest.split_to(len)).is_ok());
    }
}

/// RFC 9653's packets in an envelope: a packet without chunks leaves no part of its envelope before the next one.
#[test]
fn a_packet_without_chunks_takes_its_envelope_back() {
    let envelope = Envelope { front: 13, back: 16 };
    let mut out = vec![0xee; 5];
    assert_eq!(PacketWriter::within(envelope, &mut out, HEADER).finish(), 0);
    assert_eq!(out, [0xee; 5]);
    let mut writer = PacketWriter::within(envelope, &mut out, HEADER);
    assert!(writer.chunk(&CookieAck));
    assert_eq!((writer.finish(), out.len()), (16, 5 + 13 + 16 + 16));
}

#[test]
fn straight_writing_equals_writing_the_chunk() {
    let header = DataHeader { tsn: Tsn(7), unordered: true, beginning: true, ..DataHeader::default() };
    let sack = SackHeader { cumulative_tsn_ack: Tsn(5), a_rwnd: 6, flags: 2 };
    let gaps = [GapBlock { start: 2, end: 4 }];
    let duplicates = [Tsn(1), Tsn(2)];
    let straight = packet(|writer| {
        writer.sack(&sack, &gaps, &duplicates);
        writer.data(&header, b"xyz");
    });
    let by_chunk = packet(|writer| {
        writer.chunk(&Sack::new(sack, &gaps, &duplicates));
        writer.chunk(&Data { header, payload: Bytes::from_static(b"xyz") });
    });
    assert_eq!(straight, by_chunk);
}

#[test]
fn a_chunk_too_long_for_its_length_field_is_not_written() {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, HEADER);
    let payload = vec![0; 65_535];
    assert!(!writer.data(&DataHeader::default(), &payload[..65_535 - 15]));
    assert!(!writer.chunk(&CookieEcho { cookie: payload.clone().into() }));
    let params = vec![Param::UnrecognizedParameter(payload.clone().into()); 2];
    assert!(!writer.chunk(&ReConfig { params }));
    assert!(!writer.sack(&SackHeader::default(), &[], &[Tsn(0); 20_000]));
    assert!(writer.is_empty());
    assert!(writer.data(&DataHeader::default(), &payload[..65_535 - 16]));
}

/// RFC 4895 §6.2 and §6.3: the HMAC is over the AUTH chunk with a zero HMAC and all chunks after it, not those before.
#[test]
fn auth_signs_itself_and_what_follows() {
    let sha1 = |bytes: &[u8]| Hmac::<Sha1>::new_from_slice(b"key").expect("any length").chain_update(bytes);
    let sha256 =
        |bytes: &[u8]| Hmac::<Sha256>::new_from_slice(b"key").expect("any length").chain_update(bytes);
    for id in [HmacId::Sha1, HmacId::Sha256] {
        let mac = |bytes: &[u8]| match id {
            HmacId::Sha1 => sha1(bytes).finalize().into_bytes().to_vec(),
            HmacId::Sha256 => sha256(bytes).finalize().into_bytes().to_vec(),
        };
        let packet = packet(|writer| {
            writer.chunk(&CookieEcho { cookie: Bytes::from_static(b"c") });
            let slot = writer.auth_placeholder(5, id);
            writer.chunk(&data(b"abc"));
            writer.chunk(&CookieAck);
            writer.fill_auth(slot, mac);
        });
        let (span, auth) = packet
            .chunks()
            .find_map(|item| match item {
                Ok((span, Chunk::Auth(auth))) => Some((span, auth)),
                _ => None,
            })
            .expect("there is an AUTH chunk");
        assert_eq!((auth.key_id, auth.hmac_id, span.offset), (5, id.number(), 20));

        let mut signed = packet.bytes()[20..].to_vec();
        signed[8..8 + id.len()].fill(0);
        let mut pieces = Vec::new();
        packet.authenticated(span, |piece| pieces.extend_from_slice(piece));
        assert_eq!(pieces, signed);
        assert_eq!(auth.hmac, mac(&signed));
    }
}
