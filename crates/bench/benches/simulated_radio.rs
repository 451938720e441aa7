//! Frames on the air per second of one core, with routing and TCP. A frame counts once, for any number of stations that
//! receive it.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::{Scenario, parse};
use strandcast_testing::lab::run;

/// Returns a scenario of TCP flows between random stations. A fifth of the stations have a flow.
fn scenario(stations: u32, side_m: u32, seconds: u32, routing: &str) -> Scenario {
    let text = format!(
        "[run]\ntime = {seconds}\n[radio.air]\nrouting = \"{routing}\"\n\
         place = {{ kind = \"uniform\", count = {stations}, width = {side_m}, height = {side_m} }}\n\
         [flows.tcp]\ntransport = \"tcp\"\nends = \"random\"\ncount = {}\nprofile = \"ns2\"\ntcp.segment = 1000\n",
        stations / 5
    );
    parse(&text, "bench", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn frames(result: &RunResult) -> u64 {
    let air = Subject::Radio("air".into());
    let frames = result.metrics.iter().find(|metric| metric.subject == air && metric.name == "frames");
    frames.map_or(0, |frames| frames.value as u64)
}

fn throughput(c: &mut Criterion) {
    let mut group = c.benchmark_group("radio frames");
    group.sample_size(10);
    for (name, scenario) in [
        ("40 stations, 8 TCP, AODV", scenario(40, 1000, 100, "aodv")),
        ("40 stations, 8 TCP, MPR", scenario(40, 1000, 100, "qaomdv,split=mpr")),
        ("1000 stations, 200 TCP, AODV", scenario(1000, 4000, 5, "aodv")),
    ] {
        group.throughput(Throughput::Elements(frames(&run(&scenario, 1))));
        group.bench_function(name, |b| b.iter(|| run(&scenario, 1)));
    }
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
