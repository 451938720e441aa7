//! Which buffer keeps a flow over two uneven paths from being faster.

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

/// Shares of the time in which the receive window and the send buffer block, and Mbit/s.
fn blocked(receive: u32, send: u32) -> (f64, f64, f64) {
    let result = uneven(receive, send);
    let of = |name| metric(&result, &Subject::Flow("f".into()), name);
    let told = (of("rwnd_blocked_ratio"), of("send_buffer_blocked_ratio"), goodput(&result, "f") / 1e6);
    println!("{receive} MiB, {send} MiB: {told:?}");
    assert!(told.0 + told.1 <= 1.0, "they never count the same moment: {told:?}");
    told
}

/// Each buffer that is too small is named, and to enlarge what is named helps: with both large the links are full.
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
