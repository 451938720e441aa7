//! Standard error and standard output of a command that runs for a long time. Writers in other threads ensure that a
//! stopped terminal or an unread pipe blocks nothing else. On a terminal a table stays below the lines.
#![allow(clippy::print_stderr, reason = "what is printed goes through here")]

use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{CliError, why};
use crate::writer::{Plain, Sink, Trouble, Writer, flush_all};

/// Maximum size of the queue of lines and of the queue of results, in bytes.
const MOST: usize = 256 << 10;
/// At the end of a command, maximum time to wait for unwritten data.
const END: Duration = Duration::from_millis(500);

/// The writers of a command that runs for a long time.
static NOW: Mutex<Option<Writers>> = Mutex::new(None);

struct Writers {
    lines: Writer,
    results: Writer,
    /// Reason why results cannot be written.
    failed: Arc<Mutex<Option<CliError>>>,
}

/// Queues lines and results. When the console is dropped, it writes the rest of the queue, up to a time limit.
#[derive(Debug)]
pub(crate) struct Console(());

impl Console {
    /// Starts the writers. If the system has no threads for the writers, every line is written at once, as for any
    /// other command.
    pub(crate) fn start() -> Console {
        let failed = Arc::<Mutex<Option<CliError>>>::default();
        let note = Arc::clone(&failed);
        let tell = Box::new(move |trouble: Trouble<'_>| {
            if let Trouble::Failed(error) = trouble {
                *hold(&note) = Some(unwritten(error));
            }
        });
        let lines = Writer::start("lines", MOST, Screen::default);
        let results = Writer::start("results", MOST, move || Plain::new(Ok(stdout()), tell));
        if let (Ok(lines), Ok(results)) = (lines, results) {
            *hold(&NOW) = Some(Writers { lines, results, failed });
        }
        Console(())
    }

    /// Waits for the results up to a time limit.
    ///
    /// # Errors
    /// Returns [`CliError::Unread`] if standard output is closed. Returns [`CliError::Media`] if the disk is full, or
    /// no program reads standard output.
    pub(crate) fn results(&self) -> Result<(), CliError> {
        // Lines continue meanwhile.
        let now = hold(&NOW).as_ref().map(|now| (now.results.clone(), Arc::clone(&now.failed)));
        let Some((results, failed)) = now else { return Ok(()) };
        let written = results.flush(END);
        let unread = || CliError::Media("cannot write to standard output: it is not read".into());
        hold(&failed).take().map_or(if written { Ok(()) } else { Err(unread()) }, Err)
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        *hold(&NOW) = None;
        flush_all(END);
    }
}

/// Waits up to a time limit for all queued data, because the process is about to end.
pub(crate) fn end() {
    flush_all(END);
}

/// Queues text for standard error. Returns false if there is no writer and the caller must write the text.
pub(crate) fn line(text: &str) -> bool {
    hold(&NOW).as_ref().map(|now| now.lines.put(text.as_bytes())).is_some()
}

/// Queues text for standard output. Returns false if there is no writer and the caller must write the text.
pub(crate) fn result(text: &str) -> bool {
    hold(&NOW).as_ref().map(|now| now.results.put(text.as_bytes())).is_some()
}

/// Replaces the table below the lines.
pub(crate) fn table(rows: Vec<String>) {
    if let Some(now) = hold(&NOW).as_ref() {
        now.lines.table(rows);
    }
}

/// Returns the error of a result that could not be written to standard output.
pub(crate) fn unwritten(error: &io::Error) -> CliError {
    match error.kind() {
        ErrorKind::BrokenPipe => CliError::Unread,
        _ => CliError::Media(format!("cannot write to standard output: {}", why(error))),
    }
}

fn hold<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Standard error, and the table that it shows at present.
#[derive(Debug, Default)]
struct Screen {
    drawn: Vec<String>,
}

impl Sink for Screen {
    fn write(&mut self, bytes: &[u8], table: Option<Vec<String>>) -> io::Result<()> {
        let mut out = erase(self.drawn.len()).into_bytes();
        out.extend_from_slice(bytes);
        self.drawn = table.unwrap_or(std::mem::take(&mut self.drawn));
        for row in &self.drawn {
            out.extend_from_slice(row.as_bytes());
            out.push(b'\n');
        }
        // If the lines cannot be written, the command still continues.
        let _ = stderr().lock().write_all(&out);
        Ok(())
    }

    fn dropped(&mut self, pieces: u64) {
        let what = if pieces == 1 { "1 line was".to_owned() } else { format!("{pieces} lines were") };
        let text = format!("{what} left out while standard error was not read\n");
        // If the lines cannot be written, the command still continues.
        let _ = self.write(text.as_bytes(), None);
    }

    fn failed(&mut self, _: &io::Error) {}
}

/// Returns the control sequence that moves up by `rows` rows and erases them.
fn erase(rows: usize) -> String {
    match rows {
        0 => String::new(),
        n => format!("\x1b[{n}A\x1b[J"),
    }
}
