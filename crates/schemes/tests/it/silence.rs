//! A path falls silent under a live stream: how long new data go by it, and when what was lost is sent again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::PathState;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_schemes::parse_spec;
use strandcast_testing::endpoints::*;

/// Directions of path 0 that are dark.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Hole {
    Forward,
    Reverse,
    Both,
}

/// A live stream over two paths.
#[derive(Copy, Clone, Debug)]
struct Case {
    scheme: &'static str,
    delays_ms: [u64; 2],
    jitter_ms: u64,
    packets_per_s: u64,
    hole: Hole,
    seed: u64,
}

/// Observations from the hole's start on, milliseconds.
#[derive(Copy, Clone, Debug)]
struct Seen {
    /// The last new chunk on the dead path; 0 if none left by it.
    last_new: f64,
    /// The first time that the last of the chunks lost in the hole left by the other path.
    resent: f64,
}

/// Packets that left the client: by TSN, their times and wires.
type Log = Arc<Mutex<BTreeMap<u32, Vec<(Instant, usize)>>>>;

/// The TSNs of the DATA chunks of a packet.
fn tsns(packet: &[u8]) -> Vec<u32> {
    let (mut rest, mut found) = (&packet[12..], Vec::new());
    while rest.len() >= 8 {
        let length = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        if rest[0] == 0 {
            found.push(u32::from_be_bytes([rest[4], rest[5], rest[6], rest[7]]));
        }
        rest = &rest[length.next_multiple_of(4).clamp(4, rest.len())..];
    }
    found
}

/// The stream is up for 3 s, then path 0 is dark for 1.5 s.
fn run(case: Case) -> Seen {
    let spec = parse_spec(case.scheme).expect("a spec of this test");
    let mut transport = TransportConfig { mtu_discovery: None, ..TransportConfig::live() };
    spec.tune(&mut transport);
    let accepted = spec.clone();
    let accept = Arc::new(move |seeds: &Seeds| accepted.build(seeds));
    let mut w = TestPair::with(&case.delays_ms, [transport.clone(), transport], accept, case.seed);
    w.connect_with(spec.build(&Seeds::new(case.seed, 1)));
    w.run(ms(1000));
    w.wires.iter_mut().for_each(|wire| wire.jitter = ms(case.jitter_ms));
    let apart = Duration::from_micros(1_000_000 / case.packets_per_s);
    let from = w.now + ms(3000) + apart.mul_f64(case.seed as f64 * 0.618 % 1.0);
    let until = from + ms(1500);
    let log: Log = Arc::default();
    let taken = Arc::clone(&log);
    w.filter = Box::new(move |now, side, wire, packet| {
        if side == CLIENT {
            let mut log = taken.lock().expect("one thread");
            tsns(packet).into_iter().for_each(|tsn| log.entry(tsn).or_default().push((now, wire)));
        }
        let way = if side == CLIENT { Hole::Forward } else { Hole::Reverse };
        !(wire == 0 && now >= from && now < until && (case.hole == way || case.hole == Hole::Both))
    });
    while w.now < until {
        let options = SendOptions { unordered: true, lifetime: Some(ms(1000)), ..SendOptions::default() };
        w.send(CLIENT, vec![0; 1100], options);
        w.run(apart);
    }
    let log = log.lock().expect("one thread");
    let since = |at: Instant| at.saturating_since(from).as_secs_f64() * 1e3;
    let new_in_hole = log.values().filter(|sent| sent[0].1 == 0 && sent[0].0 >= from);
    let last_new = new_in_hole.clone().map(|sent| since(sent[0].0)).fold(0.0, f64::max);
    let again = |sent: &Vec<(Instant, usize)>| sent.iter().find(|s| s.1 == 1).map_or(1500.0, |s| since(s.0));
    Seen { last_new, resent: new_in_hole.map(again).fold(0.0, f64::max) }
}

/// Percentiles 50 and 99.
fn percentiles(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    [0.5, 0.99].map(|q| values[((values.len() - 1) as f64 * q).ceil() as usize])
}

fn measure(scheme: &'static str, hole: Hole) -> [[f64; 2]; 2] {
    let (mut last_new, mut later) = (Vec::new(), Vec::new());
    let mut seed = 0;
    for packets_per_s in [20, 60, 150, 400] {
        for jitter_ms in [5, 15, 30] {
            for delays_ms in [[30, 40], [30, 30], [80, 30], [40, 90]] {
                seed += 1;
                let seen = run(Case { scheme, delays_ms, jitter_ms, packets_per_s, hole, seed });
                last_new.push(seen.last_new);
                later.push((seen.resent - seen.last_new).max(0.0));
            }
        }
    }
    let [new, later] = [percentiles(last_new), percentiles(later)];
    println!("{scheme}, {hole:?}: last new chunk {new:?} ms, flight resent {later:?} ms later");
    [new, later]
}

/// `strand` leaves half of the silent paths within a fifth of a second, and nearly all within 0.4 s. `bond` leaves half
/// of them as soon, by its timers, and takes more than 1.5 times as long for nearly all. If only the return path of a
/// path is dead,
/// `strand` leaves half within half a second.
#[test]
fn a_silent_path_is_left_soon() {
    for hole in [Hole::Forward, Hole::Both] {
        let [bond, strand] = ["bond", "strand"].map(|scheme| measure(scheme, hole)[0]);
        assert!(strand[0] <= 200.0 && strand[1] <= 400.0, "{hole:?}: {strand:?}");
        assert!(strand[1] < bond[1] / 1.5, "{hole:?}: {bond:?}, {strand:?}");
    }
    let [bond, strand] = ["bond", "strand"].map(|scheme| measure(scheme, Hole::Reverse)[0]);
    assert!(strand[0] < 500.0 && bond[0] > 1000.0, "{bond:?}, {strand:?}");
}

/// Time until a dark path is potentially failed, and what it is without an end: 5 s. No data is in flight on the path
/// when it becomes dark, and the scheme sends none there afterwards.
fn suspected_after(packets_per_s: u64, seed: u64) -> Duration {
    let spec = parse_spec("strand").expect("a spec of this test");
    let mut transport = TransportConfig { mtu_discovery: None, ..TransportConfig::live() };
    spec.tune(&mut transport);
    let accepted = spec.clone();
    let accept = Arc::new(move |seeds: &Seeds| accepted.build(seeds));
    let mut w = TestPair::with(&[2, 2, 2], [transport.clone(), transport], accept, seed);
    w.connect_with(spec.build(&Seeds::new(seed, 1)));
    w.run(ms(1000));
    let apart = Duration::from_micros(1_000_000 / packets_per_s);
    let begin = w.now;
    let mut dark = None;
    while w.now < begin + ms(9000) {
        let options = SendOptions { unordered: true, lifetime: Some(ms(1000)), ..SendOptions::default() };
        w.send(CLIENT, vec![0; 1100], options);
        w.run(apart);
        let in_flight = w.association(CLIENT).paths()[0].in_flight;
        if dark.is_none() && w.now > begin + ms(3000) && in_flight == 0 {
            w.wires[0].up = [false; 2];
            dark = Some(w.now);
        }
        if w.states(CLIENT)[0] == PathState::PotentiallyFailed {
            return w.now - dark.expect("the path was dark before");
        }
    }
    ms(5000)
}

/// A path that the scheme leaves is reported to be potentially failed, even if nothing was in flight there.
#[test]
fn a_silent_path_without_data_is_potentially_failed_soon() {
    for seed in 0..60 {
        let after = suspected_after([20, 60, 150][seed as usize % 3], seed);
        assert!(after <= ms(3000), "seed {seed}: {after:?}");
    }
}
