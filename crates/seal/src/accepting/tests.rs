//! Handshakes that continue a session, from those who may and those who may not.

use std::collections::BTreeSet;

use bytes::BytesMut;
use strandcast_proto::association::Transmit;
use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use crate::aead::Ciphers;
use crate::config::SealConfig;
use crate::control::{self, Control};
use crate::event::SealEvent;
use crate::handshake::{Answer, Initiator};
use crate::identity::{Access, Grant, Peer, SecretKey, Token};
use crate::keys::{HandshakeId, Keys};
use crate::layer::{Opened, Seal};

/// A receiver, and what senders need to be themselves.
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
        let start = Initiator::start(sender, &self.peer, Ciphers::ALL, continues, packet, &mut random);
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
            assert!(!self.receiver.seal(self.now, &transmit, &mut answer), "it rides in message 2");
        }
        let answers = self.answers();
        assert_eq!(answers.len(), 1);
        let (completed, answer, _) = initiator.read(&answers[0]).expect("message 2");
        (answer, Keys::new(completed), sealed)
    }

    /// A ping under keys; whether it was answered under them.
    fn ping(&mut self, keys: &mut Keys) -> bool {
        let mut ping = Control::Ping.datagram();
        keys.seal(self.now, 0, &mut ping).expect("a number");
        let mut answers = self.give(FROM, &ping).into_iter();
        answers.any(|mut a| {
            keys.open(0, &mut a).is_ok() && Control::read(control::inside(&a)) == Some(Control::Pong)
        })
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
    // One that is not confirmed within five seconds is forgotten.
    let (_, mut late, _) = ends.handshake(&sender, None);
    ends.wait(5001);
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
    // Another key that may connect, too.
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

/// The initiator hears nothing for a while: it names the handshake that it has confirmed, while the receiver has taken up
/// the keys of those after it.
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

/// Of several handshakes for one session the older ones end with the newer one's first datagram.
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
    ends.wait(6000);
    assert_eq!(
        (ends.receiver.tentative(), ends.receiver.known_ids(), ends.receiver.stats().sessions),
        (0, 0, 0)
    );
    assert!(ends.receiver.poll_event().is_none());
}
