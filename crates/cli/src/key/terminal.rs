//! Output and input that only terminals have: pairing strings, and typed text that is not shown.

use std::io::{IsTerminal, Read as _, Stdin, stdin};
use std::os::fd::AsFd;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use strandcast::pairing::Pairing;
use zeroize::Zeroizing;

use super::qr;
use crate::error::{CliError, why};
use crate::print::columns;
use crate::signals::{self, stopped};

/// Maximum size of the text that is read, in bytes.
const LONGEST: u64 = 64 << 10;

/// Returns whether a secret may be shown on this stream.
pub(crate) fn shows_secrets(stream: &(impl IsTerminal + AsFd)) -> bool {
    stream.is_terminal()
}

/// Prints a pairing string and its QR code on a terminal. A QR code that does not fit is left out.
pub(crate) fn pairing_text(text: &str, terminal: impl AsFd) -> Zeroizing<String> {
    let mut shown = Zeroizing::new(String::new());
    match qr::lines(text, columns(terminal)) {
        Some(lines) => lines.iter().for_each(|line| {
            shown.push_str(line);
            shown.push('\n');
        }),
        None => shown.push_str("(the terminal is too narrow for a QR code)\n"),
    }
    shown.push_str(text);
    shown.push('\n');
    shown
}

/// Reads a pairing string. Standard input is read to its end. From a terminal, lines are read without echo until the
/// string is complete.
///
/// # Errors
/// Returns [`CliError::Usage`] if the text is not a pairing string. Other errors are [`CliError::Interrupted`].
pub(crate) async fn read_pairing(name: &str) -> Result<Pairing, CliError> {
    let input = stdin();
    let text = if input.is_terminal() {
        let mut stop = signals::watch()?;
        // The prompt comes second: a user may paste at once.
        let hidden = Hidden::new(input)?;
        crate::print::line(&format!("paste the pairing string of {name} and press Enter (it is not shown):"));
        let reading = tokio::task::spawn_blocking(read_lines);
        let text = tokio::select! {
            text = reading => text.map_err(|_| CliError::Aborted)?,
            () = stopped(&mut stop) => Err(CliError::Interrupted("interrupted".into())),
        };
        drop(hidden);
        text?
    } else {
        let mut text = Zeroizing::new(String::new());
        input.lock().take(LONGEST).read_to_string(&mut text).map_err(|e| unreadable(&e))?;
        text
    };
    Pairing::decode(&text).map_err(|error| CliError::Usage(error.to_string()))
}

/// Reads lines until the pairing string in them is complete, or until a line is empty.
fn read_lines() -> Result<Zeroizing<String>, CliError> {
    let mut text = Zeroizing::new(String::new());
    loop {
        let before = text.len();
        stdin().read_line(&mut text).map_err(|e| unreadable(&e))?;
        let more = !text[before..].trim().is_empty() && (text.len() as u64) < LONGEST;
        if !more || !Pairing::decode(&text).is_err_and(|error| error.is_cut_short()) {
            return Ok(text);
        }
    }
}

fn unreadable(error: &std::io::Error) -> CliError {
    CliError::Store(format!("cannot read the pairing string: {}", why(error)))
}

/// Hides typed characters. Dropping this value shows them again.
struct Hidden {
    terminal: Stdin,
    before: Termios,
}

impl Hidden {
    fn new(terminal: Stdin) -> Result<Hidden, CliError> {
        let refuse = |e: rustix::io::Errno| unreadable(&e.into());
        let before = tcgetattr(&terminal).map_err(refuse)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Now, &hidden).map_err(refuse)?;
        Ok(Hidden { terminal, before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // If the terminal no longer exists, echo need not be restored.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}
