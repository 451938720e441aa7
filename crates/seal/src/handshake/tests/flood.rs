//! Cost of floods in simulated time, and the success of honest senders among them.

use core::cell::Cell;

use allocation_counter::measure;

use super::half_open::MOST;
use super::*;

/// Time after its start at which an honest initiator sends message 1 for the `n`th time.
fn repeats(n: u64) -> Duration {
    Duration::from_millis(match n {
        0 => 0,
        1 => 250,
        n => 750 + 1000 * (n - 2),
    })
}

/// A datagram on its way: arrival time, host, bytes.
type Underway = (Instant, u32, Vec<u8>);

/// An honest sender among floods. It sends, answers retries, and is done when message 2 arrives.
struct Honest {
    host: u32,
    started: Instant,
    initiator: Initiator,
    sent: u64,
    to_responder: Vec<Underway>,
    to_sender: Vec<Underway>,
    done: Option<Duration>,
}

impl Honest {
    fn start(now: Instant, host: u32, fixture: &mut Fixture) -> Self {
        let initiator = fixture.initiator();
        let (to_responder, to_sender) = (Vec::new(), Vec::new());
        Honest { host, started: now, initiator, sent: 0, to_responder, to_sender, done: None }
    }

    fn send(&mut self, now: Instant) {
        self.to_responder.push((now + WAY, self.host, self.initiator.message().to_vec()));
    }

    /// Takes all steps until `now`.
    fn step(&mut self, now: Instant, fixture: &mut Fixture) {
        if self.done.is_some() {
            return;
        }
        if self.started + repeats(self.sent) <= now {
            self.sent += 1;
            self.send(now);
        }
        while let Some(n) = self.to_responder.iter().position(|u| u.0 <= now) {
            let (_, host, datagram) = self.to_responder.swap_remove(n);
            let answer = match fixture.receive(now, &from(host), &datagram) {
                Outcome::Dropped(_) => continue,
                Outcome::Send | Outcome::Refused(_) => fixture.responder.output().to_vec(),
                Outcome::Asked(asked) => {
                    fixture.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open").1.to_vec()
                }
            };
            self.to_sender.push((now + WAY, host, answer));
        }
        while let Some(n) = self.to_sender.iter().position(|u| u.0 <= now) {
            let (_, _, datagram) = self.to_sender.swap_remove(n);
            if self.initiator.on_retry(&datagram) {
                self.send(now);
            } else if self.initiator.read(&datagram).is_ok() {
                self.done = Some(now - self.started);
            }
        }
    }
}

/// Runs `flood`, which gets the time and the number of each of its datagrams, for `s` seconds from `start`.
/// Begins an honest handshake each half second except in the first second and the last three, from sources of
/// earlier sessions if `known`. Returns the duration of each.
fn run(
    fixture: &mut Fixture,
    start: Instant,
    s: u64,
    per_s: u64,
    known: bool,
    mut flood: impl FnMut(&mut Fixture, Instant, u64),
) -> Vec<Duration> {
    let mut honest: Vec<Honest> = Vec::new();
    let mut next = start + Duration::from_secs(1);
    for n in 0..s * per_s {
        let now = start + Duration::from_nanos(n * 1_000_000_000 / per_s);
        flood(fixture, now, n);
        let begun = honest.len() as u64;
        if begun < 2 * s - 8 && now >= next {
            // Random hosts and times, out of step with refills and sending.
            let host = 5_000_000 + fixture.random.below(1 << 20) as u32;
            if known {
                fixture.responder.remember(&from(host));
            }
            honest.push(Honest::start(now, host, fixture));
            next = start + Duration::from_micros(1_500_000 + 500_000 * begun + fixture.random.below(500_000));
        }
        honest.iter_mut().for_each(|h| h.step(now, fixture));
        while fixture.responder.poll_forgotten().is_some() {}
    }
    honest.iter().map(|h| h.done.unwrap_or(Duration::MAX)).collect()
}

#[track_caller]
fn soon(took: &[Duration]) {
    assert!(took.len() > 3 && took.iter().all(|t| *t <= Duration::from_secs(3)), "{took:?}");
}

#[test]
fn twenty_thousand_a_second_without_the_token_compute_and_allocate_nothing() {
    let mut fixture = Fixture::new(1);
    let id = fixture.token().id();
    let datagram = Cell::new([0x77; MESSAGE_1]);
    let mut random = fixture.random.clone();
    let mut allocated = 0;
    let took = run(&mut fixture, at(0), 8, 20_000, false, |fixture, now, n| {
        let mut bytes = datagram.get();
        bytes[..4].copy_from_slice(&[2, 2, 0, 0]);
        random.fill(&mut bytes[4..60]);
        if n % 2 == 0 {
            bytes[12..20].copy_from_slice(&id.0);
        }
        random.fill(&mut bytes[MESSAGE_1_COOKIE..]);
        allocated += measure(|| {
            let outcome = fixture.receive(now, &from(n as u32), &bytes);
            assert!(matches!(outcome, Outcome::Dropped(HandshakeDrop::BadMac | HandshakeDrop::UnknownToken)));
        })
        .count_total;
    });
    soon(&took);
    assert!(took.iter().all(|t| *t <= 2 * WAY + Duration::from_millis(1)), "as without a flood: {took:?}");
    assert_eq!(allocated, 0);
    assert_eq!(fixture.responder.diffie_hellmans(), 4 * took.len() as u64, "those of the honest");
    assert_eq!(fixture.responder.counts().retries, 0);
}

#[test]
fn recorded_messages_compute_nothing_and_get_no_more_than_they_bring() {
    let mut fixture = Fixture::new(2);
    let recorded: Vec<Vec<u8>> = (0..200)
        .map(|n| {
            let initiator = fixture.initiator();
            let Outcome::Asked(asked) = fixture.receive(at(n * 20), &from(n as u32), initiator.message())
            else {
                panic!("not asked")
            };
            fixture.responder.answer(asked.slot, Answer::New, INIT_ACK).expect("half open");
            initiator.message().to_vec()
        })
        .collect();
    let before = fixture.responder.diffie_hellmans();
    let (mut sent, mut output) = (0, 0);
    // Addresses change, and the time runs from within the fifteen seconds to beyond them.
    let took = run(&mut fixture, at(4000), 12, 20_000, false, |fixture, now, n| {
        let datagram = &recorded[n as usize % recorded.len()];
        sent += datagram.len();
        match fixture.receive(now, &from(900_000 + n as u32), datagram) {
            Outcome::Dropped(why) => assert_eq!(why, HandshakeDrop::Seen),
            Outcome::Send => output += fixture.responder.output().len(),
            Outcome::Refused(_) | Outcome::Asked(_) => panic!("asked again"),
        }
    });
    assert!(output <= sent);
    soon(&took);
    assert_eq!(fixture.responder.diffie_hellmans() - before, 4 * took.len() as u64, "those of the honest");
    assert_eq!(fixture.responder.counts().retries, 0);
}

/// Floods with the token from `hosts` addresses and obeys retries. Returns the handshakes per second computed
/// for the flood and for honest senders, and the durations of the honest ones.
fn insider(seed: u64, hosts: u32, per_s: u64, known: bool) -> (u64, Vec<Duration>) {
    let mut fixture = Fixture::new(seed);
    let token = fixture.token();
    let mut random = Seeds::new(seed, 1).stream("insider");
    let mut underway = std::collections::VecDeque::new();
    let seconds = 14;
    let took = run(&mut fixture, at(0), seconds, per_s, known, |fixture, now, n| {
        let mut message = vec![0; MESSAGE_1];
        message[..4].copy_from_slice(&[2, 2, 0, 0]);
        random.fill(&mut message[4..52]);
        message[12..20].copy_from_slice(&token.id().0);
        sign(&mut message, &token);
        let host = 1_000_000 + (n % u64::from(hosts)) as u32;
        let mut due = vec![(now, host, message)];
        while underway.front().is_some_and(|u: &Underway| u.0 <= now) {
            due.extend(underway.pop_front());
        }
        for (_, host, mut message) in due {
            match fixture.receive(now, &from(host), &message) {
                Outcome::Dropped(_) => {}
                Outcome::Send => {
                    let retry = fixture.responder.output();
                    assert!(retry.len() <= message.len());
                    if message[MESSAGE_1_COOKIE..MESSAGE_1_MAC] == [0; 16] {
                        message[MESSAGE_1_COOKIE..MESSAGE_1_MAC].copy_from_slice(&retry[12..28]);
                        sign(&mut message, &token);
                        underway.push_back((now + 2 * WAY, host, message));
                    }
                }
                Outcome::Refused(_) | Outcome::Asked(_) => panic!("without a key"),
            }
        }
    });
    assert!(fixture.responder.half_open() <= MOST);
    assert!(
        fixture.responder.counts().retries > 0
            && fixture.responder.counts().dropped(HandshakeDrop::Overloaded) > 0
    );
    // One Diffie–Hellman each: the encrypted static key is not a valid key.
    (fixture.responder.diffie_hellmans() / seconds, took)
}

#[test]
fn two_thousand_a_second_that_answer_retries_keep_no_honest_sender_out() {
    for (seed, hosts) in [(1, 1), (2, 40), (3, 500), (4, 2000), (5, 2000)] {
        let (per_s, took) = insider(seed, hosts, 2000, false);
        assert!((100..=600).contains(&per_s), "{per_s} handshakes per second computed for {hosts} hosts");
        println!("seed {seed}, {hosts} hosts");
        soon(&took);
    }
}

/// The flood uses more prefixes than handshakes are computed in a while, none of them heavier than an honest
/// sender. Senders with earlier sessions connect as without a flood; new ones share the rest.
#[test]
fn a_flood_from_a_hundred_thousand_prefixes_delays_no_sender_that_was_there_before() {
    for (seed, hosts, per_s) in [(1, 6000, 2000), (2, 20_000, 2000), (3, 100_000, 10_000)] {
        let (computed, took) = insider(seed, hosts, per_s, true);
        assert!((100..=600).contains(&computed), "{computed} per second for {hosts} prefixes");
        soon(&took);
        let (_, new) = insider(seed, hosts, per_s, false);
        let late = new.iter().filter(|t| **t > Duration::from_secs(3)).count();
        assert!(late > 0, "a flood without an effect shows nothing");
        println!("{hosts} prefixes, {per_s}/s: {late} of {} new senders beyond 3 s", new.len());
    }
}

/// The attacker also has the keys of a sender, so each handshake takes a place: the table and its memory stay
/// as they are.
#[test]
fn half_open_handshakes_fill_a_fixed_table() {
    let mut fixture =
        Fixture::with(7, Limits { ciphers: Ciphers::ALL, cookies: 10_000, ceiling: 10_000, route: None });
    let mut forgotten = Vec::new();
    let mut given = Vec::new();
    let mut fill = |fixture: &mut Fixture, from_ms: u64, rounds: u64| {
        for n in 0..rounds {
            let initiator = fixture.initiator();
            let Outcome::Asked(asked) =
                fixture.receive(at(from_ms + n), &from(n as u32), initiator.message())
            else {
                panic!("not asked")
            };
            fixture.responder.answer(asked.slot, Answer::New, &[0; MOST_2]).expect("half open");
            given.push(asked.slot);
            forgotten.extend(core::iter::from_fn(|| fixture.responder.poll_forgotten()));
        }
    };
    fill(&mut fixture, 0, 400);
    assert_eq!(fixture.responder.half_open(), MOST);
    let grown = measure(|| fill(&mut fixture, 400, 600)).bytes_current;
    assert_eq!(fixture.responder.half_open(), MOST);
    assert!(grown < 64 << 10, "{grown} bytes more after 600 handshakes more");
    assert_eq!(forgotten.len(), 1000 - MOST);
    // Replacement is random: neither the oldest nor the newest alone go.
    let of_the_first = given[..256].iter().filter(|s| forgotten.contains(s)).count();
    assert!((200..256).contains(&of_the_first), "{of_the_first} of the first 256");
    fixture.responder.handle_timeout(at(20_000));
    forgotten.extend(core::iter::from_fn(|| fixture.responder.poll_forgotten()));
    forgotten.sort();
    assert!(forgotten == given, "each is reported once");
    assert_eq!(fixture.responder.half_open(), 0);
}

/// RFC 9000 section 8.1.3, WireGuard section 5.4.7: a cookie is valid for one address, one message and a
/// limited time.
#[test]
fn a_cookie_is_for_one_address_and_message_and_two_minutes_at_most() {
    let limits = Limits { ciphers: Ciphers::ALL, cookies: 1, ceiling: 1000, route: None };
    let mut fixture = Fixture::with(8, limits);
    let shown = |fixture: &mut Fixture, ms: u64, host: u32, message: &[u8]| {
        // One more handshake causes a demand for cookies in this second.
        let other = fixture.initiator();
        fixture.receive(at(ms), &from(77), other.message());
        fixture.receive(at(ms), &from(host), message)
    };
    let cookie = |fixture: &mut Fixture, ms: u64, host: u32| {
        let mut initiator = fixture.initiator();
        assert!(matches!(shown(fixture, ms, host, initiator.message()), Outcome::Send));
        let retry = fixture.responder.output().to_vec();
        assert_eq!(retry.len(), 44);
        assert!(initiator.on_retry(&retry));
        initiator
    };
    let mut fixture_at = |made: u64, host: u32, used: u64, from_host: u32| {
        let initiator = cookie(&mut fixture, made, host);
        matches!(shown(&mut fixture, used, from_host, initiator.message()), Outcome::Asked(_))
    };
    assert!(fixture_at(100_000, 1, 100_050, 1));
    assert!(!fixture_at(101_000, 1, 101_050, 2), "from another address");
    assert!(fixture_at(102_000, 1, 161_000, 1), "under the secret before");
    assert!(!fixture_at(300_000, 1, 421_000, 1), "two minutes are over");
    let (mut one, other) = (cookie(&mut fixture, 600_000, 1), cookie(&mut fixture, 600_000, 1));
    let mut retry = Vec::new();
    let cookie = other.message()[MESSAGE_1_COOKIE..MESSAGE_1_MAC].try_into().expect("16 bytes");
    message::retry(one.id(), &cookie, &fixture.token(), &mut retry);
    assert!(one.on_retry(&retry));
    assert!(
        !matches!(shown(&mut fixture, 600_001, 1, one.message()), Outcome::Asked(_)),
        "for another message"
    );
    assert!(matches!(shown(&mut fixture, 600_001, 1, other.message()), Outcome::Asked(_)));
}

/// Senders without competition may use the full rate from any number of addresses, both in one burst and with
/// regular pauses.
#[test]
fn a_thousand_senders_behind_one_address_connect() {
    let mut fixture = Fixture::new(9);
    let mut senders: Vec<Honest> = (0..1000).map(|_| Honest::start(at(0), 1, &mut fixture)).collect();
    for ms in 0..20_000 {
        senders.iter_mut().for_each(|s| s.step(at(ms), &mut fixture));
        while fixture.responder.poll_forgotten().is_some() {}
    }
    let mut took: Vec<Duration> = senders.iter().map(|s| s.done.unwrap_or(Duration::MAX)).collect();
    took.sort();
    let (half, all) = (took[499], took[999]);
    assert!(
        half <= Duration::from_secs(3) && all <= Duration::from_secs(8),
        "half in {half:?}, all in {all:?}"
    );
}
