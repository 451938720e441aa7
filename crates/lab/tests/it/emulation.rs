//! Packets of programs over a scenario's network: their times, losses and outages are those of the links.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use strandcast_lab::scenario::{Scenario, parse};
use strandcast_lab::simulation::{Emulation, End};
use strandcast_schemes::Presets;

/// Two paths: 1 Mbit/s with 10 ms; 2 Mbit/s with 50 ms, and 5 ms in the other direction.
const NETWORK: &str = r#"
run = { time = "60 s" }
host.overhead = false
nodes = { a = {}, b = {} }
[links.slow]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "10 ms"
queue.limit = "4 packets"
[links.far]
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = "50 ms"
reverse.delay = "5 ms"
[flows.real]
from = "a"
to = "b"
paths = { slow = { via = ["slow"] }, wide = { via = ["far"] } }
"#;
/// 10 ms on the slow link, 5 ms on the other one.
const PACKET: usize = 1250;

fn read(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    parse(NETWORK, "net.toml", Path::new(""), &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn emulation(sets: &[&str], seed: u64) -> Emulation {
    Emulation::new(&read(sets), &Presets, seed, "real").unwrap()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn packet(first: u8) -> Bytes {
    let mut bytes = vec![0; PACKET];
    bytes[0] = first;
    bytes.into()
}

fn send(network: &mut Emulation, at: Duration, end: End, path: u8, packet: Bytes) {
    network.advance(at);
    network.send(end, path, packet);
}

/// Lets everything happen up to `end`, at the times of the events; returns path, time and first byte of each packet that arrived.
fn arrivals(emulation: &mut Emulation, end: End, until: Duration) -> Vec<(u8, Duration, u8)> {
    let mut all = Vec::new();
    loop {
        while let Some((at, arrival)) = emulation.receive(end) {
            all.push((arrival.path, at, arrival.packet[0]));
        }
        let Some(next) = emulation.next_time().filter(|next| *next <= until) else { break };
        emulation.advance(next);
    }
    all
}

#[test]
fn packets_arrive_after_serialisation_and_delay_of_their_path() {
    let mut network = emulation(&[], 1);
    assert_eq!(network.paths(), ["slow", "wide"]);
    send(&mut network, ms(100), End::Near, 0, packet(1));
    send(&mut network, ms(100), End::Near, 0, packet(2));
    send(&mut network, ms(100), End::Near, 1, packet(3));
    let got = arrivals(&mut network, End::Far, ms(1000));
    assert_eq!(got, [(0, ms(120), 1), (0, ms(130), 2), (1, ms(155), 3)]);
    send(&mut network, ms(2000), End::Far, 1, packet(4));
    assert_eq!(arrivals(&mut network, End::Near, ms(3000)), [(1, ms(2010), 4)]);
    assert_eq!(network.receive(End::Far), None);
}

#[test]
fn a_full_queue_drops_and_is_counted() {
    let mut network = emulation(&[], 1);
    for number in 0..8 {
        send(&mut network, ms(0), End::Near, 0, packet(number));
    }
    // One in the transmitter and four that wait.
    let got: Vec<u8> = arrivals(&mut network, End::Far, ms(1000)).iter().map(|arrival| arrival.2).collect();
    assert_eq!(got, [0, 1, 2, 3, 4]);
    let (.., stats) = network.links().find(|(link, way, _)| (*link, *way) == ("slow", "forward")).unwrap();
    assert_eq!([stats.offered.packets, stats.delivered.packets, stats.dropped_queue.packets], [8, 5, 3]);
}

#[test]
fn outages_swallow_packets_for_their_time() {
    let mut network = emulation(&["links.slow.down={from=\"1 s\",to=\"2 s\"}"], 1);
    let mut got = Vec::new();
    for at in [990, 1500, 1995, 2005] {
        send(&mut network, ms(at), End::Near, 0, packet(1));
        got.extend(arrivals(&mut network, End::Far, ms(at + 4)));
    }
    got.extend(arrivals(&mut network, End::Far, ms(3000)));
    // The first is in the link when that goes down.
    assert_eq!(got, [(0, ms(2025), 1)]);
}

#[test]
fn a_seed_gives_the_same_losses_whenever_the_network_is_asked() {
    let sets = ["links.slow.loss.uniform.rate=0.3", "links.slow.queue.limit=\"unlimited\""];
    let run = |seed: u64, often: bool| {
        let mut network = emulation(&sets, seed);
        let mut got = Vec::new();
        for number in 0..200 {
            send(&mut network, ms(20 * u64::from(number)), End::Near, 0, packet(number));
            if often {
                got.extend(arrivals(&mut network, End::Far, ms(20 * u64::from(number) + 19)));
            }
        }
        got.extend(arrivals(&mut network, End::Far, ms(10_000)));
        got.iter().map(|arrival| arrival.2).collect::<Vec<_>>()
    };
    let got = run(7, true);
    assert_eq!(got, run(7, false));
    assert_ne!(got, run(8, true));
    // Binomial of 200 and 0.7: 6.5 standard deviations are 42.
    assert!((98..=182).contains(&got.len()), "{}", got.len());
}

#[test]
fn other_flows_are_simulated_and_take_their_share() {
    let other = "flows.other={transport=\"udp\",from=\"a\",to=\"b\",app={kind=\"cbr\",rate=\"500 kbit/s\",size=1250},paths={p={via=[\"slow\"]}}}";
    let delay = |sets: &[&str]| {
        let mut network = emulation(sets, 1);
        let mut total = Duration::ZERO;
        for n in 0..100_u64 {
            let at = ms(1000 + n * 37);
            send(&mut network, at, End::Near, 0, packet(1));
            total += arrivals(&mut network, End::Far, at + ms(36))
                .iter()
                .map(|arrival| arrival.1 - at)
                .sum::<Duration>();
        }
        total
    };
    assert_eq!(delay(&[]), ms(100 * 20));
    assert!(delay(&[other]) > ms(100 * 21), "{:?}", delay(&[other]));
}

#[test]
fn a_flow_that_is_not_there_is_named() {
    let error = Emulation::new(&read(&[]), &Presets, 1, "reel").unwrap_err().to_string();
    assert_eq!(error, "flows.reel: there is no such flow; the scenario has real");
}
