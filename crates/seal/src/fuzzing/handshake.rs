//! Handshakes between two senders and a receiver, for fuzzing. Attackers also send datagrams. Some attackers have the
//! token but no admitted key, and others have neither.

use std::collections::VecDeque;
use std::net::SocketAddr;

use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::bounded;
use crate::aead::Ciphers;
use crate::handshake::{
    Answer, Asked, HALF_OPEN, Initiator, Limits, MOST_1, MOST_2, Outcome, Responder, sign,
};
use crate::identity::{Access, Grant, Peer, SecretKey, Token};
use crate::keys::{Completed, HandshakeId};
use crate::wire::{Kind, MESSAGE_1, MESSAGE_1_COOKIE, RouteBytes, handshake_header};

/// Maximum number of handshakes, unanswered requests, and recorded datagrams of the receiver.
const KEPT: usize = 8;
/// Maximum number of steps in an input.
const STEPS: usize = 256;
/// Work that any datagram may cause, regardless of its length. This work covers the hashing for digests and cookies,
/// and for the keys of an answer.
const HASHED: u64 = 4 << 10;

/// The input is a script of steps with four bytes: one for the action, and three for parameters. An admitted sender and
/// a sender that is not admitted begin handshakes. Datagrams are delivered from any address: unchanged, repeated,
/// changed, signed after a change, or to another receiver. Requests are answered or never answered, and time advances.
/// Only messages of the admitted sender reach the endpoint. The receiver then gets exactly the packet that was sent. A
/// sender has keys once the receiver's answer arrives, even after any other datagrams. Both sides then have equal keys.
/// No address receives more than three times the bytes that it sent. Datagrams without the token cause no computation
/// with keys. With the token, at most the limited number of handshakes is computed. All other work is proportional to
/// the bytes. Each datagram is counted exactly once.
pub fn handshake(data: &[u8]) {
    let Some((&load, steps)) = data.split_first() else { return };
    let mut run = Run::new(load);
    for step in steps.chunks_exact(4).take(STEPS) {
        let [what, a, b, c] = [step[0], step[1], step[2], step[3]];
        let (signed, other) = (what & 8 == 8, what & 16 == 16);
        match what % 8 {
            0 => run.begin(a, b, c),
            1 => run.hand_over(a, b),
            2 => run.answer(a, b, c),
            3 => run.answered(a, b),
            4 => run.changed(a, [b, c], signed, other),
            5 => run.forged(a, b, c, signed),
            6 => run.retry(a, b, signed),
            _ => run.go_on(a),
        }
    }
}

/// The receiver's answer to a handshake.
struct Written {
    message: Vec<u8>,
    /// The result is `None` if the sender was refused. If the receiver refused the sender, it answered without asking
    /// its endpoint.
    keys: Option<Completed>,
    answer: Answer,
    packet: Vec<u8>,
}

/// A handshake that a sender began.
struct Begun {
    number: u64,
    initiator: Initiator,
    allowed: bool,
    packet: Vec<u8>,
    continues: Option<HandshakeId>,
    written: Vec<Written>,
    complete: bool,
}

struct Run {
    random: Random,
    responder: Responder,
    access: Access,
    senders: [SecretKey; 2],
    peer: Peer,
    numbers: u64,
    begun: VecDeque<Begun>,
    asked: VecDeque<(u64, Asked)>,
    wire: VecDeque<Vec<u8>>,
    received: u64,
    ceiling: u32,
    route: Option<RouteBytes>,
    now: Instant,
}

impl Run {
    fn new(load: u8) -> Self {
        let seeds = Seeds::new(1, 0);
        let mut random = seeds.stream("fuzzing");
        let [receiver, may, may_not] = core::array::from_fn(|_| SecretKey::generate(&mut random));
        let token = Token::generate(&mut random);
        let grant = Grant { token: token.clone(), senders: [may.public()].into(), open: false, once: false };
        let limits = Limits {
            ciphers: Ciphers::ALL,
            cookies: if load & 1 == 0 { 1 } else { 100 },
            ceiling: if load & 2 == 0 { 8 } else { 500 },
            route: (load & 4 == 4).then_some(RouteBytes([9, load])),
        };
        Run {
            access: Access { grants: vec![grant], ..Access::default() },
            peer: Peer { key: receiver.public(), token },
            responder: Responder::new(receiver, seeds.stream("responder"), limits),
            random,
            senders: [may, may_not],
            numbers: 0,
            begun: VecDeque::new(),
            asked: VecDeque::new(),
            wire: VecDeque::new(),
            received: 0,
            ceiling: limits.ceiling,
            route: limits.route,
            now: Instant::ZERO,
        }
    }

    fn begin(&mut self, who: u8, length: u8, continues: u8) {
        let packet = vec![who; usize::from(length) * 5];
        let continues = (continues & 1 == 1).then_some(HandshakeId([continues; 16]));
        let local = &self.senders[usize::from(who & 1)];
        let route = continues.map(|handshake| RouteBytes([1, handshake.0[0]]));
        let started =
            Initiator::start(local, &self.peer, Ciphers::ALL, continues, route, &packet, &mut self.random);
        let Ok(initiator) = started else {
            assert!(packet.len() > MOST_1, "a packet that fits");
            return;
        };
        self.numbers += 1;
        let (number, allowed, written) = (self.numbers, who & 1 == 0, Vec::new());
        let begun = Begun { number, initiator, allowed, packet, continues, written, complete: false };
        keep(&mut self.begun, begun);
    }

    /// Delivers message 1 of a handshake, with the source address `from`.
    fn hand_over(&mut self, which: u8, from: u8) {
        if let Some(n) = nth(&self.begun, which) {
            let message = self.begun[n].initiator.message().to_vec();
            self.receive(from, &message);
        }
    }

    fn receive(&mut self, from: u8, datagram: &[u8]) {
        let local = SocketAddr::from(([192, 0, 2, 1], 5000));
        let remote = SocketAddr::from(([10, from / 16, from, 1], 4000));
        let before = self.responder.diffie_hellmans();
        let tuple = FourTuple::new(LinkId(0), local, remote);
        let outcome = bounded(datagram.len(), HASHED, || {
            self.responder.receive(self.now, &tuple, datagram, &self.access)
        });
        self.received += 1;
        assert_eq!(self.responder.counts().all(), self.received, "each is counted once");
        assert!(self.responder.half_open() <= HALF_OPEN);
        let mut again = datagram.to_vec();
        sign(&mut again, &self.peer.token);
        let computed = self.responder.diffie_hellmans() - before;
        let seconds = (self.now - Instant::ZERO).as_secs_f64();
        let handshakes = f64::from(self.ceiling) * (0.5 + seconds) + 1.0;
        assert!(self.responder.diffie_hellmans() as f64 <= 4.0 * handshakes, "over the ceiling");
        assert!(computed == 0 || again == datagram && computed <= 4, "{computed} without the token");
        // The cookie may differ: Noise's message identifies the handshake.
        let whose = self.begun.iter_mut().find(|b| {
            datagram.len() == MESSAGE_1
                && b.initiator.message()[..MESSAGE_1_COOKIE] == datagram[..MESSAGE_1_COOKIE]
        });
        match outcome {
            Outcome::Dropped(_) => {}
            Outcome::Send | Outcome::Refused(_) => {
                let output = self.responder.output().to_vec();
                assert!(output.len() <= 3 * datagram.len(), "{} for {}", output.len(), datagram.len());
                // A refusal for the first time: it has no packet.
                if let Some(begun) = whose.filter(|b| !b.allowed && output[0] == Kind::Message2 as u8) {
                    let message = output.clone();
                    let written =
                        Written { message, keys: None, answer: Answer::Refused, packet: Vec::new() };
                    begun.written.push(written);
                }
                keep(&mut self.wire, output);
            }
            Outcome::Asked(asked) => {
                let begun = whose.expect("somebody wrote it");
                assert!(begun.allowed && asked.remote == self.senders[0].public(), "one that may connect");
                assert_eq!((&asked.packet, asked.continues), (&begun.packet, begun.continues));
                let number = begun.number;
                keep(&mut self.asked, (number, asked));
            }
        }
    }

    /// Answers a request of a handshake. The request may no longer exist, because only the last [`KEPT`] requests are
    /// kept.
    fn answer(&mut self, which: u8, how: u8, length: u8) {
        let Some((number, asked)) = nth(&self.asked, which).and_then(|n| self.asked.remove(n)) else {
            return;
        };
        let answers = [Answer::New, Answer::Continued, Answer::Unknown, Answer::Refused];
        let (answer, packet) = (answers[usize::from(how % 4)], vec![how; usize::from(length) * 5]);
        let Some((keys, message)) = self.responder.answer(asked.slot, answer, &packet) else { return };
        assert!(packet.len() <= MOST_2 && message.len() <= MESSAGE_1);
        let message = message.to_vec();
        if how & 4 == 4 {
            self.responder.close(asked.slot);
        }
        if let Some(begun) = self.begun.iter_mut().find(|b| b.number == number) {
            assert_eq!(keys.route, self.route.unwrap_or(RouteBytes::of_id(begun.initiator.id())));
            begun.written.push(Written { message: message.clone(), keys: Some(keys), answer, packet });
        }
        keep(&mut self.wire, message);
    }

    /// Delivers a datagram of the receiver to the sender that began a handshake.
    fn answered(&mut self, what: u8, which: u8) {
        if let Some(n) = nth(&self.wire, what) {
            let datagram = self.wire[n].clone();
            self.deliver(which, &datagram);
        }
    }

    fn deliver(&mut self, which: u8, datagram: &[u8]) {
        let Some(begun) = nth(&self.begun, which).and_then(|n| self.begun.get_mut(n)) else { return };
        if begun.complete {
            return;
        }
        begun.initiator.on_retry(datagram);
        let expected = begun.written.iter().find(|w| w.message == datagram);
        let read = begun.initiator.read(datagram);
        assert_eq!(read.is_ok(), expected.is_some(), "{:?}", read.err());
        if let (Ok((keys, answer, packet)), Some(expected)) = (read, expected) {
            assert_eq!((answer, &packet), (expected.answer, &expected.packet));
            if let Some(theirs) = &expected.keys {
                let ((id, [send, receive]), theirs) = (mark(&keys), mark(theirs));
                assert_eq!((id, [receive, send]), theirs);
            }
            begun.complete = true;
        }
    }

    /// Changes a byte of a message 1, or of a datagram of the receiver.
    fn changed(&mut self, which: u8, change: [u8; 2], signed: bool, to_sender: bool) {
        let found = if to_sender {
            nth(&self.wire, which).map(|n| self.wire[n].clone())
        } else {
            nth(&self.begun, which).map(|n| self.begun[n].initiator.message().to_vec())
        };
        let Some(mut datagram) = found else { return };
        let place = usize::from(u16::from_be_bytes(change)) % datagram.len();
        datagram[place] ^= change[1] | 1;
        if signed {
            sign(&mut datagram, &self.peer.token);
        }
        if to_sender { self.deliver(which, &datagram) } else { self.receive(change[0], &datagram) }
    }

    /// Delivers arbitrary bytes after the beginning of a valid message.
    fn forged(&mut self, from: u8, byte: u8, length: u8, signed: bool) {
        let mut datagram = vec![byte; if length & 1 == 0 { MESSAGE_1 } else { usize::from(length) * 5 }];
        let begin = [&handshake_header(Kind::Message1, [byte; 8])[..], &self.peer.token.id().0].concat();
        datagram.iter_mut().zip(begin).for_each(|(d, b)| *d = b);
        if signed {
            sign(&mut datagram, &self.peer.token);
        }
        self.receive(from, &datagram);
    }

    /// Delivers a retry that the receiver did not write.
    fn retry(&mut self, which: u8, cookie: u8, signed: bool) {
        let Some(begun) = nth(&self.begun, which).and_then(|n| self.begun.get_mut(n)) else { return };
        let header = handshake_header(Kind::Retry, begun.initiator.id());
        let mut retry = [&header[..], &[cookie; 32]].concat();
        if signed {
            sign(&mut retry, &self.peer.token);
        }
        let before = begun.initiator.message().to_vec();
        let at_once = begun.initiator.on_retry(&retry);
        let same = begun.initiator.message() == before;
        assert!(if signed { !(at_once && same) } else { same && !at_once }, "the token decides");
    }

    fn go_on(&mut self, by: u8) {
        self.now += Duration::from_millis(u64::from(by) * 40);
        self.responder.handle_timeout(self.now);
        while self.responder.poll_forgotten().is_some() {}
        assert!(self.responder.poll_timeout().is_none_or(|at| at > self.now));
    }
}

/// Returns values for sending and for receiving that only an owner of the keys can compute.
fn mark(keys: &Completed) -> ([u8; 16], [[u8; 16]; 2]) {
    let of = |secret: &crate::secret::Secret| {
        let mut out = [0; 16];
        secret.expand("mark", &[], &mut out);
        out
    };
    (keys.handshake.0, [of(&keys.send), of(&keys.receive)])
}

fn keep<T>(all: &mut VecDeque<T>, one: T) {
    all.truncate(KEPT - 1);
    all.push_front(one);
}

fn nth<T>(all: &VecDeque<T>, which: u8) -> Option<usize> {
    usize::from(which).checked_rem(all.len())
}
