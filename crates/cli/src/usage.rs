//! One-line diagnostics of command-line errors.

use crate::print;

/// Prints the result of clap. Help and version go to standard output in full, and an error goes to standard error as
/// one line.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // If standard output is closed, the error is ignored.
            let _ = error.print();
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            2
        }
        _ => {
            print::line(&format!("strandcast: {}", mistake(error)));
            2
        }
    }
}

/// Returns an error message of one line. The hint about a port is added here, because clap does not know where a port
/// belongs.
fn mistake(error: &clap::Error) -> String {
    use clap::error::{ContextKind, ContextValue};
    let line = one_line(&error.to_string());
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) if matches!(arg.as_str(), "--port" | "-p") => {
            format!("{}; a UDP port follows the address: HOST:PORT", line.split("; ").next().unwrap_or(&line))
        }
        _ => line,
    }
}

/// Shortens clap's paragraph to one line with the error and the tips. The usage is left out, because `--help` shows it.
pub(crate) fn one_line(text: &str) -> String {
    let said = text.split("\n\nUsage:").next().unwrap_or(text);
    let said = said.split("\n\nFor more information").next().unwrap_or(said);
    let mut parts = said.trim_start_matches("error: ").split("\n\n  tip: ");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = parts.next().map_or_else(String::new, words);
    // The tip about passing a value that looks like an option is left out, because no command takes such a value.
    for tip in parts.filter(|tip| !tip.starts_with("to pass")) {
        line.push_str("; ");
        line.push_str(&words(tip));
    }
    plain_range(&line).replace("invalid digit found in string", "it is a whole number")
}

/// Rewrites `is not in 1..=1024` in plain words.
fn plain_range(line: &str) -> String {
    let Some((before, range)) = line.rsplit_once(" is not in ") else { return line.to_owned() };
    match range.split_once("..=").or_else(|| range.split_once("..")) {
        Some((least, "")) => format!("{before} is not {least} or more"),
        Some((least, most)) => format!("{before} is not a number from {least} to {most}"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;

    #[test]
    fn tips_are_parts_of_the_line() {
        let said = |args: &[&str]| one_line(&Args::of(args).unwrap_err().to_string());
        assert_eq!(said(&["strandcast", "simulate", "a", "-3"]), "unexpected argument '-3' found");
        let near = said(&["strandcast", "simulate", "a", "--seeed", "1"]);
        assert_eq!(near, "unexpected argument '--seeed' found; a similar argument exists: '--seed'");
    }

    #[test]
    fn every_mistake_is_one_line_that_names_it() {
        for (args, word) in [
            (vec!["strandcast", "send"], "INPUT"),
            (vec!["strandcast", "sned", "a", "b"], "sned"),
            (vec!["strandcast", "send", "a", "b", "--latency", "soon"], "soon"),
            (vec!["strandcast", "send", "a", "b", "--path", "wlan0"], "wlan0"),
            (vec!["strandcast", "receive"], "OUTPUT"),
            (
                vec!["strandcast", "send", "a", "b", "--latency", "-1"],
                "-1 is not a whole number from 20 to 60000",
            ),
            (
                vec!["strandcast", "send", "a", "b", "--latency", "2s"],
                "2s is not a whole number from 20 to 60000",
            ),
            (vec!["strandcast", "send", "a", "b", "--mtu", "0"], "from 576 to 65535: bytes"),
            (vec!["strandcast", "receive", "a.ts", "--silence", "-1"], "number of seconds"),
            (vec!["strandcast", "perf", "client", "a", "--time", "0"], "0.1 s or more"),
            (vec!["strandcast", "simulate", "a", "--jobs", "0"], "0 is not a number from 1 to 1024"),
            (vec!["strandcast", "simulate", "a", "--runs", "-3"], "'--runs <N>': -3 is not"),
            (vec!["strandcast", "explain", "a", "--flow", "v", "--frame", "-1"], "-1 is not a whole number"),
            (vec!["strandcast", "send", "a", "b", "--rate", "-1"], "\"-1\" is not a rate"),
            (vec!["strandcast", "demo", "--network", "moon"], "moon"),
            (
                vec!["strandcast", "simulate", "a", "--seed", "abc"],
                "'abc' for '--seed <S>': abc is not a whole number from 0 to",
            ),
        ] {
            let error = Args::of(&args).unwrap_err();
            let line = one_line(&error.to_string());
            assert!(line.contains(word) && !line.contains('\n'), "{args:?}: {line:?}");
        }
    }
}
