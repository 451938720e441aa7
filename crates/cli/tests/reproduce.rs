//! `tools/reproduce`: a figure of a paper from the simulator into a page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tool(name: &str, arguments: &[&str]) -> Output {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/reproduce");
    Command::new(tools.join(name)).args(arguments).output().expect("python3 is there, as for `make test`")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

#[test]
fn a_figure_is_run_kept_and_written() {
    let keep = folder("reproduce-keep").display().to_string();
    let docs = folder("reproduce-docs");
    let page = docs.join("reproduction.md");
    fs::write(&page, "before\n<!-- measured: 002 -->\n<!-- end -->\nafter\n").expect("it can be written");
    let words = format!("002 --figure 6 --scheme cmt --runs 2 --jobs 1 --keep {keep} --bin");
    let run: Vec<&str> =
        words.split(' ').chain([env!("CARGO_BIN_EXE_strandcast"), "--time", "3 s"]).collect();
    let lines: Vec<String> = (0..2)
        .map(|_| {
            let ended = tool("run", &run);
            assert!(ended.status.success(), "{ended:?}");
            String::from_utf8(ended.stdout).expect("it is text")
        })
        .collect();
    assert!(lines[0].contains("2 cells, 4 runs"), "{lines:?}");
    assert!(lines[1].contains("2 cells, 0 runs"), "kept: {lines:?}");
    let docs = docs.display().to_string();
    let ended = tool("tables", &["--keep", &keep, "--docs", &docs, "--time", "3 s"]);
    assert!(ended.status.success(), "{ended:?}");
    let text = fs::read_to_string(&page).expect("it is there");
    let head = "### 002, Fig. 6: end-to-end delay\n\n`scenarios/002/fig3.toml`, 2 runs.";
    assert!(text.starts_with("before\n<!-- measured: 002 -->\n") && text.ends_with("<!-- end -->\nafter\n"));
    assert!(text.contains(head) && text.contains("| 51.00 |"), "{text}");
}

#[test]
fn mistakes_are_one_line() {
    let bin = env!("CARGO_BIN_EXE_strandcast");
    for (arguments, wrong) in [
        (&["003", "--bin", bin][..], "there is no paper `003`"),
        (&["002", "--figure", "1", "--bin", bin], "paper 002 has no figure `1`"),
        (&["002", "--runs", "0", "--bin", bin], "--runs 0"),
        (&["002", "--scheme", "x", "--bin", bin], "no figure has the scheme `x`"),
        (&["002", "--bin", "/nowhere"], "/nowhere: No such file"),
        (&["002", "--figure", "6", "--time", "x", "--keep", "/nowhere", "--bin", bin], "run.time"),
        (&["--bin", bin], "say which paper"),
    ] {
        let ended = tool("run", arguments);
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{text}");
        assert!(text.contains(wrong) && text.trim_end().lines().count() == 1, "{text}");
    }
}
