//! Cost of a symbol in schedulers that choose symbols: the question for it, and the signals of its sending and arrival.
//! All paths have full windows. Shadows only receive these calls. The additional time of a run with shadows, divided by
//! their number, is the cost of one scheduler.
//!
//! `cargo bench -p strandcast-bench --bench symbols`. The result is processor time, the smallest value of all rounds.

use strandcast_testing::schemes::symbols::{SCHEDULERS, Transfer};

const SHADOWS: usize = 8;
const ROUNDS: usize = 7;
const SYMBOLS: u64 = 20_000;

/// Returns the processor time of this thread in nanoseconds.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    stat.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
}

/// Returns the nanoseconds per symbol, the smallest value of all rounds.
fn least(name: &str, (paths, window, blocks): (u8, u64, u32), shadows: usize) -> f64 {
    let mut transfer = Transfer::new(name, paths, window, blocks, shadows);
    let mut least = f64::INFINITY;
    for _ in 0..=ROUNDS {
        let (from, before) = (transfer.sent, cpu_ns());
        while transfer.sent < from + SYMBOLS {
            transfer.step();
        }
        least = least.min((cpu_ns() - before) / (transfer.sent - from) as f64);
    }
    least
}

fn main() {
    println!("| scheduler | paths | window | blocks | ns per symbol |\n|---|---:|---:|---:|---:|");
    for name in SCHEDULERS {
        for paths in [2, 4] {
            for window in [50, 100, 200] {
                for blocks in [11, 2 * (u64::from(paths) * window / 16) as u32] {
                    let case = (paths, window, blocks);
                    let cost = (least(name, case, SHADOWS) - least(name, case, 0)) / SHADOWS as f64;
                    println!("| `{name}` | {paths} | {window} | {blocks} | {cost:.0} |");
                }
            }
        }
    }
}
