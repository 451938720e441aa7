//! Every mistake in a scenario gets one line: file, line, key, what is wrong and how to correct it.

use std::path::Path;

use strandcast_lab::scenario::{Scenario, parse};

/// A correct scenario, whose lines tests replace.
const GOOD: &str = r#"title = "two ways"
[run]
time = "10 s"
warmup = "1 s"
[nodes.a]
[nodes.r]
[nodes.b]
[links.up]
from = "a"
to = "r"
rate = "10 Mbit/s"
delay = "20 ms"
loss.uniform.rate = 0.01
[links.down]
from = "r"
to = "b"
[links.side]
from = "a"
to = "b"
rate = "1 Mbit/s"
[flows.video]
from = "a"
to = "b"
paths.one.via = ["up", "down"]
paths.two.via = ["side"]
[flows.rival]
transport = "tcp"
from = "a"
to = "b"
[cross.load]
via = ["up", "down"]
load = 0.2
"#;

fn read(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenario");
    parse(text, "net.toml", &folder, &sets).map_err(|error| error.to_string())
}

/// The line for the good scenario with `old` replaced by `new`.
#[track_caller]
fn said(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    let line = read(&GOOD.replacen(old, new, 1), &[]).expect_err(new);
    assert!(!line.contains('\n'), "{line}");
    line
}

/// Error of the good scenario with more lines after it.
fn with(more: &str) -> String {
    read(&format!("{GOOD}{more}"), &[]).expect_err(more)
}

/// The line for the good scenario with an argument.
fn set(argument: &str) -> String {
    read(GOOD, &[argument]).expect_err(argument)
}

const RATE: &str = r#"rate = "10 Mbit/s""#;

#[test]
fn the_good_scenario_is_good() {
    let scenario = read(GOOD, &[]).expect("nothing is wrong");
    assert_eq!((scenario.links.len(), scenario.flows.len(), scenario.cross.len()), (3, 2, 1));
}

#[test]
fn text_that_is_no_toml() {
    assert!(said(RATE, "rate = ").starts_with("net.toml:11: this is not TOML: "));
    assert!(said(RATE, "from = 1").starts_with("net.toml:11: this is not TOML: duplicate key"));
    assert_eq!(
        said(RATE, "rate = 99999999999999999999"),
        "net.toml:11: 99999999999999999999 is out of range; whole numbers are at most 9223372036854775807"
    );
}

#[test]
fn an_empty_scenario() {
    let mend = "give [nodes.*], [links.*] and at least one [flows.*]";
    let empty = format!("net.toml:1: the scenario is empty; {mend}");
    assert_eq!(read("", &[]).expect_err("empty"), empty);
    assert_eq!(read("# nothing\n[run]\ntime = 1\n", &[]).expect_err("empty"), empty);
    assert_eq!(
        read("[nodes.a]\n", &[]).expect_err("no traffic"),
        "net.toml:1: there is no traffic; give at least one [flows.*]"
    );
}

#[test]
fn unknown_keys() {
    assert_eq!(said("warmup", "warmpu"), "net.toml:4: run.warmpu: unknown key; did you mean `warmup`?");
    assert_eq!(said("delay", "dealy"), "net.toml:12: links.up.dealy: unknown key; did you mean `delay`?");
    assert_eq!(
        said("[cross.load]", "[corss.load]"),
        "net.toml:30: corss: unknown key; did you mean `cross`?"
    );
    assert_eq!(
        said("[run]", "[run]\nfrobnicate = 1"),
        "net.toml:3: run.frobnicate: unknown key; choose from time, warmup, seed, runs, series"
    );
    assert_eq!(
        said("[nodes.r]", "[nodes.r]\nlabel = 1"),
        "net.toml:7: nodes.r.label: unknown key; choose from x, y"
    );
    let many = "queue.limt = 10\ncorrupted = 0.1";
    assert_eq!(said(RATE, many), "net.toml:12: links.up.corrupted: unknown key; did you mean `corrupt`?");
}

#[test]
fn keys_of_other_kinds() {
    assert_eq!(
        said("transport = \"tcp\"", "transport = \"tcp\"\nscheme = \"cmt\""),
        "net.toml:28: flows.rival.scheme: transport `tcp` has no such key; sctp has"
    );
    assert_eq!(
        said("[flows.video]", "[flows.video]\ncc = \"lia\""),
        "net.toml:22: flows.video.cc: transport `sctp` has no such key; tcp, mptcp have"
    );
    assert_eq!(
        said("transport = \"tcp\"", "transport = \"tpc\""),
        "net.toml:27: flows.rival.transport: there is no `tpc`; did you mean `tcp`?"
    );
    assert_eq!(
        said("loss.uniform.rate = 0.01", "loss.wind.rate = 0.01"),
        "net.toml:13: links.up.loss.wind: `wind` is not a model by itself, and none is given; choose from uniform, markov, snr, list"
    );
    assert_eq!(
        said("[flows.rival]", "[flows.rival]\napp = { kind = \"cbr\", rate = 1e6, bytes = 5 }"),
        "net.toml:27: flows.rival.app.bytes: kind `cbr` has no such key; finite has"
    );
}

#[test]
fn wrong_types() {
    let up = "net.toml:11: links.up.rate: ";
    assert_eq!(
        said(RATE, "rate = true"),
        format!("{up}true cannot be used here; give a rate as \"10 Mbit/s\", or a number of bit/s")
    );
    assert_eq!(
        said("from = \"a\"", "from = 1"),
        "net.toml:9: links.up.from: 1 cannot be used here; give text in quotes"
    );
    assert_eq!(
        said("via = [\"up\", \"down\"]\nload", "via = \"up\"\nload"),
        "net.toml:31: cross.load.via: \"up\" cannot be used here; give a list of links as [\"a\", \"b\"]"
    );
    assert_eq!(
        said("[run]", "[run]\nruns = 1.5"),
        "net.toml:3: run.runs: 1.5 cannot be used here; give a whole number from 1 to 1000000"
    );
    assert_eq!(
        said("[run]", "[run]\nruns = 0"),
        "net.toml:3: run.runs: 0 is out of range; it can be 1 to 1000000"
    );
    assert_eq!(
        said("[nodes.r]", "[nodes]\nr = 3"),
        "net.toml:7: nodes.r: 3 cannot be used here; give a table"
    );
    assert_eq!(
        said("[nodes.r]", "[host]\noverhead = \"yes\"\n[nodes.r]"),
        "net.toml:7: host.overhead: \"yes\" cannot be used here; give true or false"
    );
    assert!(said(RATE, "rate = inf").starts_with(up));
    assert!(
        said(RATE, "rate = 1979-05-27")
            .starts_with(&format!("{up}the date 1979-05-27 cannot be used here; give "))
    );
}

#[test]
fn wrong_units_and_numbers() {
    let up = "net.toml:11: links.up.rate: ";
    let units = "units are bit/s, kbit/s, Mbit/s, Gbit/s, bps, kbps, Mbps, Gbps";
    for (rate, message) in [
        ("\"10 mbit\"", "`mbit` is not a unit of a rate; did you mean \"10 Mbit/s\"?".to_string()),
        ("\"10 ms\"", format!("\"10 ms\" is a time, not a rate; {units}")),
        ("\"fast\"", "there is no `fast`; a rate is \"10 Mbit/s\", or \"infinite\"".into()),
        ("-1", "-1 is negative; give a rate as \"10 Mbit/s\", or a number of bit/s, above zero".into()),
        (
            "\"-1 Mbit/s\"",
            "\"-1 Mbit/s\" is negative; give a rate as \"10 Mbit/s\", or a number of bit/s, above zero"
                .into(),
        ),
        ("0", "0 is zero; give a rate as \"10 Mbit/s\", or a number of bit/s, above zero".into()),
        ("1e300", "too large".into()),
        ("{ steps = [[0, 0], [1, 0]] }", "it is never above zero".into()),
    ] {
        let line = said(RATE, &format!("rate = {rate}"));
        assert!(line.starts_with(up) && line.contains(&message), "{line}");
    }
    assert_eq!(
        said("rate = 0.01", "rate = 2"),
        "net.toml:13: links.up.loss.uniform.rate: 2 is above 1; 2 percent are 0.02 or \"2 %\""
    );
    assert_eq!(
        said("rate = 0.01", "rate = -0.1"),
        "net.toml:13: links.up.loss.uniform.rate: -0.1 is negative; give a share from 0 to 1, or as \"2 %\""
    );
    assert_eq!(
        said("delay = \"20 ms\"", "corrupt = 1.5"),
        "net.toml:12: links.up.corrupt: 1.5 is above 1; 2 percent are 0.02 or \"2 %\""
    );
    assert_eq!(
        said("delay = \"20 ms\"", "queue = { limit = 2.5 }"),
        "net.toml:12: links.up.queue.limit: 2.5 cannot be used here; give a whole number of packets"
    );
    assert_eq!(
        said("delay = \"20 ms\"", "queue = { limit = 0, in_service = true }"),
        "net.toml:12: links.up.queue.limit: no packet can ever be sent; the packet in service counts, so let it be 1 or more"
    );
}

#[test]
fn numbers_that_change() {
    let delay = "net.toml:12: links.up.delay: ";
    for (number, message) in [
        ("{ unifrom = [1, 2] }", "there is no `unifrom`; did you mean `uniform`?"),
        ("{}", "an empty table; give `uniform`, `normal`, `lognormal`, `pareto`, `steps` or `trace`"),
        (
            "{ uniform = [1, 2], loop = true }",
            "`loop` does not go with `uniform`; uniform has uniform, every, cause",
        ),
        ("{ uniform = [1, 2, 3] }", "uniform has 3 numbers, but needs two: [a, b]"),
        ("{ uniform = [2, \"1 s\"] }", "uniform begins at 2, above its end 1; swap them"),
        (
            "{ uniform = [1, 2], every = \"day\" }",
            "there is no `day`; every is \"run\", \"packet\" or a time as \"5 s\"",
        ),
        (
            "{ uniform = [1, 2], every = 0 }",
            "0 is zero; give a time as \"50 ms\", or a number of seconds, above zero",
        ),
        ("{ steps = [[0, 1], [5, 2], [5, 3]] }", "steps must ascend: 5s follows 5s; put them in order"),
        ("{ steps = [[1, 1]] }", "the first step begins later than 0 s; put [0, value] in front"),
        ("{ steps = [] }", "there are no steps; give [[0, value]]"),
        (
            "{ steps = [[0, \"1 Mbit/s\"]] }",
            "\"1 Mbit/s\" is a rate, not a time; units are s, ms, us, ns, min, h",
        ),
    ] {
        assert_eq!(said("delay = \"20 ms\"", &format!("delay = {number}")), format!("{delay}{message}"));
    }
    assert_eq!(
        said("load = 0.2", "load = { uniform = [0, 0.5], every = \"packet\" }"),
        "net.toml:32: cross.load.load: this number can't be drawn for each packet; draw it every \"run\", or \"10 s\""
    );
    assert_eq!(
        said("transport = \"tcp\"", "transport = \"tcp\"\nstart = { steps = [[0, 1]] }"),
        "net.toml:28: flows.rival.start: this number can't change within a run; it is constant, or { uniform = [a, b] }"
    );
    assert_eq!(
        said("transport = \"tcp\"", "transport = \"tcp\"\nstart = { uniform = [0, 1], every = \"5 s\" }"),
        "net.toml:28: flows.rival.start: this number can't change within a run; it is constant, or { uniform = [a, b] }"
    );
}

#[test]
fn traces() {
    let rate = |file: &str| said(RATE, &format!("rate = {{ trace = \"{file}\" }}"));
    let missing = rate("none.csv");
    assert!(
        missing.starts_with("net.toml:11: links.up.rate: ") && missing.contains("none.csv can't be read: "),
        "{missing}"
    );
    assert!(missing.ends_with("; files are relative to the scenario's folder"), "{missing}");
    let frames = with(
        "[flows.film]\nfrom = \"a\"\nto = \"b\"\napp = { kind = \"video\", trace = \"bad-frames.txt\" }\n",
    );
    assert!(
        frames.ends_with("data/scenario/bad-frames.txt:3: flows.film.app.trace: `X` is not a type of frame; choose from I, P, B, and H for a header"),
        "{frames}"
    );
}

#[test]
fn nodes_links_and_loops() {
    assert_eq!(
        said("to = \"r\"", "to = \"q\""),
        "net.toml:10: links.up.to: there is no node `q`; did you mean `a`?; nodes are declared as [nodes.q]"
    );
    assert_eq!(
        said("to = \"r\"", "to = \"a\""),
        "net.toml:10: links.up.to: the link leads from `a` to itself; it joins two nodes"
    );
    assert_eq!(
        said("[links.down]\nfrom = \"r\"\n", "[links.down]\n"),
        "net.toml:14: links.down: `from` is missing; give text in quotes"
    );
    assert_eq!(
        said("[\"up\", \"down\"]\npaths", "[\"up\", \"dwon\"]\npaths"),
        "net.toml:24: flows.video.paths.one.via: there is no link `dwon`; did you mean `down`?"
    );
    assert_eq!(
        said("[\"up\", \"down\"]\npaths", "[\"up\", \"down\", \"side\"]\npaths"),
        "net.toml:24: flows.video.paths.one.via: link `side` returns to `a`, which is a loop; a path passes each node once"
    );
    assert_eq!(
        said("[\"up\", \"down\"]\npaths", "[\"up\", \"up\"]\npaths"),
        "net.toml:24: flows.video.paths.one.via: link `up` returns to `a`, which is a loop; a path passes each node once"
    );
    assert_eq!(
        said("[\"up\", \"down\"]\npaths", "[\"down\", \"up\"]\npaths"),
        "net.toml:24: flows.video.paths.one.via: link `down` does not begin or end at `a`, which the path has reached; it joins `r` and `b`"
    );
    assert_eq!(
        said("[\"up\", \"down\"]\npaths", "[\"up\"]\npaths"),
        "net.toml:24: flows.video.paths.one.via: the path ends at `r`, not at `b`; add the links between them"
    );
    assert_eq!(
        said("[\"up\", \"down\"]\npaths", "[]\npaths"),
        "net.toml:24: flows.video.paths.one.via: it is empty; a path has at least one link"
    );
    assert_eq!(
        said("paths.two.via = [\"side\"]", "paths.one.back = [\"up\"]"),
        "net.toml:25: flows.video.paths.one.back: link `up` does not begin or end at `b`, which the path has reached; it joins `a` and `r`"
    );
    assert_eq!(
        with("[nodes.x]\n[flows.far]\nfrom = \"a\"\nto = \"x\"\n"),
        "net.toml:34: flows.far: no links lead from `a` to `x`; add some between them"
    );
}

#[test]
fn flows() {
    let two = "paths.two.via = [\"side\"]";
    for (line, message) in [
        (
            "paths.two = { via = [\"side\"], join = 5, leave = \"4 s\" }",
            "paths.two.leave: the path leaves at 4s and joins at 5s; let it leave later",
        ),
        (
            "paths.two = { via = [\"side\"], leave = 0 }",
            "paths.two.leave: the path leaves at 0ns and joins at 0ns; let it leave later",
        ),
        ("primary = \"three\"", "primary: there is no path `three`; choose from one"),
        ("profile = \"ns3\"", "profile: there is no `ns3`; did you mean `ns2`?"),
        ("sctp.rto_min = \"90 s\"", "sctp.rto_min: RTO.Min 90s is above RTO.Max 60s; swap them"),
        ("sctp.mtu = 100", "sctp.mtu: 100 is out of range; it can be 296 to 65535"),
        ("start = 5\nstop = 4", "stop: the flow stops at 4s and starts at 5 s; let it stop later"),
        (
            "app.kind = \"cbr\"",
            "app: `rate` is missing; give a rate as \"10 Mbit/s\", or a number of bit/s, or one that changes",
        ),
        ("app = { kind = \"video\" }", "app: there are no frames in it; give `rate` or `trace`"),
        (
            "app = { kind = \"video\", rate = 1, trace = \"x\" }",
            "app.rate: the frames are given twice; keep `rate` or `trace`",
        ),
        (
            "app = { kind = \"video\", rate = 1, spacing = \"1 ms\" }",
            "app.spacing: `spacing` needs `burst`; set `burst`, or leave this key out",
        ),
        (
            "app = { kind = \"video\", rate = 1, burst = \"1 us\" }",
            "app.burst: a burst is at least \"1 ms\" long",
        ),
        (
            "app = { kind = \"video\", trace = \"x\", burst = \"40 ms\" }",
            "app.burst: a trace has the times of frames; leave `burst` out, or give `rate`",
        ),
        (
            "app = { kind = \"video\", rate = 1, pause = { from = 2, to = 1 } }",
            "app.pause.to: the pause ends at 1s and begins at 2s; let it end later",
        ),
        (
            "app = { kind = \"video\", rate = 1, pause = { x = { from = 0, to = 2 }, y = { from = 1, to = 3 } } }",
            "app.pause: pause `y` begins before `x` has ended; merge the two into one pause",
        ),
        (
            "app = { kind = \"onoff\", rate = 1, on = 1, off = 1, shape = 2 }",
            "app.shape: only Pareto's law has a shape; say `law = \"pareto\"`",
        ),
        (
            "app = { kind = \"onoff\", rate = 1, on = 1, off = 1, law = \"pareto\", shape = 1 }",
            "app.shape: with shape 1 the distribution has no mean; give a shape above 1",
        ),
    ] {
        let at = 25 + line.matches('\n').count();
        assert_eq!(said(two, line), format!("net.toml:{at}: flows.video.{message}"));
    }
}

#[test]
fn flows_of_other_transports() {
    assert_eq!(
        said("transport = \"tcp\"", "transport = \"udp\""),
        "net.toml:26: flows.rival.app: udp has no limit of its own, so `bulk` has no rate; choose cbr, poisson, onoff or video"
    );
    assert_eq!(
        said(
            "transport = \"tcp\"",
            "transport = \"tcp\"\npaths.x.via = [\"side\"]\npaths.y.via = [\"up\", \"down\"]"
        ),
        "net.toml:28: flows.rival.paths: tcp has one path, not 2; transports sctp and mptcp have several"
    );
    assert_eq!(
        said(
            "transport = \"tcp\"",
            "transport = \"tcp\"\napp = { kind = \"video\", rate = 1e6, expire = true }"
        ),
        "net.toml:28: flows.rival.app.expire: only sctp gives messages up; leave `expire` out"
    );
    assert_eq!(
        said(
            "transport = \"tcp\"",
            "transport = \"tcp\"\napp = { kind = \"video\", rate = 1e6, keep_alive = 1 }"
        ),
        "net.toml:28: flows.rival.app.keep_alive: only sctp has keep-alives; leave `keep_alive` out"
    );
    let joining = "paths.one.via = [\"up\", \"down\"]\npaths.two.via = [\"side\"]";
    assert_eq!(
        said(joining, "paths.one = { via = [\"side\"], join = 1 }"),
        "net.toml:24: flows.video.paths: all paths join later; let one be there from the start, without `join`"
    );
    let many = |n: u32| (0..n).map(|n| format!("paths.p{n}.via = [\"side\"]\n")).collect::<String>();
    assert_eq!(
        said(joining, &many(256)),
        "net.toml:24: flows.video.paths: a flow has at most 255 paths, not 256"
    );
}

#[test]
fn constants_of_tcp() {
    for (line, message) in [
        ("tcp.segmnt = 1000", "tcp.segmnt: unknown key; did you mean `segment`?"),
        ("tcp.segment = 0.5", "tcp.segment: 0.5 cannot be used here; give a whole number"),
        ("tcp.recovery = \"sak\"", "tcp.recovery: unknown recovery `sak`; did you mean `sack`?"),
        (
            "tcp.rto_min = \"20 mbit\"",
            "tcp.rto_min: \"20 mbit\" cannot be used here; give a number, a time as \"200 ms\", a size as \"64 KiB\" or a word",
        ),
        ("tcp.rto_max = \"1 ms\"", "tcp.rto_max: rto_max is below rto_min"),
        ("profile = \"linus\"", "profile: there is no `linus`; did you mean `linux`?"),
    ] {
        let line = said("transport = \"tcp\"", &format!("transport = \"tcp\"\n{line}"));
        assert_eq!(line, format!("net.toml:28: flows.rival.{message}"));
    }
}

#[test]
fn times_losses_outages_and_load() {
    assert_eq!(
        said("warmup = \"1 s\"", "warmup = \"10 s\""),
        "net.toml:4: run.warmup: `warmup` is 10s and `time` is 10s; `warmup` must be shorter than `time`"
    );
    let delay = "delay = \"20 ms\"";
    for (line, message) in [
        ("down = { from = 5, to = 5 }", "down.to: the outage ends at 5s and begins at 5s; let it end later"),
        ("down = { to = 5 }", "down: `from` is missing; give a time as \"50 ms\", or a number of seconds"),
        (
            "down.x = { from = 5 }\ndown.y = { from = 6, to = 7 }",
            "down: outage `y` begins before `x` has ended; merge the two into one outage",
        ),
        ("down = { from = 5, mode = \"loud\" }", "down.mode: there is no `loud`; choose from silent, notify"),
        (
            "loss.markov = {}",
            "loss.markov: there is no loss in it; give `rate` and `burst`, or `p_good_to_bad` and `p_bad_to_good`",
        ),
        ("loss.markov = { rate = 0.01 }", "loss.markov: `burst` is missing; give a number of packets"),
        (
            "loss.markov = { rate = 0.01, burst = 0.5 }",
            "loss.markov.burst: 0.5 is not a length of a burst; it is at least 1 packet",
        ),
        (
            "loss.markov = { rate = 0.9, burst = 2 }",
            "loss.markov.rate: bursts of 2 packets can't lose 0.9 of all; at most 0.6667, or longer bursts",
        ),
        (
            "loss.markov = { rate = 0.01, burst = 2, loss_bad = 0.5 }",
            "loss.markov.loss_bad: `rate` and `burst` determine the model; leave `loss_bad` out",
        ),
        (
            "loss.markov = { by = \"time\", rate = 0.01 }",
            "loss.markov.rate: the state moves by time, so there is no `rate`; give `good` and `bad`",
        ),
        (
            "loss.markov = { good = 1, bad = 1 }",
            "loss.markov.good: the state moves by packet, so there is no `good`; say `by = \"time\"`",
        ),
        (
            "loss.snr = { modulation = \"qpsk\", snr = -1 }",
            "loss.snr.snr: -1 is negative; give a ratio as \"20 dB\", or a number of dB from 0",
        ),
        (
            "loss.snr = { modulation = \"8psk\", snr = 20 }",
            "loss.snr.modulation: there is no `8psk`; did you mean `bpsk`?",
        ),
        (
            "loss.snr = { modulation = \"qpsk\", snr = \"2 %\" }",
            "loss.snr.snr: \"2 %\" is a share, not a ratio in dB; units are dB",
        ),
        ("arq = {}", "arq: `retries` is missing; give a whole number from 0 to 255"),
        ("arq.retries = 256", "arq.retries: 256 is out of range; it can be 0 to 255"),
    ] {
        assert_eq!(said(delay, line), format!("net.toml:12: links.up.{message}"));
    }
    assert_eq!(
        said("via = [\"up\", \"down\"]\nload", "via = [\"down\"]\nload"),
        "net.toml:31: cross.load.via: the load is a share of the rate of link `down`, which is infinite; give it a rate"
    );
}

#[test]
fn arguments() {
    assert_eq!(
        set("links.up.rte=1"),
        "--set links.up.rte=1: links.up.rte: unknown key; did you mean `rate`?"
    );
    assert_eq!(
        set("links.up.rate=10 mbit"),
        "--set links.up.rate=10 mbit: links.up.rate: `mbit` is not a unit of a rate; did you mean \"10 Mbit/s\"?"
    );
    assert_eq!(
        set("links.upp.rate=1"),
        "--set links.upp.rate=1: links.upp: the file has no `links.upp`; did you mean `up`?"
    );
    assert_eq!(
        set("flows.x.scheme=cmt"),
        "--set flows.x.scheme=cmt: flows.x: the file has no `flows.x`; choose from rival, video"
    );
    assert_eq!(
        set("cross.load.via=[\"up\", \"up\"]"),
        "--set cross.load.via=[\"up\", \"up\"]: cross.load.via: link `up` returns to `a`, which is a loop; a path passes each node once"
    );
    let mend = "an argument is KEY=VALUE, as in links.b.loss.uniform.rate=0.02";
    for argument in ["links.up.rate", "=1", "links..rate=1", "links.up rate=1", "\"links.up=1"] {
        assert_eq!(set(argument), format!("--set {argument}: {mend}"));
    }
    let absent = "the file does not give it, so there is nothing to take away; leave the argument out";
    for key in ["run.seed", "links.upp.rate", "nothing.at.all"] {
        assert_eq!(set(&format!("{key}=")), format!("--set {key}=: {key}: {absent}"));
    }
    assert!(set("links.up.from=").ends_with("links.up: `from` is missing; give text in quotes"));
    assert_eq!(
        set("run.seed=9223372036854775808"),
        "--set run.seed=9223372036854775808: run.seed: 9223372036854775808 is out of range; it can be 0 to 9223372036854775807"
    );
    assert_eq!(set("a\nb=1"), format!("--set a\\nb=1: {mend}"));
}

#[test]
fn words_of_other_programs_lead_to_those_of_scenarios() {
    let set = |argument: &str| read(GOOD, &[argument]).expect_err(argument);
    for (argument, words) in [
        ("links.up.latency=20 ms", "it is called `delay`"),
        ("links.up.bandwidth=1 Mbit/s", "it is called `rate`"),
        ("links.up.jitter=5 ms", "a delay that varies is `delay = { uniform"),
        ("links.up.loss.gilbert={}", "it is called `markov`"),
        ("links.up.loss=0.02", "as loss.uniform.rate = 0.02"),
        ("links.up.rate=30 MB/s", "\"30 MB/s\" is \"240 Mbit/s\""),
        ("links.up.rate=10,5 Mbit/s", "\"10.5 Mbit/s\""),
        ("links.up.rate=1e300", "1e300 is too large; it can be 1e15 bit/s at most"),
        ("links.up.delay=1000000 h", "it can be 1e9 s at most"),
    ] {
        let line = set(argument);
        assert!(line.contains(words) && line.starts_with("--set "), "{argument}: {line}");
    }
}

/// Some editors begin a file with a byte order mark.
#[test]
fn a_byte_order_mark_is_passed_over() {
    let marked = read(&format!("\u{feff}{GOOD}"), &[]).expect("it is a scenario");
    assert_eq!(marked, read(GOOD, &[]).expect("it is a scenario"));
}
