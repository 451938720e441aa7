//! Handshakes between two honest ends.

use super::*;

#[test]
fn two_messages_and_both_have_the_same_keys() {
    let mut fixture = Fixture::new(1);
    let mut initiator = fixture.initiator();
    assert_eq!(initiator.message().len(), 1200);
    let Outcome::Asked(asked) = fixture.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    assert_eq!((asked.remote, asked.token), (fixture.sender.public(), fixture.token().id()));
    assert_eq!((asked.continues, &asked.packet[..]), (None, INIT));
    let (theirs, message) = fixture.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open");
    assert_eq!(theirs.remote, fixture.sender.public());
    let (ours, answer, packet) = initiator.read(message).expect("authentic");
    assert_eq!((answer, &packet[..], ours.remote), (Answer::New, INIT_ACK, fixture.receiver));
    agree(&ours, &theirs);
    assert_eq!(fixture.responder.diffie_hellmans(), 4);
}

#[test]
fn each_handshake_has_keys_ids_and_messages_of_its_own() {
    let mut fixture = Fixture::new(2);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..5 {
        let mut initiator = fixture.initiator();
        let (theirs, message) = fixture.answer(at(0), initiator.message()).expect("asked");
        let (ours, ..) = initiator.read(&message).expect("authentic");
        agree(&ours, &theirs);
        assert!(seen.insert(mark(&ours).0) && seen.insert(mark(&ours).1));
        assert!(seen.insert(ours.handshake.0));
        // Compares the ephemeral keys: no other part of a message would show that two are alike.
        assert!(seen.insert(initiator.message()[20..36].try_into().expect("16 bytes")));
        assert!(seen.insert(message[12..28].try_into().expect("16 bytes")));
    }
}

/// AES-128-GCM if both have it, else ChaCha20-Poly1305 (ADR 17).
#[test]
fn the_cipher_is_one_that_both_have() {
    let (aes, chacha) = (Ciphers::only(Cipher::Aes128Gcm), Ciphers::only(Cipher::ChaCha20Poly1305));
    for (offer, here, chosen) in [
        (Ciphers::ALL, Ciphers::ALL, Some(Cipher::Aes128Gcm)),
        (chacha, Ciphers::ALL, Some(Cipher::ChaCha20Poly1305)),
        (Ciphers::ALL, chacha, Some(Cipher::ChaCha20Poly1305)),
        (aes, chacha, None),
    ] {
        let mut fixture = Fixture::with(3, Limits { ciphers: here, ..Limits::default() });
        let mut initiator =
            Initiator::start(&fixture.sender, &fixture.peer(), offer, None, None, INIT, &mut fixture.random)
                .expect("fits");
        let answer = fixture.answer(at(0), initiator.message());
        assert_eq!(answer.as_ref().map(|(c, _)| c.cipher), chosen);
        if let Some((theirs, message)) = answer {
            agree(&initiator.read(&message).expect("authentic").0, &theirs);
        } else {
            assert_eq!(fixture.responder.counts().dropped(HandshakeDrop::NoCipher), 1);
        }
    }
}

#[test]
fn a_handshake_names_the_one_it_continues_and_learns_what_became_of_it() {
    let mut fixture = Fixture::new(4);
    let before = HandshakeId([7; 16]);
    for answer in [Answer::New, Answer::Continued, Answer::Unknown, Answer::Refused, Answer::Busy] {
        let mut initiator = Initiator::start(
            &fixture.sender,
            &fixture.peer(),
            Ciphers::ALL,
            Some(before),
            None,
            b"",
            &mut fixture.random,
        )
        .expect("fits");
        let Outcome::Asked(asked) = fixture.receive(at(0), &from(1), initiator.message()) else {
            panic!("not asked")
        };
        assert_eq!((asked.continues, asked.packet.len()), (Some(before), 0));
        let (theirs, message) = fixture.responder.answer(asked.slot, answer, b"").expect("half open");
        let (ours, got, packet) = initiator.read(message).expect("authentic");
        assert_eq!((got, packet.len()), (answer, 0));
        agree(&ours, &theirs);
        assert_ne!(ours.handshake, before);
    }
}

#[test]
fn packets_ride_up_to_the_longest_that_fits() {
    let mut fixture = Fixture::new(5);
    let long = vec![0x5a; MOST_1 + 1];
    let start = |fixture: &mut Fixture, packet: &[u8]| {
        Initiator::start(
            &fixture.sender,
            &fixture.peer(),
            Ciphers::ALL,
            None,
            None,
            packet,
            &mut fixture.random,
        )
    };
    assert_eq!(start(&mut fixture, &long).err(), Some(HandshakeError::TooLong));
    let mut initiator = start(&mut fixture, &long[..MOST_1]).expect("fits");
    let Outcome::Asked(asked) = fixture.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    assert_eq!(asked.packet, long[..MOST_1]);
    let longest = vec![0xa5; MOST_2];
    let (_, message) = fixture.responder.answer(asked.slot, Answer::New, &longest).expect("half open");
    assert_eq!(message.len(), 1200);
    assert_eq!(initiator.read(message).expect("authentic").2, longest);

    let again = fixture.initiator();
    let Outcome::Asked(asked) = fixture.receive(at(0), &from(1), again.message()) else {
        panic!("not asked")
    };
    let too_long = vec![0xa5; MOST_2 + 1];
    assert!(fixture.responder.answer(asked.slot, Answer::New, &too_long).is_none());
    assert!(fixture.responder.answer(asked.slot, Answer::New, INIT_ACK).is_none(), "forgotten");
}

/// A repeated message gets an identical answer, from any path, while the handshake is half open, and none
/// afterwards.
#[test]
fn a_message_that_comes_again_gets_the_same_answer_for_fifteen_seconds() {
    let mut fixture = Fixture::new(6);
    let mut initiator = fixture.initiator();
    let Outcome::Asked(asked) = fixture.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    assert!(!fixture.responder.proves(asked.slot, &from(1)), "nothing went there yet");
    let Outcome::Dropped(HandshakeDrop::Unanswered) = fixture.receive(at(0), &from(2), initiator.message())
    else {
        panic!("answered twice")
    };
    let (theirs, message) = fixture.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open");
    let message = message.to_vec();
    assert!(fixture.responder.answer(asked.slot, Answer::New, INIT_ACK).is_none(), "answered once");
    // The copy from host 2 was dropped: message 2 went to host 1 alone until it was repeated.
    for (ms, host, alone) in [(1, 1, true), (2000, 2, false), (14_999, 1, false)] {
        assert!(matches!(fixture.receive(at(ms), &from(host), initiator.message()), Outcome::Send));
        assert_eq!(fixture.responder.output(), message);
        assert_eq!(fixture.responder.proves(asked.slot, &from(1)), alone);
        assert!(!fixture.responder.proves(asked.slot, &from(2)));
    }
    assert_eq!(fixture.responder.poll_timeout(), Some(at(15_000)));
    agree(&initiator.read(&message).expect("authentic").0, &theirs);
    fixture.responder.handle_timeout(at(15_000));
    assert_eq!(fixture.responder.poll_forgotten(), Some(asked.slot));
    assert_eq!(fixture.responder.poll_forgotten(), None);
    let Outcome::Dropped(HandshakeDrop::Seen) = fixture.receive(at(15_000), &from(1), initiator.message())
    else {
        panic!("read again")
    };
    assert_eq!((fixture.responder.diffie_hellmans(), fixture.responder.counts().repeated), (4, 3));
}

#[test]
fn a_handshake_that_is_over_leaves_no_answer_and_is_not_reported() {
    let mut fixture = Fixture::new(7);
    let initiator = fixture.initiator();
    let Outcome::Asked(asked) = fixture.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    fixture.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open");
    fixture.responder.close(asked.slot);
    assert!(matches!(
        fixture.receive(at(1), &from(1), initiator.message()),
        Outcome::Dropped(HandshakeDrop::Seen)
    ));
    fixture.responder.handle_timeout(at(60_000));
    assert_eq!((fixture.responder.poll_forgotten(), fixture.responder.poll_timeout()), (None, None));
}

#[test]
fn the_same_seed_makes_the_same_bytes() {
    let run = || {
        let mut fixture = Fixture::new(8);
        let initiator = fixture.initiator();
        (initiator.message().to_vec(), fixture.answer(at(0), initiator.message()).expect("asked").1)
    };
    assert_eq!(run(), run());
}
