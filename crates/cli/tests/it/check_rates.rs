//! The rates under losses that `check` predicts, compared with single-path flows in the simulator. `cargo test -p
//! strandcast --test it check_rates -- --nocapture` prints each path.

use std::path::Path;

use strandcast_lab::check::check;
use strandcast_lab::result::Subject;
use strandcast_lab::scenario::{Scenario, parse};
use strandcast_lab::simulation::{RunOptions, Simulation};
use strandcast_schemes::Presets;

/// One flow over one link that is limited only by its losses.
fn path(transport: &str, rtt_ms: u32, loss: &str, time_s: u32) -> Scenario {
    let delay = rtt_ms / 2;
    let text = format!(
        "[run]\ntime = \"{time_s} s\"\n[nodes.a]\n[nodes.b]\n[links.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"100 Mbit/s\"\n\
         delay = \"{delay} ms\"\nqueue.limit = 1000\n{loss}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{transport}\n"
    );
    parse(&text, "path.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// bit/s at IP level, as expected.
fn expected(scenario: &Scenario) -> f64 {
    let checked = check(scenario, &[], &Presets, None).expect("it can be built");
    checked.json().pointer("/flows/f/paths/default/fair_bps").and_then(|v| v.as_f64()).expect("one path")
}

/// Rate in the simulator: the mean of three seeds.
fn sent(scenario: &Scenario) -> f64 {
    let one = |seed| {
        let mut simulation = Simulation::new(scenario, &Presets, seed, None).expect("it can be built");
        let result = simulation.run(RunOptions::default(), &mut ()).expect("the run is never interrupted");
        let throughput = |m: &&strandcast_lab::result::Metric| {
            m.subject == Subject::Flow("f".into()) && m.name == "throughput_bps"
        };
        result.metrics.iter().find(throughput).expect("every flow has one").value
    };
    (1..=3).map(one).sum::<f64>() / 3.0
}

/// The ratio of simulated to predicted rate. The run is long enough for about 5000 packets, and at most an hour.
fn ratio(transport: &str, rtt_ms: u32, loss: &str) -> f64 {
    let rate = expected(&path(transport, rtt_ms, loss, 60));
    let time_s = (5000.0 * 1400.0 * 8.0 / rate).clamp(30.0, 3600.0) as u32;
    let scenario = path(transport, rtt_ms, loss, time_s);
    let ratio = sent(&scenario) / expected(&scenario);
    println!("| {transport} | {rtt_ms} ms | {loss} | {:.1} kbit/s | {ratio:.2} |", rate / 1e3);
    ratio
}

const TRANSPORTS: [&str; 4] = [
    "transport = \"sctp\"",
    "transport = \"tcp\"",
    "transport = \"tcp\"\ntcp.recovery = \"reno\"",
    "transport = \"tcp\"\nprofile = \"linux\"\ncc = \"reno\"",
];

/// Independent losses. Reno is as in the paper; SACK and SCTP repair more without a timeout.
#[test]
fn rates_under_independent_losses_match_padhye() {
    for transport in TRANSPORTS {
        for percent in ["0.5", "1", "2", "5", "10", "20"] {
            for rtt_ms in [20, 100, 300] {
                let ratio = ratio(transport, rtt_ms, &format!("loss.uniform.rate = \"{percent} %\""));
                assert!(
                    (0.6..2.0).contains(&ratio),
                    "{transport}, {rtt_ms} ms, {percent} %, seeds 1 to 3: {ratio}"
                );
            }
        }
    }
}

/// Bursts by packet, defined by the probability that a loss follows a loss: within a factor of four, where rates differ
/// by factors of hundreds.
#[test]
fn rates_under_bursts_match_the_timeout_model() {
    for transport in &TRANSPORTS[..2] {
        for loss in [
            "loss.markov = { rate = \"1 %\", burst = 3 }",
            "loss.markov = { rate = \"5 %\", burst = 2 }",
            "loss.markov = { rate = \"5 %\", burst = 5 }",
            "loss.markov = { rate = \"18.7 %\", burst = 5.7 }",
        ] {
            let ratio = ratio(transport, 100, loss);
            assert!((0.25..4.0).contains(&ratio), "{transport}, {loss}, seeds 1 to 3: {ratio}");
        }
    }
}
