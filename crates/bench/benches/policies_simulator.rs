//! Cost of a preset's decisions: all calls at both ends for one DATA packet, over four lossy paths. The simulated
//! network is equal, packet by packet, for any number of shadows. Only the shadows therefore cause the difference in
//! cost.
//!
//! `cargo bench -p strandcast-bench --bench policies_simulator [-- SPEC...]`. The benchmark exits with 1 if a preset
//! misses the bar.

use core::time::Duration;
use std::sync::Arc;

use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::loss::LossModel;
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::policy::PathId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::{Spec, parse_spec, presets};
use strandcast_sim::host::{BulkSender, Net, Sink};
use strandcast_testing::recording::shadows::Shadowed;

/// Schedulers that are measured with the windows of `lia`. Only `linux` also belongs to a preset, `mptcp`.
const SCHEDULERS: [&str; 4] =
    ["lia,scheduler=ecf", "lia,scheduler=blest", "lia,scheduler=daps", "lia,scheduler=linux"];
/// Maximum number of instructions, as a multiple of the instructions of `sctp` in the same run.
const BAR: f64 = 2.0;
const SHADOWS: usize = 16;
/// Number of rounds, each with and without shadows. The smallest result of each counts.
const ROUNDS: usize = 5;
/// Number of bytes of a message that fits a packet of 1400 bytes with the headers of any scheme.
const MESSAGE: usize = 1300;
/// Properties of each path: (rate in Mbit/s, one-way delay in ms, loss).
const PATHS: [(u64, u64, f64); 4] = [(20, 10, 0.002), (12, 25, 0.005), (8, 40, 0.01), (4, 60, 0.02)];

fn network(&(mbps, ms, loss): &(u64, u64, f64)) -> PathNetwork {
    let back = LinkConfig {
        rate: Rate::Constant(mbps * 1_000_000),
        delay: Number::from(Duration::from_millis(ms)),
        queue: Queue::packets(60),
        ..LinkConfig::default()
    };
    let forward = LinkConfig { losses: vec![LossModel::uniform(loss)], ..back.clone() };
    PathNetwork { name: format!("{mbps}"), forward, reverse: back }
}

/// Returns the processor time of this thread in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let ns: f64 = stat.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number");
    ns / 1e9
}

/// Returns the processor time, the DATA chunks sent and the bytes delivered, for 20 simulated seconds with `shadows`
/// shadows.
fn run(spec: &Spec, shadows: usize) -> (f64, u64, u64) {
    let seeds = Seeds::new(1, 0);
    let mut transport =
        TransportConfig { receive_buffer: 4 << 20, send_buffer: 4 << 20, ..TransportConfig::default() };
    spec.tune(&mut transport);
    let (transport, accepted) = (Arc::new(transport), spec.clone());
    let accept: SchemeFactory = Arc::new(move |s| Shadowed::boxed(|| accepted.build(s), shadows));
    let config = EndpointConfig { transport, accept: Some(accept), ..EndpointConfig::default() };
    let mut net = Net::new(&seeds);
    let (client, server) = (net.add_host(config.clone()), net.add_host(config));
    let paths: Vec<_> = PATHS.iter().map(|p| net.add_path(client, server, network(p))).collect();
    let sink = net.add_app(server, Sink::default());
    let own = seeds.child("client");
    let id =
        net.connect(client, &paths, Shadowed::boxed(|| spec.build(&own), shadows)).expect("a free endpoint");
    net.add_app(client, BulkSender::new(MESSAGE));
    let before = cpu();
    net.run_until(Instant::from_secs_f64(20.0));
    let used = cpu() - before;
    let association = net.endpoint(client).association(id).expect("open");
    let sent = |path| association.path_stats(PathId(path)).map_or(0, |s| s.chunks_sent);
    (used, (0..PATHS.len() as u8).map(sent).sum(), net.app::<Sink>(sink).bytes())
}

/// Returns the nanoseconds per DATA packet of a scheme at both ends, and of everything else.
fn cost(spec: &Spec) -> (f64, f64, u64) {
    let (mut plain, mut shadowed) = (f64::INFINITY, f64::INFINITY);
    let (_, chunks, bytes) = run(spec, 0);
    for _ in 0..ROUNDS {
        for (least, shadows) in [(&mut plain, 0), (&mut shadowed, SHADOWS)] {
            let (used, sent, delivered) = run(spec, shadows);
            assert_eq!((sent, delivered), (chunks, bytes), "shadows decide nothing");
            *least = least.min(used);
        }
    }
    let each = 1e9 / chunks as f64;
    let scheme = (shadowed - plain) / SHADOWS as f64 * each;
    (scheme, plain * each - scheme, chunks)
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let all = || presets().iter().map(|p| p.name).chain(SCHEDULERS).map(str::to_owned).collect();
    let specs: Vec<String> = if asked.is_empty() { all() } else { asked };
    println!(
        "| preset | policies, both ends, ns per DATA packet | to `sctp` | all else with the simulator | DATA packets |\n|---|---|---|---|---|"
    );
    let spec = |name: &str| parse_spec(name).unwrap_or_else(|e| panic!("{e}"));
    let (base, ..) = cost(&spec("sctp"));
    let mut late = Vec::new();
    for name in specs {
        let (scheme, rest, chunks) = cost(&spec(&name));
        let ratio = scheme / base;
        println!("| `{name}` | {scheme:.0} | {ratio:.2} | {rest:.0} | {chunks} |");
        if ratio > BAR {
            late.push(name);
        }
    }
    if late.is_empty() {
        println!("PASS: none over {BAR} times sctp");
    } else {
        println!("FAIL: over {BAR} times sctp: {}", late.join(", "));
        std::process::exit(1);
    }
}
