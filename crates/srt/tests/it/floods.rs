//! Floods: a running stream and callers that know the passphrase do not suffer from others.

use std::collections::BTreeMap;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_srt::{Config, Direction, Endpoint, Event, Refusal};

use crate::common::*;
use crate::vectors;

/// A datagram that belongs to no connection, from anybody.
fn rogue(random: &mut Random, id: u32) -> (String, Vec<u8>) {
    let from = format!("198.51.{}.{}:{}", random.below(100), random.below(250), 1024 + random.below(60_000));
    let contents: Vec<u8> = (0..random.below(120)).map(|_| random.u32() as u8).collect();
    // The id of the victim's connection in some: it is bound to an address.
    let to = [id, random.u32(), 0][random.below(3) as usize];
    let data = match random.below(5) {
        0 => contents,
        1 => data_packet(random.u32() >> 1, random.u32() & 0x0fff_ffff, 0, to, &contents),
        2 => control(random.below(9) as u32 * 0x1_0000, random.u32(), 0, to, &contents),
        3 => Hs::induction(random.u32()).packet(0, 0, &[]),
        _ => Hs::conclusion(random.u32(), random.u32()).packet(
            0,
            0,
            &[(1, hs_message(LIVE, 120, 120)), (9, contents)],
        ),
    };
    (from, data)
}

/// Calls at `ms` and exchanges datagrams without delay. Returns the time after which the caller is connected.
fn connects_after(listener: &mut Endpoint, ms: u64, caller: Config) -> u64 {
    let from = address("192.0.2.77:7000");
    let mut caller = Endpoint::call(at(ms), caller, address(LISTENER), &Seeds::new(9, 0));
    for now in ms..ms + 3000 {
        for data in outputs(&mut caller, at(now)) {
            listener.handle_datagram(at(now), from, &data);
        }
        let mut buf = Vec::new();
        while let Some(to) = listener.poll_output(at(now), &mut buf) {
            if to == from {
                caller.handle_datagram(at(now), address(LISTENER), &buf);
            }
        }
        if let Some(Event::Connected { .. }) = caller.poll_event() {
            return now - ms;
        }
    }
    panic!("it does not connect within 3 s");
}

/// 100 000 rogue datagrams and 1000 callers with a wrong passphrase, each of an address of its own, within a second.
#[test]
fn a_flood_costs_a_running_stream_nothing_and_a_new_caller_a_second_at_most() {
    let config = Config { max_connections: 3, ..encrypted(Direction::Receive) };
    let mut net = Net::new(encrypted(Direction::Send), config, IDEAL, 1);
    net.connect();
    let (id, mut random) = (net.connected[0].expect("connected"), Seeds::new(1, 0).stream("rogues"));
    let mut wrong = vec![(1, hs_message(LIVE, 120, 120)), (3, vectors::material(16))];
    wrong[1].1[40] ^= 1;
    let mut sent = Vec::new();
    for ms in 0..1000 {
        let data = payload(ms);
        net.ends[0].send(at(net.now_ms), id, &data).expect("room");
        sent.push(data);
        for _ in 0..100 {
            let (from, data) = rogue(&mut random, net.ids[1]);
            net.ends[1].handle_datagram(at(net.now_ms), address(&from), &data);
        }
        let from = format!("203.0.{}.{}:9", ms / 250, ms % 250);
        let now = at(net.now_ms);
        let hs = Hs { extension: 3, ..Hs::conclusion(CALLER_ID, 0) };
        // Answers to others wait in the same queue, so the cookie comes from the one to this caller.
        net.ends[1].handle_datagram(now, address(&from), &Hs::induction(CALLER_ID).packet(0, 0, &[]));
        let mut buf = Vec::new();
        let mut cookie = 0;
        let mut others = Vec::new();
        while let Some(to) = net.ends[1].poll_output(now, &mut buf) {
            match to == address(&from) {
                true => cookie = word(&buf, 11),
                false if to == address(CALLER) => others.push(buf.clone()),
                false => {}
            }
        }
        let ask = Hs { cookie, ..hs }.packet(0, 0, &wrong);
        net.ends[1].handle_datagram(now, address(&from), &ask);
        for data in others {
            net.ends[0].handle_datagram(now, address(LISTENER), &data);
        }
        net.step();
    }
    let stats = net.ends[1].endpoint_stats();
    assert!(stats.strays + stats.bad_cookies > 50_000, "{stats:?}");
    assert!(stats.refused + stats.over_budget > 900 && stats.refused < 200, "{stats:?}");
    let now = net.now_ms;
    let time = connects_after(&mut net.ends[1], now, encrypted(Direction::Send));
    assert!(time <= 1000, "{time} ms");
    net.run(500);
    assert_eq!(net.played(), sent);
}

/// A player that answers nothing, and one that reports everything as lost: a third one gets every packet on time.
#[test]
fn no_player_delays_another() {
    let config = Config { max_connections: 3, ..Config::new(Direction::Send) };
    let mut listener = Endpoint::listen(config, &Seeds::new(1, 0));
    let mut players = BTreeMap::new();
    for (n, from) in [CALLER, "192.0.2.8:1", "192.0.2.9:1"].into_iter().enumerate() {
        let hs = Hs::conclusion(CALLER_ID + n as u32, 0);
        let answer = conclude(&mut listener, at(0), from, hs, &[(1, hs_message(LIVE, 120, 120))]);
        let Some(Event::Connected { id, .. }) = listener.poll_event() else { panic!("no connection") };
        players.insert(address(from), (id, word(&answer[0], 10), Vec::new()));
    }
    let (silent, greedy, good) = ("192.0.2.8:1", address("192.0.2.9:1"), address(CALLER));
    for ms in 0..2000_u32 {
        let now = at(u64::from(ms));
        for (id, _, _) in players.values() {
            listener.send(now, *id, &ms.to_be_bytes()).expect("room");
        }
        let mut buf = Vec::new();
        while let Some(to) = listener.poll_output(now, &mut buf) {
            if buf[0] & 0x80 == 0 && to == good {
                players.get_mut(&to).expect("a player").2.push((ms, word(&buf, 4)));
            }
        }
        // Both acknowledge, and the greedy one asks for everything again.
        for (from, (_, to, _)) in players.iter().filter(|(from, _)| **from != address(silent)) {
            let next = if *from == good { 101 + ms } else { 100 };
            let ack = [next, 1000, 100, 8000, 1, 1, 1].map(u32::to_be_bytes).concat();
            listener.handle_datagram(now, *from, &control(0x0002_0000, 1 + ms, 0, *to, &ack));
        }
        let list = [0x8000_0000 | 100, 100 + ms].map(u32::to_be_bytes).concat();
        listener.handle_datagram(now, greedy, &control(0x0003_0000, 0, 0, players[&greedy].1, &list));
    }
    let all: Vec<_> = (0..2000).map(|ms| (ms, ms)).collect();
    assert_eq!(players[&good].2, all);
}

/// Answers of others, and of the listener's address with another id, neither end nor complete a call.
#[test]
fn a_call_is_answered_by_its_listener_alone() {
    let mut caller =
        Endpoint::call(at(0), Config::new(Direction::Send), address(LISTENER), &Seeds::new(3, 0));
    let id = word(&outputs(&mut caller, at(0))[0], 10);
    let induction = Hs { version: 5, extension: 0x4a17, ..Hs::induction(9) };
    let conclusion = Hs::conclusion(9, 7);
    let refusal = Hs { kind: Refusal::PEER.code(), ..conclusion };
    let accept = [(2, hs_message(LIVE, 120, 120))];
    let forge = |caller: &mut Endpoint| {
        for hs in [induction, conclusion, refusal] {
            for (from, to) in
                [("192.0.2.66:9000", id), ("192.0.2.2:9001", id), (LISTENER, id ^ 1), (LISTENER, 0)]
            {
                caller.handle_datagram(at(1), address(from), &hs.packet(to, 0, &accept));
            }
        }
        assert!(caller.poll_event().is_none() && outputs(caller, at(1)).is_empty());
    };
    forge(&mut caller);
    caller.handle_datagram(at(2), address(LISTENER), &induction.packet(id, 0, &[]));
    assert_eq!(word(&outputs(&mut caller, at(2))[0], 9), CONCLUSION);
    forge(&mut caller);
    caller.handle_datagram(at(3), address(LISTENER), &conclusion.packet(id, 0, &accept));
    assert!(matches!(caller.poll_event(), Some(Event::Connected { .. })));
    // A late refusal does not end the connection.
    caller.handle_datagram(at(4), address(LISTENER), &refusal.packet(id, 0, &[]));
    assert!(caller.poll_event().is_none() && caller.connections() == 1);
}
