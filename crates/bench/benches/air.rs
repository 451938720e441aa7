//! PHY transmissions per CPU-second, with senders that always have packets. A transmission counts once, for any number
//! of stations that sense it. The heap of events is that of the test harness. The benchmark needs Linux, because it
//! reads the CPU time from the kernel.

use strandcast_proto::seeds::Seeds;
use strandcast_radio::placement::{Area, random};
use strandcast_radio::{Graph, RadioConfig, StationId};
use strandcast_testing::radio::{Net, to};

/// Returns a network of random stations in a square of `side` metres, and the mean number of stations that sense a
/// frame. Each station sends to its first neighbour.
fn network(stations: usize, side: f64) -> (Net, f64) {
    let area = Area { width: side, height: side };
    let mut draws = Seeds::new(1, 0).stream("positions");
    let places = random(stations, area, Some(250.0), 10_000, &mut draws).expect("dense enough");
    let graph = Graph::unit_disk(&places, 250.0);
    let sensing = Graph::unit_disk(&places, 550.0).mean_degree();
    let places: Vec<(f64, f64)> = places.iter().map(|p| (p.x, p.y)).collect();
    let mut net = Net::new(&RadioConfig::default(), &places, 1);
    net.keep_log = false;
    for station in 0..stations {
        net.saturate(station as u32, to(graph.neighbours(station)[0]), 1040);
    }
    (net, sensing)
}

fn transmissions(net: &Net) -> u64 {
    (0..net.received.len() as u32).map(|id| net.radio.counters(net.now, StationId(id)).frames()).sum()
}

/// Returns the CPU time of this process in seconds.
fn cpu_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

fn main() {
    // `cargo bench -p strandcast-bench --bench air -- quick`: a tenth, for a profiler that counts instructions.
    let share = if std::env::args().any(|word| word == "quick") { 0.1 } else { 1.0 };
    for (stations, side, seconds) in [(40, 300.0, 300.0), (40, 1000.0, 150.0), (1000, 4000.0, 10.0)] {
        let (mut net, sensing) = network(stations, side);
        net.run(1.0);
        let before = (transmissions(&net), net.handled, cpu_time());
        net.run(seconds * share);
        let (sent, cpu) = (transmissions(&net) - before.0, cpu_time() - before.2);
        println!(
            "{stations} stations in {side} m, {sensing:.0} in sense range: {:.0} transmissions per CPU-second, \
             {:.2} alarms per transmission",
            sent as f64 / cpu,
            (net.handled - before.1) as f64 / sent as f64,
        );
    }
}
