//! `strandcast check` and `strandcast explain`.

use serde_json::Value;

use crate::common::run;
use crate::scenarios::{TWO_PATHS, folder, scenario};

/// A video over one path that is a little too narrow, loses packets and has a long queue: frames are late.
const LATE: &str = r#"title = "late"
[run]
time = "20 s"
[nodes.a]
[nodes.b]
[links.x]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "20 ms"
queue = { limit = "100 packets" }
[links.x.loss.uniform]
rate = 0.05
[flows.video]
from = "a"
to = "b"
app = { kind = "video", rate = "0.9 Mbit/s", size = 1200, deadline = "200 ms" }
[flows.video.paths.x]
via = ["x"]
"#;

#[test]
fn check_analyses_the_network() {
    let path = scenario("check.toml", TWO_PATHS);
    let ended = run(&format!("check {} --json", path.display()));
    ended.succeeds();
    let json = ended.json();
    let of = |pointer: &str| {
        json.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {json:#}"))
    };
    // A packet of 1400 bytes in 5.6 ms, 10 ms there, an acknowledgement of 28 + 12 + 16 bytes in 0.224 ms, 10 ms back.
    let (packet, ack) = (of("/flows/data/packet_bytes"), of("/flows/data/ack_bytes"));
    assert_eq!((packet, ack), (1400.0, 56.0));
    let rtt_ms = 20.0 + (packet + ack) * 8.0 / 2e3;
    assert!((of("/flows/data/paths/x/base_rtt_ms") - rtt_ms).abs() < 1e-6, "{json:#}");
    assert!((of("/flows/data/paths/x/bdp_bytes") - 2e6 * rtt_ms / 8e3).abs() < 1.0);
    assert_eq!(of("/flows/data/paths/x/bottleneck_bps"), 2e6);
    assert!((of("/flows/data/paths/x/via/0/queue_ms") - 20.0 * 5.6).abs() < 1e-6);
    assert!((of("/flows/data/paths/x/loss_ratio") - 0.01).abs() < 1e-9);
    // At most 3 Mbit/s for 5 s.
    assert!((500.0..1340.0).contains(&of("/packets")), "{json:#}");
    assert!(of("/packet_hops") > of("/packets") && of("/run_time_s") > 0.0);
    assert_eq!(json["warnings"], serde_json::json!([]));
    let people = run(&format!("check {}", path.display()));
    people.succeeds();
    let text = String::from_utf8(people.out).expect("text");
    for words in
        ["two paths", "path x: x, back x.reverse", "BDP", "queue 112.0 ms (20 full packets)", "about"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn check_warns() {
    let path = scenario("warn.toml", TWO_PATHS);
    let warns = |set: &str, words: &[&str]| {
        let sets: String = set.split(' ').map(|set| format!(" --set {set}")).collect();
        let ended = run(&format!("check {}{sets}", path.display()));
        ended.succeeds();
        let text = String::from_utf8(ended.out).expect("text");
        let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("warning: ")).collect();
        assert!(
            warnings.iter().any(|w| words.iter().all(|word| w.contains(word))),
            "{words:?}: {warnings:?}"
        );
    };
    warns("links.x.queue.limit=1000", &["link x", "5.6 s"]);
    warns("links.x.delay=10", &["flow data", "receive buffer"]);
    warns("links.x.loss.uniform.rate=0.2", &["path x", "20.0 %"]);
    warns("flows.data.paths.y.via=[\"x\"] flows.data.paths.y.back=[\"y\"]", &["x, y", "share link x"]);
    warns("flows.data.sctp.send_buffer=2000", &["flow data", "send buffer of 2.00 kB", "cannot fill them"]);
    warns(
        "flows.data.app.size=2000000",
        &["flow data", "messages of 2.00 MB", "longer than its receive buffer"],
    );
    warns("links.x.rate=50", &["links.x.rate=50: links.x.rate", "50 bit/s", "50 Mbit/s"]);
    warns("links.x.queue.limit=100000", &["links.x.queue.limit", "100000 packets"]);
    // 5.7 packets per burst: five in six packets after a loss are lost as well.
    warns("links.x.loss={markov={rate=0.187,burst=5.7}}", &["path x", "82.5 %", "stall", "by = \"time\""]);
    warns("flows.data.start=6", &["flow data", "starts after the end of the run"]);
    warns("flows.data.app.kind=cbr flows.data.app.rate=4Mbit/s", &["flow data", "paths carry 3.00 Mbit/s"]);
}

/// Growing buffers are judged by their maximum: 16 MiB in profile `live`, unless a scenario says otherwise.
#[test]
fn buffers_that_grow_are_large_enough() {
    let path = scenario("grow.toml", TWO_PATHS);
    let warned = |more: &str| {
        let sets = "--set flows.data.profile=live --set flows.data.app.size=2000000";
        let ended = run(&format!("check {} {sets}{more}", path.display()));
        ended.succeeds();
        String::from_utf8(ended.out).expect("text").contains("longer than its receive buffer")
    };
    assert!(!warned(""));
    assert!(warned(" --set flows.data.sctp.buffer_limit=1500000"));
}

#[test]
fn bursts_that_pass_give_no_warning() {
    let path = scenario("bursts.toml", TWO_PATHS);
    for chain in ["{rate=0.01,burst=3}", "{by=\"time\",good=1,bad=0.2}"] {
        let ended = run(&format!("check {} --set links.x.loss={{markov={chain}}}", path.display()));
        ended.succeeds();
        let text = String::from_utf8(ended.out).expect("text");
        assert!(!text.contains("stall"), "{chain}: {text}");
    }
}

/// 2000 flows, each with separate access links, over one link.
#[test]
fn thousands_of_flows_are_checked_in_seconds() {
    use std::fmt::Write as _;
    let flows = 2000;
    let mut text = String::from(
        "[nodes.l]\n[nodes.r]\n[links.middle]\nfrom = \"l\"\nto = \"r\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n",
    );
    for i in 0..flows {
        let _ = writeln!(text, "[nodes.a{i}]\n[nodes.b{i}]");
        for (link, from, to) in
            [("in", format!("a{i}"), "l".to_owned()), ("out", "r".to_owned(), format!("b{i}"))]
        {
            let _ = writeln!(
                text,
                "[links.{link}{i}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\""
            );
        }
        let _ = writeln!(text, "[flows.f{i}]\ntransport = \"tcp\"\nfrom = \"a{i}\"\nto = \"b{i}\"");
    }
    let path = scenario("many.toml", &text);
    let ended = run(&format!("check {} --json", path.display()));
    ended.succeeds();
    println!("{:?}", ended.took);
    let json = ended.json();
    let via: Vec<&str> = json
        .pointer("/flows/f7/paths/default/via")
        .and_then(Value::as_array)
        .expect("a route")
        .iter()
        .map(|link| link["link"].as_str().expect("a name"))
        .collect();
    assert_eq!(via, ["in7", "middle", "out7"]);
    let fair = json.pointer("/flows/f7/paths/default/fair_bps").and_then(Value::as_f64).expect("a rate");
    assert!((fair / 0.5e6 - 1.0).abs() < 1e-3, "{fair}");
    // A quadratic algorithm took two minutes; a busy machine gets some seconds.
    assert!(ended.took.as_secs() < 20, "{:?}", ended.took);
}

#[test]
fn a_late_frame_is_explained() {
    let (file, out) = (scenario("late.toml", LATE), folder("late"));
    run(&format!("simulate {} --out {}", file.display(), out.display())).succeeds();
    // The scenario may be moved: the result keeps its own copy.
    std::fs::remove_file(&file).expect("it is there");
    let explain = |what: &str| run(&format!("explain {} --flow video {what}", out.display()));
    let (mut late, mut lost, mut blocked) = (0, 0, 0);
    for frame in (400..500).step_by(5) {
        let ended = explain(&format!("--frame {frame} --json"));
        ended.succeeds();
        let json = ended.json();
        assert_eq!((&json["frame"], &json["message"]), (&frame.into(), &Value::Null));
        let captured = json["captured_s"].as_f64().expect("a time");
        // A message of 1200 bytes at 0.9 Mbit/s.
        assert!((captured - f64::from(frame) * 1200.0 * 8.0 / 0.9e6).abs() < 0.1, "{json:#}");
        assert!((json["due_s"].as_f64().expect("a time") - captured - 0.2).abs() < 1e-6);
        if json["late_ms"].as_f64().is_none_or(|ms| ms <= 0.0) {
            continue;
        }
        late += 1;
        lost += u32::from(transmissions(&json).any(|t| t["outcome"] == "lost-random"));
        blocked += u32::from(json["waited_for"].is_u64());
        let text = String::from_utf8(explain(&format!("--frame {frame}")).out).expect("text");
        for words in [&format!("Frame {frame} of flow video") as &str, "late.", "path", "queue", "x"] {
            assert!(text.to_lowercase().contains(&words.to_lowercase()), "{words}: {text}");
        }
    }
    assert!(
        late > 5 && lost + blocked > 0,
        "{late} late, {lost} with losses of their own, {blocked} blocked"
    );
}

fn transmissions(json: &Value) -> impl Iterator<Item = &Value> {
    let messages = json["messages"].as_array().expect("a list");
    messages.iter().flat_map(|m| m["transmissions"].as_array().expect("a list"))
}

#[test]
fn what_cannot_be_explained() {
    let (file, out) = (scenario("what.toml", LATE), folder("what"));
    run(&format!("simulate {} --out {} --set run.time=2", file.display(), out.display())).succeeds();
    let explain = |args: &str| run(&format!("explain {} {args}", out.display()));
    explain("--flow sound --frame 1").fails(2, &["sound", "video"]);
    explain("--flow video --frame 1 --seed 5").fails(2, &["no such run", "cmt 1"]);
    // 0.9 Mbit/s in messages of 1200 bytes for 2 s: the last is the 188th, at 1.995 s.
    explain("--flow video --frame 100000").fails(2, &["'video'", "no frame 100000", "frames 0 to 187"]);
    explain("--flow video --message 99999999").fails(2, &["no message 99999999", "messages 0 to 187"]);
    explain("--flow video --message 188 --json").fails(2, &["no message 188"]);
    explain("--flow video --message 187").succeeds();
    explain("--flow video --message -1").fails(2, &["-1"]);
    explain("--flow video --frame 4294967296").fails(2, &["4294967296"]);
    // The scenario and the copy changed.
    for changed in [&file, &out.join("scenario.toml")] {
        std::fs::write(changed, LATE.replace("0.05", "0.06")).expect("it is written");
    }
    explain("--flow video --frame 1").fails(2, &["scenario has changed"]);
    run("explain /dev/zero --flow video --frame 1").fails(2, &["/dev/zero", "simulate --out"]);
    run("explain /nonexistent --flow video --frame 1").fails(2, &["/nonexistent", "simulate --out"]);
}

#[test]
fn schemes_that_were_compared_are_explained() {
    let (file, out) = (scenario("compared.toml", TWO_PATHS), folder("compared"));
    let schemes = "--scheme sctp,cmt,rtx=same --runs 2";
    run(&format!("simulate {} {schemes} --out {}", file.display(), out.display())).succeeds();
    for (run_of, scheme, seed) in
        [("", "sctp", 1), ("--seed 2", "sctp", 2), ("--scheme cmt,rtx=same --seed 2", "cmt,rtx=same", 2)]
    {
        let ended = run(&format!("explain {} --flow data --message 100 --json {run_of}", out.display()));
        ended.succeeds();
        let json = ended.json();
        assert_eq!((&json["scheme"], &json["seed"]), (&scheme.into(), &seed.into()));
        assert!(json["delivered_s"].is_number() && json["due_s"].is_null(), "{json:#}");
    }
}

/// Extracts the first `strandcast explain target/first` in `text` and the preceding `simulate`: the arguments of both with
/// this test's own files, and the text after the line.
fn example(text: &str, out: &str) -> (String, String, String) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let (before, after) = text.split_once("strandcast explain target/first ").expect("an example of explain");
    let (_, simulate) = before.rsplit_once("strandcast ").expect("and of simulate before it");
    let (explain, after) = after.split_once('\n').expect("it is not the last line");
    let explain = explain.split_once('#').map_or(explain, |(command, _)| command);
    let folder = folder(out).display().to_string();
    let own = |args: &str| {
        args.replace("scenarios/", &format!("{root}/scenarios/")).replace("target/first", &folder)
    };
    let simulate = simulate.trim_end().trim_end_matches("&&");
    (own(simulate), format!("explain {folder} {explain}"), after.to_owned())
}

#[test]
fn the_example_of_the_readme_is_late_and_explained() {
    let (simulate, explain, _) = example(include_str!("../../../../README.md"), "readme");
    run(&simulate).succeeds();
    let ended = run(&explain);
    ended.succeeds();
    let text = String::from_utf8_lossy(&ended.out);
    assert!(text.contains(" after it was due at ") && text.contains(": late."), "{text}");
    let why =
        text.split_once("Why, longest first:\n").expect("it has causes").1.lines().next().expect("a line");
    for words in ["it waited for its second transmission, over lte", "lost on wifi: link down"] {
        assert!(why.contains(words), "{words}: {text}");
    }
}

/// The example in docs/cli.md matches the output exactly.
#[test]
fn the_example_of_the_manual_matches_the_output() {
    let manual = include_str!("../../../../docs/cli.md");
    let (simulate, explain, after) = example(manual, "manual");
    let shown = after.split_once("```text\n").expect("what it says follows").1;
    let shown = shown.split_once("```").expect("the example ends").0;
    run(&simulate).succeeds();
    let ended = run(&explain);
    ended.succeeds();
    let text = String::from_utf8_lossy(&ended.out);
    assert_eq!(text, shown, "it says\n{text}");
    assert!(text.contains("the receive window was full: message"), "{text}");
}

/// `fmtcp` cannot give up what is in a coded block, and `cmt` can: with either the warning is that of the scheme that runs.
#[test]
fn warnings_are_those_of_the_schemes_that_run() {
    let said = "messages are given up (expire) only before they are put into a coded block";
    let path = scenario("schemes.toml", &LATE.replace("deadline", "expire = true, deadline"));
    let file = path.display();
    let warnings = |command: String| -> Vec<String> {
        let ended = run(&command);
        ended.succeeds();
        let text = String::from_utf8(ended.out).expect("text") + &ended.err;
        text.lines().filter(|line| line.contains(said)).map(str::to_owned).collect()
    };
    let simulate = |schemes: &str| warnings(format!("simulate {file} --runs 1 {schemes}"));
    assert!(simulate("").is_empty() && simulate("--scheme cmt").is_empty());
    assert_eq!(simulate("--scheme fmtcp"), [format!("warning: flow video: {said}")]);
    assert_eq!(simulate("--scheme fmtcp,cmt"), [format!("warning: flow video with fmtcp: {said}")]);
    assert_eq!(simulate("--set flows.video.scheme=fmtcp").len(), 1);
    assert!(simulate("--set flows.video.scheme=fmtcp --scheme cmt").is_empty());
    assert_eq!(warnings(format!("check {file} --scheme fmtcp")).len(), 1);
    assert!(warnings(format!("check {file}")).is_empty());
    let wrong = run(&format!("check {file} --scheme fmtpc"));
    assert_eq!(wrong.code, Some(2));
    let out = folder("schemes");
    run(&format!("simulate {file} --runs 1 --scheme fmtcp,cmt --out {}", out.display())).succeeds();
    let text = std::fs::read_to_string(out.join("result.json")).expect("it is there");
    let result: Value = serde_json::from_str(&text).expect("JSON");
    let of_result: Vec<&str> =
        result["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let [of_network, of_scheme] = of_result[..] else { panic!("{of_result:?}") };
    assert!(of_network.starts_with("link x: its queue holds 1.0 s"), "{of_network}");
    assert_eq!(of_scheme, format!("flow video with fmtcp: {said}"));
    assert_eq!(result["schemes"], serde_json::json!(["fmtcp", "cmt"]));
    // These sources are a clone, or an archive that has no commit.
    let commit = result["commit"].as_str().unwrap_or_default().trim_end_matches('+');
    assert!(commit.is_empty() || commit.len() == 40, "{commit}");
}

/// `explain` repeats runs with a scheme that was given, and with the scenario's own.
#[test]
fn a_run_is_explained_with_the_scheme_that_ran() {
    let path = scenario("given.toml", LATE);
    for schemes in ["", "--scheme cmt,sctp"] {
        let out = folder(if schemes.is_empty() { "given-own" } else { "given" });
        run(&format!("simulate {} --runs 1 {schemes} --out {}", path.display(), out.display())).succeeds();
        let scheme = if schemes.is_empty() { "" } else { " --scheme sctp" };
        run(&format!("explain {} --flow video --message 5{scheme}", out.display())).succeeds();
    }
}
