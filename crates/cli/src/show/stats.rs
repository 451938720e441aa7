//! `--stats`: lines of JSON at the end of a file or pipe, or on standard error.

use std::path::{Path, PathBuf};

use strandcast::files::{Opened, append_output};

use crate::error::{CliError, why};
use crate::print;
use crate::writer::{Plain, Writer};

/// Maximum queue for the file or pipe in bytes: some minutes of lines.
const MOST: usize = 1 << 20;

/// Destination of the lines.
#[derive(Debug)]
pub(crate) enum Stats {
    /// No statistics.
    Off,
    /// Standard error.
    Error,
    /// A file or a pipe.
    File(Writer, PathBuf),
}

impl Stats {
    /// Opens the destination that `--stats` names.
    ///
    /// # Errors
    /// Returns [`CliError::Media`] if the file cannot be created. Returns [`CliError::Store`] if the file is a file of
    /// keys.
    pub(crate) fn open(asked: Option<&Option<PathBuf>>) -> Result<Stats, CliError> {
        match asked {
            None => Ok(Stats::Off),
            Some(None) => Ok(Stats::Error),
            Some(Some(path)) => Ok(Stats::File(writer(path)?, path.clone())),
        }
    }

    /// Opens the file again by its name, because a program may have renamed the old file. Returns false if the
    /// statistics have no file.
    ///
    /// # Errors
    /// Returns the errors of [`Stats::open`]. After an error, lines still go to the old destination.
    pub(crate) fn reopen(&mut self) -> Result<bool, CliError> {
        let Stats::File(open, path) = self else { return Ok(false) };
        // Lines that are still waiting are written to the old file.
        *open = writer(path)?;
        Ok(true)
    }

    /// Returns whether these lines use standard error.
    pub(crate) fn on_standard_error(&self) -> bool {
        matches!(self, Stats::Error)
    }

    /// Returns whether statistics are written.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self, Stats::Off)
    }

    /// Writes a line. After the first error a last line reports the error, and the statistics end.
    pub(crate) fn write(&mut self, line: &str) {
        match self {
            Stats::Off => {}
            Stats::Error => print::json_line(line),
            Stats::File(writer, _) => {
                // The writer counts the lines that do not fit into its queue.
                writer.put(format!("{line}\n").as_bytes());
            }
        }
    }
}

fn writer(path: &Path) -> Result<Writer, CliError> {
    let name = path.display().to_string();
    let tell = print::troubles("statistics", "line", &name);
    let writer = match append_output(path, false)? {
        Opened::File(file) => Writer::start("stats", MOST, move || Plain::new(Ok(file), tell)),
        Opened::Pipe(open) => Writer::start("stats", MOST, move || Plain::new(open(), tell)),
    };
    writer.map_err(|e| CliError::Media(format!("cannot write {name}: {}", why(&e))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn flush(stats: &Stats) {
        let Stats::File(writer, _) = stats else { panic!("a file") };
        assert!(writer.flush(Duration::from_secs(10)));
    }

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("strandcast-stats-{name}-{}", std::process::id()))
    }

    #[test]
    fn what_is_in_a_file_stays() {
        let path = place("kept");
        std::fs::write(&path, "of yesterday\n{\"cut\":").unwrap();
        for run in 0..2 {
            let mut stats = Stats::open(Some(&Some(path.clone()))).unwrap();
            stats.write(&format!("{{\"run\":{run}}}"));
            flush(&stats);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "of yesterday\n{\"cut\":\n{\"run\":0}\n{\"run\":1}\n");
    }

    #[test]
    fn a_file_that_was_renamed_is_opened_again() {
        let (path, old) = (place("rotated"), place("rotated.1"));
        let mut stats = Stats::open(Some(&Some(path.clone()))).unwrap();
        stats.write("1");
        flush(&stats);
        std::fs::rename(&path, &old).unwrap();
        stats.write("2");
        assert!(stats.reopen().unwrap());
        stats.write("3");
        flush(&stats);
        assert!(!Stats::Off.reopen().unwrap() && !Stats::Error.reopen().unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3\n");
        // The thread of the old file may not have finished writing.
        let end = std::time::Instant::now() + Duration::from_secs(10);
        while std::fs::read_to_string(&old).unwrap() != "1\n2\n" && std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "1\n2\n");
        for file in [path, old] {
            std::fs::remove_file(file).unwrap();
        }
    }
}
