//! Buffers that limit a flow over two uneven paths.

use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::parse;
use strandcast_testing::lab::{goodput, metric, run};

/// 45 Mbit/s over two paths, of which the slower one's round trip is seven times as long, with these buffers in MiB.
fn uneven(receive: u32, send: u32) -> RunResult {
    let text = format!(
        r#"
[run]
time = "30 s"
[nodes.a]
[nodes.b]
[links.x]
from = "a"
to = "b"
rate = "30 Mbit/s"
delay = "20 ms"
[links.y]
from = "a"
to = "b"
rate = "15 Mbit/s"
delay = "150 ms"
queue.limit = 400
[flows.f]
from = "a"
to = "b"
paths = {{ x = {{ via = ["x"] }}, y = {{ via = ["y"] }} }}
sctp = {{ receive_buffer = "{receive} MiB", send_buffer = "{send} MiB" }}
"#
    );
    let scenario = parse(&text, "uneven.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, 1)
}

/// Shares of the time in which the receive window blocks and in which the send buffer blocks, and goodput in Mbit/s.
fn blocked(receive: u32, send: u32) -> (f64, f64, f64) {
    let result = uneven(receive, send);
    let of = |name| metric(&result, &Subject::Flow("f".into()), name);
    let told = (of("rwnd_blocked_ratio"), of("send_buffer_blocked_ratio"), goodput(&result, "f") / 1e6);
    println!("{receive} MiB, {send} MiB: {told:?}");
    assert!(told.0 + told.1 <= 1.0, "they never count the same moment: {told:?}");
    told
}

/// A buffer that is too small is named, and enlarging it helps. If both buffers are large, the links are full.
#[test]
fn the_buffer_that_blocks_is_named() {
    let (window, buffer, both_small) = blocked(1, 1);
    assert!(buffer >= 0.5 && window < 0.1, "{window} {buffer}");
    let (window, buffer, receive_large) = blocked(16, 1);
    assert!(buffer >= 0.5 && window < 0.01, "{window} {buffer}");
    let (window, buffer, send_large) = blocked(1, 16);
    assert!(window >= 0.5 && buffer < 0.01, "{window} {buffer}");
    let (window, buffer, both_large) = blocked(16, 16);
    assert!(window < 0.01 && buffer < 0.01 && both_large > 40.0, "{window} {buffer} {both_large}");
    assert!(
        receive_large < 1.1 * both_small && send_large > 1.2 * both_small,
        "{receive_large} {send_large}"
    );
}

/// Mbit/s of 20 s in profile `rfc` over a link of 21 Mbit/s and 3 ms, and with `slow` two slow ones, with buffers of
/// 117 kB.
fn small_buffers(scheme: &str, slow: bool) -> f64 {
    let link = |name: &str, rate: &str, delay: &str, queue: u32| {
        format!(
            "[links.{name}]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue.limit = {queue}\n"
        )
    };
    let names = if slow { &["x", "y", "z"][..] } else { &["x"] };
    let paths: String = names.iter().map(|name| format!("paths.{name}.via = [\"{name}\"]\n")).collect();
    let text = [
        "[run]\ntime = \"20 s\"\nwarmup = \"5 s\"\n[nodes.a]\n[nodes.b]\n".to_owned(),
        link("x", "21 Mbit/s", "1.6 ms", 55),
        link("y", "340 kbit/s", "1.7 ms", 100),
        link("z", "980 kbit/s", "32 ms", 22),
        format!("[flows.f]\nfrom = \"a\"\nto = \"b\"\nscheme = \"{scheme}\"\n{paths}"),
        "sctp = { receive_buffer = 117000, send_buffer = 117000 }\n".to_owned(),
    ]
    .concat();
    let scenario = parse(&text, "small.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"));
    goodput(&run(&scenario, 1), "f") / 1e6
}

/// Slow paths do not slow a fast path down, although their data fill the buffers. `bond` and `strand` use the remedies
/// of profile `live`, which `unblock=off` disables.
#[test]
fn slow_paths_do_no_harm_through_small_buffers() {
    let alone = small_buffers("sctp", false);
    for scheme in ["bond", "strand"] {
        let (with, without) =
            (small_buffers(scheme, true), small_buffers(&format!("{scheme},unblock=off"), true));
        println!("{scheme}: {with:.1} Mbit/s, {without:.1} without, {alone:.1} over the fast link alone");
        assert!(with >= 0.95 * alone, "{scheme}: {with:.1} Mbit/s, {alone:.1} alone");
        assert!(without < 0.7 * alone, "what it is for: {without:.1} Mbit/s of {alone:.1}");
    }
}
