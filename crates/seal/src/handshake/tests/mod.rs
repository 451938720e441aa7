//! The handshake, both ends.

mod attack;
mod exchange;
mod flood;

use std::net::SocketAddr;

use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::initiator::HandshakeError;
use super::*;
use crate::aead::{Cipher, Ciphers};
use crate::identity::{Access, Grant, Peer, PublicKey, SecretKey, Token};
use crate::keys::{Completed, HandshakeId};
use crate::wire::{MESSAGE_1, MESSAGE_1_COOKIE, MESSAGE_1_MAC};

const INIT: &[u8] = b"what an endpoint writes as INIT";
const INIT_ACK: &[u8] = b"what an endpoint writes as INIT ACK";
/// Delay of a datagram.
const WAY: Duration = Duration::from_millis(50);

/// A responder and one admitted sender.
struct Fixture {
    responder: Responder,
    access: Access,
    sender: SecretKey,
    receiver_key: SecretKey,
    receiver: PublicKey,
    random: Random,
}

impl Fixture {
    fn new(seed: u64) -> Self {
        Fixture::with(seed, Limits { ciphers: Ciphers::ALL, ..Limits::default() })
    }

    fn with(seed: u64, limits: Limits) -> Self {
        let seeds = Seeds::new(seed, 0);
        let mut random = seeds.stream("fixture");
        let (sender, receiver) = (SecretKey::generate(&mut random), SecretKey::generate(&mut random));
        let grant = Grant {
            token: Token::generate(&mut random),
            senders: [sender.public()].into(),
            open: false,
            once: false,
        };
        let access = Access { grants: vec![grant], ..Access::default() };
        let public = receiver.public();
        let responder = Responder::new(receiver.clone(), seeds.stream("responder"), limits);
        Fixture { responder, access, sender, receiver_key: receiver, receiver: public, random }
    }

    fn token(&self) -> Token {
        self.access.grants[0].token.clone()
    }

    fn peer(&self) -> Peer {
        Peer { key: self.receiver, token: self.token() }
    }

    fn initiator(&mut self) -> Initiator {
        let (peer, sender) = (self.peer(), self.sender.clone());
        Initiator::start(&sender, &peer, Ciphers::ALL, None, None, INIT, &mut self.random).expect("fits")
    }

    fn receive(&mut self, now: Instant, from: &FourTuple, datagram: &[u8]) -> Outcome {
        self.responder.receive(now, from, datagram, &self.access)
    }

    /// Returns message 2 and sealed keys, if message 1 is new and its sender may connect.
    fn answer(&mut self, now: Instant, datagram: &[u8]) -> Option<(Completed, Vec<u8>)> {
        let Outcome::Asked(asked) = self.receive(now, &from(1), datagram) else { return None };
        self.responder.answer(asked.slot, Answer::New, INIT_ACK).map(|(c, m)| (c, m.to_vec()))
    }
}

/// The 4-tuple of datagrams from host `n`: each host has its own prefix.
fn from(n: u32) -> FourTuple {
    let [_, a, b, c] = n.to_be_bytes();
    FourTuple::new(
        LinkId(0),
        SocketAddr::from(([192, 0, 2, 1], 5000)),
        SocketAddr::from(([a.wrapping_add(11), b, c, 7], 40_000)),
    )
}

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Values that only the owner of a secret can compute.
fn mark(c: &Completed) -> ([u8; 16], [u8; 16]) {
    let (mut send, mut receive) = ([0; 16], [0; 16]);
    c.send.expand("mark", &[], &mut send);
    c.receive.expand("mark", &[], &mut receive);
    (send, receive)
}

/// Checks that both ends have the same keys in opposite directions.
#[track_caller]
fn agree(initiator: &Completed, responder: &Completed) {
    let (send, receive) = mark(initiator);
    assert_eq!(mark(responder), (receive, send));
    assert_ne!(send, receive);
    assert_eq!(initiator.handshake, responder.handshake);
    assert_eq!(initiator.cipher, responder.cipher);
}
