//! One-line diagnostics of command-line errors.

use crate::print;

/// Prints clap's result: help and version in full on standard output, errors as one line.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A closed output is ignored.
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

/// A one-line diagnostic. clap does not know where a port belongs.
fn mistake(error: &clap::Error) -> String {
    use clap::error::{ContextKind, ContextValue};
    let line = one_line(&error.to_string());
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) if matches!(arg.as_str(), "--port" | "-p") => {
            let said = line.split(" tip: ").next().unwrap_or(&line);
            format!("{said}; a UDP port follows the address: HOST:PORT")
        }
        _ => line,
    }
}

/// clap's paragraph as a line: the error and tips, without the usage that `--help` shows.
pub(crate) fn one_line(text: &str) -> String {
    let said = text.split("\n\nUsage:").next().unwrap_or(text);
    let said = said.split("\n\nFor more information").next().unwrap_or(said);
    let words: Vec<&str> = said.trim_start_matches("error: ").split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser;

    #[test]
    fn every_mistake_is_one_line_that_names_it() {
        for (args, word) in [
            (vec!["strandcast", "send"], "INPUT"),
            (vec!["strandcast", "sned", "a", "b"], "sned"),
            (vec!["strandcast", "send", "a", "b", "--latency", "soon"], "soon"),
            (vec!["strandcast", "send", "a", "b", "--path", "wlan0"], "wlan0"),
            (vec!["strandcast", "receive"], "OUTPUT"),
            (vec!["strandcast", "demo", "--network", "moon"], "moon"),
        ] {
            let error = Args::try_parse_from(&args).unwrap_err();
            let line = one_line(&error.to_string());
            assert!(line.contains(word) && !line.contains('\n'), "{args:?}: {line:?}");
        }
    }
}
