//! The documentation lists all keys.

use std::fmt::Write as _;
use std::{env, fs};

use strandcast_routing::spec::{Protocol, protocols};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models/routing.md");

fn table(protocol: &Protocol) -> String {
    let mut text = format!("| key of `{}` | default | can be | what |\n|---|---|---|---|\n", protocol.name);
    for (key, default) in protocol.keys() {
        let values = key.values.describe();
        writeln!(text, "| `{}` | {default} | {values} | {} |", key.name, key.summary)
            .expect("it is a string");
    }
    text
}

/// `UPDATE_DOCS=1` writes the tables.
#[test]
fn the_documentation_has_all_keys() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let mut expected = String::new();
    let mut lines = page.lines().peekable();
    let mut seen = Vec::new();
    while let Some(line) = lines.next() {
        expected += &format!("{line}\n");
        let marker = line.strip_prefix("<!-- keys: ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some(name) = marker else { continue };
        seen.push(name);
        let protocol = protocols().iter().find(|protocol| protocol.name == name).expect("it is a protocol");
        expected += &format!("\n{}", table(protocol));
        lines.next_if(|line| line.is_empty());
        while lines.next_if(|line| line.starts_with('|')).is_some() {}
        if lines.peek().is_some_and(|line| !line.is_empty()) {
            expected.push('\n');
        }
    }
    let with_keys = protocols().iter().filter(|protocol| !protocol.keys().is_empty());
    assert_eq!(seen, with_keys.map(|protocol| protocol.name).collect::<Vec<_>>());
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PAGE, &expected).expect("it can be written");
    } else {
        assert_eq!(page, expected, "docs/models/routing.md; UPDATE_DOCS=1 mends it");
    }
}
