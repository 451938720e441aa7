//! Endpoints with a seal: packets in envelopes, sessions that do not mix, and addresses that the seal proves.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event, PathChange, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::{Envelope, FourTuple, SealId};
use strandcast_proto::policy::PathState;
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_proto::wire::chunk::report::{KIND_JOIN, KIND_MOVED};
use strandcast_proto::wire::chunk::{
    Abort, CookieEcho, Heartbeat, Init, InitAck, Report, ReportItem, ReportItemFlavour, auth,
};
use strandcast_proto::wire::{Chunk, Header, Packet, PacketWriter, Param, VerificationTag};
use strandcast_testing::endpoints::*;
use strandcast_testing::raw;
use strandcast_testing::raw::{OUR_TAG, PORT, data, init};

const ENVELOPE: Envelope = Envelope { front: 13, back: 16 };
/// IPv4 and UDP.
const HEADERS: usize = 28;

/// The common header and the chunks of a packet.
fn chunks(packet: &[u8]) -> Vec<Chunk> {
    let packet = Packet::authentic(Bytes::copy_from_slice(packet)).expect("a packet");
    packet.chunks().map(|c| c.expect("well-formed").1).collect()
}

#[test]
fn transfers_survive_bad_networks() {
    let mut largest_batch = 0;
    for seed in 0..12 {
        // A single path takes whole batches.
        let delays = &[10, 25, 40][..=seed as usize % 3];
        let mut w = TestPair::sealed(delays, TransportConfig::live(), seed);
        w.up();
        w.wires.iter_mut().for_each(|wire| (wire.loss, wire.duplicate, wire.jitter) = (0.05, 0.05, ms(15)));
        for n in 0..40 {
            w.send(CLIENT, pattern(n * 9000, 9000), SendOptions::default());
            w.send(SERVER, pattern(n * 700, 700), SendOptions::default());
            w.run(ms(20));
        }
        w.run(ms(60_000));
        assert_eq!(w.received(SERVER), pattern(0, 40 * 9000), "seed {seed}");
        assert_eq!(w.received(CLIENT), pattern(0, 40 * 700), "seed {seed}");
        assert_eq!(w.states(CLIENT), vec![PathState::Active; delays.len()], "seed {seed}");
        assert_eq!(w.states(SERVER), vec![PathState::Active; delays.len()], "seed {seed}");
        assert_eq!(w.ends.each_ref().map(Endpoint::dropped), [(0, 0); 2], "seed {seed}");
        let id = w.apps[CLIENT].id.expect("connected");
        w.ends[CLIENT].shutdown(w.now, id);
        w.pump();
        w.run(ms(10_000));
        for side in [CLIENT, SERVER] {
            assert!(w.saw(side, &Event::Closed(CloseReason::Shutdown)), "seed {seed}, side {side}");
        }
        largest_batch = largest_batch.max(w.largest_batch);
    }
    assert!(largest_batch > 2, "{largest_batch} datagrams in the largest batch");
}

/// Packets, bytes, and the longest.
type Book = (u64, u64, usize);

#[test]
fn packets_have_no_checksum_and_fit_the_mtu_in_their_envelopes() {
    let mut w = TestPair::sealed(&[10, 25], TransportConfig::default(), 1);
    let seen: Rc<RefCell<BTreeMap<(usize, usize), Book>>> = Rc::default();
    let book = Rc::clone(&seen);
    w.filter = Box::new(move |_, from, wire, packet| {
        assert_eq!(packet[8..12], [0; 4], "RFC 9653 §5.2");
        let mut book = book.borrow_mut();
        let (packets, bytes, longest) = book.entry((from, wire)).or_default();
        (*packets, *bytes, *longest) =
            (*packets + 1, *bytes + packet.len() as u64, (*longest).max(packet.len()));
        true
    });
    w.up();
    // DATA chunks with 16 bytes of header that fill packets.
    for n in 0..80 {
        w.send(CLIENT, pattern(n * 1312, 1312), SendOptions::default());
    }
    w.run(ms(5000));
    assert_eq!(w.received(SERVER), pattern(0, 80 * 1312));
    for n in 0..2 {
        let (packets, bytes, longest) = seen.borrow()[&(CLIENT, n)];
        let stats = w.association(CLIENT).path_stats(w.association(CLIENT).paths()[n].id).expect("a path");
        assert_eq!((stats.packets_sent, stats.bytes_sent), (packets, bytes), "envelopes are not counted");
        // 1400 bytes less IP, UDP and envelope, in words: 1343, so 1340.
        assert!(longest <= 1340, "{longest}");
        assert_eq!(w.association(CLIENT).paths()[n].mtu, 1340 - 12);
    }
    let longest = seen.borrow().values().map(|s| s.2).max().expect("packets");
    assert_eq!(longest, 1340, "and they are filled");
}

#[test]
fn ipv6_leaves_twenty_bytes_less() {
    let mut l = Sealed::new(TransportConfig::default());
    let local = "[2001:db8::1]:9899".parse().expect("an address");
    let remote = "[2001:db8::2]:40000".parse().expect("an address");
    l.tuple = FourTuple { local, remote, ..l.tuple };
    let id = l.open();
    // 1400 - 48 - 29 = 1323, in words 1320.
    assert_eq!(l.end.association(id).expect("there").paths()[0].mtu, 1320 - 12);
}

#[test]
fn nothing_is_signed_and_no_address_is_listed() {
    let announcing = TransportConfig { announce: true, ..TransportConfig::live() };
    let mut w = TestPair::sealed(&[10, 25], announcing, 1);
    let seen: Rc<RefCell<Vec<Chunk>>> = Rc::default();
    let book = Rc::clone(&seen);
    w.filter = Box::new(move |_, _, _, packet| {
        book.borrow_mut().extend(chunks(packet));
        true
    });
    w.up();
    // Heartbeats of a path with errors name the path.
    w.wires[1].up = [true, false];
    w.run(ms(60_000));
    w.wires[1].up = [true; 2];
    w.run(ms(60_000));
    assert_eq!(w.states(CLIENT), [PathState::Active; 2]);
    let (mut inits, mut joins) = (0, 0);
    for chunk in seen.borrow().iter() {
        match chunk {
            Chunk::Init(init) | Chunk::InitAck(InitAck(init)) => {
                inits += 1;
                let signs = |p: &Param| {
                    matches!(p, Param::Random(_) | Param::HmacAlgo(_) | Param::Chunks(_) | Param::Address(_))
                };
                assert!(!init.params.iter().any(signs), "{init:?}");
                let lists_auth =
                    |p: &Param| matches!(p, Param::SupportedExtensions(types) if types.contains(&auth::TYPE));
                assert!(!init.params.iter().any(lists_auth), "{init:?}");
            }
            Chunk::Auth(_) => panic!("AUTH inside the envelope"),
            Chunk::Report(report) => {
                assert!(report.items.iter().all(|i| i.kind != KIND_MOVED), "{report:?}");
                joins += report.items.iter().filter(|i| i.kind == KIND_JOIN).count();
            }
            _ => {}
        }
    }
    assert!(inits >= 2 && joins >= 4, "{inits} INITs, {joins} JOINs");
}

/// The COOKIE ACK on the path of the first COOKIE ECHO is lost: both sides agree in the end which path is which.
#[test]
fn paths_get_their_names_when_the_cookie_comes_twice() {
    for seed in 0..10 {
        let mut w = TestPair::sealed(&[10, 11, 12], TransportConfig::live(), seed);
        w.wires.iter_mut().for_each(|wire| (wire.loss, wire.jitter) = (0.3, ms(20)));
        w.connect();
        assert!(w.run_until(ms(20_000), |w| w.apps[CLIENT].events.iter().any(connected)), "seed {seed}");
        w.wires.iter_mut().for_each(|wire| (wire.loss, wire.jitter) = (0.0, ms(0)));
        w.send(CLIENT, pattern(0, 20_000), SendOptions::default());
        w.run(ms(9000));
        assert_eq!(w.received(SERVER), pattern(0, 20_000), "seed {seed}");
        assert_eq!(w.states(CLIENT), [PathState::Active; 3], "seed {seed}");
        assert_eq!(w.apps[SERVER].events.iter().filter(|e| connected(e)).count(), 1, "seed {seed}");
    }
}

fn connected(event: &Event) -> bool {
    matches!(event, Event::Connected { .. })
}

/// A path that the server has given up is opened again by the client's heartbeats, without MOVED.
#[test]
fn a_path_that_the_peer_gave_up_comes_back() {
    let mut w = TestPair::sealed(&[10, 25], TransportConfig::live(), 5);
    w.up();
    let id = w.apps[SERVER].id.expect("connected");
    let gone = w.server_tuple(1);
    // The server's reports about it are lost in transit.
    w.wires.iter_mut().for_each(|wire| wire.up = [false; 2]);
    let mut path = w.association(SERVER).paths().iter().map(|p| p.id);
    let path = path.find(|p| w.association(SERVER).tuple(*p) == Some(gone)).expect("the path");
    w.ends[SERVER].with(id, |a| a.remove_path(w.now, path)).expect("two paths");
    w.pump();
    w.filter = Box::new(|_, from, _, packet| {
        let leaves = |c: &Chunk| matches!(c, Chunk::Report(r) if r.items.iter().any(|i| i.kind == 2));
        from == CLIENT || !chunks(packet).iter().any(leaves)
    });
    w.wires.iter_mut().for_each(|wire| wire.up = [true; 2]);
    w.run(ms(60_000));
    assert_eq!(w.states(CLIENT), [PathState::Active; 2]);
    let open = w.states(SERVER).iter().filter(|s| **s == PathState::Active).count();
    assert_eq!(open, 2, "{:?}", w.states(SERVER));
}

#[test]
fn a_path_that_the_seal_moved_goes_on_at_once() {
    let mut w = TestPair::sealed(&[20, 30], TransportConfig::live(), 2);
    w.up();
    w.send(CLIENT, pattern(0, 50_000), SendOptions::default());
    w.send(SERVER, vec![1; 50_000], SendOptions::default());
    w.run(ms(3000));
    for turn in 0..20 {
        let from = w.server_tuple(0);
        w.wires[0].outside.set_port(50_001 + turn);
        let to = w.server_tuple(0);
        let before = w.association(SERVER).stats().clone();
        let at = |w: &TestPair, t| {
            w.association(SERVER)
                .paths()
                .iter()
                .map(|p| p.id)
                .find(|p| w.association(SERVER).tuple(*p) == Some(t))
        };
        let path = at(&w, from).expect("a path was there");
        let counters = w.association(SERVER).path_stats(path).expect("counters").packets_received;
        let trip = w.association(SERVER).paths()[path.index()].srtt;
        assert!(counters > 0 && trip.is_some(), "something is known of it");
        w.ends[SERVER].path_moved(w.now, from, to);
        assert_eq!(at(&w, to), Some(path), "the same path");
        assert_eq!(w.association(SERVER).stats(), &before);
        let view = &w.association(SERVER).paths()[path.index()];
        assert_eq!((view.state, view.srtt), (PathState::Active, trip));
        assert_eq!(w.association(SERVER).path_stats(path).map(|s| s.packets_received), Some(counters));
        w.send(CLIENT, pattern(50_000 * (1 + turn as usize), 50_000), SendOptions::default());
        w.send(SERVER, vec![1; 500], SendOptions::default());
        w.run(ms(1000));
        assert!(w.saw(SERVER, &Event::Path(path, PathChange::Moved)));
    }
    assert_eq!(w.received(SERVER), pattern(0, 21 * 50_000));
    assert_eq!(w.received(CLIENT).len(), 50_000 + 20 * 500);
    assert_eq!(w.states(SERVER), [PathState::Active; 2]);
    assert_eq!(w.association(CLIENT).stats().bad_packets + w.association(SERVER).stats().bad_packets, 0);
}

/// A NAT gives each of two paths the other's port: one news moves both.
#[test]
fn paths_exchange_addresses() {
    let mut w = TestPair::sealed(&[20, 30], TransportConfig::live(), 2);
    w.up();
    let (a, b) = (w.server_tuple(0), w.server_tuple(1));
    let at = |w: &TestPair| {
        w.association(SERVER).paths().iter().map(|p| w.association(SERVER).tuple(p.id)).collect::<Vec<_>>()
    };
    let before = at(&w);
    (w.wires[0].outside, w.wires[1].outside) = (w.wires[1].outside, w.wires[0].outside);
    w.ends[SERVER].path_moved(w.now, a, b);
    assert_eq!(at(&w), before.iter().rev().copied().collect::<Vec<_>>());
    w.send(CLIENT, pattern(0, 200_000), SendOptions::default());
    w.run(ms(5000));
    assert_eq!(w.received(SERVER), pattern(0, 200_000));
    assert_eq!(w.states(SERVER), [PathState::Active; 2]);
}

/// The local side has a new socket for a path.
#[test]
fn a_path_moves_with_its_socket() {
    let mut w = TestPair::sealed(&[20, 30], TransportConfig::live(), 3);
    w.up();
    w.wires[0].inside.set_port(41_000);
    let (id, to) = (w.apps[CLIENT].id.expect("connected"), w.client_tuple(0));
    let clear = FourTuple { sealed: SealId::CLEAR, ..to };
    w.ends[CLIENT].with(id, |a| a.move_path(w.now, P0, clear)).expect("it may move");
    assert_eq!(w.association(CLIENT).tuple(P0), Some(to), "in its session");
    w.send(CLIENT, pattern(0, 200_000), SendOptions::default());
    w.run(ms(5000));
    assert_eq!(w.received(SERVER), pattern(0, 200_000));
    assert_eq!(w.states(CLIENT), [PathState::Active; 2]);
}

#[test]
fn a_session_that_ends_takes_its_associations_along_in_silence() {
    let mut w = TestPair::sealed(&[20, 30], TransportConfig::live(), 2);
    w.up();
    w.send(CLIENT, pattern(0, 50_000), SendOptions::default());
    let id = w.apps[CLIENT].id.expect("connected");
    assert_eq!(w.ends[CLIENT].sealed(id), Some(SealId(3)));
    let why = || CloseReason::SealLost("revoked".into());
    w.ends[CLIENT].close_sealed(w.now, SealId(4), why());
    assert!(w.ends[CLIENT].has_sealed(SealId(3)) && !w.ends[CLIENT].has_sealed(SealId(4)));
    let sent = w.sent.clone();
    w.ends[CLIENT].close_sealed(w.now, SealId(3), why());
    w.pump();
    assert_eq!(w.apps[CLIENT].events.last(), Some(&Event::Closed(why())));
    assert!(!w.ends[CLIENT].has_sealed(SealId(3)));
    assert_eq!(w.sent, sent, "not a word");
    assert!(w.association(CLIENT).is_closed());
    // Its 4-tuples are free again.
    w.ends[CLIENT].release(id);
    w.apps[CLIENT].id = None;
    w.connect();
}

/// An endpoint with an envelope, and packets made by hand.
struct Sealed {
    end: Endpoint,
    now: Instant,
    tuple: FourTuple,
}

impl Sealed {
    fn new(transport: TransportConfig) -> Self {
        let config = EndpointConfig {
            transport: Arc::new(TransportConfig { envelope: ENVELOPE, ..transport }),
            accept: Some(Arc::new(|_| Box::new(rfc::scheme()))),
            ..EndpointConfig::default()
        };
        let tuple = FourTuple { sealed: SealId(1), ..FourTuple::loopback(9899, 40_000) };
        Sealed { end: Endpoint::new(config, &Seeds::new(7, 0)), now: Instant::from_millis(100_000), tuple }
    }

    fn session(&self, n: u64) -> FourTuple {
        FourTuple { sealed: SealId(n), ..self.tuple }
    }

    fn raw(
        &mut self,
        tuple: FourTuple,
        data: Vec<u8>,
        segment_size: usize,
    ) -> Vec<(FourTuple, u32, Vec<Chunk>)> {
        self.end.handle_input(self.now, Input::Datagrams { tuple, data: data.into(), segment_size });
        self.take()
    }

    fn give(&mut self, tuple: FourTuple, tag: u32, chunks: &[Chunk]) -> Vec<(FourTuple, u32, Vec<Chunk>)> {
        let datagram = datagram(tag, chunks);
        let len = datagram.len();
        self.raw(tuple, datagram, len)
    }

    fn take(&mut self) -> Vec<(FourTuple, u32, Vec<Chunk>)> {
        let (mut out, mut buf) = (Vec::new(), Vec::new());
        while let Some(t) = self.end.poll_output(self.now, &mut buf) {
            for datagram in buf.chunks(t.segment_size) {
                let packet = &datagram[ENVELOPE.front..datagram.len() - ENVELOPE.back];
                let tag = u32::from_be_bytes(packet[4..8].try_into().expect("four bytes"));
                out.push((t.tuple, tag, chunks(packet)));
            }
            buf.clear();
        }
        out
    }

    /// Answer to an INIT with `params`: the local tag and the cookie.
    fn cookie(&mut self, tuple: FourTuple, its_tag: u32, params: Vec<Param>) -> (u32, Bytes) {
        let init = Init { initiate_tag: VerificationTag(its_tag), ..init(params) };
        let out = self.give(tuple, 0, &[init.into()]);
        let [(to, tag, answer)] = &out[..] else { panic!("no answer: {out:?}") };
        let [Chunk::InitAck(ack)] = &answer[..] else { panic!("no INIT ACK: {answer:?}") };
        assert_eq!((*to, *tag), (tuple, its_tag));
        (ack.0.initiate_tag.0, ack.state_cookie().expect("a cookie").clone())
    }

    /// Opens an association in the session of `tuple`. Returns the local tag.
    fn shake_hands(&mut self, tuple: FourTuple) -> u32 {
        self.shake_hands_with(tuple, OUR_TAG, vec![])
    }

    fn shake_hands_with(&mut self, tuple: FourTuple, its_tag: u32, params: Vec<Param>) -> u32 {
        let (tag, cookie) = self.cookie(tuple, its_tag, params);
        let out = self.give(tuple, tag, &[CookieEcho { cookie }.into()]);
        assert!(
            matches!(&out[..], [(to, _, answer)] if *to == tuple && matches!(answer[0], Chunk::CookieAck(_)))
        );
        tag
    }

    fn open(&mut self) -> AssociationId {
        self.shake_hands(self.tuple);
        let mut ids = std::iter::from_fn(|| self.end.poll_event()).map(|(id, _)| id);
        ids.next().expect("an event")
    }

    /// Payload of all associations.
    fn received(&mut self) -> Vec<(SealId, Bytes)> {
        let mut all = Vec::new();
        for n in 0..8 {
            let id = AssociationId(n);
            while let Some(m) = self.end.recv(id) {
                all.push((self.end.sealed(id).expect("there"), m.payload));
            }
        }
        all
    }
}

fn datagram(tag: u32, chunks: &[Chunk]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header { source_port: PORT, destination_port: PORT, verification_tag: VerificationTag(tag) };
    let mut w = PacketWriter::within(ENVELOPE, &mut bytes, header);
    for c in chunks {
        w.chunk(c);
    }
    w.finish();
    bytes
}

#[test]
fn no_session_reaches_an_association_of_another() {
    let mut l = Sealed::new(TransportConfig::default());
    let (one, two) = (l.session(1), l.session(2));
    let tag = l.shake_hands(one);
    // A packet with the right tag and the right addresses, but in another session, is out of the blue.
    let out = l.give(two, tag, &[data(1000, 0, b"forged")]);
    assert!(
        matches!(&out[..], [(to, _, answer)] if *to == two && matches!(answer[0], Chunk::Abort(_))),
        "{out:?}"
    );
    assert_eq!(l.received(), []);
    for (its_tag, reflected_tag) in [(tag, false), (OUR_TAG, true)] {
        l.give(two, its_tag, &[Abort { reflected_tag, causes: vec![] }.into()]);
        assert!(l.end.has_sealed(SealId(1)), "an ABORT of another session");
    }
    // An INIT in the other session is not a restart of the first session's association.
    let (_, cookie) = l.cookie(one, OUR_TAG, vec![]);
    let tag_of_two = l.shake_hands(two);
    assert!(l.end.has_sealed(SealId(1)) && l.end.has_sealed(SealId(2)));
    // A cookie is valid in its own session only.
    let three = l.session(3);
    for its_tag in [tag, tag_of_two, 77] {
        let before = l.end.dropped().0;
        assert!(l.give(three, its_tag, &[CookieEcho { cookie: cookie.clone() }.into()]).is_empty());
        assert_eq!(l.end.dropped().0, before + 1);
    }
    assert!(!l.end.has_sealed(SealId(3)));
    let restarts = std::iter::from_fn(|| l.end.poll_event()).filter(|(_, e)| *e == Event::Restarted).count();
    assert_eq!(restarts, 0);
    // Both work.
    l.give(one, tag, &[data(1000, 0, b"one")]);
    l.give(two, tag_of_two, &[data(1000, 0, b"two")]);
    let expected = [(SealId(1), Bytes::from_static(b"one")), (SealId(2), Bytes::from_static(b"two"))];
    assert_eq!(l.received(), expected);
}

#[test]
fn a_restart_within_a_session_is_one() {
    let mut l = Sealed::new(TransportConfig::default());
    l.shake_hands(l.tuple);
    l.shake_hands_with(l.tuple, OUR_TAG + 1, vec![]);
    let restarts = std::iter::from_fn(|| l.end.poll_event()).filter(|(_, e)| *e == Event::Restarted).count();
    assert_eq!(restarts, 1);
}

#[test]
fn what_is_not_in_an_envelope_is_dropped_and_counted() {
    let mut l = Sealed::new(TransportConfig::default());
    let tag = l.shake_hands(l.tuple);
    let whole = datagram(tag, &[data(1000, 0, b"whole")]);
    for len in 0..ENVELOPE.len() + 12 {
        let before = l.end.dropped().0;
        l.raw(l.tuple, whole[..len].to_vec(), len);
        assert_eq!(l.end.dropped().0 - before, u64::from(len > 0), "{len} bytes");
    }
    let clear = raw::packet(tag, &[data(1000, 0, b"clear")]);
    let before = l.end.dropped().0;
    l.give(l.session(0), tag, &[data(1000, 0, b"in the clear")]);
    l.raw(l.session(0), clear.clone(), clear.len());
    assert_eq!(l.end.dropped().0, before + 2);
    assert_eq!(l.received(), []);
    // The other way round: an endpoint without a seal.
    let mut plain = raw::RawPeer::accepted(TransportConfig::default(), vec![]);
    let before = plain.end.dropped().0;
    let bytes = raw::packet(plain.tag, &[data(1000, 0, b"sealed?")]);
    let sealed = FourTuple { sealed: SealId(1), ..plain.tuple };
    assert!(plain.give_bytes(sealed, bytes).is_empty());
    assert_eq!((plain.end.dropped().0, plain.messages.len()), (before + 1, 0));
}

#[test]
fn a_batch_is_taken_apart_with_its_envelopes() {
    let mut l = Sealed::new(TransportConfig::default());
    let tag = l.shake_hands(l.tuple);
    let part = |n: u32| datagram(tag, &[data(1000 + n, n as u16, &pattern(n as usize * 400, 400))]);
    let size = part(0).len();
    let mut batch: Vec<u8> = (0..5).flat_map(part).collect();
    batch.extend(datagram(tag, &[data(1005, 5, &pattern(2000, 40))]));
    l.raw(l.tuple, batch, size);
    let payload: Vec<u8> = l.received().into_iter().flat_map(|(_, p)| p).collect();
    assert_eq!(payload, pattern(0, 2040));
}

/// A REPORT about a path, as a side with a seal sends it.
fn report(kind: u16, path: u16, serial: u32) -> Chunk {
    let reliability = ReportItemFlavour::Reliable(serial);
    let item = ReportItem { kind, path: Some(path), reliability, payload: Bytes::new() };
    Report { items: std::iter::once(item).collect() }.into()
}

#[test]
fn moved_is_not_believed_and_join_is() {
    let mut l = Sealed::new(TransportConfig::default());
    let types = strandcast_proto::wire::chunk::report::TYPE;
    let params = vec![Param::SupportedExtensions(vec![types].into())];
    let tag = l.shake_hands_with(l.tuple, OUR_TAG, params);
    let id = AssociationId(0);
    let there = FourTuple { remote: ([127, 0, 0, 1], 40_001).into(), ..l.tuple };
    let heartbeat = || Heartbeat { info: Bytes::from_static(b"twelve bytes") }.into();
    let out = l.give(there, tag, &[report(KIND_MOVED, 0, 9), heartbeat()]);
    assert!(out.iter().all(|(to, ..)| *to != there) || !out.iter().any(|(_, _, c)| probes(c)), "{out:?}");
    let association = l.end.association(id).expect("there");
    assert_eq!((association.paths().len(), association.tuple(P0)), (1, Some(l.tuple)));
    assert!(association.stats().bad_auth > 0, "it is counted");
    let out = l.give(there, tag, &[report(KIND_JOIN, 1, 10), heartbeat()]);
    assert!(out.iter().any(|(to, _, c)| *to == there && probes(c)), "{out:?}");
    assert_eq!(l.end.association(id).expect("there").paths().len(), 2);
}

fn probes(chunks: &[Chunk]) -> bool {
    chunks.iter().any(|c| matches!(c, Chunk::Heartbeat(_)))
}

/// RFC 9260 §5.4 with the bytes on the wire: envelopes, UDP and IP headers are counted on both sides.
#[test]
fn an_address_that_joins_gets_three_bytes_for_each() {
    let mut l = Sealed::new(TransportConfig::default());
    let types = strandcast_proto::wire::chunk::report::TYPE;
    let params = vec![Param::SupportedExtensions(vec![types].into())];
    let tag = l.shake_hands_with(l.tuple, OUR_TAG, params);
    let there = FourTuple { remote: ([127, 0, 0, 1], 40_001).into(), ..l.tuple };
    let (mut given, mut taken) = (0, 0);
    for serial in 0..200 {
        let bytes = datagram(tag, &[report(KIND_JOIN, 1, serial)]);
        given += bytes.len() + HEADERS;
        l.end.handle_input(
            l.now,
            Input::Datagrams { tuple: there, segment_size: bytes.len(), data: bytes.into() },
        );
        for _ in 0..20 {
            let mut buf = Vec::new();
            while let Some(t) = l.end.poll_output(l.now, &mut buf) {
                if t.tuple == there {
                    taken += t.len + HEADERS * t.len.div_ceil(t.segment_size);
                }
                buf.clear();
            }
            let Some(at) = l.end.poll_timeout().filter(|at| *at < l.now + ms(100)) else { break };
            l.now = at;
            l.end.handle_timeout(l.now);
        }
        assert!(taken <= 3 * given, "{taken} bytes for {given}");
    }
    assert!(taken > 0, "it is asked");
}

/// The holder of a key opens at most two associations in a session, by any ports. Another session has its own two, and
/// a place is free again when an association ends.
#[test]
fn a_session_has_two_associations_at_a_time() {
    let transport = Arc::new(TransportConfig { envelope: ENVELOPE, ..TransportConfig::default() });
    let seeds = Seeds::new(4, 0);
    let accept: strandcast_proto::endpoint::SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
    let config = EndpointConfig { transport, accept: Some(accept), ..EndpointConfig::default() };
    let mut server = Endpoint::new(config.clone(), &seeds.child("server"));
    let now = Instant::from_millis(1000);
    let mut clients = Vec::new();
    let mut open = |server: &mut Endpoint, port: u16, session: u64| {
        let label = format!("client {port} {session}");
        let mut client = Endpoint::new(EndpointConfig { port, ..config.clone() }, &seeds.child(&label));
        let tuple = FourTuple { sealed: SealId(session), ..FourTuple::loopback(1, 2) };
        let back = FourTuple { local: tuple.remote, remote: tuple.local, ..tuple };
        let scheme = Box::new(rfc::scheme());
        let connect = strandcast_proto::endpoint::Connect {
            paths: vec![(tuple, None)],
            port: PORT,
            scheme,
            transport: None,
        };
        let id = client.connect(now, connect).expect("a free address");
        let mut buf = Vec::new();
        for _ in 0..10 {
            for (side, at) in [(0, back), (1, tuple)] {
                let (from, to) = match side {
                    0 => (&mut client, &mut *server),
                    _ => (&mut *server, &mut client),
                };
                while let Some(t) = from.poll_output(now, &mut buf) {
                    let data = Bytes::from(std::mem::take(&mut buf));
                    to.handle_input(now, Input::Datagrams { tuple: at, data, segment_size: t.segment_size });
                }
            }
        }
        let connected = std::iter::from_fn(|| client.poll_event())
            .any(|(of, event)| of == id && matches!(event, Event::Connected { .. }));
        clients.push(client);
        connected
    };
    assert_eq!([6001, 6002, 6003, 6004].map(|port| open(&mut server, port, 3)), [true, true, false, false]);
    assert_eq!([6001, 6002, 6003].map(|port| open(&mut server, port, 4)), [true, true, false]);
    let first = std::iter::from_fn(|| server.poll_event()).next().expect("an association").0;
    server.abort(first, "enough");
    assert!(open(&mut server, 6005, 3));
    assert!(!open(&mut server, 6006, 3));
}
