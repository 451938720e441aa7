//! The primary path that the application requested is kept, whatever happens to the handshake and the first heartbeats
//! (RFC 9260 §6.4, §11.1.6).

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use strandcast_proto::association::{Association, AssociationError, Event, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{Connect, EndpointConfig, SchemeFactory};
use strandcast_proto::path::{Envelope, FourTuple, SealId};
use strandcast_proto::policy::{LinkId, PathId, PathState};
use strandcast_proto::rfc;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::chunk::{CookieAck, HeartbeatAck, InitAck};
use strandcast_proto::wire::{Chunk, Param};
use strandcast_testing::adversary;
use strandcast_testing::endpoints::*;
use strandcast_testing::raw;
use strandcast_testing::raw::{RawPeer, SentPacket};

/// INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, HEARTBEAT and HEARTBEAT ACK.
const KINDS: [u8; 6] = [1, 2, 10, 11, 4, 5];

/// One case. It can be repeated from its printed form.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    /// One-way delay of each wire, ms.
    delays: Vec<u64>,
    /// Side that sends, and wire that it requests as its primary path.
    side: usize,
    wanted: usize,
    /// If true, INIT leaves by all wires at once, and RFC 9260's timers are shortened.
    live: bool,
    sealed: bool,
    /// If true, the sender has data from the beginning.
    early: bool,
    /// Losses among the first packets with each of [`KINDS`]: bit 0 is the first one's.
    lost: [u8; 6],
}

impl Case {
    fn strategy() -> impl Strategy<Value = Case> {
        let lost = prop_oneof![2 => any::<[u8; 6]>(), 1 => (0usize..6, any::<u8>()).prop_map(|(kind, mask)| {
            let mut lost = [0; 6];
            lost[kind] = mask;
            lost
        })];
        let shape = (any::<u64>(), vec(1u64..120, 2..=4), 0usize..2, 0usize..4);
        (shape, any::<[bool; 3]>(), lost).prop_map(|(shape, [live, sealed, early], lost)| {
            let (seed, delays, side, wanted) = shape;
            let wanted = wanted % delays.len();
            Case { seed, delays, side, wanted, live, sealed, early, lost }
        })
    }

    fn transport(&self) -> TransportConfig {
        let plain = if self.live { TransportConfig::live() } else { TransportConfig::default() };
        let envelope = if self.sealed { Envelope { front: 13, back: 16 } } else { Envelope::NONE };
        TransportConfig {
            // The association must survive all losses.
            association_max_retrans: 100_000,
            max_init_retrans: 100_000,
            silence_timeout: self.live.then_some(Duration::from_secs(1_000_000)),
            envelope,
            ..plain
        }
    }
}

/// The types of the chunks of a packet.
fn chunk_types(packet: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = &packet[12..];
    core::iter::from_fn(move || {
        let (kind, len) = (*rest.first()?, usize::from(u16::from_be_bytes([*rest.get(2)?, *rest.get(3)?])));
        rest = rest.get(len.max(4).next_multiple_of(4)..).unwrap_or_default();
        Some(kind)
    })
}

/// Loses packets by `lost` of a [`Case`].
fn losing(lost: [u8; 6]) -> Filter {
    let mut seen = [0u32; 6];
    Box::new(move |_, _, _, packet| {
        let mut deliver = true;
        for kind in chunk_types(packet).filter_map(|kind| KINDS.iter().position(|k| *k == kind)) {
            deliver &= u32::from(lost[kind]).checked_shr(seen[kind]).unwrap_or(0) & 1 == 0;
            seen[kind] += 1;
        }
        deliver
    })
}

/// Two RFC 9260 endpoints: all data on the primary path.
fn pair(delays: &[u64], transport: TransportConfig, seed: u64) -> TestPair {
    let envelope = transport.envelope;
    let transports = [transport.clone(), transport];
    let mut w = TestPair::with(delays, transports, Arc::new(|_| Box::new(rfc::scheme())), seed);
    if envelope != Envelope::NONE {
        (w.sealed, w.envelope) = ([SealId(3), SealId(8)], envelope);
    }
    w
}

/// The open path of `side` over a wire.
fn path(w: &TestPair, side: usize, wire: usize) -> Option<PathId> {
    let a = w.ends[side].association(w.apps[side].id?)?;
    let over = |a: &Association, path| {
        let tuple = a.tuple(path).expect("a path");
        if side == CLIENT {
            tuple.local == w.wires[wire].inside
        } else {
            tuple.remote == w.wires[wire].outside
        }
    };
    let mut open = a.paths().iter().filter(|p| p.state != PathState::Closed).map(|p| p.id);
    open.find(|p| over(a, *p))
}

fn confirmed(w: &TestPair, side: usize, wire: usize) -> bool {
    path(w, side, wire).is_some_and(|p| w.association(side).is_confirmed(p))
}

fn connected(w: &TestPair, side: usize) -> bool {
    w.apps[side].events.iter().any(|e| matches!(e, Event::Connected { .. }))
}

fn want(w: &mut TestPair, side: usize, wire: usize) {
    let (id, path) = (w.apps[side].id.expect("an association"), path(w, side, wire).expect("an open path"));
    let now = w.now;
    w.ends[side].with(id, |a| a.set_primary(now, path)).expect("the path is there");
    w.pump();
}

/// Requests the path over a wire once it exists, and again if the path `asked` for has moved to another wire since: the
/// peer may correct which path opened the association. It does not ask again only because a path was closed and opened
/// again.
fn ask(w: &mut TestPair, side: usize, wanted: usize, asked: &mut Option<PathId>) {
    let over = |wire| path(w, side, wire);
    let elsewhere = (0..w.wires.len()).any(|wire| wire != wanted && asked.is_some() && over(wire) == *asked);
    if (asked.is_none() || elsewhere)
        && let Some(now) = over(wanted)
    {
        *asked = Some(now);
        want(w, side, wanted);
    }
}

/// Wire of the primary path of `side`.
fn primary(w: &TestPair, side: usize) -> usize {
    let primary = Some(w.association(side).primary());
    (0..w.wires.len()).find(|wire| path(w, side, *wire) == primary).expect("the primary path is open")
}

/// Checks that the requested wire is the primary once it is confirmed. Until then the handshake's wire is, which has
/// confirmed it to the side that opened the association; the other side may have received COOKIE ECHO from an address
/// that is not proven yet.
fn check(w: &TestPair, side: usize, wanted: usize) {
    if !connected(w, side) {
        return;
    }
    let primary = primary(w, side);
    assert!(side == SERVER || confirmed(w, side, primary), "wire {primary} serves: {:?}", w.states(side));
    assert!(!confirmed(w, side, wanted) || primary == wanted, "wire {wanted} works, wire {primary} serves");
}

/// Opens the client's paths again that were given up.
fn reopen(w: &mut TestPair) {
    let id = w.apps[CLIENT].id.expect("an association");
    for wire in 0..w.wires.len() {
        if connected(w, CLIENT) && path(w, CLIENT, wire).is_none() {
            let (now, tuple) = (w.now, w.client_tuple(wire));
            w.ends[CLIENT].add_path(now, id, tuple, None).expect("the peer can follow");
            w.pump();
        }
    }
}

/// Share of `side`'s DATA chunks that leave over a wire, from 200 messages.
fn share(w: &mut TestPair, side: usize, wire: usize) -> f64 {
    let sent = |w: &TestPair, wire: usize| {
        let path = path(w, side, wire).expect("an open path");
        w.association(side).path_stats(path).expect("a path").chunks_sent
    };
    let all = 0..w.wires.len();
    let before: Vec<u64> = all.clone().map(|wire| sent(w, wire)).collect();
    let received = w.apps[1 - side].messages.len();
    for i in 0..200 {
        w.send(side, pattern(i * 1000, 1000), SendOptions::default());
        w.run(ms(10));
    }
    assert!(w.run_until(ms(60_000), |w| w.apps[1 - side].messages.len() == received + 200), "all arrive");
    let after: Vec<u64> = all.map(|wire| sent(w, wire)).collect();
    let total: u64 = after.iter().sum::<u64>() - before.iter().sum::<u64>();
    (after[wire] - before[wire]) as f64 / total as f64
}

fn run(case: &Case) {
    let Case { side, wanted, .. } = *case;
    let mut w = pair(&case.delays, case.transport(), case.seed);
    w.filter = losing(case.lost);
    w.connect_with(Box::new(rfc::scheme()));
    let mut asked = None;
    ask(&mut w, side, wanted, &mut asked);
    if case.early {
        for i in 0..20 {
            w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
        }
    }
    let works = |w: &TestPair| (0..w.wires.len()).all(|wire| (0..2).all(|side| confirmed(w, side, wire)));
    let end = w.now + Duration::from_secs(3600);
    let mut since = None;
    // Reports of which path is which may come late.
    while since.is_none_or(|at| w.now < at + Duration::from_secs(100)) {
        assert!(w.step(end), "all paths work within an hour: {:?} {:?}", w.states(CLIENT), w.reasons());
        ask(&mut w, side, wanted, &mut asked);
        check(&w, side, wanted);
        reopen(&mut w);
        since = works(&w).then(|| since.unwrap_or(w.now));
    }
    w.filter = Box::new(|_, _, _, _| true);
    assert!(
        w.run_until(ms(60_000), |w| w.association(CLIENT).send_buffered() == 0),
        "what was sent early arrives"
    );
    check(&w, side, wanted);
    let share = share(&mut w, side, wanted);
    assert!(share > 0.9, "{share} over the wire that was asked for");
    check(&w, side, wanted);
}

#[test]
fn whatever_is_lost_of_the_handshake() {
    let command = "cargo test -p strandcast-proto --test it primary::whatever_is_lost_of_the_handshake";
    adversary::holds_for(command, 500, &Case::strategy(), run);
}

/// Each of the first packets, for each wire and both sides.
#[test]
fn whichever_packet_is_lost_of_the_handshake() {
    let delays = [30, 5, 60, 5];
    for wires in 2..=4 {
        for (wanted, side) in (0..wires).flat_map(|wanted| [(wanted, CLIENT), (wanted, SERVER)]) {
            for (kind, nth, live) in
                (0..6).flat_map(|k| (0..8).flat_map(move |n| [(k, n, false), (k, n, true)]))
            {
                let mut lost = [0; 6];
                lost[kind] = 1 << nth;
                let delays = delays[..wires].to_vec();
                let case = Case { seed: 1, delays, side, wanted, live, sealed: false, early: true, lost };
                let _again = Replay(&case);
                run(&case);
            }
        }
    }
}

/// Prints a case that failed.
struct Replay<'a>(&'a Case);
impl Drop for Replay<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("again: run(&{:?})", self.0);
        }
    }
}

/// Wires of which the handshake uses the second: the first one is still dead.
fn by_the_second_wire(delays: &[u64]) -> TestPair {
    let mut w = pair(delays, config(), 1);
    w.wires[0].up = [false; 2];
    w
}

/// As [`TestPair::up`] with RFC 9260's scheme; the first wire works once the association is there.
fn up(w: &mut TestPair) {
    w.connect_with(Box::new(rfc::scheme()));
    assert!(w.run_until(ms(30_000), |w| connected(w, CLIENT)));
    w.wires[0].up = [true; 2];
}

/// Without a request the path of the handshake is the primary (RFC 9260 §6.4), and stays it.
#[test]
fn without_a_primary_request_the_path_of_the_handshake_stays_the_primary() {
    let mut w = by_the_second_wire(&[10, 10]);
    up(&mut w);
    w.run(ms(20_000));
    assert_eq!(w.states(CLIENT), [PathState::Active; 2]);
    assert_eq!((primary(&w, CLIENT), primary(&w, SERVER)), (1, 1));
    assert!(share(&mut w, CLIENT, 1) > 0.99);
}

/// "Instructs the local SCTP to use the specified destination transport address as the primary path for sending packets" (RFC
/// 9260 §11.1.6): also while the association lives.
#[test]
fn the_primary_may_be_changed_at_any_time() {
    let mut w = pair(&[10, 20, 30], config(), 1);
    w.connect_with(Box::new(rfc::scheme()));
    w.run(ms(5000));
    for (side, wire) in [(CLIENT, 2), (SERVER, 1), (CLIENT, 1), (SERVER, 2), (CLIENT, 0)] {
        want(&mut w, side, wire);
        assert_eq!(primary(&w, side), wire);
        assert!(share(&mut w, side, wire) > 0.99, "{side} {wire}");
    }
    let (id, now) = (w.apps[CLIENT].id.expect("an association"), w.now);
    for none in [PathId(3), PathId(200)] {
        let refused = w.ends[CLIENT].with(id, |a| a.set_primary(now, none));
        assert_eq!(refused, Err(AssociationError::UnknownPath));
    }
    assert_eq!(primary(&w, CLIENT), 0);
}

/// A path that is closed and opened again, in another slot or under another port, is the primary again.
#[test]
fn a_primary_that_comes_back_is_the_primary() {
    for port in [40_000, 41_000] {
        let mut w = by_the_second_wire(&[10, 10, 10]);
        w.connect_with(Box::new(rfc::scheme()));
        want(&mut w, CLIENT, 0);
        assert!(w.run_until(ms(30_000), |w| connected(w, CLIENT)));
        let id = w.apps[CLIENT].id.expect("an association");
        let remove = |w: &mut TestPair, wire| {
            let (now, path) = (w.now, path(w, CLIENT, wire).expect("an open path"));
            w.ends[CLIENT].with(id, |a| a.remove_path(now, path)).expect("another is there");
            w.pump();
        };
        let add = |w: &mut TestPair, wire| {
            let (now, tuple) = (w.now, w.client_tuple(wire));
            w.ends[CLIENT].add_path(now, id, tuple, None).expect("it may join");
            w.pump();
            w.run(ms(5000));
        };
        // It was not confirmed yet.
        remove(&mut w, 0);
        w.wires[0].up = [true; 2];
        w.run(ms(5000));
        assert_eq!(primary(&w, CLIENT), 1);
        remove(&mut w, 2);
        // The other one takes its slot.
        add(&mut w, 2);
        assert_eq!((primary(&w, CLIENT), path(&w, CLIENT, 2)), (1, Some(P0)));
        w.wires[0].inside.set_port(port);
        add(&mut w, 0);
        assert_eq!((primary(&w, CLIENT), path(&w, CLIENT, 0)), (0, Some(PathId(2))));
        assert!(share(&mut w, CLIENT, 0) > 0.99);
        remove(&mut w, 0);
        assert_ne!(primary(&w, CLIENT), 0);
        add(&mut w, 0);
        assert_eq!(primary(&w, CLIENT), 0);
    }
}

/// A suspended path carries no data: another one does, and the primary carries them again once it is resumed.
#[test]
fn a_suspended_primary_carries_data_once_it_is_resumed() {
    let mut w = by_the_second_wire(&[10, 10]);
    w.connect_with(Box::new(rfc::scheme()));
    want(&mut w, CLIENT, 0);
    let id = w.apps[CLIENT].id.expect("an association");
    let suspend = |w: &mut TestPair, aside| {
        let now = w.now;
        w.ends[CLIENT].with(id, |a| a.suspend_path(now, P0, aside)).expect("it is there");
        w.run(ms(5000));
    };
    suspend(&mut w, true);
    assert!(w.run_until(ms(30_000), |w| connected(w, CLIENT)));
    w.wires[0].up = [true; 2];
    w.run(ms(20_000));
    assert!(share(&mut w, CLIENT, 1) > 0.99, "{:?}", w.states(CLIENT));
    suspend(&mut w, false);
    assert!(share(&mut w, CLIENT, 0) > 0.99, "{:?}", w.states(CLIENT));
}

/// RFC 9260 §6.4.1, RFC 7829 §5: data leave a primary that fails, and return once it works.
#[test]
fn data_return_to_the_primary() {
    let mut w = by_the_second_wire(&[10, 10]);
    w.connect_with(Box::new(rfc::scheme()));
    want(&mut w, CLIENT, 0);
    assert!(w.run_until(ms(30_000), |w| connected(w, CLIENT)));
    assert!(share(&mut w, CLIENT, 1) > 0.99, "until it is confirmed");
    w.wires[0].up = [true; 2];
    assert!(w.run_until(ms(60_000), |w| confirmed(w, CLIENT, 0)));
    assert!(share(&mut w, CLIENT, 0) > 0.99);
    w.wires[0].up = [false; 2];
    w.send(CLIENT, pattern(0, 1000), SendOptions::default());
    assert!(w.run_until(ms(600_000), |w| w.states(CLIENT)[0] == PathState::Inactive));
    assert!(share(&mut w, CLIENT, 1) > 0.99, "while it fails");
    w.wires[0].up = [true; 2];
    assert!(w.run_until(ms(600_000), |w| w.states(CLIENT)[0] == PathState::Active));
    assert!(share(&mut w, CLIENT, 0) > 0.99);
}

/// The peer restarts: the requests also apply to the new instance (RFC 9260 §5.2.4 A).
#[test]
fn a_primary_request_outlives_a_restart_of_the_peer() {
    for wanted in 0..3 {
        let mut w = pair(&[10, 20, 30], config(), 1);
        w.connect_with(Box::new(rfc::scheme()));
        w.run(ms(5000));
        want(&mut w, SERVER, wanted);
        let fresh = pair(&[1], config(), 2).ends.into_iter().next();
        w.ends[CLIENT] = fresh.expect("an endpoint");
        w.apps[CLIENT] = App::default();
        w.connect_with(Box::new(rfc::scheme()));
        w.run(ms(5000));
        assert!(w.saw(SERVER, &Event::Restarted));
        assert_eq!(w.states(SERVER), [PathState::Active; 3]);
        assert_eq!(primary(&w, SERVER), wanted);
        assert!(share(&mut w, SERVER, wanted) > 0.99);
    }
}

/// Answers the packets in `out` as a foreign peer does, except those on a path of `deaf`, and the output that the
/// answers cause.
fn answer(l: &mut RawPeer, out: Vec<SentPacket>, deaf: &[LinkId]) {
    for sent in out.into_iter().filter(|sent| !deaf.contains(&sent.tuple.link)) {
        for chunk in sent.chunks {
            let (tag, reply): (u32, Chunk) = match chunk {
                Chunk::Init(init) => {
                    (l.tag, l.tsn) = (init.initiate_tag.0, init.initial_tsn.0);
                    let cookie = Param::StateCookie(Bytes::from_static(b"cookie"));
                    let others = (1..3).map(|i| Param::Address([198, 51, 100 + i, 7].into()));
                    (l.tag, InitAck(raw::init(others.chain([cookie]).collect())).into())
                }
                Chunk::CookieEcho(_) => (l.tag, CookieAck.into()),
                Chunk::Heartbeat(heartbeat) => (l.tag, HeartbeatAck { info: heartbeat.info }.into()),
                _ => continue,
            };
            let more = l.give_bytes(sent.tuple, raw::packet(tag, &[reply]));
            answer(l, more, deaf);
        }
    }
}

/// Lets time pass, with [`answer`].
fn run_answered(l: &mut RawPeer, time: Duration, deaf: &[LinkId]) {
    for _ in 0..time.as_millis() {
        let out = l.run(ms(1));
        answer(l, out, deaf);
    }
}

/// Link by which a message leaves at once.
fn goes(l: &mut RawPeer) -> LinkId {
    let out = l.send(&b"data"[..], SendOptions::default());
    let data = out.iter().find(|sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Data(_))));
    data.expect("there is room").tuple.link
}

/// A foreign peer that lists its addresses: those paired with the paths that the handshake did not use are probed, and
/// the requested one is the primary once it answers (RFC 9260 §5.4).
#[test]
fn towards_another_stack() {
    let announcing = TransportConfig { announce: true, ..config() };
    let links = [0, 1, 2].map(LinkId);
    for (through, wanted) in links.into_iter().flat_map(|through| links.map(|wanted| (through, wanted))) {
        let mut l = RawPeer::new(announcing.clone());
        let local = |link: LinkId| SocketAddr::from(([10, 0, link.0 as u8, 2], 9899));
        let tuple = |link| (FourTuple::new(link, local(link), l.tuple.remote), None);
        let paths = links.map(tuple).to_vec();
        let connect = Connect { paths, port: raw::PORT, scheme: Box::new(rfc::scheme()), transport: None };
        let id = l.end.connect(l.now, connect).expect("a free endpoint");
        l.id = Some(id);
        l.end.with(id, |a| a.set_primary(l.now, PathId(wanted.0 as u8))).expect("it is there");
        let deaf: Vec<LinkId> = links.into_iter().filter(|link| *link != through).collect();
        run_answered(&mut l, ms(8000), &deaf);
        assert!(l.saw(&Event::Connected { peer_is_strandcast: false }));
        assert_eq!(goes(&mut l), through, "until another one answers");
        run_answered(&mut l, ms(60_000), &[]);
        assert!(l.association().paths().iter().all(|p| p.state == PathState::Active), "{through:?}");
        assert_eq!(l.association().primary(), PathId(wanted.0 as u8), "{through:?}");
    }
}

/// The accepting side: the peer only claims to be at the addresses that its INIT lists.
#[test]
fn an_address_that_is_only_claimed_is_no_primary() {
    let announcing = TransportConfig { announce: true, ..config() };
    let locals = (1..=2).map(|i| (LinkId(i), SocketAddr::from(([192, 0, i as u8, 1], 9899)))).collect();
    let accept: SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
    let transport = Arc::new(announcing);
    let mut l =
        RawPeer::with(EndpointConfig { locals, transport, accept: Some(accept), ..Default::default() });
    l.shake_hands(vec![Param::Address([203, 0, 113, 9].into())]);
    let id = l.id.expect("an association");
    assert_eq!(l.association().paths().len(), 2);
    l.end.with(id, |a| a.set_primary(l.now, P1)).expect("it is there");
    run_answered(&mut l, ms(3000), &[LinkId(1)]);
    assert_eq!((l.association().primary(), goes(&mut l)), (P0, LinkId(0)));
    run_answered(&mut l, ms(20_000), &[]);
    assert_eq!(l.association().primary(), P1);
}
