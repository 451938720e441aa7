//! Warnings about unlikely numbers and about keys that arguments remove; errors of too large seeds, and of paths that
//! are not files.

use core::time::Duration;
use std::path::Path;

use strandcast_lab::scenario::{Document, parse};

/// A correct scenario, whose lines tests replace.
const GOOD: &str = r#"title = "one way"
[run]
time = "10 s"
[nodes.a]
[nodes.b]
[links.up]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "20 ms"
loss.uniform.rate = 0.01
[flows.rival]
transport = "tcp"
from = "a"
to = "b"
"#;
const RATE: &str = r#"rate = "10 Mbit/s""#;
const DELAY: &str = r#"delay = "20 ms""#;
const TIME: &str = r#"time = "10 s""#;
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/scenario");

/// The line for the good scenario with `old` replaced by `new`.
#[track_caller]
fn said(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    let line =
        parse(&GOOD.replacen(old, new, 1), "net.toml", Path::new(FOLDER), &[]).expect_err(new).to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

/// Warnings about the scenario with `from` replaced.
fn noted(from: &str, to: &str) -> Vec<String> {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    let document = Document::parse(&text, "net.toml", Path::new(FOLDER), &[]).expect("it is TOML");
    let (_, warnings) = document.read().unwrap_or_else(|error| panic!("{error}"));
    warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn numbers_without_a_unit_that_nobody_means() {
    let rate = |rate: &str| noted(RATE, rate);
    let means = |n: &str, means: &str, rather: &str| {
        format!(
            "{n} without a unit is \"{means}\"; if \"{rather}\" is meant, write that, else write \"{means}\""
        )
    };
    let bits = |n: &str| {
        format!("net.toml:9: links.up.rate: {}", means(n, &format!("{n} bit/s"), &format!("{n} Mbit/s")))
    };
    assert_eq!(rate("rate = 50"), [bits("50")]);
    assert_eq!(rate("rate = \"50\""), [bits("50")]);
    assert_eq!(rate("rate = { steps = [[0, 10], [300, \"2 Mbit/s\"]] }"), [bits("10")]);
    assert_eq!(rate("rate = { uniform = [1, 5] }"), [bits("5")]);
    let delay = |delay: &str| noted(DELAY, delay);
    let long =
        |n: &str| format!("net.toml:10: links.up.delay: {}", means(n, &format!("{n} s"), &format!("{n} ms")));
    assert_eq!(delay("delay = 300"), [long("300")]);
    assert_eq!(delay("delay = 3"), [long("3")]);
    assert_eq!(delay("delay = { uniform = [10, 20], every = 5 }"), [long("20")]);
    let queue = noted(DELAY, "queue.limit = 65536");
    assert_eq!(
        queue,
        [format!("net.toml:10: links.up.queue.limit: {}", means("65536", "65536 packets", "65536 B"))]
    );
    let time = noted(TIME, "time = 100000");
    assert_eq!(time, [format!("net.toml:3: run.time: {}", means("100000", "100000 s", "100000 ms"))]);
    let constant = noted("transport = \"tcp\"", "transport = \"tcp\"\ntcp.rto_initial = 200");
    assert!(constant[0].contains("flows.rival.tcp.rto_initial: 200 without a unit"), "{constant:?}");
    let trace = rate("rate = { trace = \"mbit.csv\" }");
    assert!(
        trace[0].contains("links.up.rate: values of a trace are in bit/s, and its largest is 20;"),
        "{trace:?}"
    );
}

#[test]
fn numbers_that_can_be_meant() {
    for to in [
        "rate = \"50 bit/s\"",
        "rate = 1000",
        "rate = { steps = [[0, 0], [300, 2000000]] }",
        "rate = \"1e6\"",
        "rate = \"infinite\"",
    ] {
        assert_eq!(noted(RATE, to), [""; 0], "{to}");
    }
    for to in [
        "delay = \"300 s\"",
        "delay = 0.3",
        "delay = 2",
        "delay = { steps = [[0, 0.01], [300, 0.02]] }",
        "queue.limit = \"65536 packets\"",
        "queue.limit = \"64 KiB\"",
        "queue.limit = 1000",
        "down = { from = 5, to = 600 }",
    ] {
        assert_eq!(noted(DELAY, to), [""; 0], "{to}");
    }
    assert_eq!(noted(TIME, "time = 3600"), [""; 0]);
}

#[test]
fn an_argument_takes_away_what_the_file_gives() {
    let text = GOOD.replacen(TIME, "time = \"10 s\"\nseries = \"1 s\"", 1);
    let read = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        parse(&text, "net.toml", Path::new(FOLDER), &sets).unwrap_or_else(|error| panic!("{error}"))
    };
    assert!(read(&[]).run.series.is_some());
    assert_eq!(read(&["run.series="]).run.series, None);
    assert_eq!(read(&[" run . series = "]).run.series, None);
    assert_eq!(read(&["run.series=", "run.series=2"]).run.series, Some(Duration::from_secs(2)));
    assert_eq!(read(&["links.up.loss="]).links["up"].forward.loss.len(), 0);
}

#[test]
fn seeds_end() {
    let seed = |seed: &str| said(TIME, &format!("time = \"10 s\"\nseed = {seed}"));
    assert_eq!(
        seed("9223372036854775808"),
        "net.toml:4: 9223372036854775808 is out of range; whole numbers are at most 9223372036854775807"
    );
    assert_eq!(
        seed("9223372036854775807\nruns = 2"),
        "net.toml:4: run.seed: the last of 2 runs would have a seed above 9223372036854775807; take a smaller one, or fewer runs"
    );
    assert_eq!(noted(TIME, "time = \"10 s\"\nseed = 9223372036854775807"), [""; 0]);
}

#[test]
fn files_that_are_none() {
    let rate = |file: &str| said(RATE, &format!("rate = {{ trace = \"{file}\" }}"));
    for device in ["/dev/zero", "/dev/null"] {
        let message = "is a pipe or a device, not a regular file; save what it gives to a file and name that";
        assert_eq!(rate(device), format!("net.toml:9: links.up.rate: {device} {message}"));
    }
    assert_eq!(rate("/"), "net.toml:9: links.up.rate: / is a directory; name a file in it");
    let open = |path: &str| Document::open(Path::new(path), &[]).expect_err(path).to_string();
    assert!(open("/dev/zero").starts_with("/dev/zero: is a pipe or a device"));
    assert_eq!(open("/"), "/: is a directory; name a file in it");
}
