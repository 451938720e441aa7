//! Tail probes over clean paths of different lengths: no acknowledgement is so late that data leave again.
//! `cargo test -p strandcast-lab --test it tail_probes -- --nocapture` prints the counts.

use std::path::Path;

use strandcast_lab::result::Subject;
use strandcast_lab::scenario::parse;
use strandcast_testing::lab::{metric, run};

/// Tail probes, timeouts and packets of half a minute of video over two clean paths with these one-way delays.
fn half_a_minute(scheme: &str, delays_ms: [u32; 2], mbps: u32, app: &str) -> [f64; 3] {
    let mut text = String::from("[run]\ntime = \"30 s\"\nwarmup = \"2 s\"\n[nodes.a]\n[nodes.b]\n");
    for (name, delay_ms) in ["fast", "slow"].into_iter().zip(delays_ms) {
        text += &format!(
            "[links.{name}]\nfrom = \"a\"\nto = \"b\"\nrate = \"{mbps} Mbit/s\"\ndelay = \"{delay_ms} ms\"\n"
        );
    }
    text += &format!(
        "[flows.f]\nfrom = \"a\"\nto = \"b\"\nprofile = \"live\"\nscheme = \"{scheme}\"\n\
         paths = {{ fast = {{ via = [\"fast\"] }}, slow = {{ via = [\"slow\"] }} }}\n\
         app = {{ kind = \"video\", size = 1316, {app}, deadline = \"1 s\", expire = true }}\n"
    );
    let scenario = parse(&text, "clean.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1);
    ["tail_probes", "timeouts", "sent_packets"].map(|name| metric(&result, &Subject::Flow("f".into()), name))
}

/// Pictures and blocks of a pipe at 6 Mbit/s, pictures at 1 Mbit/s, and single messages 70 ms apart.
const SOURCES: [&str; 4] = [
    "rate = \"6 Mbit/s\", burst = \"40 ms\"",
    "rate = \"6 Mbit/s\", burst = \"32 KiB\"",
    "rate = \"1 Mbit/s\", burst = \"20 ms\"",
    "rate = \"150 kbit/s\"",
];

/// RFC 8985 §7.2: a probe waits for as long as an acknowledgement may take. SACKs that return in turn by a path of 10
/// ms and by one of 60 or 150 ms are no reason for one.
#[test]
fn return_paths_of_different_lengths_cause_no_probes() {
    for slow_ms in [60, 150] {
        for app in SOURCES {
            let [probes, timeouts, _] = half_a_minute("strand", [10, slow_ms], 20, app);
            assert_eq!((probes, timeouts), (0.0, 0.0), "10 and {slow_ms} ms, {app}");
        }
    }
}

/// Data of two paths share a SACK, or several queue on the fast path: at most one packet in 250 is probed.
#[test]
fn sacks_of_two_paths_cause_few_probes() {
    let key_frames = "rate = \"6 Mbit/s\", burst = \"40 ms\", key_frames.every = 50";
    let cases = [
        ("bond", [20, 40], 20, key_frames),
        ("cmt", [10, 60], 8, SOURCES[0]),
        ("cmt", [10, 60], 8, key_frames),
    ];
    for (scheme, delays_ms, mbps, app) in cases {
        let [probes, timeouts, packets] = half_a_minute(scheme, delays_ms, mbps, app);
        println!(
            "{scheme}, {delays_ms:?} ms, {mbps} Mbit/s, {app}: {probes} probes, {timeouts} timeouts, {packets} packets"
        );
        assert!(
            250.0 * probes <= packets && timeouts == 0.0,
            "{scheme}, {app}: {probes} probes of {packets}"
        );
    }
}
