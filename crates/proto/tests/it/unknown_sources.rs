//! Addresses that somebody merely claims: the bytes that they receive, and the effect of a flood from them on others.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{Connect, Endpoint, EndpointConfig, Input, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, PathId, PathState};
use strandcast_proto::rfc;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::{Abort, CookieEcho, ForwardTsn, HeartbeatAck};
use strandcast_proto::wire::{Chunk, Param, Tsn};
use strandcast_testing::endpoints::{CLIENT, P0, SERVER, TestPair, pattern};
use strandcast_testing::raw::*;

/// IPv4 and UDP headers.
const HEADERS: usize = 28;
const COOKIE_ACK: u8 = 11;
const HEARTBEAT: u8 = 4;

fn config() -> TransportConfig {
    TransportConfig::default()
}

fn accepting(transport: TransportConfig) -> EndpointConfig {
    let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
    EndpointConfig { transport: Arc::new(transport), accept: Some(accept), ..EndpointConfig::default() }
}

fn cookie_of(l: &mut RawPeer) -> Bytes {
    let ack = l.init(Vec::new());
    (l.tag, l.tsn) = (ack.0.initiate_tag.0, ack.0.initial_tsn.0);
    ack.state_cookie().expect("a cookie").clone()
}

fn from(l: &RawPeer, ip: [u8; 4]) -> FourTuple {
    FourTuple { remote: SocketAddr::from((ip, 40_000)), ..l.tuple }
}

fn connected(l: &RawPeer) -> usize {
    l.events.iter().filter(|e| matches!(e, Event::Connected { .. })).count()
}

/// Bytes in and out of one address, headers counted.
#[derive(Default)]
struct ByteCounter {
    given: usize,
    got: usize,
}

impl ByteCounter {
    fn give(&mut self, l: &mut RawPeer, victim: FourTuple, chunks: &[Chunk]) -> Vec<SentPacket> {
        let bytes = packet(l.tag, chunks);
        self.given += bytes.len() + HEADERS;
        let out = l.give_bytes(victim, bytes);
        self.took(&out, victim);
        out
    }

    fn took(&mut self, out: &[SentPacket], victim: FourTuple) {
        self.got += out.iter().filter(|o| o.tuple == victim).map(|o| o.len + HEADERS).sum::<usize>();
        assert!(self.got <= 3 * self.given, "{} bytes out for {} in", self.got, self.given);
    }
}

/// RFC 9260 §5.4: a cookie fetched at one address and echoed from another proves nothing about the other, which
/// receives COOKIE ACK and heartbeats, no data, and never more than three times the bytes that arrived from there.
#[test]
fn a_cookie_echoed_from_elsewhere_opens_no_tap() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    let victim = from(&l, [203, 0, 113, 5]);
    let mut counter = ByteCounter::default();
    let out = counter.give(&mut l, victim, &[CookieEcho { cookie }.into()]);
    assert_eq!(types(&out)[0][0], COOKIE_ACK);
    assert!(types(&out).iter().flatten().all(|t| [COOKIE_ACK, HEARTBEAT].contains(t)), "{out:?}");
    assert!(out.iter().all(|o| o.tuple == victim));
    for _ in 0..200 {
        let out = l.send(vec![0; 1000], SendOptions::default());
        counter.took(&out, victim);
    }
    // It acknowledges blindly all the while, and requests everything that unconfirmed paths may have.
    for _ in 0..600 {
        let out = l.run(ms(100));
        assert!(sent_data(&out).is_empty(), "{out:?}");
        counter.took(&out, victim);
        let blind =
            [sack(l.tsn.wrapping_sub(1), 1 << 30, &[]), HeartbeatAck { info: vec![0; 12].into() }.into()];
        counter.give(&mut l, victim, &blind);
    }
    println!("{} bytes out for {} in", counter.got, counter.given);
    assert!(counter.got > 0);
}

/// Data flow after a nonce has returned from there.
#[test]
fn a_nonce_from_elsewhere_opens_it() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    let victim = from(&l, [203, 0, 113, 5]);
    let echo = packet(l.tag, &[CookieEcho { cookie }.into()]);
    let out = l.give_bytes(victim, echo);
    l.send(vec![0; 1000], SendOptions::default());
    let info = out.iter().flat_map(|o| &o.chunks).find_map(|c| match c {
        Chunk::Heartbeat(h) => Some(h.info.clone()),
        _ => None,
    });
    let answer = packet(l.tag, &[HeartbeatAck { info: info.expect("a heartbeat") }.into()]);
    let out = l.give_bytes(victim, answer);
    assert_eq!(sent_data(&out).len(), 1);
    assert_eq!(l.association().paths()[0].state, PathState::Active);
}

/// From the destination of INIT ACK, COOKIE ECHO is sufficient proof.
#[test]
fn a_cookie_echoed_from_its_address_confirms_it() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let out = l.send(vec![0; 1000], SendOptions::default());
    assert_eq!(sent_data(&out).len(), 1);
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    let mut port = l.tuple;
    port.remote.set_port(40_001);
    let echo = packet(l.tag, &[CookieEcho { cookie }.into()]);
    l.give_bytes(port, echo);
    let out = l.send(vec![0; 1000], SendOptions::default());
    assert!(sent_data(&out).is_empty(), "another UDP port may be another host's");
}

/// A cookie opens one association: repetitions receive COOKIE ACK while it lives, and nothing afterwards, from whatever
/// address.
#[test]
fn a_cookie_opens_one_association() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    let echo = packet(l.tag, &[CookieEcho { cookie }.into()]);
    for ip in [[198, 51, 100, 7], [198, 51, 100, 7], [203, 0, 113, 5], [203, 0, 113, 6]] {
        let tuple = from(&l, ip);
        let out = l.give_bytes(tuple, echo.clone());
        assert_eq!(types(&out)[0][0], COOKIE_ACK, "{out:?}");
    }
    assert_eq!(connected(&l), 1);
    l.give(&[Abort { reflected_tag: false, causes: vec![] }.into()]);
    assert!(l.association().is_closed());
    for released in [false, true] {
        for ip in [[198, 51, 100, 7], [203, 0, 113, 5], [203, 0, 113, 6]] {
            let tuple = from(&l, ip);
            let out = l.give_bytes(tuple, echo.clone());
            assert!(out.is_empty(), "{out:?}");
        }
        if !released {
            l.end.release(l.id.unwrap());
        }
    }
    assert_eq!(connected(&l), 1);
    l.shake_hands(Vec::new());
}

/// An association at an address that was only claimed does not block the owner of the address: the owner's INIT is
/// neither taken for a restart of it, nor refused because it lists addresses that the other does not have (RFC 9260
/// §5.2.2).
#[test]
fn a_claimed_address_stays_its_owners() {
    let mut l = RawPeer::new(config());
    let cookie = cookie_of(&mut l);
    let owner = from(&l, [203, 0, 113, 5]);
    let echo = packet(l.tag, &[CookieEcho { cookie }.into()]);
    l.give_bytes(owner, echo);
    assert_eq!(connected(&l), 1);
    let claimed = l.id.take();
    l.tuple = owner;
    l.shake_hands(vec![Param::Address([203, 0, 113, 6].into())]);
    assert_ne!(l.id, claimed);
    assert_eq!(connected(&l), 2);
    assert!(!l.saw(&Event::Restarted));
}

/// A path that was only claimed does not belong to the peer, suspended or not.
#[test]
fn suspending_a_claimed_path_confirms_nothing() {
    let mut w = TestPair::new(&[15, 15], config(), 3);
    // JOIN gets through, the return path is not the client's.
    w.wires[1].up[SERVER] = false;
    w.connect();
    w.run(ms(200));
    let (now, id) = (w.now, w.apps[CLIENT].id.expect("connected"));
    w.ends[CLIENT].with(id, |a| a.suspend_path(now, PathId(1), true)).expect("a path");
    w.pump();
    w.run(ms(200));
    assert_eq!(w.states(SERVER), [PathState::Active, PathState::Suspended]);
    let confirmed = [P0, PathId(1)].map(|p| w.association(SERVER).is_confirmed(p));
    assert_eq!(confirmed, [true, false]);
}

/// RFC 9260 §5.4, §8.3: an address that INIT lists and that has sent nothing receives one HEARTBEAT per retransmission
/// timeout, at most Path.Max.Retrans + 1 (6); at most eight addresses do.
#[test]
fn listed_addresses_get_few_heartbeats() {
    let transport = TransportConfig { announce: true, ..config() };
    let locals = (1..=20).map(|i| (LinkId(i), SocketAddr::from(([192, 0, i as u8, 1], 9899)))).collect();
    let mut l = RawPeer::with(EndpointConfig { locals, ..accepting(transport) });
    let ack = l.init((1..=12).map(|i| Param::Address([203, 0, i, 9].into())).collect());
    l.tag = ack.0.initiate_tag.0;
    let cookie = ack.state_cookie().expect("a cookie").clone();
    let mut all = l.give(&[CookieEcho { cookie }.into()]);
    all.extend(l.run(ms(200_000)));
    let mut got: BTreeMap<IpAddr, Vec<Instant>> = BTreeMap::new();
    for out in all.into_iter().filter(|o| o.tuple != l.tuple) {
        assert_eq!(types(std::slice::from_ref(&out)), [[HEARTBEAT]], "{out:?}");
        got.entry(out.tuple.remote.ip()).or_default().push(out.at);
    }
    assert_eq!(got.len(), 8);
    for (ip, at) in got {
        assert_eq!(at.len(), 6, "{ip}");
        assert!(at.windows(2).all(|w| w[1] - w[0] >= ms(1000)), "{ip}: {at:?}");
    }
}

/// Requests of unknown sources at the same time.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Junk {
    /// INITs from all addresses of one prefix.
    OnePrefix,
    /// INITs from one address in the honest sender's prefix.
    Neighbour,
    /// INITs from addresses all over the Internet.
    Everywhere,
    /// DATA, SHUTDOWN ACK and INIT from everywhere.
    Mixed,
}

impl Junk {
    fn packet(self, n: u64, random: &mut Random) -> (IpAddr, Vec<u8>) {
        let any = Ipv4Addr::from_bits(random.u32());
        let ip = match self {
            Junk::OnePrefix => Ipv4Addr::new(203, 0, 113, n as u8),
            Junk::Neighbour => Ipv4Addr::new(198, 51, 100, 8),
            Junk::Everywhere | Junk::Mixed => any,
        };
        let tag = random.u32() | 1;
        let bytes = match (self, n % 3) {
            (Junk::Mixed, 0) => packet(tag, &[data(1, 0, b"junk")]),
            (Junk::Mixed, 1) => packet(tag, &[strandcast_proto::wire::chunk::ShutdownAck.into()]),
            _ => packet(0, &[init(Vec::new()).into()]),
        };
        (ip.into(), bytes)
    }
}

/// An honest sender with a round-trip time of 50 ms, while `Junk` arrives 20 000 times per second. Returns the time to
/// connect, and the maximum number of answers per prefix that junk received.
fn flooded(junk: Junk) -> (Option<Duration>, usize) {
    let (seeds, begin) = (Seeds::new(5, 0), Instant::from_millis(7));
    let server = SocketAddr::from(([192, 0, 2, 1], 9899));
    let here = |remote| FourTuple::new(LinkId(0), server, remote);
    let honest = SocketAddr::from(([198, 51, 100, 7], 40_000));
    let mut random = seeds.stream("junk");
    let mut end = Endpoint::new(accepting(config()), &seeds.child("server"));
    let mut client = Endpoint::new(EndpointConfig::default(), &seeds.child("client"));
    let mut flying: Vec<(Instant, bool, Vec<u8>)> = Vec::new();
    let mut answers: BTreeMap<IpAddr, usize> = BTreeMap::new();
    // The flood is there first.
    let joins = begin + ms(200);
    let mut buf = Vec::new();
    for step in 0..3_200 {
        let now = begin + ms(step);
        if now == joins {
            let tuple = FourTuple::new(LinkId(0), honest, server);
            let connect = Connect {
                paths: vec![(tuple, None)],
                port: PORT,
                scheme: Box::new(rfc::scheme()),
                transport: None,
            };
            client.connect(now, connect).expect("a free endpoint");
        }
        client.handle_timeout(now);
        for i in 0..20 {
            let (ip, bytes) = junk.packet(step * 20 + i, &mut random);
            let (segment_size, data) = (bytes.len(), Bytes::from(bytes));
            end.handle_input(now, Input::Datagrams { tuple: here((ip, 1000).into()), data, segment_size });
        }
        for (_, to_server, bytes) in flying.extract_if(.., |(at, ..)| *at <= now) {
            let (segment_size, data) = (bytes.len(), Bytes::from(bytes));
            let away = FourTuple::new(LinkId(0), honest, server);
            let (to, tuple) = if to_server { (&mut end, here(honest)) } else { (&mut client, away) };
            to.handle_input(now, Input::Datagrams { tuple, data, segment_size });
        }
        while let Some(t) = client.poll_output(now, &mut buf) {
            flying.push((now + ms(25), true, buf[..t.len].to_vec()));
            buf.clear();
        }
        while let Some(t) = end.poll_output(now, &mut buf) {
            if t.tuple.remote == honest {
                flying.push((now + ms(25), false, buf[..t.len].to_vec()));
            } else if let IpAddr::V4(ip) = t.tuple.remote.ip() {
                let [a, b, c, _] = ip.octets();
                *answers.entry([a, b, c, 0].into()).or_default() += 1;
            }
            buf.clear();
        }
        while let Some((_, event)) = client.poll_event() {
            if matches!(event, Event::Connected { .. }) {
                return (Some(now - joins), answers.values().copied().max().unwrap_or_default());
            }
        }
    }
    (None, 0)
}

#[test]
fn an_honest_sender_connects_beside_20_000_packets_of_junk_a_second() {
    for junk in [Junk::OnePrefix, Junk::Neighbour, Junk::Everywhere, Junk::Mixed] {
        let (took, most) = flooded(junk);
        let took = took.unwrap_or_else(|| panic!("{junk:?}: not connected within 3 s"));
        println!("{junk:?}: connected after {took:?}; {most} answers to one prefix");
        assert!(took <= ms(3000), "{junk:?}: {took:?}");
        assert!(most <= 1320, "{junk:?}: {most} answers to one prefix in 0.3 s");
    }
}

/// A path that is reported to have moved keeps its address until a nonce has returned from the new one: an observer of
/// the handshake that cannot receive there stops nothing.
#[test]
fn a_move_that_nobody_confirms_stops_nothing() {
    let mut w = TestPair::new(&[15], config(), 3);
    w.up();
    let (real, mut received) = (w.wires[0].outside, vec![w.now]);
    let elsewhere = SocketAddr::from(([203, 0, 113, 5], 50_000));
    for i in 0..500u16 {
        if i % 10 == 0 {
            // The move arrives from an address that does not answer, and all later packets from the old one.
            w.wires[0].outside = elsewhere;
            w.wires[0].inside.set_port(41_000 + i);
            let (tuple, now, id) = (w.wires[0].client_tuple(0), w.now, w.apps[CLIENT].id.unwrap());
            w.ends[CLIENT].with(id, |a| a.move_path(now, P0, tuple)).expect("it may move");
            w.pump();
            w.wires[0].outside = real;
        }
        w.send(SERVER, pattern(usize::from(i) * 1000, 1000), SendOptions::default());
        let before = w.apps[CLIENT].messages.len();
        w.run(ms(10));
        if w.apps[CLIENT].messages.len() > before {
            received.push(w.now);
        }
    }
    received.push(w.now);
    let gap = received.windows(2).map(|h| h[1] - h[0]).max().expect("messages");
    println!("at most {gap:?} between messages");
    assert!(gap <= ms(250), "{gap:?}");
    assert_eq!(w.association(SERVER).tuple(P0).unwrap().remote, real);
}

/// A path that did move: it carries data one round trip later.
#[test]
fn a_move_that_is_confirmed_takes_a_round_trip() {
    let mut w = TestPair::new(&[15], config(), 3);
    w.up();
    w.wires[0].inside.set_port(41_000);
    w.wires[0].outside.set_port(51_000);
    let (tuple, now, id) = (w.wires[0].client_tuple(0), w.now, w.apps[CLIENT].id.unwrap());
    w.ends[CLIENT].with(id, |a| a.move_path(now, P0, tuple)).expect("it may move");
    w.pump();
    let outside = w.wires[0].outside;
    let there = |w: &TestPair| w.association(SERVER).tuple(P0).unwrap().remote == outside;
    assert!(w.run_until(ms(46), there), "MOVED, HEARTBEAT and its answer take 45 ms");
    assert_eq!(w.states(SERVER), [PathState::Active]);
    assert_eq!(w.states(CLIENT), [PathState::Active]);
}

/// A forged FORWARD-TSN makes the receiver take all later data for duplicates. Its next SACK reveals this to the
/// sender, which ends the association on both sides: a round trip later a new one may be opened.
#[test]
fn a_forged_forward_tsn_is_noticed_within_a_round_trip() {
    let mut w = TestPair::new(&[15], config(), 3);
    w.up();
    // Tag and TSN of the last packet with data: an observer needs nothing else.
    let seen = Rc::new(Cell::new((0, 0)));
    let look = Rc::clone(&seen);
    w.filter = Box::new(move |_, from, _, bytes| {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if from == CLIENT && bytes.get(12) == Some(&0) {
            look.set((word(4), word(16)));
        }
        true
    });
    w.send(CLIENT, pattern(0, 1000), SendOptions::default());
    w.run(ms(1000));
    let (tag, tsn) = seen.get();
    let new_cumulative_tsn = Tsn(tsn.wrapping_add(1 << 23));
    let forged = packet(tag, &[ForwardTsn { new_cumulative_tsn, streams: Default::default() }.into()]);
    let tuple = w.association(SERVER).tuple(P0).unwrap();
    let (segment_size, data) = (forged.len(), Bytes::from(forged));
    w.ends[SERVER].handle_input(w.now, Input::Datagrams { tuple, data, segment_size });
    w.pump();
    w.run(ms(30));
    let closed = |side: usize| w.apps[side].events.iter().find(|e| matches!(e, Event::Closed(_)));
    assert!(matches!(closed(CLIENT), Some(Event::Closed(CloseReason::Protocol(_)))), "{:?}", closed(CLIENT));
    assert!(
        matches!(closed(SERVER), Some(Event::Closed(CloseReason::PeerAborted(_)))),
        "{:?}",
        closed(SERVER)
    );
}
