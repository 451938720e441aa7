//! What two honest ends come to.

use super::*;

#[test]
fn two_messages_and_both_have_the_same_keys() {
    let mut world = World::new(1);
    let mut initiator = world.initiator();
    assert_eq!(initiator.message().len(), 1200);
    let Outcome::Asked(asked) = world.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    assert_eq!((asked.remote, asked.token), (world.sender.public(), world.token().id()));
    assert_eq!((asked.continues, &asked.packet[..]), (None, INIT));
    let (theirs, message) = world.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open");
    assert_eq!(theirs.remote, world.sender.public());
    let (ours, answer, packet) = initiator.read(message).expect("authentic");
    assert_eq!((answer, &packet[..], ours.remote), (Answer::New, INIT_ACK, world.receiver));
    agree(&ours, &theirs);
    assert_eq!(world.responder.diffie_hellmans(), 4);
}

#[test]
fn each_handshake_has_keys_ids_and_messages_of_its_own() {
    let mut world = World::new(2);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..5 {
        let mut initiator = world.initiator();
        let (theirs, message) = world.answer(at(0), initiator.message()).expect("asked");
        let (ours, ..) = initiator.read(&message).expect("authentic");
        agree(&ours, &theirs);
        assert!(seen.insert(mark(&ours).0) && seen.insert(mark(&ours).1));
        assert!(seen.insert(ours.handshake.0));
        // The ephemeral keys: nothing else of a message would show that two are alike.
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
        let mut world = World::with(3, Limits { ciphers: here, ..Limits::default() });
        let mut initiator =
            Initiator::start(&world.sender, &world.peer(), offer, None, INIT, &mut world.random)
                .expect("fits");
        let answer = world.answer(at(0), initiator.message());
        assert_eq!(answer.as_ref().map(|(c, _)| c.cipher), chosen);
        if let Some((theirs, message)) = answer {
            agree(&initiator.read(&message).expect("authentic").0, &theirs);
        } else {
            assert_eq!(world.responder.counts().dropped(HandshakeDrop::NoCipher), 1);
        }
    }
}

#[test]
fn a_handshake_names_the_one_it_continues_and_learns_what_became_of_it() {
    let mut world = World::new(4);
    let before = HandshakeId([7; 16]);
    for answer in [Answer::New, Answer::Continued, Answer::Unknown, Answer::Refused, Answer::Busy] {
        let mut initiator = Initiator::start(
            &world.sender,
            &world.peer(),
            Ciphers::ALL,
            Some(before),
            b"",
            &mut world.random,
        )
        .expect("fits");
        let Outcome::Asked(asked) = world.receive(at(0), &from(1), initiator.message()) else {
            panic!("not asked")
        };
        assert_eq!((asked.continues, asked.packet.len()), (Some(before), 0));
        let (theirs, message) = world.responder.answer(asked.slot, answer, b"").expect("half open");
        let (ours, got, packet) = initiator.read(message).expect("authentic");
        assert_eq!((got, packet.len()), (answer, 0));
        agree(&ours, &theirs);
        assert_ne!(ours.handshake, before);
    }
}

#[test]
fn packets_ride_up_to_the_longest_that_fits() {
    let mut world = World::new(5);
    let long = vec![0x5a; MOST_1 + 1];
    let start = |world: &mut World, packet: &[u8]| {
        Initiator::start(&world.sender, &world.peer(), Ciphers::ALL, None, packet, &mut world.random)
    };
    assert_eq!(start(&mut world, &long).err(), Some(HandshakeError::TooLong));
    let mut initiator = start(&mut world, &long[..MOST_1]).expect("fits");
    let Outcome::Asked(asked) = world.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    assert_eq!(asked.packet, long[..MOST_1]);
    let longest = vec![0xa5; MOST_2];
    let (_, message) = world.responder.answer(asked.slot, Answer::New, &longest).expect("half open");
    assert_eq!(message.len(), 1200);
    assert_eq!(initiator.read(message).expect("authentic").2, longest);

    let again = world.initiator();
    let Outcome::Asked(asked) = world.receive(at(0), &from(1), again.message()) else { panic!("not asked") };
    let too_long = vec![0xa5; MOST_2 + 1];
    assert!(world.responder.answer(asked.slot, Answer::New, &too_long).is_none());
    assert!(world.responder.answer(asked.slot, Answer::New, INIT_ACK).is_none(), "forgotten");
}

/// The same message from any path gets the same answer while the handshake is half open: once it's over, nothing.
#[test]
fn a_message_that_comes_again_gets_the_same_answer_for_fifteen_seconds() {
    let mut world = World::new(6);
    let mut initiator = world.initiator();
    let Outcome::Asked(asked) = world.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    assert!(!world.responder.proves(asked.slot, &from(1)), "nothing went there yet");
    let Outcome::Dropped(HandshakeDrop::Unanswered) = world.receive(at(0), &from(2), initiator.message())
    else {
        panic!("answered twice")
    };
    let (theirs, message) = world.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open");
    let message = message.to_vec();
    assert!(world.responder.answer(asked.slot, Answer::New, INIT_ACK).is_none(), "answered once");
    // The copy from host 2 was dropped: message 2 went to host 1 alone until it was repeated.
    for (ms, host, alone) in [(1, 1, true), (2000, 2, false), (14_999, 1, false)] {
        assert!(matches!(world.receive(at(ms), &from(host), initiator.message()), Outcome::Send));
        assert_eq!(world.responder.output(), message);
        assert_eq!(world.responder.proves(asked.slot, &from(1)), alone);
        assert!(!world.responder.proves(asked.slot, &from(2)));
    }
    assert_eq!(world.responder.poll_timeout(), Some(at(15_000)));
    agree(&initiator.read(&message).expect("authentic").0, &theirs);
    world.responder.handle_timeout(at(15_000));
    assert_eq!(world.responder.poll_forgotten(), Some(asked.slot));
    assert_eq!(world.responder.poll_forgotten(), None);
    let Outcome::Dropped(HandshakeDrop::Seen) = world.receive(at(15_000), &from(1), initiator.message())
    else {
        panic!("read again")
    };
    assert_eq!((world.responder.diffie_hellmans(), world.responder.counts().repeated), (4, 3));
}

#[test]
fn a_handshake_that_is_over_leaves_no_answer_and_is_not_reported() {
    let mut world = World::new(7);
    let initiator = world.initiator();
    let Outcome::Asked(asked) = world.receive(at(0), &from(1), initiator.message()) else {
        panic!("not asked")
    };
    world.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open");
    world.responder.close(asked.slot);
    assert!(matches!(
        world.receive(at(1), &from(1), initiator.message()),
        Outcome::Dropped(HandshakeDrop::Seen)
    ));
    world.responder.handle_timeout(at(60_000));
    assert_eq!((world.responder.poll_forgotten(), world.responder.poll_timeout()), (None, None));
}

#[test]
fn the_same_seed_makes_the_same_bytes() {
    let run = || {
        let mut world = World::new(8);
        let initiator = world.initiator();
        (initiator.message().to_vec(), world.answer(at(0), initiator.message()).expect("asked").1)
    };
    assert_eq!(run(), run());
}
