//! `strandcast schemes`, and results whose reader closes the pipe.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use strandcast_schemes::presets;

use crate::common::terminal::Terminal;
use crate::common::{Ended, file, run};

fn text(ended: &Ended) -> String {
    ended.succeeds();
    String::from_utf8(ended.out.clone()).unwrap()
}

fn command(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
    command.args(args.split_whitespace());
    command
}

#[test]
fn schemes_are_a_table_with_a_line_each() {
    let table = text(&run("schemes"));
    let lines: Vec<&str> = table.lines().collect();
    assert!((presets().len() + 2..=presets().len() + 3).contains(&lines.len()), "{table}");
    for (line, preset) in lines[1..].iter().zip(presets()) {
        let whole = line.starts_with(preset.name) && line.ends_with(preset.summary);
        assert!(whole && line.contains(preset.source()), "{line}");
    }
    assert!(lines[lines.len() - 1].contains("--all"), "{table}");
}

#[test]
fn the_table_is_cut_at_the_terminals_width() {
    for columns in [80, 120] {
        let (code, screen) = Terminal::start(&mut command("schemes"), columns).end();
        let lines: Vec<&str> = screen.lines().map(|line| line.trim_end_matches('\r')).collect();
        assert_eq!((code, lines.len()), (Some(0), presets().len() + 2), "{screen}");
        assert_eq!(lines.iter().find(|line| line.chars().count() > usize::from(columns)), None);
        assert!(lines.iter().any(|line| line.ends_with('…')), "{screen}");
    }
}

#[test]
fn a_description_has_the_keys_of_the_chosen_parts_and_all_has_every_key() {
    let chosen = text(&run("schemes strand"));
    let all = text(&run("schemes --all strand"));
    let has = |text: &str, key: &str| text.lines().any(|line| line.starts_with(&format!("    {key}=")));
    for key in ["scheduler", "cc", "loss", "feedback", "data-probe", "last-moment", "pf"] {
        assert!(has(&chosen, key) && has(&all, key), "{key}: {chosen}");
    }
    for key in ["m", "psi", "turn", "train"] {
        assert!(!has(&chosen, key) && has(&all, key), "{key}: {chosen}");
    }
    assert!(chosen.lines().last().unwrap().contains("--all"), "{chosen}");
    let two = text(&run("schemes strand cmt"));
    assert!(two.starts_with("strand: ") && two.contains("\ncmt: "), "{two}");
    let raf = text(&run("schemes strand,loss=raf"));
    assert!(has(&raf, "m") && !has(&raf, "last-moment"), "{raf}");
    let everything = text(&run("schemes --all"));
    assert!(presets().iter().all(|preset| everything.contains(&format!("{}: ", preset.name))));
}

#[test]
fn json_has_every_scheme_with_every_key() {
    let json = run("schemes --json").json();
    let schemes = json["schemes"].as_array().unwrap();
    let whole = |s: &Value| s["name"].is_string() && s["paper"].is_string() && s["parts"].is_object();
    assert!(schemes.len() == presets().len() && schemes.iter().all(whole), "{json}");
    for (scheme, preset) in schemes.iter().zip(presets()) {
        let keys: Vec<&str> = scheme["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key["name"].as_str().unwrap())
            .collect();
        assert!(keys.into_iter().eq(preset.keys().iter().map(|key| key.name)), "{}", preset.name);
    }
    let one = run("schemes cmt-cl-fd --json").json();
    assert_eq!(one["schemes"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["schemes"][0]["name"], "cmt-cl-fd");
}

#[test]
fn an_unknown_scheme_is_told_with_a_suggestion() {
    for options in ["", "--all", "--json"] {
        run(&format!("schemes cmt-cl-df {options}")).fails(2, &["'cmt-cl-df'", "cmt-cl-fd"]);
    }
    run("schemes strand,loss=rfa").fails(2, &["loss can't be 'rfa'", "did you mean raf?"]);
}

/// Runs it with a closed standard output.
fn unread(args: &str) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command(args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap()
}

/// As `strandcast schemes --all | head -1` does.
#[test]
fn nothing_is_said_of_a_closed_pipe() {
    let example = format!("{}/../../scenarios/examples/first.toml", env!("CARGO_MANIFEST_DIR"));
    let out = file("unread");
    let simulate = format!("simulate {example} --set run.time=2s --set run.warmup=1s --runs 1 --quiet");
    for args in [
        "schemes".to_owned(),
        "schemes --all".to_owned(),
        "schemes --json".to_owned(),
        "schema".to_owned(),
        format!("check {example}"),
        format!("check {example} --json"),
        format!("{simulate} --out {}", out.display()),
        format!("{simulate} --json"),
    ] {
        let ended = unread(&args);
        let err = String::from_utf8_lossy(&ended.stderr);
        assert!(!err.contains("strandcast: ") && !err.contains("panicked"), "{args}: {err}");
        assert_eq!(ended.status.code(), Some(141), "{args}: {err}");
    }
    assert!(out.join("result.json").is_file(), "what files hold is whole");
}

#[test]
fn a_full_disk_is_told() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = command("schemes --all").stdout(full).stderr(Stdio::piped()).output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{err}");
    assert!(err.starts_with("strandcast: cannot write to standard output: no space left"), "{err}");
}
