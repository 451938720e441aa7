//! `--stats`: one line of JSON per second.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use strandcast::files::{Opened, append_output};

use crate::error::{CliError, why};
use crate::print;
use crate::writer::{Plain, Writer};

/// Maximum queue for the file or pipe in bytes: some minutes of lines.
const MOST: usize = 1 << 20;

/// A line. Several runs may write to one file.
#[derive(Serialize)]
struct Timed<'a, T> {
    /// Seconds since 1970.
    time: f64,
    #[serde(flatten)]
    now: &'a T,
}

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
        let writer = match append_output(path, false)? {
            Opened::File(file) => Writer::start("stats", MOST, move || Plain::new(Ok(file), tell)),
            Opened::Pipe(open) => Writer::start("stats", MOST, move || Plain::new(open(), tell)),
        };
        let cannot = |e| CliError::Media(format!("cannot write {name}: {}", why(&e)));
        Ok(Stats::File(writer.map_err(cannot)?))
    }

    /// Returns whether these lines use standard error.
    pub(crate) fn on_standard_error(&self) -> bool {
        matches!(self, Stats::Error)
    }

    /// Writes a line. The first error ends the statistics with a line.
    pub(crate) fn write(&mut self, now: &impl Serialize) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as f64 / 1e3;
        let line =
            || serde_json::to_string(&Timed { time, now }).expect("numbers and names always serialise");
        match self {
            Stats::Off => {}
            Stats::Error => print::json_line(&line()),
            Stats::File(writer) => {
                // Lines that do not fit are counted there.
                writer.put((line() + "\n").as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_in_a_file_stays() {
        let path = std::env::temp_dir().join(format!("strandcast-stats-{}", std::process::id()));
        std::fs::write(&path, "of yesterday\n{\"cut\":").unwrap();
        for run in 0..2 {
            let mut stats = Stats::open(Some(&Some(path.clone()))).unwrap();
            stats.write(&serde_json::json!({ "run": run }));
            let Stats::File(writer) = &stats else { panic!("a file") };
            assert!(writer.flush(Duration::from_secs(10)));
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["of yesterday", "{\"cut\":"], "{text}");
        for (run, line) in lines[2..].iter().enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["run"], run);
            assert!(line["time"].as_f64().unwrap() > 1.7e9, "{line}");
        }
        assert_eq!(lines.len(), 4);
    }
}
