//! All output: lines on standard error, results on standard output. Text from peers and files is escaped, so that it
//! cannot control the terminal or break lines.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "everything is printed here")]

use std::fmt::Write as _;
use std::io::{Write, stderr, stdout};
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;
use serde::Serialize;
use strandcast::secrets::{hide_passphrases, redact};
use strandcast_keys::text::{needs_escape, printable};

use crate::console::{self, unwritten};
use crate::error::{CliError, why};
use crate::service::weight;
use crate::writer::{Tell, Trouble};

/// Assumed width in columns of a terminal that does not report its width.
const COLUMNS: usize = 80;

/// Returns the number of columns of a terminal.
pub(crate) fn columns(terminal: impl AsFd) -> usize {
    let size = tcgetwinsize(terminal).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(COLUMNS)
}

/// Prints a line on standard error. Write errors are ignored.
pub(crate) fn line(text: &str) {
    let text = safe(text);
    error_bytes(&format!("{}{text}\n", weight(&text)));
}

/// Returns the text in a form that cannot control a terminal and contains no secret.
pub(crate) fn safe(text: &str) -> String {
    printable(&hide_passphrases(&redact(text))).into_owned()
}

/// Prints a line of JSON on standard error.
pub(crate) fn json_line(json: &str) {
    error_bytes(&format!("{}\n", json_text(json)));
}

/// Writes escaped text to standard error.
pub(crate) fn error_bytes(text: &str) {
    if !console::line(text) {
        let _ = stderr().lock().write_all(text.as_bytes());
    }
}

/// Prints lines of a result on standard output.
///
/// # Errors
/// Returns [`CliError::Unread`] if standard output is closed. Returns [`CliError::Media`] if the disk is full.
pub(crate) fn text(text: &str) -> Result<(), CliError> {
    let text = redact(text);
    let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
        Some(line) => format!("{}\n", printable(line)),
        None => printable(line).into_owned(),
    });
    output(&lines.collect::<String>())
}

/// Prints text on standard output. The text may contain control characters for a terminal, because this program made
/// it.
///
/// # Errors
/// As [`text`].
pub(crate) fn terminal(text: &str) -> Result<(), CliError> {
    output(text)
}

/// Formats a value as a line of JSON.
pub(crate) fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and names always serialise") + "\n"
}

/// Prints a result as JSON on standard output.
///
/// # Errors
/// As [`text`].
pub(crate) fn json(json: &str) -> Result<(), CliError> {
    output(&json_text(json))
}

fn output(text: &str) -> Result<(), CliError> {
    if console::result(text) {
        return Ok(());
    }
    let mut out = stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| unwritten(&e))
}

/// Returns a function that prints the errors of a file. The command writes this file in addition to a stream. `what`
/// names the content of the file, and `piece` names one unit of this content.
pub(crate) fn troubles(what: &'static str, piece: &'static str, file: &str) -> Tell {
    let file = file.to_owned();
    Box::new(move |trouble| match trouble {
        Trouble::Dropped(1) => {
            line(&format!("{what}: 1 {piece} is left out, because {file} takes data too slowly"))
        }
        Trouble::Dropped(n) => {
            line(&format!("{what}: {n} {piece}s are left out, because {file} takes data too slowly"))
        }
        Trouble::Failed(error) => line(&format!("{what} stopped: cannot write {file}: {}", why(error))),
    })
}

/// Returns JSON in which all control characters of a terminal are escaped. In JSON, control characters occur only in
/// strings, apart from line ends between values. The JSON writer has already escaped line ends in strings.
fn json_text(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in redact(json).chars() {
        if c == '\n' || !needs_escape(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a string takes everything");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_the_same_value() {
        let hostile = "\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\n\u{e0041}größer";
        let value = serde_json::json!({ "name": hostile, "list": [hostile, 1] });
        for text in [format!("{value:#}\n"), value.to_string()] {
            let escaped = json_text(&text);
            assert!(!escaped.contains(|c| c != '\n' && needs_escape(c)), "{escaped:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
        }
    }
}
