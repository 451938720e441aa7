//! Handling of packets by an endpoint, row by row of RFC 9260 §5 and §8.

use std::net::SocketAddr;

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AnswerRates, EndpointConfig, SchemeFactory};
use strandcast_proto::policy::LinkId;
use strandcast_proto::time::Instant;
use strandcast_proto::wire::chunk::{
    Abort, CookieAck, CookieEcho, ErrorChunk, Heartbeat, HeartbeatAck, Shutdown, ShutdownAck,
    ShutdownComplete, UnknownChunk,
};
use strandcast_proto::wire::param::UnknownParam;
use strandcast_proto::wire::{Cause, Chunk, Param, Tsn};
use strandcast_testing::raw::*;

const ABORT: u8 = 6;
const SHUTDOWN_COMPLETE: u8 = 14;

fn config() -> TransportConfig {
    TransportConfig::default()
}

fn cookie_of(l: &mut RawPeer) -> Bytes {
    let ack = l.init(Vec::new());
    (l.tag, l.tsn) = (ack.0.initiate_tag.0, ack.0.initial_tsn.0);
    ack.state_cookie().expect("a cookie").clone()
}

fn causes(out: &[SentPacket]) -> Vec<Cause> {
    let of = |c: &Chunk| match c {
        Chunk::Abort(a) => a.causes.clone(),
        Chunk::Error(e) => e.causes.clone(),
        _ => Vec::new(),
    };
    out.iter().flat_map(|o| o.chunks.iter().flat_map(of)).collect()
}

/// §5.1 B: INIT is answered under its Initiate Tag, and nothing is stored.
#[test]
fn an_init_is_answered_and_forgotten() {
    let mut l = RawPeer::new(config());
    let out = l.give_tagged(0, &[init(Vec::new()).into()]);
    assert_eq!((out.len(), out[0].tag, out[0].tuple), (1, OUR_TAG, l.tuple));
    assert!(l.events.is_empty());
    assert_eq!(l.end.poll_timeout(), None);
}

/// A forged source address gains nothing: an answer is at most three times as long as the packet that it answers, with
/// IPv4 and UDP headers (28 bytes), and a bare INIT of 32 bytes connects all the same.
#[test]
fn answers_to_inits_are_short() {
    let random = || Param::Random(Bytes::from_static(&[7; 32]));
    let hmacs = || Param::HmacAlgo([3u16].into_iter().collect());
    let unknown: Vec<Param> = (0xc100u16..0xc1f0).map(unknown_param).collect();
    let listed = |n: u8| (0..n).map(|i| Param::Address([10, 0, 0, i].into()));
    let many: Vec<Param> = listed(200).collect();
    for params in [
        vec![],
        vec![Param::ForwardTsnSupported],
        vec![random(), hmacs()],
        vec![Param::Random(Bytes::from_static(b"r")), hmacs()],
        unknown.clone(),
        many,
        unknown.into_iter().chain([random(), hmacs()]).chain(listed(16)).collect(),
        vec![Param::HostNameAddress(Bytes::from_static(b"a"))],
    ] {
        let transport = TransportConfig { announce: true, ..config() };
        let locals = (0..40u8).map(|i| (LinkId(0), SocketAddr::from(([192, 0, 2, i], 9899)))).collect();
        let transport = std::sync::Arc::new(transport);
        let accept: SchemeFactory = std::sync::Arc::new(|_| Box::new(strandcast_proto::rfc::scheme()));
        let accept = Some(accept);
        let mut l = RawPeer::with(EndpointConfig { transport, accept, locals, ..EndpointConfig::default() });
        let asked = packet(0, &[init(params.clone()).into()]);
        let size = asked.len();
        let out = l.give_bytes(l.tuple, asked);
        assert_eq!(out.len(), 1, "{params:?}");
        assert!(out[0].len + 28 <= 3 * (size + 28), "{} for {size}: {params:?}", out[0].len);
    }
    let mut l = RawPeer::new(config());
    assert_eq!(packet(0, &[init(vec![]).into()]).len(), 32);
    l.shake_hands(vec![]);
    l.give(&[data(OUR_TSN, 0, b"taken")]);
    assert_eq!(l.messages.len(), 1);
}

/// The INIT of this side leaves room for an answer of 820 bytes (RFC 4820), whatever it offers.
#[test]
fn our_init_is_padded() {
    for transport in [config(), TransportConfig { auth: false, partial_reliability: false, ..config() }] {
        let mut l = RawPeer::new(transport);
        l.connect();
        let out = l.take();
        assert_eq!(out[0].len, 256);
        let Chunk::Init(i) = &out[0].chunks[0] else { panic!("{out:?}") };
        let padding =
            |p: &Param| if let Param::Padding(b) = p { Some(b.iter().all(|b| *b == 0)) } else { None };
        assert_eq!(i.params.iter().filter_map(padding).collect::<Vec<_>>(), [true]);
    }
}

/// §5.1.5 step 2: a cookie with a wrong MAC is dropped without an answer.
#[test]
fn a_forged_cookie_is_dropped() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    for at in (0..cookie.len()).step_by(7) {
        let mut forged = cookie.to_vec();
        forged[at] ^= 0x10;
        let out = l.give(&[CookieEcho { cookie: forged.into() }.into()]);
        assert!(out.is_empty() && l.events.is_empty(), "byte {at}: {out:?}");
    }
    let short = cookie.slice(..20);
    assert!(l.give(&[CookieEcho { cookie: short }.into()]).is_empty());
}

/// §5.1.5 step 3: Valid.Cookie.Life is 60 s; the ERROR has the time by which it is too old, in microseconds.
#[test]
fn a_stale_cookie_is_reported_with_its_age() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    l.run(ms(60_000) + ms(3));
    let out = l.give(&[CookieEcho { cookie }.into()]);
    assert_eq!(causes(&out), [Cause::StaleCookie { staleness_us: 3000 }]);
    assert_eq!(out[0].tag, OUR_TAG);
    assert!(l.events.is_empty());
    let fresh = cookie_of(&mut l);
    l.run(ms(60_000));
    l.give(&[CookieEcho { cookie: fresh }.into()]);
    assert!(l.saw(&Event::Connected { peer_is_strandcast: false }), "a cookie lives 60 s");
}

/// §5.1.5 step 1, §8.5.1 D: the cookie belongs to the tag and the ports it was made for.
#[test]
fn a_cookie_under_another_tag_is_dropped() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    let tag = l.tag;
    assert!(l.give_tagged(tag ^ 1, &[CookieEcho { cookie: cookie.clone() }.into()]).is_empty());
    let mut bytes = packet(tag, &[CookieEcho { cookie }.into()]);
    bytes[1] ^= 1;
    reseal(&mut bytes);
    assert!(l.give_bytes(l.tuple, bytes).is_empty());
    assert!(l.events.is_empty());
}

/// §5.2.4 D: the COOKIE ECHO arrived again, since the COOKIE ACK was lost.
#[test]
fn a_second_cookie_echo_is_acknowledged_again() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    l.give(&[CookieEcho { cookie: cookie.clone() }.into()]);
    let events = l.events.len();
    let out = l.give(&[CookieEcho { cookie }.into()]);
    assert!(matches!(out[0].chunks[0], Chunk::CookieAck(_)), "{out:?}");
    assert_eq!(l.events.len(), events, "no second association");
}

/// §5.1: DATA may be bundled after COOKIE ECHO.
#[test]
fn data_behind_a_cookie_echo_is_taken() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    l.give(&[CookieEcho { cookie }.into(), data(OUR_TSN, 0, b"early")]);
    assert_eq!(l.messages[0].payload, &b"early"[..]);
}

/// §8.4, every row. Nothing is answered unless said: (chunk, type of the answer).
#[test]
fn out_of_the_blue() {
    let stale = ErrorChunk { causes: vec![Cause::StaleCookie { staleness_us: 1 }] };
    let info = Bytes::from_static(b"info");
    let cookie = Bytes::from_static(b"not a cookie");
    let rows: Vec<(Chunk, Option<u8>)> = vec![
        (Abort { reflected_tag: false, causes: vec![] }.into(), None),
        (init(Vec::new()).into(), None),
        (CookieEcho { cookie }.into(), None),
        (ShutdownAck.into(), Some(SHUTDOWN_COMPLETE)),
        (ShutdownComplete { reflected_tag: false }.into(), None),
        (stale.into(), None),
        (CookieAck.into(), None),
        (data(1, 0, b"x"), Some(ABORT)),
        (sack(1, 1000, &[]), Some(ABORT)),
        (Heartbeat { info: info.clone() }.into(), Some(ABORT)),
        (HeartbeatAck { info }.into(), Some(ABORT)),
        (Shutdown { cumulative_tsn_ack: Tsn(1) }.into(), Some(ABORT)),
    ];
    for (chunk, answer) in rows {
        let mut l = RawPeer::new(config());
        let out = l.give_tagged(77, std::slice::from_ref(&chunk));
        let wanted: Vec<Vec<u8>> = answer.into_iter().map(|t| vec![t]).collect();
        assert_eq!(types(&out), wanted, "{chunk:?}");
        if let Some(o) = out.first() {
            assert_eq!((o.tag, o.tuple), (77, l.tuple), "reflected");
            let reflected = matches!(
                o.chunks[0],
                Chunk::Abort(Abort { reflected_tag: true, .. })
                    | Chunk::ShutdownComplete(ShutdownComplete { reflected_tag: true })
            );
            assert!(reflected, "the T bit: {:?}", o.chunks);
        }
    }
}

/// §8.4 (2): an ABORT anywhere in the packet prevents an answer.
#[test]
fn out_of_the_blue_with_an_abort_behind() {
    let mut l = RawPeer::new(config());
    let abort = Abort { reflected_tag: false, causes: vec![] };
    assert!(l.give_tagged(77, &[data(1, 0, b"x"), abort.into()]).is_empty());
}

/// §8.5.1 A: INIT arrives alone and under tag 0.
#[test]
fn an_init_in_company_is_dropped() {
    let mut l = RawPeer::new(config());
    assert!(l.give_tagged(0, &[init(Vec::new()).into(), data(1, 0, b"x")]).is_empty());
    assert!(l.give_tagged(0, &[data(1, 0, b"x")]).is_empty());
}

#[test]
fn packets_for_other_ports_are_dropped() {
    for (source, destination) in [(0, PORT), (PORT, PORT + 1)] {
        let mut l = RawPeer::new(config());
        let mut bytes = packet(77, &[data(1, 0, b"x")]);
        bytes[..2].copy_from_slice(&source.to_be_bytes());
        bytes[2..4].copy_from_slice(&u16::to_be_bytes(destination));
        reseal(&mut bytes);
        assert!(l.give_bytes(l.tuple, bytes).is_empty());
        assert_eq!(l.end.dropped().0, 1);
    }
}

/// The endpoint cannot be used to flood others: answers per second are limited for any arrivals, from the first packet
/// on. Requests for INIT ACK take no answers from requests for ABORT.
#[test]
fn answers_are_rationed() {
    let rates = |all| AnswerRates { all, prefix: all, address: all };
    let accept: SchemeFactory = std::sync::Arc::new(|_| Box::new(strandcast_proto::rfc::scheme()));
    let mut l = RawPeer::with(EndpointConfig {
        accept: Some(accept),
        init_answers: rates(50),
        unmatched_answers: rates(20),
        ..EndpointConfig::default()
    });
    l.now = Instant::ZERO;
    let (mut acks, mut strays) = (0, 0);
    for _ in 0..3000 {
        l.run(ms(1));
        acks += l.give_tagged(0, &[init(Vec::new()).into()]).len();
        strays += l.give_tagged(77, &[ShutdownAck.into()]).len();
    }
    assert!((190..=208).contains(&acks), "50 at once, then 50 per second for 3 s: {acks}");
    assert!((70..=88).contains(&strays), "20 at once, then 20 per second for 3 s: {strays}");
    assert_eq!(l.end.dropped().1 as usize, 6000 - acks - strays);
}

/// §3.3.2: no streams is an error reported under the INIT's tag; tag 0 cannot be answered.
#[test]
fn an_init_with_bad_values() {
    for (out_streams, in_streams) in [(0, 1), (1, 0)] {
        let mut l = RawPeer::new(config());
        let mut bad = init(Vec::new());
        (bad.outbound_streams, bad.inbound_streams) = (out_streams, in_streams);
        let out = l.give_tagged(0, &[bad.into()]);
        assert_eq!((types(&out), out[0].tag), (vec![vec![ABORT]], OUR_TAG));
        assert_eq!(causes(&out), [Cause::InvalidMandatoryParameter]);
    }
    let mut l = RawPeer::new(config());
    let mut bad = init(Vec::new());
    bad.initiate_tag.0 = 0;
    assert!(l.give_tagged(0, &[bad.into()]).is_empty());
}

/// §5.1.2: names are not looked up.
#[test]
fn an_init_with_a_host_name_is_refused() {
    let mut l = RawPeer::new(config());
    let name = Bytes::from_static(b"example.org\0");
    let out = l.give_tagged(0, &[init(vec![Param::HostNameAddress(name.clone())]).into()]);
    assert_eq!((types(&out), out[0].tag), (vec![vec![ABORT]], OUR_TAG));
    assert!(matches!(&causes(&out)[..], [Cause::UnresolvableAddress(_)]), "{:?}", causes(&out));
}

#[test]
fn an_endpoint_that_accepts_nothing_says_so() {
    let mut l = RawPeer::with(EndpointConfig::default());
    let out = l.give_tagged(0, &[init(Vec::new()).into()]);
    assert_eq!((types(&out), out[0].tag), (vec![vec![ABORT]], OUR_TAG));
}

fn unknown_param(param_type: u16) -> Param {
    Param::Unknown(UnknownParam { param_type, value: Bytes::from_static(b"what") })
}

/// §3.2.1: the two high bits decide whether to continue and whether to report.
#[test]
fn unknown_parameters() {
    let rows: [(u16, bool, bool); 4] =
        [(0x3abc, true, false), (0x7abc, true, true), (0xbabc, false, false), (0xfabc, false, true)];
    for (kind, stops, reports) in rows {
        let mut l = RawPeer::new(config());
        let ack = l.init(vec![unknown_param(kind), unknown_param(0xffff)]);
        let reported = ack.0.params.iter().filter(|p| matches!(p, Param::UnrecognizedParameter(_))).count();
        let wanted = usize::from(reports) + usize::from(!stops);
        assert_eq!(reported, wanted, "{kind:#x}");
    }
}

/// §3.2: the two high bits of chunks have the same meaning; a HEARTBEAT after them shows whether the rest was read.
#[test]
fn unknown_chunks() {
    for (chunk_type, stops, reports) in
        [(0x3eu8, true, false), (0x7e, true, true), (0xbe, false, false), (0xfe, false, true)]
    {
        let mut l = RawPeer::accepted(config(), Vec::new());
        let unknown = UnknownChunk { chunk_type, flags: 0, body: Bytes::from_static(b"body") };
        let heartbeat = Heartbeat { info: Bytes::from_static(b"still there?") };
        let out = l.give(&[Chunk::Unknown(unknown), heartbeat.into()]);
        let all: Vec<&Chunk> = out.iter().flat_map(|o| &o.chunks).collect();
        let errors = causes(&out);
        assert_eq!(all.iter().any(|c| matches!(c, Chunk::HeartbeatAck(_))), !stops, "{chunk_type:#x}");
        assert_eq!(matches!(&errors[..], [Cause::UnrecognizedChunkType(_)]), reports, "{errors:?}");
    }
}

/// §8.3: HEARTBEAT ACK returns the information unchanged to the source of the heartbeat.
#[test]
fn a_heartbeat_is_answered() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let info = Bytes::from_static(b"anything at all");
    let out = l.give(&[Heartbeat { info: info.clone() }.into()]);
    assert_eq!(out[0].chunks, [HeartbeatAck { info }.into()]);
    assert_eq!((out[0].tag, out[0].tuple), (OUR_TAG, l.tuple));
}

/// §8.5: a packet with another tag is dropped without an answer, and the association does not change.
#[test]
fn a_wrong_tag_is_dropped() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let tag = l.tag;
    let abort = Abort { reflected_tag: false, causes: vec![] };
    for chunk in [data(OUR_TSN, 0, b"x"), abort.into(), Shutdown { cumulative_tsn_ack: Tsn(1) }.into()] {
        let out = l.give_tagged(tag ^ 0x8000, &[chunk]);
        assert!(out.is_empty(), "{out:?}");
    }
    assert!(l.messages.is_empty() && !l.association().is_closed());
}

/// §8.5.1 B, C: ABORT and SHUTDOWN COMPLETE carry this side's tag, or with the T bit the peer's own.
#[test]
fn the_t_bit() {
    let closed = |reflected_tag, own: bool| {
        let mut l = RawPeer::accepted(config(), Vec::new());
        let tag = if own { l.tag } else { OUR_TAG };
        let abort = Abort { reflected_tag, causes: vec![] };
        let out = l.give_tagged(tag, &[abort.into()]);
        assert!(out.is_empty(), "{out:?}");
        l.association().is_closed()
    };
    assert!(closed(false, true));
    assert!(closed(true, false));
    assert!(!closed(true, true));
    assert!(!closed(false, false));
}

/// §8.5.1 C, §5.2: chunks of a handshake or a close that is not in progress change nothing.
#[test]
fn chunks_of_another_state_are_dropped() {
    let ack =
        strandcast_proto::wire::chunk::InitAck(init(vec![Param::StateCookie(Bytes::from_static(b"c"))]));
    let done = ShutdownComplete { reflected_tag: false };
    for chunk in [ack.into(), CookieAck.into(), done.into(), ShutdownAck.into()] {
        let mut l = RawPeer::accepted(config(), Vec::new());
        let events = l.events.len();
        let out = l.give(std::slice::from_ref(&chunk));
        assert!(out.is_empty() && l.events.len() == events, "{chunk:?}: {out:?}");
        l.give(&[data(OUR_TSN, 0, b"still here")]);
        assert_eq!(l.messages.len(), 1);
    }
}

/// §8.5.1 E: a SHUTDOWN ACK that meets a handshake is answered by SHUTDOWN COMPLETE under its own tag.
#[test]
fn a_shutdown_ack_in_the_handshake() {
    let mut l = RawPeer::new(config());
    l.connect();
    let out = l.take();
    let Chunk::Init(i) = &out[0].chunks[0] else { panic!("{out:?}") };
    let out = l.give_tagged(i.initiate_tag.0, &[ShutdownAck.into()]);
    assert_eq!(types(&out), [[SHUTDOWN_COMPLETE]]);
    assert_eq!(out[0].chunks[0], ShutdownComplete { reflected_tag: true }.into());
}

/// §5.2.6: a stale cookie restarts with INIT.
#[test]
fn a_stale_cookie_error_begins_again() {
    let mut l = RawPeer::new(config());
    l.connect();
    let out = l.take();
    let Chunk::Init(i) = &out[0].chunks[0] else { panic!("{out:?}") };
    l.tag = i.initiate_tag.0;
    let cookie = Param::StateCookie(Bytes::from_static(b"old"));
    l.give(&[strandcast_proto::wire::chunk::InitAck(init(vec![cookie])).into()]);
    l.give(&[ErrorChunk { causes: vec![Cause::StaleCookie { staleness_us: 5 }] }.into()]);
    let out = l.run(ms(10));
    assert!(matches!(out[0].chunks[..], [Chunk::Init(_)]), "{out:?}");
}

/// §4, §5.1.6, table 16: INIT again after 1, 2, 4, ... s; Max.Init.Retransmits (8) times, then the end.
#[test]
fn a_peer_that_never_answers() {
    let mut l = RawPeer::new(config());
    l.connect();
    let begin = l.now;
    let out = l.run(ms(600_000));
    let at: Vec<u128> = out.iter().map(|o| (o.at - begin).as_secs() as u128).collect();
    assert_eq!(at, [0, 1, 3, 7, 15, 31, 63, 123, 183], "doubled up to RTO.Max");
    assert!(out.iter().all(|o| o.tag == 0 && matches!(o.chunks[..], [Chunk::Init(_)])));
    assert_eq!(l.events.last(), Some(&Event::Closed(CloseReason::NoAnswer)));
}

/// §9.2: SHUTDOWN, SHUTDOWN ACK, SHUTDOWN COMPLETE; each repeated by T2 until answered.
#[test]
fn a_close_from_this_side() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let id = l.id.unwrap();
    l.end.shutdown(l.now, id);
    let out = l.take();
    assert_eq!(out[0].chunks, [Shutdown { cumulative_tsn_ack: Tsn(OUR_TSN - 1) }.into()]);
    let begin = l.now;
    let again = l.run(ms(3500));
    let at: Vec<u64> = again.iter().map(|o| (o.at - begin).as_millis() as u64).collect();
    assert_eq!(at, [1000, 3000], "T2 doubles");
    let out = l.give(&[ShutdownAck.into()]);
    assert_eq!(out[0].chunks, [ShutdownComplete { reflected_tag: false }.into()]);
    assert_eq!(l.events.last(), Some(&Event::Closed(CloseReason::Shutdown)));
}

#[test]
fn a_close_from_the_other_side() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let cum = Tsn(l.tsn - 1);
    let out = l.give(&[Shutdown { cumulative_tsn_ack: cum }.into()]);
    assert_eq!(out[0].chunks, [ShutdownAck.into()]);
    assert!(l.saw(&Event::PeerShutdown));
    let begin = l.now;
    let again = l.run(ms(1500));
    assert_eq!((again[0].at - begin, &again[0].chunks[..]), (ms(1000), &[ShutdownAck.into()][..]));
    l.give(&[ShutdownComplete { reflected_tag: false }.into()]);
    assert_eq!(l.events.last(), Some(&Event::Closed(CloseReason::Shutdown)));
}

/// §9.2: SHUTDOWN is repeated Association.Max.Retrans (10) times, or until T5 (five RTO.Max) ends it; then ABORT
/// notifies the peer.
#[test]
fn a_close_that_is_never_answered() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let id = l.id.unwrap();
    l.end.shutdown(l.now, id);
    let begin = l.now;
    let out = l.run(ms(1_000_000));
    let last = out.last().unwrap();
    assert!(matches!(last.chunks[..], [Chunk::Abort(_)]), "{last:?}");
    assert_eq!(last.at - begin, ms(300_000), "T5-shutdown-guard");
    assert_eq!(l.events.last(), Some(&Event::Closed(CloseReason::Unreachable)));
}

/// §9.2: DATA that arrive in SHUTDOWN-SENT are accepted, and answered by SACK and SHUTDOWN.
#[test]
fn data_while_we_close() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let id = l.id.unwrap();
    l.end.shutdown(l.now, id);
    l.take();
    let out = l.give(&[data(OUR_TSN, 0, b"last words")]);
    let all: Vec<&Chunk> = out.iter().flat_map(|o| &o.chunks).collect();
    assert!(all.iter().any(|c| matches!(c, Chunk::Shutdown(s) if s.cumulative_tsn_ack.0 == OUR_TSN)));
    assert!(all.iter().any(|c| matches!(c, Chunk::Sack(_))));
    assert_eq!(l.messages[0].payload, &b"last words"[..]);
}
