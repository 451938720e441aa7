//! `--stats`: one line of JSON per second.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{CliError, why};
use crate::print;
use crate::private::{Opened, create_output};
use crate::writer::{Plain, Writer};

/// Maximum queue for the file or pipe in bytes: some minutes of lines.
const MOST: usize = 1 << 20;

/// The destination of the lines.
#[derive(Debug)]
pub(crate) enum Stats {
    /// No statistics.
    Off,
    /// To standard error.
    Error,
    /// To a file or pipe.
    File(Writer),
}

impl Stats {
    /// Opens the destination given by `--stats`.
    ///
    /// # Errors
    /// [`CliError::Media`]: the file cannot be created; [`CliError::Store`]: it is one of keys.
    pub(crate) fn open(asked: Option<&Option<PathBuf>>) -> Result<Stats, CliError> {
        let path = match asked {
            None => return Ok(Stats::Off),
            Some(None) => return Ok(Stats::Error),
            Some(Some(path)) => path,
        };
        let name = path.display().to_string();
        let tell = print::troubles("statistics", "line", &name);
        let writer = match create_output(path, false)? {
            Opened::File(file) => Writer::start("stats", MOST, move || Plain::new(Ok(file), tell)),
            Opened::Pipe(open) => Writer::start("stats", MOST, move || Plain::new(open(), tell)),
        };
        let cannot = |e| CliError::Media(format!("cannot write {name}: {}", why(&e)));
        Ok(Stats::File(writer.map_err(cannot)?))
    }

    /// Whether these lines use standard error.
    pub(crate) fn on_standard_error(&self) -> bool {
        matches!(self, Stats::Error)
    }

    /// Writes a line. The first error ends the statistics with a line.
    pub(crate) fn write(&mut self, now: &impl Serialize) {
        let line = || serde_json::to_string(now).expect("numbers and names always serialise");
        match self {
            Stats::Off => {}
            Stats::Error => print::json_line(&line()),
            Stats::File(writer) => {
                // What finds no room is counted there.
                writer.put((line() + "\n").as_bytes());
            }
        }
    }
}
