//! Invalid scenarios: one line with file, line, key and remedy, and exit code 2.

use crate::common::{Ended, file, run};
use crate::scenarios;
use crate::scenarios::{TWO_PATHS, scenario};

/// Runs `check` and `simulate` on a modified scenario; both must print the same.
#[track_caller]
fn wrong(name: &str, text: &str, words: &[&str]) {
    let path = scenario(name, text);
    let said = |ended: Ended| {
        ended.fails(2, words);
        assert!(ended.out.is_empty(), "{ended:?}");
        ended.err
    };
    let simulate = said(run(&format!("simulate {}", path.display())));
    assert_eq!(said(run(&format!("check {}", path.display()))), simulate);
}

/// `FILE:LINE: ` of the line in `text` that contains `what`.
fn place(name: &str, text: &str, what: &str) -> String {
    let line = text.lines().position(|line| line.contains(what)).expect("the line is there") + 1;
    format!("{name}:{line}: ")
}

/// The scenario with `from` replaced, and the line of the change.
fn changed(name: &str, from: &str, to: &str) -> (String, String) {
    assert!(TWO_PATHS.contains(from), "{from}");
    let text = TWO_PATHS.replacen(from, to, 1);
    let place = place(name, &text, to.lines().last().expect("not empty"));
    (text, place)
}

#[test]
fn a_loop() {
    let (text, at) = changed("loop.toml", "via = [\"x\"]", "via = [\"x\", \"y\", \"x\"]");
    wrong("loop.toml", &text, &[&at, "flows.data.paths.x.via", "loop"]);
}

#[test]
fn a_dangling_link() {
    let (text, at) = changed("dangling.toml", "to = \"b\"", "to = \"nowhere\"");
    wrong("dangling.toml", &text, &[&at, "links.x.to", "nowhere"]);
}

#[test]
fn a_negative_rate() {
    let (text, at) = changed("rate.toml", "rate = \"2 Mbit/s\"", "rate = \"-2 Mbit/s\"");
    wrong("rate.toml", &text, &[&at, "links.x.rate", "-2"]);
}

#[test]
fn an_unknown_key() {
    let (text, at) = changed("key.toml", "delay = \"10 ms\"", "dealy = \"10 ms\"");
    wrong("key.toml", &text, &[&at, "links.x.dealy", "did you mean `delay`?"]);
}

#[test]
fn an_unknown_scheme() {
    let (text, at) = changed("scheme.toml", "compare = true", "scheme = \"cmtt\"");
    wrong("scheme.toml", &text, &[&at, "flows.data.scheme", "cmtt", "did you mean cmt"]);
    let (text, at) = changed("cc.toml", "compare = true", "transport = \"mptcp\"\ncc = \"liaa\"");
    wrong("cc.toml", &text, &[&at, "flows.data.cc", "liaa", "did you mean lia"]);
}

#[test]
fn a_bad_line_in_a_trace() {
    let trace = file("bad.csv");
    std::fs::write(&trace, "0,1000000\n1,fast\n").expect("it is written");
    let name = trace.file_name().expect("it has a name").to_string_lossy().into_owned();
    let (text, _) =
        changed("traced.toml", "rate = \"2 Mbit/s\"", &format!("rate = {{ trace = \"{name}\" }}"));
    wrong("traced.toml", &text, &[&format!("{name}:2: "), "links.x.rate", "fast"]);
}

#[test]
fn invalid_arguments() {
    let path = scenario("set.toml", TWO_PATHS);
    let check = |set: &str| run(&format!("check {} --set {set}", path.display()));
    check("links.x.rat=1").fails(2, &["--set links.x.rat=1", "did you mean `rate`?"]);
    check("links.x").fails(2, &["--set links.x", "KEY=VALUE"]);
    check("links.x.rate=-1").fails(2, &["--set links.x.rate=-1", "links.x.rate"]);
}

#[test]
fn schemes_of_the_command_line() {
    let path = scenario("specs.toml", TWO_PATHS);
    let simulate = |schemes: &str| run(&format!("simulate {} --scheme {schemes}", path.display()));
    simulate("cmt,sctpp").fails(2, &["--scheme sctpp", "did you mean sctp"]);
    simulate("rtx=same,cmt").fails(2, &["--scheme", "rtx=same", "needs a scheme before it"]);
    simulate("cmt,cmt").fails(2, &["--scheme", "cmt is given twice"]);
}

#[test]
fn several_flows_of_which_none_is_marked() {
    let unmarked = TWO_PATHS.replace("compare = true\n", "");
    let second = "[flows.more]\nfrom = \"a\"\nto = \"b\"\n";
    let both = format!("{unmarked}{second}");
    let path = scenario("unmarked.toml", &both);
    let ended = run(&format!("simulate {} --scheme cmt,sctp", path.display()));
    let at = place("unmarked.toml", &both, "[flows.data]");
    ended.fails(2, &[&at, "flows.data.compare", "data, more", "`compare = true`"]);
    // The only multipath flow needs no mark.
    let tcp = format!("{unmarked}{second}transport = \"tcp\"\n");
    let path = scenario("only.toml", &tcp);
    let ended = run(&format!("simulate {} --scheme sctp --json", path.display()));
    ended.succeeds();
    assert!(ended.json()["flows"]["data"]["sctp"].is_object());
}

#[test]
fn a_file_that_is_not_there() {
    for command in ["simulate", "check"] {
        run(&format!("{command} /nonexistent/x.toml")).fails(2, &["/nonexistent/x.toml", "o such file"]);
    }
}

/// Endless files and pipes are refused at once, both as the scenario and as a trace that it names.
#[test]
fn special_files_are_refused() {
    let pipe = file("pipe.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo");
    assert!(made.success());
    let pipe = pipe.display().to_string();
    for (path, words) in [
        ("/dev/zero", "not a regular file; save what it gives to a file"),
        (&pipe, "not a regular file; save what it gives to a file"),
        (env!("CARGO_TARGET_TMPDIR"), "is a directory; name a file in it"),
    ] {
        for command in ["simulate", "check"] {
            run(&format!("{command} {path}")).fails(2, &[path, words]);
        }
        let text = TWO_PATHS.replacen("\"2 Mbit/s\"", &format!("{{ trace = \"{path}\" }}"), 1);
        wrong("no-trace.toml", &text, &["no-trace.toml:9: links.x.rate: ", path, words]);
    }
    std::fs::remove_file(&pipe).expect("it is there");
}

#[test]
fn seeds_that_are_too_large() {
    let path = scenario("seeds.toml", TWO_PATHS);
    let at = path.display();
    for seed in ["9223372036854775808", "18446744073709551615"] {
        let words = [seed, "9223372036854775807"];
        run(&format!("simulate {at} --seed {seed}")).fails(2, &words);
        run(&format!("explain {at} --flow data --message 1 --seed {seed}")).fails(2, &words);
        run(&format!("demo --seed {seed}")).fails(2, &words);
        for command in ["simulate", "check"] {
            run(&format!("{command} {at} --set run.seed={seed}"))
                .fails(2, &["run.seed", seed, "9223372036854775807"]);
        }
        let text = TWO_PATHS.replacen("time = \"5 s\"", &format!("time = \"5 s\"\nseed = {seed}"), 1);
        wrong("seed.toml", &text, &["seed.toml:4: ", seed, "9223372036854775807"]);
    }
    // The last seed is valid, but has no successor.
    let last = "--seed 9223372036854775807 --set run.time=1";
    run(&format!("simulate {at} {last}")).succeeds();
    run(&format!("simulate {at} {last} --runs 2")).fails(2, &["9223372036854775807", "2 runs"]);
}

#[test]
fn simulate_prints_the_warnings_of_check() {
    let text = TWO_PATHS.replacen("\"10 ms\"", "3", 1);
    let path = scenario("odd.toml", &text);
    let simulate = |options: &str| run(&format!("simulate {} --set run.time=1 {options}", path.display()));
    let warnings = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("warning: ")).map(str::to_owned).collect()
    };
    let checked = run(&format!("check {} --set run.time=1", path.display()));
    let told = warnings(&String::from_utf8_lossy(&checked.out));
    let delay = told.iter().find(|line| line.contains("links.x.delay")).expect("3 s are rather 3 ms");
    assert!(delay.contains("odd.toml:10: links.x.delay: 3 without a unit is \"3 s\""), "{delay}");
    let ended = simulate("--json --runs 3");
    ended.succeeds();
    assert_eq!(warnings(&ended.err), told, "each once, however many runs");
    let quiet = simulate("--json --runs 3 --quiet");
    assert_eq!(quiet.err, "");
    let without_speed =
        |mut json: serde_json::Value| json.as_object_mut().and_then(|o| o.remove("speed")).map(|_| json);
    assert_eq!(without_speed(quiet.json()), without_speed(ended.json()), "results have no warnings");
}

#[test]
fn an_argument_can_remove_a_key() {
    let text = TWO_PATHS.replacen("time = \"5 s\"", "time = \"1 s\"\nseries = \"100 ms\"", 1);
    let (path, out) = (scenario("unset.toml", &text), scenarios::folder("unset"));
    let simulate = |set: &str| run(&format!("simulate {} --out {} {set}", path.display(), out.display()));
    simulate("--set run.series=").succeeds();
    assert!(!out.join("series").exists());
    simulate("").succeeds();
    assert!(out.join("series").exists());
    let absent = ["--set run.warmup=: run.warmup: ", "nothing to take away"];
    run(&format!("check {} --set run.warmup=", path.display())).fails(2, &absent);
}
