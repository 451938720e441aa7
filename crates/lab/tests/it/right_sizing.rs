//! Goodput with buffers that grow as the paths need it, compared with fixed buffers.

use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::parse;
use strandcast_testing::lab::{goodput, metric, run};

/// Runs a bulk flow over links, each given by rate in Mbit/s, one-way delay in ms and queue in packets.
fn bulk(links: &[(f64, f64, u32)], flow: &str) -> RunResult {
    let mut text = String::from("[run]\ntime = \"40 s\"\nwarmup = \"10 s\"\n[nodes.a]\n[nodes.b]\n");
    let mut paths = Vec::new();
    for (i, (rate, delay, queue)) in links.iter().enumerate() {
        text += &format!(
            "[links.l{i}]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nqueue.limit = {queue}\n"
        );
        paths.push(format!("l{i} = {{ via = [\"l{i}\"] }}"));
    }
    text += &format!("[flows.f]\nfrom = \"a\"\nto = \"b\"\npaths = {{ {} }}\n{flow}\n", paths.join(", "));
    let scenario = parse(&text, "bulk.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1);
    let of = |name| metric(&result, &Subject::Flow("f".into()), name);
    println!(
        "{links:?} {flow}: {:.2} Mbit/s, blocked {:.3} by the window, {:.3} by the send buffer",
        goodput(&result, "f") / 1e6,
        of("rwnd_blocked_ratio"),
        of("send_buffer_blocked_ratio")
    );
    result
}

fn mbps(result: &RunResult) -> f64 {
    goodput(result, "f") / 1e6
}

/// 50 Mbit/s x 200 ms are 1.25 MB. With the data that wait after a loss, this is more than 1 MiB.
#[test]
fn a_long_fat_path_is_filled() {
    let links = [(50.0, 100.0, 900)];
    let fixed = mbps(&bulk(&links, "profile = \"rfc\""));
    let grown = mbps(&bulk(&links, "profile = \"live\""));
    assert!(fixed < 35.0 && grown > 1.25 * fixed, "{fixed} {grown}");
}

/// A slow path's round trip must be bridged by what the fast one carries meanwhile.
#[test]
fn a_path_with_a_long_round_trip_adds_its_rate() {
    let links = [(20.0, 5.0, 50), (20.0, 150.0, 500)];
    let fixed = mbps(&bulk(&links, "profile = \"rfc\""));
    let grown = mbps(&bulk(&links, "profile = \"live\""));
    assert!(fixed < 22.0 && grown > 35.0, "{fixed} {grown}");
}

/// A path is slow only because of its queue. Its use must not reduce goodput.
#[test]
fn a_path_with_a_deep_queue_does_no_harm() {
    let links = [(20.0, 5.0, 50), (1.0, 20.0, 85)];
    let fixed = mbps(&bulk(&links, "profile = \"rfc\""));
    let grown = mbps(&bulk(&links, "profile = \"live\""));
    assert!(fixed < 10.0 && grown > 19.5, "{fixed} {grown}");
}

/// Growing reaches what buffers do that are large from the beginning.
#[test]
fn growing_costs_nothing_beside_large_buffers() {
    let large = "profile = \"rfc\"\nsctp = { receive_buffer = \"16 MiB\", send_buffer = \"16 MiB\" }";
    for links in [&[(20.0, 5.0, 50), (10.0, 20.0, 50)][..], &[(20.0, 5.0, 50), (8.0, 20.0, 700)]] {
        let (large, grown) = (mbps(&bulk(links, large)), mbps(&bulk(links, "profile = \"live\"")));
        assert!(grown > 0.98 * large, "{grown} beside {large}");
    }
}
