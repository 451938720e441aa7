//! Agreement on coding, packet by packet (docs/models/coding.md). The peer is the test.

use bytes::Bytes;
use strandcast_coding::symbol::Header;
use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::coding::{BlockCoding, Code, Coding, RepairCode, RepairCoding, RepairWhen};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::Connect;
use strandcast_proto::rfc;
use strandcast_proto::wire::chunk::{CookieAck, CookieEcho, InitAck};
use strandcast_proto::wire::{Chunk, Param};
use strandcast_testing::raw::*;

/// "I decode": version 1, code 0.
const DECODES: [u8; 6] = [1, 0, 0, 0, 0, 0];
/// A stream of blocks of 4 symbols of 1000 bytes by RLC.
const BLOCKS: [u8; 6] = [1, 1, 0, 4, 3, 232];
/// Repair by a sliding window of 32 over symbols of 1000 bytes.
const REPAIR: [u8; 6] = [1, 3, 0, 32, 3, 232];

fn config() -> TransportConfig {
    TransportConfig::default()
}

fn coded() -> TransportConfig {
    let coding =
        RepairCoding { code: RepairCode::Rlc, redundancy: 0.1, when: RepairWhen::Always, window: 64 };
    TransportConfig { coding: Some(Coding::Repair(coding)), ..config() }
}

/// Announcement of `coded`: symbols of 1334 bytes fit packets of 1400 (docs/models/coding.md).
const CODED: [u8; 6] = [1, 3, 0, 64, 5, 0x36];

/// Parameters of a Strandcast peer, with its announcement of coding.
fn params(coding: Option<&[u8]>) -> Vec<Param> {
    let mut params = vec![
        Param::ForwardTsnSupported,
        Param::Random(Bytes::from_static(&[7; 32])),
        Param::HmacAlgo([3u16].into_iter().collect()),
        Param::SupportedExtensions(Bytes::from_static(&[0xc0, 0x0f, 0xb1])),
    ];
    params.extend(coding.map(|value| Param::Coding(Bytes::copy_from_slice(value))));
    params
}

fn said(params: &[Param]) -> Option<Vec<u8>> {
    params.iter().find_map(|p| if let Param::Coding(value) = p { Some(value.to_vec()) } else { None })
}

fn answer(transport: TransportConfig, coding: Option<&[u8]>) -> InitAck {
    RawPeer::new(transport).init(params(coding))
}

/// The value in this side's INIT, whose length does not change.
#[test]
fn our_init_says_what_is_coded_and_stays_as_long() {
    let blocks = Coding::Blocks(BlockCoding { code: Code::Fountain, sources: 0, flush: ms(10) });
    let with_blocks = TransportConfig { coding: Some(blocks), ..config() };
    let small = TransportConfig { mtu: 1000, ..coded() };
    for (transport, value) in [
        (config(), None),
        (TransportConfig { decodes: true, ..config() }, Some(DECODES)),
        (TransportConfig::live(), Some(DECODES)),
        (coded(), Some(CODED)),
        (with_blocks, Some([1, 2, 0, 0, 5, 0x36])),
        // 1000 - 28 - 12 - 16 - 10.
        (small, Some([1, 3, 0, 64, 3, 166])),
        (TransportConfig { auth: false, ..coded() }, None),
        (TransportConfig { reports: false, ..coded() }, None),
        (TransportConfig { partial_reliability: false, ..coded() }, None),
    ] {
        let mut l = RawPeer::new(transport);
        l.connect();
        let out = l.take();
        assert_eq!(out[0].len, 256);
        let Chunk::Init(init) = &out[0].chunks[0] else { panic!("{out:?}") };
        assert_eq!(said(&init.params), value.map(Vec::from));
    }
}

/// Another path's MTU may be smaller than the configured one.
#[test]
fn symbols_fit_the_smallest_path() {
    let mut l = RawPeer::new(coded());
    let mut other = l.tuple;
    other.remote.set_port(40_001);
    let paths = vec![(l.tuple, None), (other, Some(900))];
    let connect = Connect { paths, port: PORT, scheme: Box::new(rfc::scheme()), transport: None };
    l.id = Some(l.end.connect(l.now, connect).expect("a free endpoint"));
    let out = l.take();
    let Chunk::Init(init) = &out[0].chunks[0] else { panic!("{out:?}") };
    // 900 - 28 - 12 - 16 - 10 = 834.
    assert_eq!(said(&init.params), Some(vec![1, 3, 0, 64, 3, 66]));
}

/// Without coding INIT ACK does not change, and neither does the length of its cookie.
#[test]
fn init_ack_says_nothing_where_nothing_is_coded() {
    let types = |ack: &InitAck| ack.0.params.iter().map(Param::param_type).collect::<Vec<_>>();
    let cookie = |ack: &InitAck| ack.state_cookie().expect("a cookie").len();
    let before = answer(config(), None);
    assert_eq!(types(&before), [0xc000, 0x8002, 0x8003, 0x8004, 0x8008, 7]);
    let now = answer(config(), Some(&DECODES));
    assert_eq!((types(&now), cookie(&now)), (types(&before), cookie(&before)));
    // The same holds if the peer did not announce a decoder, or announced it in an unknown form.
    for unknown in [None, Some(&[2, 1, 0, 4, 3, 232][..]), Some(&[1, 9, 0, 4, 3, 232]), Some(&[]), Some(&[1])]
    {
        assert_eq!(said(&answer(coded(), unknown).0.params), None, "{unknown:?}");
        assert_eq!(cookie(&answer(coded(), unknown)), cookie(&before));
    }
}

#[test]
fn init_ack_answers_a_side_that_codes() {
    for (transport, asked, answered) in [
        (config(), BLOCKS, DECODES),
        (config(), REPAIR, DECODES),
        (coded(), DECODES, CODED),
        (coded(), REPAIR, CODED),
    ] {
        assert_eq!(said(&answer(transport, Some(&asked)).0.params), Some(answered.to_vec()));
    }
    for transport in [
        TransportConfig { auth: false, ..coded() },
        TransportConfig { reports: false, ..coded() },
        TransportConfig { partial_reliability: false, ..coded() },
    ] {
        assert_eq!(said(&answer(transport, Some(&REPAIR)).0.params), None);
    }
    let mut without_partial = params(Some(&REPAIR));
    without_partial.remove(0);
    without_partial[2] = Param::SupportedExtensions(Bytes::from_static(&[0x0f, 0xb1]));
    assert_eq!(said(&RawPeer::new(coded()).init(without_partial).0.params), None);
}

/// The user data of the first DATA chunk that carries a message of one byte that repair may cover.
fn first_sent(l: &mut RawPeer) -> Vec<u8> {
    let options = SendOptions { unordered: true, lifetime: Some(ms(10_000)), ..SendOptions::default() };
    let out = l.send(&b"m"[..], options);
    let data = out.iter().flat_map(|p| &p.chunks).find_map(|c| match c {
        Chunk::Data(d) => Some(d.payload.to_vec()),
        _ => None,
    });
    data.expect("it leaves at once")
}

/// Number 0 of a window.
const FIRST: [u8; 7] = [0x50, 0, 0, 0, 0, 0, b'm'];

#[test]
fn what_is_sent_is_coded_only_towards_peers_that_decode() {
    for (peer, coded_to) in
        [(None, false), (Some(&DECODES), true), (Some(&BLOCKS), true), (Some(&[2, 0, 0, 0, 0, 0]), false)]
    {
        let mut l = RawPeer::accepted(coded(), params(peer.map(|value| &value[..])));
        assert_eq!(first_sent(&mut l), if coded_to { &FIRST[..] } else { b"m" }, "{peer:?}");
        let mut l = RawPeer::new(coded());
        open(&mut l, peer.map(|value| &value[..]));
        assert_eq!(first_sent(&mut l), if coded_to { &FIRST[..] } else { b"m" }, "{peer:?}");
    }
}

/// Opens from the endpoint; the peer's INIT ACK has this announcement.
fn open(l: &mut RawPeer, coding: Option<&[u8]>) {
    l.connect();
    let out = l.take();
    let Chunk::Init(ours) = &out[0].chunks[0] else { panic!("no INIT: {out:?}") };
    (l.tag, l.tsn) = (ours.initiate_tag.0, ours.initial_tsn.0);
    let mut params = params(coding);
    params.push(Param::StateCookie(Bytes::from_static(b"cookie")));
    l.give(&[InitAck(init(params)).into()]);
    l.give(&[CookieAck.into()]);
}

fn symbol(header: Header, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    header.write(&mut out);
    out.extend_from_slice(payload);
    out
}

fn unordered(tsn: u32, payload: &[u8]) -> Chunk {
    data_with(tsn, 0, payload, |h| h.unordered = true)
}

/// The `n`th of four source symbols of block 0. Together they are a record of 3990 bytes.
fn quarter(n: u16) -> Vec<u8> {
    let mut bytes = vec![n as u8; 998];
    if n == 0 {
        bytes[..4].copy_from_slice(&(4 * 998 - 4u32).to_be_bytes());
    }
    symbol(Header::Source { block: 0, index: n, last: n == 3 }, &bytes)
}

fn whole() -> Vec<u8> {
    let mut all: Vec<u8> = (0..4).flat_map(|n| vec![n; 998]).collect();
    all.drain(..4);
    all
}

fn payloads(l: &RawPeer) -> Vec<Vec<u8>> {
    l.messages.iter().map(|m| m.payload.to_vec()).collect()
}

#[test]
fn what_a_peer_codes_is_decoded_whichever_side_opened() {
    let mut opened = RawPeer::new(TransportConfig { decodes: true, ..config() });
    open(&mut opened, Some(&BLOCKS));
    for mut l in [RawPeer::accepted(config(), params(Some(&BLOCKS))), opened] {
        for n in [2, 0, 3, 1] {
            l.give(&[unordered(OUR_TSN + u32::from(n), &quarter(n))]);
        }
        assert_eq!(payloads(&l), [whole()]);
        let coding = l.association().stats().coding;
        assert_eq!((coding.sources_received, coding.recovered, coding.symbols_refused), (4, 0, 0));
        l.association().assert_consistent();
    }
}

/// INIT ACK may not code if INIT did not announce that its sender decodes.
#[test]
fn an_opener_that_did_not_say_so_decodes_nothing() {
    let mut l = RawPeer::new(config());
    open(&mut l, Some(&BLOCKS));
    l.give(&[unordered(OUR_TSN, b"as it is")]);
    assert_eq!(payloads(&l), [b"as it is"]);
}

/// Values beyond the bounds are not agreed on: user data are then messages, as without the parameter.
#[test]
fn hostile_parameters_are_as_if_nothing_had_been_said() {
    for value in [
        // Unknown codes, another version, and values that are cut short.
        &[1, 6, 0, 4, 3, 232][..],
        &[0, 1, 0, 4, 3, 232],
        &[1, 1, 0, 4, 3],
        // 257 sources, 65 535 of them, a window of 1025 and of none, symbols of 62, 9002 and 1001 bytes.
        &[1, 1, 1, 1, 3, 232],
        &[1, 2, 255, 255, 3, 232],
        &[1, 3, 4, 1, 3, 232],
        &[1, 3, 0, 0, 3, 232],
        &[1, 1, 0, 4, 0, 62],
        &[1, 1, 0, 4, 0x23, 0x2a],
        &[1, 1, 0, 4, 3, 233],
        // 2 blocks of 256 symbols of 9000 bytes are more than twice the receive buffer.
        &[1, 1, 1, 0, 0x23, 0x28],
    ] {
        let mut l = RawPeer::accepted(config(), params(Some(value)));
        l.give(&[unordered(OUR_TSN, b"as it is")]);
        assert_eq!(payloads(&l), [b"as it is"], "{value:?}");
    }
    // Neither without REPORT nor without partial reliability.
    for (without, extensions) in [(0, &[0x0f, 0xb1][..]), (9, &[0xc0, 0x0f])] {
        let mut params = params(Some(&BLOCKS));
        params[3] = Param::SupportedExtensions(Bytes::copy_from_slice(extensions));
        if without == 0 {
            params.remove(0);
        }
        let mut l = RawPeer::accepted(config(), params);
        l.give(&[unordered(OUR_TSN, b"as it is")]);
        assert_eq!(payloads(&l), [b"as it is"], "{extensions:?}");
    }
}

/// RFC 9260 §5.2.4 D: a cookie that arrives again restarts nothing.
#[test]
fn a_cookie_that_comes_again_leaves_what_was_decoded() {
    let mut l = RawPeer::new(config());
    let ack = l.init(params(Some(&BLOCKS)));
    let cookie = ack.state_cookie().expect("a cookie").clone();
    (l.tag, l.tsn) = (ack.0.initiate_tag.0, ack.0.initial_tsn.0);
    let echo: Chunk = CookieEcho { cookie }.into();
    l.give(&[echo.clone(), unordered(OUR_TSN, &quarter(0))]);
    l.give(&[unordered(OUR_TSN + 1, &quarter(1))]);
    l.give(&[echo.clone(), unordered(OUR_TSN + 2, &quarter(2))]);
    l.give(&[unordered(OUR_TSN + 3, &quarter(3)), echo]);
    assert_eq!(payloads(&l), [whole()]);
}

/// RFC 9260 §5.2.4 A: the announcement of a peer after its restart counts.
#[test]
fn a_restart_agrees_anew() {
    for (before, after) in [(None, Some(&BLOCKS)), (Some(&BLOCKS), None), (Some(&REPAIR), Some(&BLOCKS))] {
        let mut l = RawPeer::accepted(coded(), params(before.map(|value| &value[..])));
        l.give(&[unordered(OUR_TSN, &FIRST)]);
        l.messages.clear();
        let mut again = init(params(after.map(|value| &value[..])));
        again.initiate_tag.0 += 1;
        let out = l.give_tagged(0, &[again.into()]);
        let Chunk::InitAck(ack) = &out[0].chunks[0] else { panic!("{out:?}") };
        let cookie = ack.state_cookie().expect("a cookie").clone();
        (l.tag, l.tsn) = (ack.0.initiate_tag.0, ack.0.initial_tsn.0);
        l.give(&[CookieEcho { cookie }.into()]);
        assert!(l.saw(&Event::Restarted), "{:?}", l.events);
        let coded_now = after.is_some();
        for n in 0..4 {
            l.give(&[unordered(OUR_TSN + u32::from(n), &quarter(n))]);
        }
        let expected: Vec<_> = if coded_now { vec![whole()] } else { (0..4).map(quarter).collect() };
        assert_eq!(payloads(&l), expected, "{before:?}, {after:?}");
        assert_eq!(first_sent(&mut l), if coded_now { &FIRST[..] } else { b"m" });
    }
}

/// RFC 9260 §5.2.1: both open at the same time. An association repeats the announcement of its INIT in its INIT ACK,
/// whatever its endpoint's configuration is, and the peer's announcement in either one counts.
#[test]
fn both_open_at_once() {
    for ack_first in [false, true] {
        let mut l = RawPeer::new(config());
        let paths = vec![(l.tuple, None)];
        let transport = TransportConfig { receive_buffer: 77_777, ..coded() };
        let transport = Some(std::sync::Arc::new(transport));
        let connect = Connect { paths, port: PORT, scheme: Box::new(rfc::scheme()), transport };
        l.id = Some(l.end.connect(l.now, connect).expect("a free endpoint"));
        let out = l.take();
        let Chunk::Init(ours) = &out[0].chunks[0] else { panic!("no INIT: {out:?}") };
        (l.tag, l.tsn) = (ours.initiate_tag.0, ours.initial_tsn.0);
        let theirs = l.init(params(Some(&BLOCKS)));
        assert_eq!((said(&theirs.0.params), theirs.0.a_rwnd), (said(&ours.params), ours.a_rwnd));
        assert_eq!(said(&ours.params), Some(CODED.to_vec()));
        if ack_first {
            let mut params = params(Some(&BLOCKS));
            params.push(Param::StateCookie(Bytes::from_static(b"cookie")));
            l.give(&[InitAck(init(params)).into()]);
        }
        let cookie = theirs.state_cookie().expect("a cookie").clone();
        l.give(&[CookieEcho { cookie }.into()]);
        for n in 0..4 {
            l.give(&[unordered(OUR_TSN + u32::from(n), &quarter(n))]);
        }
        assert_eq!(payloads(&l), [whole()], "INIT ACK first: {ack_first}");
        assert_eq!(first_sent(&mut l), FIRST);
    }
}

/// Symbols wait in the receive buffer while the application does not read, and close the window; nothing is lost.
#[test]
fn symbols_that_are_not_read_close_the_window() {
    let transport = TransportConfig { receive_buffer: 16_000, ..config() };
    let mut l = RawPeer::accepted(transport, params(Some(&BLOCKS)));
    l.lazy = true;
    // Records of 994 bytes, a symbol each, block after block.
    let message = |n: u32| vec![n as u8; 994];
    let source = |n: u32| {
        let record = [&994u32.to_be_bytes()[..], &message(n)].concat();
        symbol(Header::Source { block: n / 4, index: (n % 4) as u16, last: n % 4 == 3 }, &record)
    };
    let mut window = 16_000;
    let mut sent = 0;
    while window > 0 {
        let mut out = l.give(&[unordered(OUR_TSN + sent, &source(sent))]);
        sent += 1;
        assert!(sent < 30, "a window of 16000 bytes closes");
        out.extend(l.run(ms(300)));
        window = first_sack(&out).expect("acknowledged").1.header.a_rwnd;
    }
    assert!(sent > 8, "{sent}");
    assert_eq!(l.association().stats().coding.sources_received, 0, "nothing was read");
    l.lazy = false;
    let out = l.take();
    assert_eq!(l.messages.len() as u32, sent);
    assert!((0..sent).all(|n| l.messages[n as usize].payload == message(n)));
    let opened = first_sack(&out).or_else(|| first_sack(&l.run(ms(1))));
    assert!(opened.expect("the window opens").1.header.a_rwnd > 12_000);
}

/// A message longer than the receive buffer ends the association, with the reason.
#[test]
fn a_message_too_long_for_the_receive_buffer_ends_it() {
    let transport = TransportConfig { receive_buffer: 20_000, ..config() };
    let mut l = RawPeer::accepted(transport, params(Some(&BLOCKS)));
    let first = symbol(Header::Source { block: 0, index: 0, last: false }, &20_001u32.to_be_bytes());
    l.give(&[unordered(OUR_TSN, &first)]);
    let out = l.take();
    let reason = "a message of 20001 bytes is longer than the receive buffer".to_owned();
    assert!(l.saw(&Event::Closed(CloseReason::Protocol(reason))), "{:?}", l.events);
    let aborted = |c: &Chunk| matches!(c, Chunk::Abort(a) if a.causes.len() == 2);
    assert!(out.iter().flat_map(|p| &p.chunks).any(aborted), "{out:?}");
}
