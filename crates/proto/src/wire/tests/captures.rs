//! Packets that the crate `dcsctp` 0.1.16 sent in a run against itself, and their expected contents.

use bytes::Bytes;
use smallvec::smallvec;

use crate::wire::chunk::i_data::Fragment;
use crate::wire::chunk::i_forward_tsn::SkippedMessage;
use crate::wire::chunk::*;
use crate::wire::param::{OutgoingSsnReset, ReConfigResponse};
use crate::wire::*;

const CLIENT_TAG: VerificationTag = VerificationTag(0x41de_9acf);
const SERVER_TAG: VerificationTag = VerificationTag(0x44c5_e099);
const COOKIE: &str =
    "646353435450723041de9acf44c5e09922132880ccc82c4f0050000000000000000000000100010000000000ffffffff";

fn bytes(hex: &str) -> Bytes {
    assert!(hex.len().is_multiple_of(2), "two digits per byte");
    let digit = |digit: u8| (digit as char).to_digit(16).expect("a hexadecimal digit") as u8;
    hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Checks that the packet parses as the chunk, and that the writer of this crate produces the packet, including its
/// checksum.
#[track_caller]
fn check(hex: &str, from_client: bool, tag: VerificationTag, chunk: impl Into<Chunk>) {
    let (source_port, destination_port) = if from_client { (5000, 5001) } else { (5001, 5000) };
    let header = Header { source_port, destination_port, verification_tag: tag };
    let chunk = chunk.into();
    let packet = Packet::parse(bytes(hex)).expect("the capture is a packet");
    assert_eq!(packet.header, header);
    let chunks: Result<Vec<_>, _> = packet.chunks().map(|item| item.map(|(_, chunk)| chunk)).collect();
    assert_eq!(chunks.as_deref(), Ok(core::slice::from_ref(&chunk)));

    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header);
    writer.chunk(&chunk);
    writer.finish();
    assert_eq!(out, bytes(hex));
}

fn handshake(initiate_tag: VerificationTag, initial_tsn: Tsn, params: Vec<Param>) -> Init {
    Init {
        initiate_tag,
        a_rwnd: 5 * 1024 * 1024,
        outbound_streams: u16::MAX,
        inbound_streams: u16::MAX,
        initial_tsn,
        params,
    }
}

#[test]
fn handshake_packets() {
    let extensions = [
        Param::ForwardTsnSupported,
        Param::SupportedExtensions(Bytes::from_static(&[re_config::TYPE, forward_tsn::TYPE])),
    ];
    check(
        "1388138900000000d8009a700100001e41de9acf00500000ffffffff22132880c00000048008000682c00000",
        true,
        VerificationTag(0),
        handshake(CLIENT_TAG, Tsn(0x2213_2880), extensions.to_vec()),
    );
    let params = extensions.into_iter().chain([Param::StateCookie(bytes(COOKIE))]).collect();
    check(
        &format!(
            "1389138841de9acfd441acce0200005444c5e09900500000ffffffffccc82c4fc00000048008000682c0000000070034{COOKIE}"
        ),
        false,
        CLIENT_TAG,
        InitAck(handshake(SERVER_TAG, Tsn(0xccc8_2c4f), params)),
    );
    check(
        &format!("1388138944c5e09958985ab40a000034{COOKIE}"),
        true,
        SERVER_TAG,
        CookieEcho { cookie: bytes(COOKIE) },
    );
    check("1389138841de9acf54476a390b000004", false, CLIENT_TAG, CookieAck);
}

#[test]
fn data_and_its_acknowledgement() {
    let header = DataHeader {
        tsn: Tsn(0x2213_2880),
        stream_id: StreamId(1),
        ssn: Ssn(0),
        ppid: Ppid(51),
        immediate: false,
        unordered: false,
        beginning: true,
        ending: true,
    };
    check(
        "1388138944c5e0990320644c0003001522132880000100000000003368656c6c6f000000",
        true,
        SERVER_TAG,
        Data { header, payload: Bytes::from_static(b"hello") },
    );
    check(
        "1389138841de9acf0e72b0bf03000010221328800047fffb00000000",
        false,
        CLIENT_TAG,
        Sack::new(SackHeader { cumulative_tsn_ack: Tsn(0x2213_2880), a_rwnd: 0x47_fffb, flags: 0 }, &[], &[]),
    );
    check(
        "1389138841de9acf28d2fa4303000014221328810047ff170001000000020002",
        false,
        CLIENT_TAG,
        Sack::new(
            SackHeader { cumulative_tsn_ack: Tsn(0x2213_2881), a_rwnd: 0x47_ff17, flags: 0 },
            &[GapBlock { start: 2, end: 2 }],
            &[],
        ),
    );
    check(
        "138813897c8136505b6cc84d400300190a93aa9a00010000000000000000003368656c6c6f000000",
        true,
        VerificationTag(0x7c81_3650),
        IData {
            tsn: Tsn(0x0a93_aa9a),
            stream_id: StreamId(1),
            mid: Mid(0),
            fragment: Fragment::Beginning(Ppid(51)),
            immediate: false,
            unordered: false,
            ending: true,
            payload: Bytes::from_static(b"hello"),
        },
    );
}

#[test]
fn abandoned_data() {
    let new_cumulative_tsn = Tsn(0x2213_2883);
    check(
        "1388138944c5e099e412d99ac000000822132883",
        true,
        SERVER_TAG,
        ForwardTsn { new_cumulative_tsn, streams: smallvec![] },
    );
    let skipped = SkippedMessage { stream_id: StreamId(2), unordered: true, mid: Mid(0) };
    check(
        "138813897c8136500e09eee8c20000100a93aa9d0002000100000000",
        true,
        VerificationTag(0x7c81_3650),
        IForwardTsn { new_cumulative_tsn: Tsn(0x0a93_aa9d), skipped: smallvec![skipped] },
    );
}

#[test]
fn stream_reset() {
    let reset = OutgoingSsnReset {
        request_seq: 0x2213_2880,
        response_seq: 0x2213_2880,
        last_assigned_tsn: Tsn(0x2213_2883),
        streams: smallvec![StreamId(1)],
    };
    check(
        "1388138944c5e09911f04b2582000016000d001222132880221328802213288300010000",
        true,
        SERVER_TAG,
        ReConfig { params: vec![Param::OutgoingSsnReset(reset)] },
    );
    let response = ReConfigResponse { response_seq: 0x2213_2880, result: 1, next_tsns: None };
    check(
        "1389138841de9acf4c4913dc820000100010000c2213288000000001",
        false,
        CLIENT_TAG,
        ReConfig { params: vec![Param::ReConfigResponse(response)] },
    );
}

#[test]
fn heartbeats() {
    let info = Bytes::from_static(&[0, 0, 0, 1]);
    check(
        "1388138944c5e0991278edff0400000c0001000800000001",
        true,
        SERVER_TAG,
        Heartbeat { info: info.clone() },
    );
    check("1389138841de9acf8d79adc30500000c0001000800000001", false, CLIENT_TAG, HeartbeatAck { info });
}

#[test]
fn close() {
    let cumulative_tsn_ack = Tsn(0xccc8_2c4e);
    check("1388138944c5e0991cc6138e07000008ccc82c4e", true, SERVER_TAG, Shutdown { cumulative_tsn_ack });
    check("1389138841de9acf6dce485b08000004", false, CLIENT_TAG, ShutdownAck);
    check("1388138944c5e0996e4a079d0e000004", true, SERVER_TAG, ShutdownComplete { reflected_tag: false });
}
