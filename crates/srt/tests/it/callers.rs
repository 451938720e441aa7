//! Handshakes of a caller, by answers that are written by hand.

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, Direction, Endpoint, Event, KeySize, Refusal};

use crate::common::*;

fn caller(config: Config) -> Endpoint {
    Endpoint::call(Instant::ZERO, config, address(LISTENER), &Seeds::new(3, 0))
}

fn answer(caller: &mut Endpoint, ms: u64, hs: Hs, to: u32, extensions: &[(u16, Vec<u8>)]) {
    caller.handle_datagram(at(ms), address(LISTENER), &hs.packet(to, 0, extensions));
}

/// A response to the induction.
fn induction(version: u32, encryption: u16, extension: u16) -> Hs {
    Hs { version, encryption, extension, kind: INDUCTION, ..Hs::conclusion(9, 0x1234_5678) }
}

/// The draft: version 4, encryption 0, extension 2, INDUCTION, cookie 0, destination 0, no extensions.
#[test]
fn the_induction_has_the_fields_of_the_draft_and_is_repeated() {
    let mut caller = caller(Config::new(Direction::Send));
    let mut times = Vec::new();
    for ms in 0..3100 {
        for packet in outputs(&mut caller, at(ms)) {
            assert_eq!((word(&packet, 3), word(&packet, 4), word(&packet, 5)), (0, 4, 2));
            assert_eq!((word(&packet, 9), word(&packet, 11), packet.len()), (INDUCTION, 0, 64));
            assert_eq!(u64::from(word(&packet, 2)), ms * 1000);
            times.push(ms);
        }
    }
    assert_eq!(times, (0..12).map(|n| 250 * n).collect::<Vec<_>>());
    assert_eq!(caller.poll_event(), Some(Event::Failed { refusal: Refusal::TIMEOUT }));
    assert_eq!(caller.poll_timeout(at(3100)), None);
}

#[test]
fn the_conclusion_repeats_the_cookie_and_carries_extensions() {
    let config = Config { stream_id: Some("abcde".into()), ..encrypted(Direction::Send) };
    let mut caller = caller(config);
    let id = word(&outputs(&mut caller, at(0))[0], 10);
    answer(&mut caller, 20, induction(5, 4, 0x4a17), id, &[]);
    let packet = outputs(&mut caller, at(20)).pop().unwrap();
    assert_eq!((word(&packet, 3), word(&packet, 4)), (0, 5));
    assert_eq!(word(&packet, 5), 0x0004_0007, "AES-256 as advertised; HSREQ, KMREQ and CONFIG");
    assert_eq!((word(&packet, 9), word(&packet, 10), word(&packet, 11)), (CONCLUSION, id, 0x1234_5678));
    assert_eq!(word(&packet, 16), 0x0001_0003);
    assert_eq!(word(&packet, 19), 120 << 16 | 120);
    assert_eq!(packet[80..92], *b"\0\x05\0\x02dcba\0\0\0e");
    assert_eq!(word(&packet, 23), 3 << 16 | 18, "16 + 16 + 8 + 32 bytes of key material");
}

/// The draft: the destination of a conclusion is the id of the answer to the induction. Listeners of libsrt take 0 alone,
/// and repeat the caller's id in this answer.
#[test]
fn the_conclusion_goes_to_0_and_then_in_turn_to_the_id_of_the_answer() {
    for (answered, expected) in [(Some(9), [0, 9, 0, 9]), (None, [0; 4])] {
        let mut caller = caller(Config::new(Direction::Send));
        let id = word(&outputs(&mut caller, at(0))[0], 10);
        let response = Hs { id: answered.unwrap_or(id), ..induction(5, 0, 0x4a17) };
        answer(&mut caller, 20, response, id, &[]);
        let to: Vec<_> =
            (20..=770).flat_map(|ms| outputs(&mut caller, at(ms))).map(|packet| word(&packet, 3)).collect();
        assert_eq!(to, expected);
    }
}

/// The draft: the sender of the content forces its own size, the receiver takes what is advertised.
#[test]
fn the_sender_chooses_the_key_size() {
    for (direction, own, advertised, expected) in [
        (Direction::Send, Some(KeySize::Aes128), 4, 2),
        (Direction::Receive, Some(KeySize::Aes128), 4, 4),
        (Direction::Receive, Some(KeySize::Aes192), 0, 3),
        (Direction::Send, None, 0, 2),
    ] {
        let mut caller = caller(Config { key_size: own, ..encrypted(direction) });
        let id = word(&outputs(&mut caller, at(0))[0], 10);
        answer(&mut caller, 20, induction(5, advertised, 0x4a17), id, &[]);
        let packet = outputs(&mut caller, at(20)).pop().unwrap();
        assert_eq!(word(&packet, 5) >> 16, expected, "{direction:?} {own:?} {advertised}");
    }
}

#[test]
fn other_inductions_are_refused() {
    for (hs, refusal) in [(induction(4, 0, 0x4a17), Refusal::VERSION), (induction(5, 0, 2), Refusal::ROGUE)] {
        let mut caller = caller(Config::new(Direction::Send));
        let id = word(&outputs(&mut caller, at(0))[0], 10);
        answer(&mut caller, 20, hs, id, &[]);
        assert_eq!(caller.poll_event(), Some(Event::Failed { refusal }));
    }
}

/// Events after a response to the conclusion.
fn concluded(config: Config, hs: Hs, extensions: &[(u16, Vec<u8>)]) -> Option<Event> {
    let mut caller = caller(config);
    let id = word(&outputs(&mut caller, at(0))[0], 10);
    answer(&mut caller, 20, induction(5, 0, 0x4a17), id, &[]);
    outputs(&mut caller, at(20));
    answer(&mut caller, 40, hs, id, extensions);
    caller.poll_event()
}

#[test]
fn refusals_and_wrong_key_states_end_the_call() {
    let hs = Hs { extension: 3, ..Hs::conclusion(9, 0) };
    let response = (2, hs_message(LIVE, 120, 120));
    let failed = |refusal| Some(Event::Failed { refusal });
    let clear = || Config::new(Direction::Send);
    let code = |kind| Hs { kind, ..hs };
    assert_eq!(concluded(clear(), code(1010), &[]), failed(Refusal::BAD_SECRET));
    assert_eq!(concluded(clear(), code(2404), &[]), failed(Refusal::NOT_FOUND));
    assert_eq!(concluded(clear(), hs, &[]), failed(Refusal::ROGUE), "no HSRSP");
    let secret = || encrypted(Direction::Send);
    let state = |n: u8| [response.clone(), (4, vec![0, 0, 0, n])];
    assert_eq!(concluded(secret(), hs, &state(4)), failed(Refusal::BAD_SECRET));
    assert_eq!(concluded(secret(), hs, &state(3)), failed(Refusal::UNSECURE));
    assert_eq!(concluded(secret(), hs, &state(5)), failed(Refusal::CRYPTO));
    assert_eq!(concluded(secret(), hs, std::slice::from_ref(&response)), failed(Refusal::UNSECURE));
    assert_eq!(concluded(clear(), hs, &state(3)), failed(Refusal::UNSECURE));
    assert_eq!(concluded(secret(), hs, &[response, (4, vec![7; 56])]), failed(Refusal::ROGUE));
}

#[test]
fn the_greater_latency_applies_in_each_direction() {
    let hs = Hs::conclusion(9, 0);
    for (direction, latency_ms) in [(Direction::Send, 400), (Direction::Receive, 700)] {
        let event = concluded(Config::new(direction), hs, &[(2, hs_message(LIVE, 400, 700))]);
        let Some(Event::Connected { latency, .. }) = event else { panic!("{event:?}") };
        assert_eq!(latency.as_millis(), latency_ms);
    }
}

#[test]
fn answers_from_elsewhere_are_ignored() {
    let mut caller = caller(Config::new(Direction::Send));
    let id = word(&outputs(&mut caller, at(0))[0], 10);
    let refusal = Hs { kind: 1010, ..Hs::conclusion(9, 0) };
    caller.handle_datagram(at(1), address("198.51.100.1:9000"), &refusal.packet(id, 0, &[]));
    answer(&mut caller, 1, refusal, id + 1, &[]);
    assert_eq!(caller.poll_event(), None);
}
