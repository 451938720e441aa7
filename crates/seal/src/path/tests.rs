use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// Number of packet numbers per generation.
const NUMBERS: u64 = 1 << 22;

fn chain(generation: u64) -> Chain {
    Chain::at(Cipher::Aes128Gcm, Secret::new([3; 32]), generation)
}

/// Both ends of one direction, whose next number is `next`.
fn ends(next: u64) -> (Sender, Receiver) {
    let next = PacketNumber::reconstruct(next as u32, next.checked_sub(1).map(number)).expect("in range");
    let highest = next.full().checked_sub(1).map(number);
    let generation = next.generation();
    let sender = Sender::starting(ConnectionId([9; 8]), chain(generation), next);
    (sender, Receiver::starting(chain(generation), highest.filter(|h| h.generation() == generation)))
}

fn number(full: u64) -> PacketNumber {
    let first = PacketNumber::first_of(full >> 22).expect("in range");
    PacketNumber::reconstruct(full as u32, Some(first)).expect("in range")
}

/// A datagram with `packet` in it, to be sealed.
fn room(packet: &[u8]) -> Vec<u8> {
    [&[0; 13], packet, &[0; 16]].concat()
}

fn seal(sender: &mut Sender, at: Instant, received: Option<u64>) -> Vec<u8> {
    let mut datagram = room(b"packet");
    sender.seal(at, received, &mut datagram).expect("a number");
    datagram
}

fn open(receiver: &mut Receiver, datagram: &[u8]) -> Result<u64, Discard> {
    let mut datagram = datagram.to_vec();
    let opened = receiver.open(&mut datagram)?;
    assert_eq!(&datagram[13..datagram.len() - 16], b"packet");
    Ok(opened.full())
}

/// State that alone determines which datagrams a receiver takes next.
fn state(receiver: &Receiver) -> (Option<PacketNumber>, Vec<(u64, Vec<u32>)>) {
    let taken = |window: &Option<Box<Window>>| {
        (0..5000).filter(|&number| window.as_ref().is_some_and(|window| !window.is_new(number))).collect()
    };
    let kept = receiver.generations.iter().flatten().map(|kept| (kept.number, taken(&kept.taken)));
    (receiver.highest, kept.filter(|(_, taken): &(u64, Vec<u32>)| !taken.is_empty()).collect())
}

#[test]
fn datagrams_open_once_in_any_order() {
    let (mut sender, mut receiver) = ends(0);
    let sealed: Vec<_> = (0..100).map(|_| seal(&mut sender, Instant::ZERO, None)).collect();
    let order: Vec<usize> = (0..100).map(|n| n * 37 % 100).collect();
    for &n in &order {
        assert_eq!(open(&mut receiver, &sealed[n]), Ok(n as u64));
    }
    for n in order {
        assert_eq!(open(&mut receiver, &sealed[n]), Err(Discard::Replayed));
    }
    assert_eq!(receiver.highest(), Some(number(99)));
}

#[test]
fn a_generation_ends_with_its_numbers_and_late_datagrams_of_it_are_taken() {
    let (mut sender, mut receiver) = ends(0);
    sender.jump(NUMBERS - 3);
    let sealed: Vec<_> = (0..6).map(|_| seal(&mut sender, Instant::ZERO, None)).collect();
    // The first datagram of the next generation arrives first.
    for n in [3, 5, 0, 2, 4, 1] {
        assert_eq!(open(&mut receiver, &sealed[n]), Ok(NUMBERS - 3 + n as u64));
    }
    for datagram in &sealed {
        assert_eq!(open(&mut receiver, datagram), Err(Discard::Replayed));
    }
}

/// After two minutes in a generation that the peer has reached, the next number is the first of the next
/// generation.
#[test]
fn after_two_minutes_the_number_skips_to_the_next_generation() {
    let (mut sender, mut receiver) = ends(0);
    let early = seal(&mut sender, Instant::ZERO, Some(0));
    let late = seal(&mut sender, Instant::ZERO + 119 * SECOND, Some(0));
    let skipped = seal(&mut sender, Instant::ZERO + 120 * SECOND, Some(0));
    let behind = seal(&mut sender, Instant::ZERO + 121 * SECOND, Some(0));
    // Reordered: after the skip, earlier datagrams still open.
    assert_eq!(open(&mut receiver, &behind), Ok(NUMBERS + 1));
    assert_eq!(open(&mut receiver, &skipped), Ok(NUMBERS));
    assert_eq!(open(&mut receiver, &late), Ok(1));
    assert_eq!(open(&mut receiver, &early), Ok(0));
    // Two minutes from the first datagram of generation 1, not from the end of generation 0.
    assert_eq!(
        open(&mut receiver, &seal(&mut sender, Instant::ZERO + 239 * SECOND, Some(1))),
        Ok(NUMBERS + 2)
    );
    assert_eq!(
        open(&mut receiver, &seal(&mut sender, Instant::ZERO + 240 * SECOND, Some(1))),
        Ok(2 * NUMBERS)
    );
}

#[test]
fn a_sender_goes_ahead_only_after_its_peer_has_followed() {
    let (mut sender, mut receiver) = ends(0);
    // A path that loses everything for three hours.
    for minute in 0..180 {
        seal(&mut sender, Instant::ZERO + minute * 60 * SECOND, None);
    }
    let at = Instant::ZERO + 180 * 60 * SECOND;
    assert_eq!(open(&mut receiver, &seal(&mut sender, at, None)), Ok(180));
    // The peer sends again: the sender moves one generation ahead, and no further until the peer has
    // followed.
    for minute in 181..400 {
        let at = Instant::ZERO + minute * 60 * SECOND;
        let generation =
            number(open(&mut receiver, &seal(&mut sender, at, Some(0))).expect("opens")).generation();
        assert_eq!(generation, 1);
    }
}

#[test]
fn a_sender_follows_its_peer() {
    let (mut sender, mut receiver) = ends(0);
    for (received, expected) in [(0, 0), (1, 1), (4, 4), (3, 4), (8, 8)] {
        let datagram = seal(&mut sender, Instant::ZERO, Some(received));
        assert_eq!(number(open(&mut receiver, &datagram).expect("opens")).generation(), expected);
    }
}

/// An association that idles for a minute between datagrams, in both directions, for two hours: each datagram
/// opens.
#[test]
fn silences_of_a_minute_lose_nothing() {
    let (mut to, mut at_peer) = ends(0);
    let (mut back, mut here) = ends(0);
    let mut generations = BTreeSet::new();
    for minute in 0..120 {
        let at = Instant::ZERO + minute * 60 * SECOND;
        let received = here.highest().map(PacketNumber::generation);
        let there = open(&mut at_peer, &seal(&mut to, at, received)).expect("opens");
        let received = at_peer.highest().map(PacketNumber::generation);
        let answer = open(&mut here, &seal(&mut back, at, received)).expect("opens");
        generations.extend([number(there).generation(), number(answer).generation()]);
    }
    // One generation per two minutes: 0 to 59.
    assert_eq!(generations, (0..60).collect());
}

#[test]
fn a_receiver_tries_four_generations_ahead_and_one_behind() {
    for ahead in 0..8 {
        let (mut sender, mut receiver) = ends(0);
        sender.jump(ahead * NUMBERS + 5);
        let datagram = seal(&mut sender, Instant::ZERO, None);
        let expected = if ahead <= 4 { Ok(ahead * NUMBERS + 5) } else { Err(Discard::Generation) };
        assert_eq!(open(&mut receiver, &datagram), expected, "{ahead} ahead");
    }
    let (mut sender, mut receiver) = ends(0);
    let old: Vec<_> = (0..3)
        .map(|generation| {
            sender.jump(generation * NUMBERS + 7);
            seal(&mut sender, Instant::ZERO, None)
        })
        .collect();
    sender.jump(2 * NUMBERS + 9);
    assert!(open(&mut receiver, &seal(&mut sender, Instant::ZERO, None)).is_ok());
    assert_eq!(open(&mut receiver, &old[0]), Err(Discard::Generation));
    assert_eq!(open(&mut receiver, &old[1]), Ok(NUMBERS + 7));
    assert_eq!(open(&mut receiver, &old[2]), Ok(2 * NUMBERS + 7));
}

#[test]
fn keys_of_generations_that_are_over_are_forgotten() {
    let (mut sender, mut receiver) = ends(0);
    for generation in 0..40 {
        sender.jump(generation * NUMBERS);
        open(&mut receiver, &seal(&mut sender, Instant::ZERO, None)).expect("opens");
        let mut kept: Vec<_> = receiver.generations.iter().flatten().map(|kept| kept.number).collect();
        kept.sort_unstable();
        assert_eq!(kept, (generation.saturating_sub(1)..=generation).collect::<Vec<_>>());
    }
}

/// The wire's 32 bits wrap after 1024 generations, RFC 9000's numbers end at 2⁶².
#[test]
fn numbers_go_on_where_the_wire_wraps_and_end_at_two_to_the_62() {
    let (mut sender, mut receiver) = ends((1 << 32) - 50);
    for n in 0..100 {
        let datagram = seal(&mut sender, Instant::ZERO, None);
        assert_eq!(open(&mut receiver, &datagram), Ok((1 << 32) - 50 + n));
    }
    let (mut sender, mut receiver) = ends((1 << 62) - 50);
    assert_eq!(sender.left(), 50);
    for n in 0..50 {
        let datagram = seal(&mut sender, Instant::ZERO, None);
        assert_eq!(open(&mut receiver, &datagram), Ok((1 << 62) - 50 + n));
    }
    let mut datagram = room(b"packet");
    assert_eq!(sender.seal(Instant::ZERO, None, &mut datagram), None);
    assert_eq!((datagram, sender.left()), (room(b"packet"), 0));
    // The last generation does not end early either, because no later one exists.
    let (mut sender, _) = ends((1 << 62) - 50);
    seal(&mut sender, Instant::ZERO, Some((1 << 40) - 1));
    assert_eq!(sender.seal(Instant::ZERO + 200 * SECOND, Some((1 << 40) - 1), &mut room(b"packet")), None);
}

/// At 10 Gbit/s of 1344-byte packets, 930 060 per second, that is a datagram 4.4 ms late.
#[test]
fn a_datagram_more_than_4095_numbers_late_is_too_old() {
    let (mut sender, mut receiver) = ends(0);
    let sealed: Vec<_> = (0..4097).map(|_| seal(&mut sender, Instant::ZERO, None)).collect();
    assert_eq!(open(&mut receiver, &sealed[4096]), Ok(4096));
    assert_eq!(open(&mut receiver, &sealed[0]), Err(Discard::Replayed));
    assert_eq!(open(&mut receiver, &sealed[1]), Ok(1));
}

#[test]
fn what_is_too_short_is_neither_sealed_nor_opened() {
    let (mut sender, mut receiver) = ends(0);
    for length in 0..32 {
        assert_eq!(sender.seal(Instant::ZERO, None, &mut vec![0; length]), None);
        assert_eq!(receiver.open(&mut vec![0; length]), Err(Discard::Short));
    }
    assert_eq!(sender.seal(Instant::ZERO, None, &mut [0; 32]), Some(PacketNumber::FIRST));
}

#[derive(Clone, Debug)]
enum Step {
    /// Skip this number of packet numbers on the sending side.
    Skip(u64),
    /// Advance time by this number of seconds.
    Wait(u32),
    /// Report that the peer sends in the sender's generation plus this.
    Received(u64),
    /// Seal 64 datagrams; deliver those whose bit is set, then all of them again.
    Send(u64),
    /// Deliver the last sealed datagram with a changed byte.
    Forge(usize, u8),
    /// Deliver arbitrary bytes.
    Junk(Vec<u8>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => prop_oneof![0u64..9000, NUMBERS - 70..NUMBERS + 70, 0..4 * NUMBERS].prop_map(Step::Skip),
        1 => (0u32..300).prop_map(Step::Wait),
        2 => (0u64..3).prop_map(Step::Received),
        5 => any::<u64>().prop_map(Step::Send),
        2 => (0usize..35, 1u8..=255).prop_map(|(at, change)| Step::Forge(at, change)),
        1 => proptest::collection::vec(any::<u8>(), 0..100).prop_map(Step::Junk),
    ]
}

proptest! {
    /// Only sealed datagrams open, and each only once. A datagram that does not open changes nothing. Numbers
    /// grow and never repeat, so no nonce repeats under a key.
    #[test]
    fn only_what_was_sealed_opens_and_only_once(steps in proptest::collection::vec(step(), 1..40)) {
        let (mut sender, mut receiver) = ends(0);
        let (mut now, mut received) = (Instant::ZERO, None);
        let mut opened = BTreeSet::new();
        let mut last: Option<(u64, Vec<u8>)> = None;
        for step in steps {
            match step {
                Step::Skip(on) => {
                    let next = sender.next.expect("far from the end").full();
                    // At most as far as a receiver follows.
                    let furthest = (receiver.highest().map_or(0, PacketNumber::generation) + 4) * NUMBERS;
                    sender.jump((next + on).min(furthest.max(next)));
                }
                Step::Wait(seconds) => now += seconds * SECOND,
                Step::Received(ahead) => received = received.max(Some(sender.generation.saturating_sub(1) + ahead)),
                Step::Send(arrive) => for bit in 0..64 {
                    let mut datagram = room(b"packet");
                    let full = sender.seal(now, received, &mut datagram).expect("a number").full();
                    prop_assert!(last.as_ref().is_none_or(|&(before, _)| before < full), "{} after {:?}", full, last);
                    if arrive >> bit & 1 == 1 {
                        match open(&mut receiver, &datagram) {
                            Ok(number) => prop_assert!(number == full && opened.insert(number)),
                            Err(why) => prop_assert_eq!(why, Discard::Generation),
                        }
                        prop_assert!(open(&mut receiver, &datagram).is_err());
                    }
                    last = Some((full, datagram));
                },
                Step::Forge(at, change) => if let Some((_, datagram)) = &last {
                    let before = state(&receiver);
                    let mut forged = datagram.clone();
                    forged[at] ^= change;
                    prop_assert!(open(&mut receiver, &forged).is_err());
                    prop_assert_eq!(state(&receiver), before);
                },
                Step::Junk(bytes) => {
                    let before = state(&receiver);
                    prop_assert!(open(&mut receiver, &bytes).is_err());
                    prop_assert_eq!(state(&receiver), before);
                }
            }
            let kept = receiver.generations.iter().flatten().count();
            prop_assert!(kept <= 6, "{} keys", kept);
        }
    }
}
