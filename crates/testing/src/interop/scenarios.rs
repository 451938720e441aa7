//! Test scenarios for all implementations.

use std::collections::BTreeSet;

use bytes::Bytes;
use strandcast_proto::association::Event;
use strandcast_proto::policy::PathState;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::{Chunk, Packet};

use super::journal::PacketOrigin;
use super::{Foreign, How, Pair, PeerState, UserMessage};
use crate::endpoints::{ms, pattern};

pub const BOTH: [PacketOrigin; 2] = [PacketOrigin::Us, PacketOrigin::Them];
/// Payload protocol identifiers that all implementations support: WebRTC's string and binary.
const PPIDS: [u32; 2] = [51, 53];
/// Stream whose messages are sent unordered.
const UNORDERED: u16 = 3;

pub fn other(side: PacketOrigin) -> PacketOrigin {
    if side == PacketOrigin::Us { PacketOrigin::Them } else { PacketOrigin::Us }
}

/// Opens the association, and sends a greeting in each direction.
pub fn handshake<F: Foreign>(by: PacketOrigin, seed: u64, loss: f64) -> Pair<F> {
    let mut p = Pair::<F>::new(&format!("handshake by {by:?}"), seed, loss);
    p.open(by);
    for side in BOTH {
        let message = UserMessage { stream: 1, ppid: PPIDS[0], payload: Bytes::from_static(b"hello") };
        p.send(side, &message, How::default());
        let got = p.run_until(60, |p| !p.got(other(side)).is_empty());
        assert!(got, "{side:?} received nothing");
        assert_eq!(p.got(other(side)), [message]);
    }
    p
}

/// Returns messages of all sizes over four streams. The last stream is unordered.
fn mixture(random: &mut Random, messages: usize, largest: usize) -> Vec<UserMessage> {
    let size = |random: &mut Random| match random.below(10) {
        0 => 1,
        1..=4 => 1 + random.below(300) as usize,
        5..=7 => 900 + random.below(600) as usize,
        8 => 2_000 + random.below(8_000) as usize,
        _ => largest / 2 + random.below(largest as u64 / 2) as usize,
    };
    let message = |n: usize| {
        let stream = random.below(4) as u16;
        UserMessage { stream, ppid: PPIDS[n % 2], payload: pattern(n * 7919, size(random)).into() }
    };
    (0..messages).map(message).collect()
}

fn of_stream(messages: &[UserMessage], stream: u16) -> Vec<UserMessage> {
    messages.iter().filter(|n| n.stream == stream).cloned().collect()
}

/// Checks that all messages arrived, and that ordered messages arrived in order.
fn assert_delivered(sent: &[UserMessage], got: &[UserMessage], by: PacketOrigin) {
    for stream in 0..=UNORDERED {
        let (mut sent, mut got) = (of_stream(sent, stream), of_stream(got, stream));
        if stream == UNORDERED {
            sent.sort();
            got.sort();
        }
        let sizes =
            |messages: &[UserMessage]| messages.iter().map(|n| (n.ppid, n.payload.len())).collect::<Vec<_>>();
        assert_eq!(sizes(&got), sizes(&sent), "{by:?}, stream {stream}");
        assert!(got == sent, "{by:?}, stream {stream}: other bytes");
    }
}

fn how(message: &UserMessage) -> How {
    How { unordered: message.stream == UNORDERED, lifetime: None }
}

/// Sends traffic in both directions at one time. The side `by` then closes gracefully.
pub fn traffic<F: Foreign>(by: PacketOrigin, seed: u64, loss: f64, largest: usize) {
    let p = Pair::<F>::new(&format!("traffic opened and closed by {by:?}"), seed, loss);
    run_traffic(p, by, seed, largest);
}

/// Sends traffic in both directions. Packets overtake each other and arrive twice.
pub fn disorder<F: Foreign>(by: PacketOrigin, seed: u64) {
    let mut p = Pair::<F>::new(&format!("disorder, opened by {by:?}"), seed, 0.01);
    p.link.jitter = ms(10);
    p.link.duplicate = 0.05;
    run_traffic(p, by, seed, 20_000);
}

/// Sends traffic in both directions over `p`. The side `by` then closes gracefully.
pub fn run_traffic<F: Foreign>(mut p: Pair<F>, by: PacketOrigin, seed: u64, largest: usize) {
    exchange(&mut p, by, seed, largest);
    close(&mut p, by);
}

/// Opens the association from the side `by`, and sends traffic in both directions over `p`.
pub fn exchange<F: Foreign>(p: &mut Pair<F>, by: PacketOrigin, seed: u64, largest: usize) {
    let mut random = Seeds::new(seed, 0).stream("messages");
    let sent = BOTH.map(|_| mixture(&mut random, 60, largest));
    p.open(by);
    for n in 0..60 {
        for (side, sent) in BOTH.iter().zip(&sent) {
            p.send(*side, &sent[n], how(&sent[n]));
        }
        p.run(ms(5));
    }
    let all = p.run_until(300, |p| p.we_got.len() == 60 && p.they_got.len() == 60);
    assert!(all, "delivered {} and {} of 60", p.they_got.len(), p.we_got.len());
    for (side, sent) in BOTH.iter().zip(&sent) {
        assert_delivered(sent, p.got(other(*side)), *side);
    }
    p.run(ms(1000));
}

pub fn close<F: Foreign>(p: &mut Pair<F>, by: PacketOrigin) {
    p.shutdown(by);
    let closed =
        p.run_until(120, |p| p.our_state() != PeerState::Open && p.theirs.state() != PeerState::Open);
    assert!(closed, "not closed: {:?}, {:?}", p.our_state(), p.theirs.state());
    assert_eq!((p.our_state(), p.theirs.state()), (PeerState::Closed, PeerState::Closed), "{:?}", p.events);
}

/// Closes the association from the side `by` while its messages are still queued. The queued messages are delivered
/// first (RFC 9260 §9.2).
pub fn close_with_data_queued<F: Foreign>(by: PacketOrigin, seed: u64, loss: f64) {
    let mut p = Pair::<F>::new(&format!("close by {by:?} with data queued"), seed, loss);
    let mut random = Seeds::new(seed, 0).stream("messages");
    let sent = mixture(&mut random, 60, 20_000);
    p.open(PacketOrigin::Us);
    for message in &sent {
        p.send(by, message, how(message));
    }
    close(&mut p, by);
    assert_delivered(&sent, p.got(other(by)), by);
}

pub fn abort<F: Foreign>(by: PacketOrigin, seed: u64) {
    let mut p = handshake::<F>(PacketOrigin::Us, seed, 0.0);
    p.abort(by);
    p.run(ms(200));
    assert_ne!(p.our_state(), PeerState::Open);
    assert_ne!(p.theirs.state(), PeerState::Open);
    if by == PacketOrigin::Them {
        assert_eq!(p.our_state(), PeerState::Aborted);
    }
    assert!(p.journal.count(by, |c| matches!(c, Chunk::Abort(_))) > 0);
}

/// Kind of packets that are lost for two seconds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outage {
    /// There is no outage. Lifetimes are so short that each usual loss costs a message.
    None,
    Everything,
    /// Packets are lost that contain a message with a lifetime.
    Mortal,
}

fn has_mortal(packet: &Bytes) -> bool {
    let packet = Packet::parse(packet.clone()).expect("a packet");
    packet.chunks().any(|c| matches!(c, Ok((_, Chunk::Data(d))) if d.header.stream_id.0 != 1))
}

/// The side `by` sends messages with a lifetime and reliable messages through an outage. Some messages have `large`
/// bytes.
pub fn partial_reliability<F: Foreign>(by: PacketOrigin, seed: u64, loss: f64, outage: Outage, large: usize) {
    let mut p = Pair::<F>::new(&format!("partial reliability by {by:?}"), seed, loss);
    p.open(PacketOrigin::Us);
    let mut sent = Vec::new();
    let mut over = 0;
    let (lifetime, least) = if outage == Outage::None { (ms(100), 1) } else { (ms(300), 10) };
    for n in 0..220_u32 {
        match n {
            50 => {
                let lost = move |packet: &Bytes| match outage {
                    Outage::None => false,
                    Outage::Everything => true,
                    Outage::Mortal => has_mortal(packet),
                };
                p.filter = Box::new(move |from, packet| from != by || !lost(packet));
            }
            100 => {
                p.filter = Box::new(|_, _| true);
                over = sent.len();
            }
            _ => {}
        }
        // Streams 0 and 3 (unordered) with a lifetime, 1 without.
        let stream = [0, 1, UNORDERED][n as usize % 3];
        let size = if n % 5 == 0 { large } else { 500 };
        let payload = [n.to_be_bytes().to_vec(), pattern(n as usize * 331, size)].concat().into();
        let message = UserMessage { stream, ppid: PPIDS[0], payload };
        let lifetime = (stream != 1).then_some(lifetime);
        p.send(by, &message, How { lifetime, ..how(&message) });
        sent.push(message);
        p.run(ms(40));
    }
    let reliable = of_stream(&sent, 1);
    let arrived = p.run_until(120, |p| of_stream(p.got(other(by)), 1).len() == reliable.len());
    assert!(arrived, "reliable messages are missing");
    p.run(Duration::from_secs(5));
    let got = p.got(other(by)).to_vec();
    assert_eq!(of_stream(&got, 1), reliable);
    assert_subsequence(&of_stream(&got, 0), &of_stream(&sent, 0));
    assert!(of_stream(&got, UNORDERED).iter().all(|n| sent.contains(n)));
    let numbers: BTreeSet<u32> = got.iter().map(number).collect();
    assert_eq!(numbers.len(), got.len(), "nothing comes twice");
    assert!(sent.len() - got.len() >= least, "only {} given up", sent.len() - got.len());
    if loss == 0.0 {
        // Messages sent a backed-off RTO after the outage have no reason to be late.
        let late: Vec<u32> = sent[over + 75..].iter().map(number).collect();
        assert!(late.iter().all(|n| numbers.contains(n)), "{numbers:?}");
    }
    assert!(p.journal.count(by, |c| matches!(c, Chunk::ForwardTsn(_))) > 0, "no FORWARD TSN");
    close(&mut p, by);
}

/// Returns the number with which a message begins.
fn number(message: &UserMessage) -> u32 {
    u32::from_be_bytes(message.payload[..4].try_into().expect("four bytes"))
}

fn assert_subsequence(part: &[UserMessage], whole: &[UserMessage]) {
    let mut whole = whole.iter();
    for message in part {
        assert!(whole.any(|n| n == message), "#{} out of order or altered", number(message));
    }
}

/// Waits two minutes without traffic, and then sends a message in each direction.
pub fn idle<F: Foreign>(seed: u64) {
    let mut p = handshake::<F>(PacketOrigin::Them, seed, 0.0);
    p.run(Duration::from_secs(130));
    assert_eq!((p.our_state(), p.theirs.state()), (PeerState::Open, PeerState::Open));
    let asked = p.journal.count(PacketOrigin::Us, |c| matches!(c, Chunk::Heartbeat(_)));
    let answered = p.journal.count(PacketOrigin::Them, |c| matches!(c, Chunk::HeartbeatAck(_)));
    assert!(asked >= 3 && answered == asked, "{asked} heartbeats, {answered} answers");
    let id = p.id.expect("connected");
    assert_eq!(p.ours.association(id).expect("open").paths()[0].state, PathState::Active);
    for side in BOTH {
        let message = UserMessage { stream: 0, ppid: PPIDS[1], payload: Bytes::from_static(b"still here") };
        p.send(side, &message, How::default());
        p.run(ms(500));
        assert_eq!(p.got(other(side)).last(), Some(&message));
    }
}

fn hello<F: Foreign>(p: &mut Pair<F>) {
    for side in BOTH {
        let message = UserMessage { stream: 2, ppid: PPIDS[0], payload: Bytes::from_static(b"hello again") };
        p.send(side, &message, How::default());
        let got = p.run_until(60, |p| p.got(other(side)).last() == Some(&message));
        assert!(got, "{side:?} received nothing");
    }
}

/// Opens the association from both sides at one time (RFC 9260 §5.2.1, §5.2.4 B and D).
pub fn collision<F: Foreign>(seed: u64, loss: f64) {
    let mut p = Pair::<F>::new("both open", seed, loss);
    p.connect(PacketOrigin::Us);
    p.open(PacketOrigin::Them);
    hello(&mut p);
    p.run(ms(5000));
    assert_eq!(p.events.iter().filter(|e| matches!(e, Event::Connected { .. })).count(), 1, "{:?}", p.events);
    close(&mut p, PacketOrigin::Us);
}

/// Restarts the other end: it loses its state and opens the association again (RFC 9260 §5.2.4 A).
pub fn restart_of_theirs<F: Foreign>(seed: u64, loss: f64) {
    let mut p = handshake::<F>(PacketOrigin::Us, seed, loss);
    p.journal.title = format!("they restart, seed {seed}, loss {loss}");
    p.restart_theirs(seed + 100);
    p.connect(PacketOrigin::Them);
    let again =
        p.run_until(60, |p| p.theirs.state() == PeerState::Open && p.events.contains(&Event::Restarted));
    assert!(again, "{:?}", p.events);
    hello(&mut p);
    close(&mut p, PacketOrigin::Them);
}

/// Restarts Strandcast's end: it loses its state and opens the association again.
pub fn restart_of_our_end<F: Foreign>(seed: u64, loss: f64) -> Pair<F> {
    let mut p = handshake::<F>(PacketOrigin::Us, seed, loss);
    p.journal.title = format!("we restart, seed {seed}, loss {loss}");
    p.restart_ours(seed + 100);
    p.connect(PacketOrigin::Us);
    let again = p.run_until(60, |p| p.our_state() == PeerState::Open);
    assert!(again, "{:?}", p.events);
    hello(&mut p);
    p
}
