//! Handshakes that continue a session, from initiators that may continue it and from others.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::BytesMut;
use strandcast_proto::association::Transmit;
use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use crate::aead::Ciphers;
use crate::config::SealConfig;
use crate::control::{self, Control};
use crate::event::SealEvent;
use crate::handshake::{Answer, Initiator, sign};
use crate::identity::{Access, Grant, Peer, SecretKey, Token};
use crate::keylog::KeyLog;
use crate::keys::{HandshakeId, Keys};
use crate::layer::{Opened, Seal, Sealing};
use crate::wire::MESSAGE_1;

/// A receiver, and the keys of its senders.
struct Ends {
    receiver: Seal,
    peer: Peer,
    seeds: Seeds,
    now: Instant,
    out: Vec<Opened>,
    begun: u64,
}

const FROM: u16 = 7;

impl Ends {
    fn new() -> Self {
        let seeds = Seeds::new(1, 0);
        let secret = SecretKey::generate(&mut seeds.stream("receiver"));
        let token = Token::generate(&mut seeds.stream("token"));
        let peer = Peer { key: secret.public(), token: token.clone() };
        let grant = Grant { token, senders: BTreeSet::new(), open: true, once: false };
        let access = Access { grants: vec![grant], revoked: BTreeSet::new() };
        let receiver = Seal::new(SealConfig::new(secret, access), &seeds);
        Ends { receiver, peer, seeds, now: Instant::from_millis(1000), out: Vec::new(), begun: 0 }
    }

    fn sender(&self, label: &str) -> SecretKey {
        SecretKey::generate(&mut self.seeds.stream(label))
    }

    fn give(&mut self, from: u16, datagram: &[u8]) -> Vec<Vec<u8>> {
        let len = datagram.len();
        self.receiver.open(self.now, FourTuple::loopback(1, from), datagram.into(), len, &mut self.out);
        self.answers()
    }

    fn answers(&mut self) -> Vec<Vec<u8>> {
        let mut answers = Vec::new();
        loop {
            let mut buf = Vec::new();
            if self.receiver.poll_output(self.now, &mut buf).is_none() {
                return answers;
            }
            answers.push(buf);
        }
    }

    /// A handshake of `sender`, up to message 2; a new one carries a packet, which is answered with one.
    fn handshake(&mut self, sender: &SecretKey, continues: Option<HandshakeId>) -> (Answer, Keys, SealId) {
        self.begun += 1;
        let mut random = self.seeds.stream(&format!("handshake {}", self.begun));
        let packet: &[u8] = if continues.is_none() { &[0x13; 32] } else { &[] };
        let start = Initiator::start(sender, &self.peer, Ciphers::ALL, continues, None, packet, &mut random);
        let mut initiator = start.expect("a short packet");
        let len = initiator.message().len();
        let message = BytesMut::from(initiator.message());
        self.receiver.open(self.now, FourTuple::loopback(1, FROM), message, len, &mut self.out);
        let mut sealed = SealId::CLEAR;
        if let Some(asked) = self.out.pop() {
            sealed = asked.tuple.sealed;
            let mut answer = control::enveloped(&[&[0x13; 16]]);
            let (len, fragment) = (answer.len(), false);
            let transmit = Transmit { tuple: asked.tuple, len, segment_size: len, fragment };
            let sealing = self.receiver.seal(self.now, &transmit, &mut answer);
            assert_eq!(sealing, Sealing::Carried, "it rides in message 2");
        }
        let answers = self.answers();
        assert_eq!(answers.len(), 1);
        let (completed, answer, _) = initiator.read(&answers[0]).expect("message 2");
        (answer, Keys::new(completed), sealed)
    }

    /// Sends a ping under `keys` and returns whether the answer arrived under the same keys.
    fn ping(&mut self, keys: &mut Keys) -> bool {
        let mut ping = Control::Ping.datagram();
        keys.seal(self.now, 0, &mut ping).expect("a number");
        let mut answers = self.give(FROM, &ping).into_iter();
        answers.any(|mut a| {
            keys.open(0, &mut a).is_ok() && Control::read(control::inside(&a)) == Some(Control::Pong)
        })
    }

    /// Computation that a host in another network can cause at a receiver if it has the token.
    fn keep_busy(&mut self, port: u16, random: &mut Random) {
        let mut message = vec![0; MESSAGE_1];
        message[..4].copy_from_slice(&[2, 2, 0, 0]);
        random.fill(&mut message[4..52]);
        message[12..20].copy_from_slice(&self.peer.token.id().0);
        sign(&mut message, &self.peer.token);
        let from =
            FourTuple { remote: SocketAddr::from(([203, 0, 113, 7], port)), ..FourTuple::loopback(1, FROM) };
        self.receiver.open(self.now, from, message[..].into(), MESSAGE_1, &mut self.out);
        self.answers();
    }

    fn renewed(&mut self) -> usize {
        core::iter::from_fn(|| self.receiver.poll_event())
            .filter(|e| matches!(e, SealEvent::Renewed { .. }))
            .count()
    }

    fn wait(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        while let Some(at) = self.receiver.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.receiver.handle_timeout(self.now);
        }
        self.now = end;
    }
}

#[test]
fn nothing_follows_before_a_datagram_has_opened_under_the_keys() {
    let mut ends = Ends::new();
    let sender = ends.sender("sender");
    let (answer, mut keys, sealed) = ends.handshake(&sender, None);
    assert_eq!((answer, ends.receiver.stats().sessions, ends.receiver.peer(sealed)), (Answer::New, 0, None));
    assert!(ends.receiver.poll_event().is_none());
    assert!(ends.ping(&mut keys));
    assert_eq!((ends.receiver.stats().sessions, ends.receiver.peer(sealed)), (1, Some(sender.public())));
    // A handshake that is not confirmed within fifteen seconds is dropped.
    let (_, mut late, _) = ends.handshake(&sender, None);
    ends.wait(15_001);
    assert!(!ends.ping(&mut late));
    assert_eq!(ends.receiver.stats().sessions, 1);
}

#[test]
fn a_session_goes_on_for_its_own_key_alone() {
    let mut ends = Ends::new();
    let (sender, other) = (ends.sender("sender"), ends.sender("other"));
    let (_, mut keys, sealed) = ends.handshake(&sender, None);
    assert!(ends.ping(&mut keys));
    let named = Some(keys.handshake());
    // Another key that may connect cannot continue the session either.
    let (answer, mut theirs, _) = ends.handshake(&other, named);
    assert_eq!(answer, Answer::Unknown);
    assert!(!ends.ping(&mut theirs));
    let (answer, _, _) = ends.handshake(&sender, Some(HandshakeId([9; 16])));
    assert_eq!(answer, Answer::Unknown, "a handshake that never was");
    let (answer, mut next, _) = ends.handshake(&sender, named);
    assert_eq!(answer, Answer::Continued);
    assert!(ends.ping(&mut keys), "nothing has changed yet");
    assert_eq!(ends.renewed(), 0);
    assert!(ends.ping(&mut next));
    assert_eq!((ends.renewed(), ends.receiver.stats().sessions), (1, 1));
    assert_eq!(ends.receiver.peer(sealed), Some(sender.public()));
}

/// The initiator receives nothing for a while. It names the handshake that it has confirmed, while the
/// receiver already uses the keys of later ones.
#[test]
fn an_initiator_that_hears_nothing_may_name_the_handshake_it_has_confirmed_again_and_again() {
    let mut ends = Ends::new();
    let sender = ends.sender("sender");
    let (_, mut keys, _) = ends.handshake(&sender, None);
    assert!(ends.ping(&mut keys));
    let confirmed = Some(keys.handshake());
    for n in 0..5 {
        let (answer, mut next, _) = ends.handshake(&sender, confirmed);
        assert_eq!(answer, Answer::Continued, "{n}");
        assert!(ends.ping(&mut next), "{n}");
        ends.wait(40_000);
    }
    assert!(!ends.ping(&mut keys), "keys are kept for half a minute");
    assert_eq!(ends.receiver.stats().sessions, 1);
}

/// The first datagram of a newer handshake ends the older handshakes of its session.
#[test]
fn an_older_handshake_does_not_come_back() {
    let mut ends = Ends::new();
    let sender = ends.sender("sender");
    let (_, mut keys, _) = ends.handshake(&sender, None);
    assert!(ends.ping(&mut keys));
    let named = Some(keys.handshake());
    let (_, mut older, _) = ends.handshake(&sender, named);
    let (_, mut newer, _) = ends.handshake(&sender, named);
    assert!(ends.ping(&mut newer));
    assert!(!ends.ping(&mut older));
    assert_eq!(ends.renewed(), 1);
}

#[test]
fn handshakes_that_are_never_confirmed_leave_nothing() {
    let mut ends = Ends::new();
    let sender = ends.sender("sender");
    for _ in 0..600 {
        ends.handshake(&sender, None);
        ends.wait(20);
    }
    assert!(ends.receiver.tentative() <= 256, "{}", ends.receiver.tentative());
    ends.wait(16_000);
    assert_eq!(
        (ends.receiver.tentative(), ends.receiver.known_ids(), ends.receiver.stats().sessions),
        (0, 0, 0)
    );
    assert!(ends.receiver.poll_event().is_none());
}

/// A host with the token makes handshakes without end; a log of keys holds only those that a datagram
/// confirmed.
#[test]
fn the_keys_of_a_handshake_are_logged_once_something_opened_under_them() {
    let mut ends = Ends::new();
    let lines = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&lines);
    let log = move |line: &str| {
        assert!(KeyLog::default().add(line));
        count.fetch_add(1, Ordering::Relaxed);
    };
    ends.receiver.set_keylog(Box::new(log));
    let sender = ends.sender("sender");
    let (_, mut keys, _) = ends.handshake(&sender, None);
    ends.handshake(&sender, None);
    assert_eq!(lines.load(Ordering::Relaxed), 0);
    assert!(ends.ping(&mut keys));
    assert_eq!(lines.load(Ordering::Relaxed), 2 * usize::from(crate::keys::PATHS), "both ways");
    // Keys of a continued session.
    let (_, mut next, _) = ends.handshake(&sender, Some(keys.handshake()));
    assert!(ends.ping(&mut next));
    assert_eq!(lines.load(Ordering::Relaxed), 4 * usize::from(crate::keys::PATHS));
}

/// Time until a distant sender has a session, at a receiver that always demands cookies because others with
/// the token keep it busy.
fn time_until_established(rtt: Duration) -> u64 {
    let mut ends = Ends::new();
    let mut random = ends.seeds.stream("busy");
    let mut sender = Seal::new(SealConfig::new(ends.sender("sender"), Access::default()), &ends.seeds);
    let began = ends.now;
    let session = sender.connect(ends.now, ends.peer.clone());
    let mut init = control::enveloped(&[&[0x13; 12], &[1; 20]]);
    let len = init.len();
    let tuple = FourTuple { sealed: session, ..FourTuple::loopback(1, FROM) };
    let init_of = Transmit { tuple, len, segment_size: len, fragment: false };
    assert_eq!(sender.seal(ends.now, &init_of, &mut init), Sealing::Carried);
    let mut underway: Vec<(Instant, bool, Vec<u8>)> = Vec::new();
    while ends.receiver.stats().sessions == 0 {
        ends.now += Duration::from_millis(5);
        let late = ends.now - began > 4 * rtt + Duration::from_secs(4);
        assert!(!late, "no session: {:?} {:?}", sender.stats(), ends.receiver.stats());
        sender.handle_timeout(ends.now);
        ends.receiver.handle_timeout(ends.now);
        while let Some(due) = underway.iter().position(|(at, ..)| *at <= ends.now) {
            let (_, to_receiver, datagram) = underway.remove(due);
            let len = datagram.len();
            if !to_receiver {
                let mut opened = Vec::new();
                sender.open(ends.now, FourTuple::loopback(1, FROM), datagram[..].into(), len, &mut opened);
                if opened.pop().is_some() {
                    // The sender's endpoint sends its next packet.
                    let mut echo = control::enveloped(&[&[0x13; 32]]);
                    let len = echo.len();
                    let transmit = Transmit { tuple, len, segment_size: len, fragment: false };
                    assert_eq!(sender.seal(ends.now, &transmit, &mut echo), Sealing::Sealed);
                    underway.push((ends.now + rtt / 2, true, echo));
                }
                continue;
            }
            if datagram[0] == 2 {
                (0..120).for_each(|n| ends.keep_busy(n, &mut random));
            }
            ends.receiver.open(
                ends.now,
                FourTuple::loopback(1, FROM),
                datagram[..].into(),
                len,
                &mut ends.out,
            );
            if let Some(asked) = ends.out.pop().filter(|_| datagram[0] == 2) {
                let mut answer = control::enveloped(&[&[0x13; 16]]);
                let (tuple, len) = (asked.tuple, answer.len());
                let transmit = Transmit { tuple, len, segment_size: len, fragment: false };
                assert_eq!(ends.receiver.seal(ends.now, &transmit, &mut answer), Sealing::Carried);
            }
            underway.extend(ends.answers().into_iter().map(|answer| (ends.now + rtt / 2, false, answer)));
        }
        let mut buf = Vec::new();
        while sender.poll_output(ends.now, &mut buf).is_some() {
            underway.push((ends.now + rtt / 2, true, core::mem::take(&mut buf)));
        }
    }
    assert!(ends.receiver.stats().handshakes.retries > 120, "cookies were demanded");
    (ends.now - began).as_millis() as u64
}

/// One round trip for the cookie, one for message 2, and half of one for the first datagram.
#[test]
fn a_cookie_is_of_use_after_round_trips_of_eight_seconds() {
    for rtt in [600, 3000, 5000, 8000] {
        let took = time_until_established(Duration::from_millis(rtt));
        assert!(took <= 5 * rtt / 2 + 600, "{rtt} ms: {took} ms");
    }
}
