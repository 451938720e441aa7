//! Writes the files of `scenarios/real-paths`: three rates typical of LTE and Wi-Fi links, and a stream of constant
//! rate with one message per frame.
//!
//! The command for one file is `cargo run -p strandcast-sim --example rate_traces -- lte-a >
//! scenarios/real-paths/lte-a.csv`. The other names are `lte-b`, `wifi` and `stream` (`stream.txt`).
//!
//! A rate changes in steps. At each step, the rate's logarithm returns towards its mean and is moved by noise (an
//! autoregressive process of first order). Occasionally the link stalls, as in a handover or after a burst of
//! retransmissions. A stall lasts 0.3 to 1 s (uniform), and stalls have exponential intervals. All numbers follow from
//! seed 1 and are ASSUMED. No number was recorded on a real link.

use std::process::ExitCode;

use strandcast_proto::seeds::{Random, Seeds};

/// Parameters of the rate of a link.
struct Link {
    name: &'static str,
    what: &'static str,
    /// Median rate in bit/s.
    median_bps: f64,
    /// Standard deviation of the rate's logarithm.
    deviation: f64,
    /// Time in milliseconds between changes of the rate.
    step_ms: u64,
    /// Time in milliseconds after which the correlation with an earlier rate has fallen to 1/e.
    memory_ms: f64,
    /// Mean time in milliseconds from the end of a stall to the start of the next.
    between_stalls_ms: f64,
}

const LINKS: [Link; 3] = [
    Link {
        name: "lte-a",
        what: "an LTE uplink in a moving car",
        median_bps: 8e6,
        deviation: 0.5,
        step_ms: 200,
        memory_ms: 4000.0,
        between_stalls_ms: 8000.0,
    },
    Link {
        name: "lte-b",
        what: "another operator's LTE uplink in the same car",
        median_bps: 5e6,
        deviation: 0.6,
        step_ms: 200,
        memory_ms: 3000.0,
        between_stalls_ms: 10_000.0,
    },
    Link {
        name: "wifi",
        what: "crowded Wi-Fi",
        median_bps: 15e6,
        deviation: 0.4,
        step_ms: 100,
        memory_ms: 1000.0,
        between_stalls_ms: 12_000.0,
    },
];

/// Length of each trace in milliseconds. After this time the trace repeats.
const LONG_MS: u64 = 60_000;
const SHORTEST_STALL_MS: u64 = 300;
const LONGEST_STALL_MS: u64 = 1000;

/// Returns a number of the standard normal distribution (Box and Muller).
fn normal(draw: &mut Random) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - draw.unit()));
    radius * libm::cos(core::f64::consts::TAU * draw.unit())
}

fn exponential(draw: &mut Random, mean: f64) -> f64 {
    -mean * libm::log(1.0 - draw.unit())
}

fn trace(link: &Link) -> String {
    let seeds = Seeds::new(1, 0).child("rate traces").child(link.name);
    let (mut noise, mut stalls) = (seeds.stream("rate"), seeds.stream("stalls"));
    let keep = libm::exp(-(link.step_ms as f64) / link.memory_ms);
    let push = link.deviation * libm::sqrt(1.0 - keep * keep);
    let mut log = link.deviation * normal(&mut noise);
    let mut text = format!(
        "# {}. ASSUMED: made by crates/sim/examples/rate_traces.rs, seed 1.\ntime_s,rate_bps\n",
        link.what
    );
    let mut line = |ms: u64, rate: f64| text += &format!("{:.3},{rate}\n", ms as f64 / 1e3);
    let mut end = 0;
    let mut next = exponential(&mut stalls, link.between_stalls_ms);
    for time in (0..LONG_MS).step_by(link.step_ms as usize) {
        if time as f64 >= next && time >= end {
            end = time + SHORTEST_STALL_MS + stalls.below(LONGEST_STALL_MS - SHORTEST_STALL_MS + 1);
            next = end as f64 + exponential(&mut stalls, link.between_stalls_ms);
            line(time, 0.0);
        }
        log = keep * log + push * normal(&mut noise);
        let rate = (link.median_bps * libm::exp(log) / 1e4).round() * 1e4;
        if time >= end {
            line(time, rate);
        } else if end < time + link.step_ms && end < LONG_MS {
            line(end, rate);
        }
    }
    // End of the trace, at which it repeats.
    line(LONG_MS, link.median_bps);
    text
}

/// Returns one second of a stream of 4 Mbit/s, as frames of one message each. A message has seven MPEG-TS packets, and
/// messages are at even intervals.
fn stream() -> String {
    let mut text =
        "# A second of 4 Mbit/s: 380 messages of 1316 bytes, as `strandcast send` cuts MPEG-TS.\n".to_owned();
    for number in 1..=380 {
        text += &format!("{number} I {:.6} 1316\n", f64::from(number - 1) / 380.0);
    }
    text
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let link = LINKS.iter().find(|link| link.name == name);
    match (link, name.as_str()) {
        (Some(link), _) => print!("{}", trace(link)),
        (None, "stream") => print!("{}", stream()),
        (None, _) => {
            eprintln!("usage: rate_traces lte-a|lte-b|wifi|stream");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
