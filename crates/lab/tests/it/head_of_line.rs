//! A slow path in addition to a fast one must not reduce goodput: with profile `live`, concurrent transfer over both is
//! not worse than the best path alone. `cargo test -p strandcast-lab --test it head_of_line -- --nocapture` prints the
//! shares.

use core::fmt::Write as _;
use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::parse;
use strandcast_testing::lab::{goodput, metric, run};

/// A path: rate in bit/s, one-way delay in ms, queue in ms of the rate.
type PathParameters = (u32, u32, u32);

/// 20 Mbit/s, 10 ms, and its queue of 100 ms.
const FAST: PathParameters = (20_000_000, 10, 100);

/// 10 s to 70 s of one endless flow of `scheme` over `ways`, fixed buffers of `buffer` bytes, other constants in
/// `more`.
fn flow(scheme: &str, ways: &[PathParameters], buffer: Option<u32>, more: &str, seed: u64) -> RunResult {
    let mut text = String::from("[run]\nwarmup = \"10 s\"\ntime = \"70 s\"\n[nodes.a]\n[nodes.b]\n");
    let mut paths = Vec::new();
    for (i, (rate, delay, queue)) in ways.iter().enumerate() {
        let packets = (rate / 8000 * queue).div_ceil(1400);
        let link = format!(
            "[links.l{i}]\nfrom = \"a\"\nto = \"b\"\nrate = {rate}\ndelay = \"{delay} ms\"\nqueue.limit = {packets}\n"
        );
        text.push_str(&link);
        paths.push(format!("l{i} = {{ via = [\"l{i}\"] }}"));
    }
    let buffers = buffer.map(|b| format!("receive_buffer = {b}, send_buffer = {b}, buffer_limit = {b}"));
    let constants: Vec<String> =
        buffers.into_iter().chain((!more.is_empty()).then(|| more.to_owned())).collect();
    let _ = write!(
        text,
        "[flows.f]\nfrom = \"a\"\nto = \"b\"\nscheme = \"{scheme}\"\nprofile = \"live\"\n\
         paths = {{ {} }}\nsctp = {{ {} }}\n",
        paths.join(", "),
        constants.join(", "),
    );
    let scenario =
        parse(&text, "ways.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, seed)
}

/// Mean goodput over `seeds`, Mbit/s.
fn mean(scheme: &str, ways: &[PathParameters], buffer: Option<u32>, more: &str, seeds: u64) -> f64 {
    let one = |seed| goodput(&flow(scheme, ways, buffer, more, seed), "f") / 1e6;
    (1..=seeds).map(one).sum::<f64>() / seeds as f64
}

/// Goodput over all of `ways`, the best alone and the sum of all alone, Mbit/s, with the same scheme and buffers.
fn shares(scheme: &str, ways: &[PathParameters], buffer: Option<u32>, seeds: u64) -> (f64, f64, f64) {
    let alone: Vec<f64> = ways.iter().map(|w| mean(scheme, &[*w], buffer, "", seeds)).collect();
    let best = alone.iter().copied().fold(0.0, f64::max);
    let both = mean(scheme, ways, buffer, "", seeds);
    let (sum, of) = (alone.iter().sum::<f64>(), both / best);
    println!(
        "{scheme} {ways:?} {buffer:?}: {both:.2} of {alone:.2?}: {of:.3} of the best, {:.3} of the sum",
        both / sum
    );
    (both, best, sum)
}

/// Fixed buffers of 1 MiB, and buffers that grow.
const BUFFERS: [Option<u32>; 2] = [Some(1 << 20), None];

fn a_slow_path(cases: &[(&str, u32)], seeds: u64) {
    for (scheme, queue) in cases {
        let (both, best, _) = shares(scheme, &[FAST, (1_000_000, 40, *queue)], None, seeds);
        assert!(both >= 0.98 * best, "{scheme}, {queue} ms: {both} {best}");
    }
}

/// A buffer of 1 MiB limits even the far path alone. The sum of both paths is therefore required only if buffers grow.
fn a_far_path(buffers: &[Option<u32>], schemes: &[&str], seeds: u64) {
    for &buffer in buffers {
        for &scheme in schemes {
            let (both, best, sum) = shares(scheme, &[FAST, (20_000_000, 300, 100)], buffer, seeds);
            assert!(both >= 0.98 * best, "{scheme}, {buffer:?}: {both} {best}");
            assert!(scheme != "cmt" || both >= 0.7 * sum, "{scheme}, {buffer:?}: {both} {sum}");
        }
    }
}

fn half_the_rate(buffers: &[Option<u32>], seeds: u64) {
    for &buffer in buffers {
        let (both, _, sum) = shares("cmt", &[FAST, (10_000_000, 40, 100)], buffer, seeds);
        assert!(both >= 0.9 * sum, "{buffer:?}: {both} {sum}");
    }
}

/// Copies on every path that has room: no slower than the best path, and neither path is sent more than it carries.
fn copies(slow: &[PathParameters], seeds: u64) {
    for &slow in slow {
        let (both, best, _) = shares("redundant", &[(20_000_000, 10, 50), slow], None, seeds);
        let result = flow("redundant", &[(20_000_000, 10, 50), slow], None, "", 1);
        for path in ["l0", "l1"] {
            let of = |name| metric(&result, &Subject::Path { flow: "f".into(), path: path.into() }, name);
            let lost = of("lost_packets") / of("sent_packets");
            println!("{path}: {lost:.4} of {} lost", of("sent_packets"));
        }
        println!(
            "longest wait {:.0} ms",
            metric(&result, &Subject::Flow("f".into()), "delivery_delay_max_ms")
        );
        assert!(both >= 0.97 * best, "{slow:?}: {both} {best}");
    }
}

#[test]
fn a_slow_path_with_a_deep_queue() {
    a_slow_path(&[("cmt", 1000)], 1);
}

#[test]
fn a_far_path_of_the_same_rate() {
    a_far_path(&BUFFERS[1..], &["cmt"], 1);
}

#[test]
fn a_path_of_half_the_rate() {
    half_the_rate(&BUFFERS[1..], 1);
}

#[test]
fn copies_are_no_slower_than_the_best_path() {
    copies(&[(10_000_000, 40, 50)], 1);
}

mod thorough {
    use super::*;

    const SEEDS: u64 = 2;

    #[test]
    fn a_slow_path_with_a_deep_queue() {
        a_slow_path(&[("cmt", 1000), ("cmt", 100), ("lia", 1000), ("lia", 100)], SEEDS);
    }

    #[test]
    fn a_far_path_of_the_same_rate() {
        a_far_path(&BUFFERS, &["cmt", "lia"], SEEDS);
    }

    #[test]
    fn a_path_of_half_the_rate() {
        half_the_rate(&BUFFERS, SEEDS);
    }

    #[test]
    fn copies_are_no_slower_than_the_best_path() {
        copies(&[(10_000_000, 40, 50), (10_000_000, 10, 50), (1_000_000, 40, 1000)], SEEDS);
    }
}
