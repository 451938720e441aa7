//! Sealed associations over simulated networks: datagrams in transit are sealed by real keys and opened
//! again.

use core::time::Duration;
use std::sync::Arc;

use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::{PathNetwork, field};
use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, EndpointConfig, SchemeFactory};
use strandcast_proto::policy::PathId;
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::parse_spec;
use strandcast_seal::{Access, Grant, Peer, SealConfig, SealStats, SecretKey, Token};
use strandcast_sim::host::{AppId, BulkSender, Direction, HostId, Net, NetPath, Sink};

use crate::common::{at, clean};

/// A sealed sender and a sealed receiver.
struct Harness {
    net: Net,
    client: HostId,
    server: HostId,
    paths: Vec<NetPath>,
    id: AssociationId,
    sink: AppId,
}

fn harness(networks: Vec<PathNetwork>, seed: u64) -> Harness {
    let seeds = Seeds::new(seed, 0);
    let mut random = seeds.stream("keys");
    let keys = [SecretKey::generate(&mut random), SecretKey::generate(&mut random)];
    let peer = Peer { key: keys[1].public(), token: Token::generate(&mut random) };
    let senders = [keys[0].public()].into();
    let grant = Grant { token: peer.token.clone(), senders, open: false, once: false };
    let [sender, receiver] = keys;
    let preset = parse_spec("cmt").expect("a preset");
    let mut config = TransportConfig { mtu_discovery: None, ..TransportConfig::live() };
    preset.tune(&mut config);
    let transport = Arc::new(config);
    let mut net = Net::new(&seeds);
    let config = EndpointConfig { transport: Arc::clone(&transport), ..Default::default() };
    let client = net.add_sealed_host(config, SealConfig::new(sender, Access::default()));
    let scheme = preset.build(&seeds.child("client"));
    let accept: SchemeFactory = Arc::new(move |s| preset.build(s));
    let config = EndpointConfig { transport, accept: Some(accept), ..Default::default() };
    let access = Access { grants: vec![grant], ..Access::default() };
    let server = net.add_sealed_host(config, SealConfig::new(receiver, access));
    let paths: Vec<NetPath> = networks.into_iter().map(|n| net.add_path(client, server, n)).collect();
    let sink = net.add_app(server, Sink::default());
    let id = net.connect_to(client, &paths, scheme, Some(peer)).expect("a free endpoint");
    Harness { net, client, server, paths, id, sink }
}

impl Harness {
    fn seals(&self) -> [SealStats; 2] {
        [self.client, self.server].map(|host| self.net.sealed(host).seal_stats().expect("a seal"))
    }
}

/// 1400 bytes less 28 of IP and UDP and 29 of envelope leave a packet of 1340 in whole words, so a link
/// carries 1312 bytes of payload in 1397.
#[test]
fn a_saturated_link_gives_its_rate_less_headers_and_envelopes() {
    let mut s = harness(vec![clean("link", 8_000_000)], 1);
    s.net.add_app(s.client, BulkSender::new(1312));
    let (from, to) = (at(4.0), at(24.0));
    s.net.run_until(to);
    let rate = s.net.app::<Sink>(s.sink).bytes_between(from, to) as f64 * 8.0 / 20.0;
    let most = 8e6 * 1312.0 / 1397.0;
    assert!(rate > most * 0.97 && rate <= most * 1.002, "{rate} of {most}");
}

#[test]
fn same_seed_same_trajectory() {
    let run = |seed| {
        let mut s = harness(field(), seed);
        s.net.add_app(s.client, BulkSender::new(900));
        s.net.run_for(Duration::from_secs(10));
        (s.net.fingerprint(), s.net.app::<Sink>(s.sink).bytes())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
}

/// A link that damages and repeats packets.
fn bad(rate_bps: u64, delay_ms: u64, seed: u64) -> PathNetwork {
    let link = LinkConfig {
        rate: Rate::Constant(rate_bps),
        delay: Number::from(Duration::from_millis(delay_ms)),
        queue: Queue::packets(60),
        corrupt: 0.01 + 0.002 * seed as f64,
        duplicate: 0.02,
        ..LinkConfig::default()
    };
    PathNetwork { name: "bad".into(), forward: link.clone(), reverse: link }
}

/// Damage, repetition, NATs that drop mappings, changing addresses and silent paths: everything arrives,
/// once, unchanged and in order, and both sides close.
#[test]
fn faults_lose_nothing() {
    for seed in 0..6 {
        let networks = (0..3).map(|n| bad(3_000_000, 10 + 15 * n, seed)).collect();
        let mut s = harness(networks, seed);
        let sender = s.net.add_app(s.client, BulkSender::new(1000).limited(9000));
        let mut random = Seeds::new(seed, 1).stream("faults");
        for _ in 0..12 {
            s.net.run_for(Duration::from_millis(300 + random.below(900)));
            let n = random.below(3) as usize;
            match random.below(3) {
                0 => s.net.rebind(s.paths[n]),
                1 => {
                    let tuple = s.net.readdress(s.paths[n]);
                    let id = s.id;
                    let path = PathId(n as u8);
                    // A path that was abandoned in between has no address to change.
                    let _ = s.net.with_sealed(s.client, |now, e| e.move_path(now, id, path, tuple));
                }
                _ => {
                    let path = s.paths[n];
                    s.net.set_black_hole(path, Direction::Forward, true);
                    s.net.run_for(Duration::from_millis(400));
                    s.net.set_black_hole(path, Direction::Forward, false);
                }
            }
        }
        s.net.run_for(Duration::from_secs(120));
        assert_eq!(s.net.app::<BulkSender>(sender).sent, 9000, "seed {seed}");
        let sink: &Sink = s.net.app(s.sink);
        assert_eq!(
            (sink.deliveries.len(), sink.damaged, sink.out_of_order),
            (9000, 0, 0),
            "seed {seed}: {:?}",
            sink.events
        );
        let last = sink.events.last().map(|(_, event)| event);
        assert_eq!(last, Some(&Event::Closed(CloseReason::Shutdown)), "seed {seed}");
        let [near, far] = s.seals();
        assert!(far.failed > 0 && far.replayed > 0, "seed {seed}: damage and repetition: {far:?}");
        assert_eq!((near.established, far.established), (1, 1), "seed {seed}: one session");
    }
}

/// A sender whose paths all fall silent for half a minute returns with the network.
#[test]
fn silence_is_tolerated() {
    let mut s = harness(vec![clean("a", 4_000_000), clean("b", 4_000_000)], 3);
    s.net.add_app(s.client, BulkSender::new(1000).limited(20_000));
    s.net.run_until(at(5.0));
    let all = |s: &mut Harness, on| {
        for path in s.paths.clone() {
            s.net.set_black_hole(path, Direction::Forward, on);
            s.net.set_black_hole(path, Direction::Reverse, on);
        }
    };
    all(&mut s, true);
    s.net.run_until(at(35.0));
    all(&mut s, false);
    s.net.run_until(at(120.0));
    let sink: &Sink = s.net.app(s.sink);
    assert_eq!((sink.deliveries.len(), sink.damaged, sink.out_of_order), (20_000, 0, 0));
    let (_, gap) = sink.longest_gap(at(4.0), at(60.0));
    assert!(gap < Duration::from_secs(34), "{gap:?}");
    assert_eq!(s.seals().map(|seal| seal.established), [1, 1], "the session continued");
}
