//! Attacks on a handshake, all without effect.

use proptest::prelude::*;

use super::message::Asking;
use super::noise::{Noise, Role, child};
use super::primitives::DhCount;
use super::*;

/// Checks that a message 1 is dropped for this reason and leaves no state.
#[track_caller]
fn dropped(fixture: &mut Fixture, datagram: &[u8], why: HandshakeDrop) {
    let before = fixture.responder.counts().dropped(why);
    let outcome = fixture.receive(at(0), &from(1), datagram);
    assert!(matches!(outcome, Outcome::Dropped(w) if w == why), "{outcome:?} instead of {why:?}");
    assert_eq!(fixture.responder.counts().dropped(why), before + 1);
    assert_eq!(fixture.responder.half_open(), 0);
}

#[test]
fn without_the_token_nothing_is_computed() {
    let mut fixture = Fixture::new(1);
    let honest = fixture.initiator().message().to_vec();
    let other = Token::generate(&mut fixture.random);
    let mut unknown = honest.clone();
    unknown[12..20].copy_from_slice(&other.id().0);
    sign(&mut unknown, &other);
    dropped(&mut fixture, &unknown, HandshakeDrop::UnknownToken);
    let mut forged = honest.clone();
    sign(&mut forged, &other);
    dropped(&mut fixture, &forged, HandshakeDrop::BadMac);
    let mut version = honest.clone();
    version[1] = 1;
    dropped(&mut fixture, &version, HandshakeDrop::Version);
    for length in [0, 1, 12, 20, 1199, 1201, 1500] {
        let mut cut = honest.clone();
        cut.resize(length, 0);
        dropped(&mut fixture, &cut, HandshakeDrop::Malformed);
    }
    assert_eq!(fixture.responder.diffie_hellmans(), 0);
    assert!(fixture.answer(at(0), &honest).is_some(), "the honest message is as good as before");
}

/// Only the owner of the key that a message is for can read it.
#[test]
fn a_message_for_another_receiver_is_refused() {
    let mut fixture = Fixture::new(2);
    let peer = Peer { key: SecretKey::generate(&mut fixture.random).public(), token: fixture.token() };
    let initiator =
        Initiator::start(&fixture.sender, &peer, Ciphers::ALL, None, None, INIT, &mut fixture.random)
            .expect("fits");
    dropped(&mut fixture, initiator.message(), HandshakeDrop::Forged);
}

/// A host that has the token, but not the receiver's key, answers in its place.
#[test]
fn nobody_else_answers_for_the_receiver() {
    let mut fixture = Fixture::new(3);
    let mut impostor = Fixture::new(4);
    impostor.access = fixture.access.clone();
    let mut initiator = fixture.initiator();
    let mut forged = fixture.answer(at(0), initiator.message()).expect("asked").1;
    let ephemeral = SecretKey::generate(&mut fixture.random).public();
    forged[12..44].copy_from_slice(&ephemeral.0);
    sign(&mut forged, &fixture.token());
    assert_eq!(initiator.read(&forged).err(), Some(HandshakeError::Forged));
    let outcome = impostor.receive(at(0), &from(1), initiator.message());
    assert!(matches!(outcome, Outcome::Dropped(HandshakeDrop::Forged)), "{outcome:?}");
}

#[test]
fn who_may_not_connect_is_told_so_and_leaves_nothing() {
    let mut fixture = Fixture::new(5);
    let unknown = SecretKey::generate(&mut fixture.random);
    for revoked in [false, true] {
        let key = if revoked { fixture.sender.clone() } else { unknown.clone() };
        if revoked {
            fixture.access.revoked.insert(key.public());
            fixture.access.grants[0].open = true;
        }
        let mut initiator =
            Initiator::start(&key, &fixture.peer(), Ciphers::ALL, None, None, INIT, &mut fixture.random)
                .expect("fits");
        let outcome = fixture.receive(at(0), &from(1), initiator.message());
        assert!(matches!(outcome, Outcome::Refused(refused) if refused == key.public()), "{outcome:?}");
        let (_, answer, packet) = initiator.read(fixture.responder.output()).expect("authentic");
        assert_eq!((answer, packet.len()), (Answer::Refused, 0));
        assert_eq!(fixture.responder.half_open(), 0);
        let outcome = fixture.receive(at(1), &from(1), initiator.message());
        assert!(matches!(outcome, Outcome::Dropped(HandshakeDrop::Seen)), "{outcome:?}");
    }
    assert_eq!(fixture.responder.counts().refused, 2);
}

/// Two senders begin with the same token before either has confirmed its handshake: the first datagram that
/// opens decides.
#[test]
fn a_one_time_token_enrols_one_sender() {
    let mut fixture = Fixture::new(6);
    let keys = [SecretKey::generate(&mut fixture.random), SecretKey::generate(&mut fixture.random)];
    let id = fixture.token().id();
    fixture.access.grants[0] = Grant { open: true, once: true, senders: [].into(), token: fixture.token() };
    for key in &keys {
        let initiator =
            Initiator::start(key, &fixture.peer(), Ciphers::ALL, None, None, INIT, &mut fixture.random)
                .expect("fits");
        assert!(matches!(fixture.receive(at(0), &from(1), initiator.message()), Outcome::Asked(_)));
    }
    assert_eq!(fixture.access.enrol(id, keys[1].public()), crate::identity::Enrolment::New);
    assert_eq!(fixture.access.enrol(id, keys[0].public()), crate::identity::Enrolment::Refused);
    assert_eq!(fixture.access.enrol(id, keys[1].public()), crate::identity::Enrolment::Known);
}

/// A host on the path changes a clear field or an offer. It has the token, so the MAC is right again.
#[test]
fn clear_fields_and_offers_are_bound_to_the_handshake() {
    let mut fixture = Fixture::new(7);
    let token = fixture.token();
    let honest = fixture.initiator().message().to_vec();
    for place in (4..12).chain([20, 51, 52, 99, 100, 1167]) {
        let mut changed = honest.clone();
        changed[place] ^= 0x40;
        sign(&mut changed, &token);
        dropped(&mut fixture, &changed, HandshakeDrop::Forged);
    }
    for (place, why) in
        [(0, HandshakeDrop::Malformed), (1, HandshakeDrop::Version), (2, HandshakeDrop::Malformed)]
    {
        let mut changed = honest.clone();
        changed[place] ^= 0x40;
        sign(&mut changed, &token);
        dropped(&mut fixture, &changed, why);
    }
    // The MAC does not cover the cookie, which a responder ignores unless it demands one.
    let mut changed = honest;
    changed[MESSAGE_1_COOKIE] ^= 1;
    sign(&mut changed, &token);
    assert!(fixture.answer(at(0), &changed).is_some());
}

/// Payloads that a host with all keys could write, but no implementation of the format writes.
#[test]
fn payloads_of_message_1_that_are_not_in_the_format() {
    let mut fixture = Fixture::new(8);
    let honest = Asking { offer: Ciphers::ALL, continues: None, packet: INIT }.write().expect("fits");
    let with = |place: usize, byte: u8| {
        let mut payload = honest;
        payload[place] = byte;
        payload
    };
    let bad = [
        ("no cipher", with(0, 0)),
        ("unknown cipher", with(0, 4 | 1)),
        ("unknown flag", with(1, 2)),
        ("the id of no handshake", with(2, 1)),
        ("a packet longer than the rest", with(18, 0x04)),
        ("a packet shorter than what is there", with(19, INIT.len() as u8 - 1)),
        ("padding", with(1051, 1)),
    ];
    for (what, payload) in bad {
        let mut message = message::Message1::new([7; 8], fixture.token().id());
        let role = Role::Initiator(&fixture.receiver);
        let random = fixture.random.clone();
        fixture.random.u64();
        let mut noise = Noise::new(
            &role,
            &fixture.sender,
            &fixture.token(),
            message.clear(),
            random,
            &DhCount::default(),
        )
        .expect("built");
        noise.write(&payload, message.noise_mut()).expect("fits");
        message.sign(&[0; 16], &fixture.token());
        println!("{what}");
        dropped(&mut fixture, message.bytes(), HandshakeDrop::Payload);
    }
}

/// A receiver that chooses a cipher that was not offered, or writes a payload outside the format.
#[test]
fn payloads_of_message_2_that_are_not_in_the_format() {
    let mut fixture = Fixture::new(8);
    let offer = Ciphers::only(Cipher::ChaCha20Poly1305);
    let payloads: [(&str, &[u8], bool); 8] = [
        ("honest", &[2, 0, 7, 8, 0, 1, 9], true),
        ("not offered", &[1, 0, 7, 8, 0, 1, 9], false),
        ("two ciphers", &[3, 0, 7, 8, 0, 1, 9], false),
        ("no cipher", &[0, 0, 7, 8, 0, 1, 9], false),
        ("unknown answer", &[2, 5, 7, 8, 0, 1, 9], false),
        ("too long", &[2, 0, 7, 8, 0, 2, 9], false),
        ("too short", &[2, 0, 7, 8, 0, 0, 9], false),
        ("cut", &[2, 0, 7, 8, 0], false),
    ];
    for (what, payload, good) in payloads {
        let mut initiator =
            Initiator::start(&fixture.sender, &fixture.peer(), offer, None, None, INIT, &mut fixture.random)
                .expect("fits");
        let clear = &initiator.message()[..20];
        let random = child(&mut fixture.random);
        let count = DhCount::default();
        let mut noise =
            Noise::new(&Role::Responder, &fixture.receiver_key, &fixture.token(), clear, random, &count)
                .expect("built");
        noise.read(&initiator.message()[20..1168], &mut [0; 1200]).expect("authentic");
        let message =
            message::message_2(initiator.id(), &fixture.token(), |out| noise.write(payload, out).ok());
        let read = initiator.read(&message.expect("fits"));
        let expected = if good { None } else { Some(HandshakeError::Malformed) };
        assert_eq!(read.err(), expected, "{what}");
    }
}

#[test]
fn retries_are_for_one_handshake_and_from_somebody_with_the_token() {
    let mut fixture = Fixture::new(9);
    let token = fixture.token();
    let mut initiator = fixture.initiator();
    let before = initiator.message().to_vec();
    let retry = |id: [u8; 8], token: &Token, cookie: u8| {
        let mut out = Vec::new();
        message::retry(id, &[cookie; 16], token, &mut out);
        out
    };
    let id = initiator.id();
    assert!(!initiator.on_retry(&retry([1; 8], &token, 1)));
    assert!(!initiator.on_retry(&retry(id, &Token::generate(&mut fixture.random), 1)));
    assert!(!initiator.on_retry(&retry(id, &token, 1)[..43]));
    assert_eq!(initiator.message(), before);
    assert!(initiator.on_retry(&retry(id, &token, 1)));
    assert!(!initiator.on_retry(&retry(id, &token, 1)), "the same cookie is not a reason to send again");
    let changed: Vec<usize> = (0..1200).filter(|n| initiator.message()[*n] != before[*n]).collect();
    assert!(changed.iter().all(|n| *n >= 1168) && changed.len() > 16, "cookie and MAC alone: {changed:?}");
    let at_once = (0..100).filter(|n| initiator.on_retry(&retry(id, &token, 2 + (n % 2)))).count();
    assert!(at_once < 40, "{at_once} datagrams of 1200 bytes for as many of 44");
    assert!(fixture.answer(at(0), initiator.message()).is_some());
}

/// A position in a datagram and the change of its byte.
fn change() -> impl Strategy<Value = (usize, u8)> {
    (0..MESSAGE_1, 1..=255u8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_changed_in_message_1_leave_nothing(changes in prop::collection::vec(change(), 1..4), seed: u64) {
        let mut fixture = Fixture::new(seed);
        let mut message = fixture.initiator().message().to_vec();
        let honest = message.clone();
        for (place, bits) in changes {
            message[place] ^= bits;
        }
        prop_assume!(message != honest);
        let outcome = fixture.receive(at(0), &from(1), &message);
        prop_assert!(matches!(outcome, Outcome::Dropped(_)), "{:?}", outcome);
        prop_assert_eq!(fixture.responder.diffie_hellmans(), 0);
        prop_assert!(fixture.answer(at(0), &honest).is_some());
    }

    /// Noise's own state must survive refused messages, with the right MAC and with a wrong one.
    #[test]
    fn forged_answers_change_nothing(
        forged in prop::collection::vec((prop::collection::vec(change(), 1..4), any::<bool>(), 0..3usize), 0..12),
        seed: u64,
    ) {
        let mut fixture = Fixture::new(seed);
        let token = fixture.token();
        let mut initiator = fixture.initiator();
        let (theirs, honest) = fixture.answer(at(0), initiator.message()).expect("asked");
        for (changes, signed, cut) in forged {
            let mut message = honest.clone();
            for (place, bits) in changes {
                let place = place % message.len();
                message[place] ^= bits;
            }
            message.truncate(message.len() - 7 * cut);
            if signed {
                sign(&mut message, &token);
            }
            if message != honest {
                prop_assert!(initiator.read(&message).is_err());
            }
        }
        let (ours, answer, packet) = initiator.read(&honest).expect("the true answer");
        prop_assert_eq!((answer, &packet[..]), (Answer::New, INIT_ACK));
        agree(&ours, &theirs);
    }

    #[test]
    fn any_bytes_get_less_back_than_they_are(
        datagram in prop::collection::vec(any::<u8>(), 0..1400),
        kind in 0..6u8,
        shape in 0..4u8,
        seed: u64,
    ) {
        let limits = Limits { ciphers: Ciphers::ALL, cookies: u32::from(seed % 2 == 0), ceiling: 500, route: None };
        let mut fixture = Fixture::with(seed, limits);
        let token = fixture.token();
        // The responder is loaded if only one handshake per second needs no cookie.
        let first = fixture.initiator();
        prop_assert!(fixture.answer(at(0), first.message()).is_some());
        let mut datagram = datagram;
        if shape > 0 {
            datagram.resize(MESSAGE_1, 0);
            datagram[..4].copy_from_slice(&[2, 2, 0, 0]);
        } else if let Some(first) = datagram.first_mut() {
            *first = kind;
        }
        if shape > 1 {
            datagram[12..20].copy_from_slice(&token.id().0);
            sign(&mut datagram, &token);
        }
        if shape > 2 {
            datagram = fixture.initiator().message().to_vec();
        }
        for _ in 0..3 {
            match fixture.receive(at(1), &from(9), &datagram) {
                Outcome::Dropped(_) => {}
                Outcome::Send | Outcome::Refused(_) => prop_assert!(fixture.responder.output().len() <= datagram.len()),
                Outcome::Asked(asked) => {
                    let packet = vec![1; usize::from(u16::from_be_bytes([datagram[30], datagram[31]])) % 1300];
                    if let Some((_, message)) = fixture.responder.answer(asked.slot, Answer::New, &packet) {
                        prop_assert!(message.len() <= datagram.len());
                    }
                }
            }
        }
    }
}
