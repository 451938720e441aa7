//! Handshakes of a listener, by packets that are written by hand (draft, *Caller-Listener Handshake*).

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_srt::{Config, Direction, Endpoint, Event, KeySize, Refusal};

use crate::common::*;
use crate::vectors;

fn listener(config: Config) -> Endpoint {
    Endpoint::listen(config, &Seeds::new(1, 0))
}

fn request() -> Vec<(u16, Vec<u8>)> {
    vec![(1, hs_message(LIVE, 200, 300))]
}

/// The draft: version 5, the magic code 0x4A17, type INDUCTION, a cookie, no extensions.
#[test]
fn an_induction_is_answered_with_a_cookie() {
    let mut listener = listener(Config { key_size: Some(KeySize::Aes256), ..encrypted(Direction::Receive) });
    let request = Hs::induction(CALLER_ID).packet(0, 0, &[]);
    listener.handle_datagram(at(0), address(CALLER), &request);
    let mut buf = Vec::new();
    assert_eq!(listener.poll_output(at(0), &mut buf), Some(address(CALLER)));
    assert_eq!((word(&buf, 0), word(&buf, 3)), (0x8000_0000, CALLER_ID));
    assert_eq!((word(&buf, 4), word(&buf, 5)), (5, 0x0004_4a17), "AES-256 and the magic code");
    assert_eq!(word(&buf, 9), INDUCTION);
    assert_ne!(word(&buf, 11), 0, "a cookie");
    assert!(buf.len() <= request.len(), "no longer than the request");
    assert_eq!(listener.connections(), 0);
}

/// The draft: the greater latency applies; the destination is the caller's id; the key material comes back.
#[test]
fn a_conclusion_connects() {
    let mut listener = listener(Config::new(Direction::Receive));
    let hs = Hs::conclusion(CALLER_ID, 0);
    let answers = conclude(&mut listener, at(0), CALLER, Hs { extension: 5, ..hs }, &{
        let mut all = request();
        all.push((5, b"live/stream1".chunks(4).flat_map(|w| w.iter().rev().copied()).collect()));
        all
    });
    let [answer] = &answers[..] else { panic!("{} answers", answers.len()) };
    assert_eq!((word(answer, 3), word(answer, 4)), (CALLER_ID, 5));
    assert_eq!((word(answer, 9), word(answer, 6)), (CONCLUSION, 100), "the caller's first number comes back");
    assert_eq!(word(answer, 16), 0x0002_0003, "HSRSP of three words");
    assert_eq!(word(answer, 19), 300 << 16 | 300, "300 ms of the sender, 120 of the listener");
    let Some(Event::Connected { peer, stream_id, key_size, latency, .. }) = listener.poll_event() else {
        panic!("no event")
    };
    assert_eq!((peer, key_size), (address(CALLER), None));
    assert_eq!((stream_id.as_deref(), latency.as_millis()), (Some("live/stream1"), 300));
}

/// The draft: the destination is the id of the answer to the induction. Callers of libsrt say 0.
#[test]
fn a_conclusion_is_addressed_to_0_or_to_the_listener() {
    let mut listener = listener(Config::new(Direction::Receive));
    listener.handle_datagram(at(0), address(CALLER), &Hs::induction(CALLER_ID).packet(0, 0, &[]));
    let response = outputs(&mut listener, at(0)).pop().expect("an answer");
    let (id, cookie) = (word(&response, 10), word(&response, 11));
    for (to, connections) in [(id ^ 1, 0), (CALLER_ID, 0), (id, 1)] {
        let packet = Hs::conclusion(CALLER_ID, cookie).packet(to, 0, &request());
        listener.handle_datagram(at(1), address(CALLER), &packet);
        assert_eq!(listener.connections(), connections, "to {to}");
    }
    assert_eq!(outputs(&mut listener, at(2)).len(), 1, "the answer");
    let hs = Hs { cookie, ..Hs::conclusion(CALLER_ID, 0) };
    listener.handle_datagram(at(3), address(CALLER), &hs.packet(0, 0, &request()));
    assert_eq!(outputs(&mut listener, at(3)).len(), 1, "the answer again");
}

#[test]
fn a_repeated_conclusion_gets_the_same_answer() {
    let mut listener = listener(Config::new(Direction::Receive));
    let first = conclude(&mut listener, at(0), CALLER, Hs::conclusion(CALLER_ID, 0), &request());
    let again = conclude(&mut listener, at(250), CALLER, Hs::conclusion(CALLER_ID, 0), &request());
    assert_eq!(listener.connections(), 1);
    assert_eq!((word(&first[0], 2), word(&again[0], 2)), (0, 250_000), "its timestamp is new");
    assert_eq!(first[0][16..], again[0][16..]);
}

#[test]
fn a_wrong_cookie_gets_no_answer() {
    let mut listener = listener(Config::new(Direction::Receive));
    let cookie = cookie(&mut listener, at(0), CALLER, CALLER_ID);
    for (from, id, shown, ms) in [
        (CALLER, CALLER_ID, cookie ^ 1, 0),
        (CALLER, CALLER_ID + 1, cookie, 0),
        ("192.0.2.1:5001", CALLER_ID, cookie, 0),
        (CALLER, CALLER_ID, cookie, 120_000),
    ] {
        let packet = Hs::conclusion(id, shown).packet(0, 0, &request());
        listener.handle_datagram(at(ms), address(from), &packet);
        assert!(outputs(&mut listener, at(ms)).is_empty(), "{from} {id} {ms}");
    }
    assert_eq!((listener.connections(), listener.endpoint_stats().bad_cookies), (0, 4));
}

/// Code that refuses a conclusion.
fn refused(config: Config, hs: Hs, extensions: &[(u16, Vec<u8>)]) -> Refusal {
    let mut listener = listener(config);
    let answers = conclude(&mut listener, at(0), CALLER, hs, extensions);
    assert_eq!((answers.len(), listener.connections()), (1, 0));
    let refusal = Refusal::from_code(word(&answers[0], 9));
    assert_eq!(listener.poll_event(), Some(Event::Refused { peer: address(CALLER), refusal }));
    refusal
}

/// Codes of the table *Handshake Rejection Reason codes*.
#[test]
fn refusals_have_the_codes_of_the_draft() {
    let clear = || Config::new(Direction::Receive);
    let hs = Hs::conclusion(CALLER_ID, 0);
    let old = [[0, 1, 2, 0].to_vec(), request()[0].1[4..].to_vec()].concat();
    let with = |kind: u16, contents: &[u8]| [request(), vec![(kind, contents.to_vec())]].concat();
    assert_eq!(refused(clear(), Hs { version: 4, ..hs }, &request()), Refusal::VERSION);
    assert_eq!(refused(clear(), hs, &[(1, old)]), Refusal::VERSION);
    assert_eq!(refused(clear(), hs, &[]), Refusal::ROGUE);
    assert_eq!(refused(clear(), hs, &[(1, vec![0; 8])]), Refusal::ROGUE, "too short");
    assert_eq!(refused(clear(), hs, &[(1, hs_message(LIVE | 0x40, 1, 1))]), Refusal::MESSAGE_API);
    assert_eq!(refused(clear(), hs, &with(6, b"elif")), Refusal::CONGESTION);
    assert_eq!(refused(clear(), hs, &with(7, b"cef,")), Refusal::FILTER);
    assert_eq!(refused(clear(), hs, &with(8, &[0; 8])), Refusal::GROUP);
    let named = Config { stream_id: Some("studio".to_owned()), ..clear() };
    assert_eq!(refused(named, hs, &with(5, b"ehto\0\0\0r")), Refusal::NOT_FOUND);
    let material = vectors::material(16);
    assert_eq!(refused(clear(), hs, &with(3, &material)), Refusal::UNSECURE);
    let secret = || encrypted(Direction::Receive);
    assert_eq!(refused(secret(), hs, &request()), Refusal::UNSECURE);
    let mut wrong = material.clone();
    wrong[40] ^= 1;
    assert_eq!(refused(secret(), hs, &with(3, &wrong)), Refusal::BAD_SECRET);
    let mut gcm = material;
    (gcm[8], gcm[9]) = (4, 1);
    assert_eq!(refused(secret(), hs, &with(3, &gcm)), Refusal::CRYPTO);
}

#[test]
fn a_live_congestion_control_is_accepted() {
    let mut listener = listener(Config::new(Direction::Receive));
    let extensions = [request(), vec![(6, b"evil".to_vec())]].concat();
    let answers = conclude(&mut listener, at(0), CALLER, Hs::conclusion(CALLER_ID, 0), &extensions);
    assert_eq!((word(&answers[0], 9), listener.connections()), (CONCLUSION, 1));
}

#[test]
fn a_full_listener_refuses_until_its_peer_is_silent() {
    let mut listener = listener(Config::new(Direction::Receive));
    let ask = |listener: &mut Endpoint, ms: u64, from: &str| {
        let answers = conclude(listener, at(ms), from, Hs::conclusion(CALLER_ID, 0), &request());
        word(answers.last().expect("an answer"), 9)
    };
    assert_eq!(ask(&mut listener, 0, CALLER), CONCLUSION);
    assert_eq!(ask(&mut listener, 1000, "192.0.2.9:1"), Refusal::BACKLOG.code());
    // A peer that lives sends a keep-alive every second.
    assert_eq!(ask(&mut listener, 3000, "192.0.2.9:1"), CONCLUSION);
    outputs(&mut listener, at(3000));
    assert_eq!(listener.connections(), 1);
}

/// The largest cost of a rogue caller is a derivation: those beyond the budget are dropped, and callers that know the
/// passphrase still connect within a second.
#[test]
fn rogue_callers_do_not_keep_others_out() {
    let mut listener = listener(Config { max_connections: 2, ..encrypted(Direction::Receive) });
    let hs = Hs { extension: 3, ..Hs::conclusion(CALLER_ID, 0) };
    let good = [request(), vec![(3, vectors::material(16))]].concat();
    let mut wrong = good.clone();
    wrong[1].1[40] ^= 1;
    for n in 0..1000_u64 {
        let from = format!("198.51.100.1:{}", 1000 + n);
        conclude(&mut listener, at(n), &from, hs, &wrong);
    }
    let stats = listener.endpoint_stats();
    assert!(stats.over_budget > 500 && stats.refused < 200, "{stats:?}");
    let tries = (0..4).map(|n| 1000 + 250 * n);
    let connected = tries.into_iter().any(|ms| {
        conclude(&mut listener, at(ms), CALLER, hs, &good).iter().any(|a| word(a, 9) == CONCLUSION)
    });
    assert!(connected);
}

/// Datagrams without a connection, of any length, get no answer.
#[test]
fn strays_get_no_answer() {
    let mut listener = listener(Config::new(Direction::Receive));
    for len in 0..64 {
        for first in [0, 0x80, 0xff] {
            let mut data = vec![first; len];
            data.iter_mut().skip(1).for_each(|b| *b = 0);
            listener.handle_datagram(Instant::ZERO, address(CALLER), &data);
        }
    }
    assert!(outputs(&mut listener, Instant::ZERO).is_empty());
}
