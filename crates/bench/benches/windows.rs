//! Cost of an acknowledgement in every window that TCP and MPTCP flows can have: its signal, and the limits of all four
//! paths. One in a thousand acknowledgements has a loss. Shadows only receive these calls. The additional time of a run
//! with shadows, divided by their number, is the cost of one window.
//!
//! `cargo bench -p strandcast-bench --bench windows [-- SPEC...]`. The benchmark exits with 1 if a window misses the
//! bar. The result is processor time, the smallest value of all rounds. A spec with keys is one argument, for example
//! `mpmtp,delta=one`.

use strandcast_testing::schemes::clocked::{Connection, specs};

/// Maximum number of nanoseconds per acknowledgement.
const BAR_NS: f64 = 100.0;
const SHADOWS: usize = 8;
/// Number of rounds, each with and without shadows. The smallest result of each counts.
const ROUNDS: usize = 5;
const ACKS: u32 = 100_001;

/// Returns the processor time of this thread in nanoseconds.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    stat.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
}

/// Returns the nanoseconds of one of [`ACKS`] steps.
fn timed(connection: &mut Connection, step: fn(&mut Connection)) -> f64 {
    let before = cpu_ns();
    (0..ACKS).for_each(|_| step(connection));
    (cpu_ns() - before) / f64::from(ACKS)
}

/// Returns the nanoseconds that the calls of the windows take in such a step.
fn cost(spec: &str, step: fn(&mut Connection)) -> f64 {
    let least = |shadows| {
        let mut connection = Connection::new(spec, shadows);
        let least = (0..ROUNDS).map(|_| timed(&mut connection, step)).fold(f64::INFINITY, f64::min);
        let windows = connection.windows();
        assert!(windows.iter().all(|window| *window >= 1.0), "{spec}: {windows:?}");
        least
    };
    (least(SHADOWS) - least(0)) / SHADOWS as f64
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let all = || specs().map(str::to_owned).collect();
    let wanted: Vec<String> = if asked.is_empty() { all() } else { asked };
    println!("| window | ns per ACK | with the segment it lets out |\n|---|---|---|");
    let mut late = Vec::new();
    for spec in wanted {
        let ack = cost(&spec, Connection::ack);
        let both = cost(&spec, |connection| {
            connection.ack();
            connection.send();
        });
        println!("| `{spec}` | {ack:.0} | {both:.0} |");
        if ack > BAR_NS {
            late.push(spec);
        }
    }
    if late.is_empty() {
        println!("PASS: none over {BAR_NS} ns per ACK");
    } else {
        println!("FAIL: over {BAR_NS} ns per ACK: {}", late.join(", "));
        std::process::exit(1);
    }
}
