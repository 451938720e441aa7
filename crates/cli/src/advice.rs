//! `--advice`: writes the rate that an encoder should choose now. A file contains only the newest advice. The command
//! replaces the whole file at once, so that a reader never sees half of the advice. A pipe receives one line per
//! change.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use serde_json::{Value, json};
use strandcast::files::{Opened, Replacement, append_output, replace, spare_keys};
use strandcast::live::{Stats, StreamState};
use strandcast_proto::policy::Advice;

use crate::error::{CliError, why};
use crate::print;
use crate::writer::{Plain, Sink, Tell, Trouble, Writer};

/// Maximum size of the queue for the file, in bytes.
const MOST: usize = 64 << 10;
/// Number of bytes of the first line of a file that the command checks.
const LINE: u64 = 4096;

/// If a stream has no advice for this number of seconds, a line gives the reason.
const NONE_AFTER: f64 = 10.0;

/// Output file or pipe, if there is one.
#[derive(Debug, Default)]
pub(crate) struct AdviceOutput {
    writer: Option<Writer>,
    name: String,
    none: NoAdvice,
}

/// Checks whether a stream has no advice.
#[derive(Debug, Default)]
struct NoAdvice {
    /// Time of the first statistics of a stream that this command sends, in seconds.
    since: Option<f64>,
    /// True if there was advice, or if the line with the reason was printed.
    told: bool,
}

impl NoAdvice {
    /// Returns whether the reason must be printed now. The reason is printed once for each stream.
    fn is_due(&mut self, seconds: f64, state: StreamState, known: bool) -> bool {
        self.told |= known;
        if self.told || state != StreamState::Streaming {
            return false;
        }
        self.told = seconds - *self.since.get_or_insert(seconds) >= NONE_AFTER;
        self.told
    }
}

impl AdviceOutput {
    /// Opens `path`. A pipe may have no reader yet. Lines that do not fit the pipe are dropped, because newer advice
    /// follows.
    ///
    /// # Errors
    /// Returns [`CliError::Usage`] if the file has content that is not advice. Returns [`CliError::Media`] if the file
    /// cannot be written. Returns [`CliError::Store`] if the file is a file of keys.
    pub(crate) fn open(path: Option<&Path>) -> Result<AdviceOutput, CliError> {
        let Some(path) = path else { return Ok(AdviceOutput::default()) };
        let name = path.display().to_string();
        let cannot = |e| CliError::Media(format!("cannot write {name}: {}", why(&e)));
        let tell = print::troubles("advice", "line", &name);
        let writer = if path.metadata().map_or(true, |seen| seen.is_file()) {
            let replaced = Replaced::open(path, tell)?;
            // Checks that the file can be written.
            Replacement::alike(path).map_err(cannot)?;
            Writer::start("advice", MOST, move || replaced)
        } else {
            let file = match append_output(path, false)? {
                Opened::File(file) => file,
                Opened::Pipe(_) => {
                    // The pipe is opened for reading as well, because opening a pipe only for writing fails without a
                    // reader.
                    let flags = OFlags::NONBLOCK.bits() as i32;
                    OpenOptions::new()
                        .read(true)
                        .write(true)
                        .custom_flags(flags)
                        .open(path)
                        .map_err(cannot)?
                }
            };
            Writer::start("advice", MOST, move || Plain::new(Ok(Newest(file)), tell))
        };
        let writer = Some(writer.map_err(cannot)?);
        Ok(AdviceOutput { writer, name, none: NoAdvice::default() })
    }

    /// Writes `advice` that was given `seconds` after the start of the command.
    pub(crate) fn write(&mut self, seconds: f64, advice: Advice) {
        let Some(writer) = &self.writer else { return };
        let Advice { rate_bps, safe_bps } = advice;
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let time = (time * 1e3).round() / 1e3;
        let line = json!({ "time": time, "seconds": seconds, "rate_bps": rate_bps, "safe_bps": safe_bps });
        // The writer counts the lines that do not fit into its queue.
        writer.put(format!("{line}\n").as_bytes());
    }

    /// Prints once the reason why there is no advice.
    pub(crate) fn look(&mut self, stats: &Stats) {
        if self.writer.is_some() && self.none.is_due(stats.seconds, stats.state, stats.advice.is_some()) {
            print::line(&format!(
                "advice: none yet: what the links carry is known once the stream has filled one of them; {} is written then",
                self.name
            ));
        }
    }
}

/// A file whose content is a single line.
struct Replaced {
    path: PathBuf,
    tell: Tell,
}

impl Replaced {
    fn open(path: &Path, tell: Tell) -> Result<Replaced, CliError> {
        spare_keys(path)?;
        if !is_advice(path) {
            let why = format!("{} has content that is not advice: name another file", path.display());
            return Err(CliError::Usage(why));
        }
        Ok(Replaced { path: path.to_owned(), tell })
    }
}

impl Sink for Replaced {
    fn write(&mut self, bytes: &[u8], _: Option<Vec<String>>) -> io::Result<()> {
        let newest = bytes.split_inclusive(|byte| *byte == b'\n').next_back();
        newest.map_or(Ok(()), |line| replace(&self.path, line))
    }

    fn dropped(&mut self, _: u64) {
        // Advice that is older than the newest advice has no use.
    }

    fn failed(&mut self, error: &io::Error) {
        (self.tell)(Trouble::Failed(error));
    }
}

/// Returns whether a file is absent, empty, or begins with a line of advice.
fn is_advice(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return !path.exists() };
    let mut line = String::new();
    let read = BufReader::new(file.take(LINE)).read_line(&mut line);
    let advice = || serde_json::from_str::<Value>(&line).is_ok_and(|value| value.get("rate_bps").is_some());
    read.is_ok_and(|length| length == 0) || advice()
}

/// A pipe that receives no data while the pipe is full.
struct Newest<W>(W);

impl<W: Write> Write for Newest<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: std::time::Duration = std::time::Duration::from_secs(10);

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("strandcast-advice-{}-{name}", std::process::id()))
    }

    #[test]
    fn a_stream_without_advice_has_one_line_after_ten_seconds() {
        let mut none = NoAdvice::default();
        let mut due = |seconds, state, known| none.is_due(seconds, state, known);
        assert!(!due(3.0, StreamState::Connecting, false));
        assert!(!due(30.0, StreamState::Streaming, false));
        assert!(!due(39.9, StreamState::Streaming, false) && due(40.0, StreamState::Streaming, false));
        assert!(!due(60.0, StreamState::Streaming, false));
        let mut known = NoAdvice::default();
        assert!(!known.is_due(0.0, StreamState::Streaming, true));
        assert!(!known.is_due(20.0, StreamState::Streaming, false));
    }

    #[test]
    fn a_file_has_the_newest_advice_alone_and_nothing_is_left_beside_it() {
        let folder = place("folder");
        std::fs::create_dir_all(&folder).expect("a new folder");
        let path = folder.join("advice.json");
        for run_of_it in 1..=2 {
            let mut output = AdviceOutput::open(Some(&path)).expect("a new file, or one with advice");
            for rate_bps in [3_000_000, 2_000_000] {
                let advice = Advice { rate_bps, safe_bps: 1_000_000 };
                output.write(1.5, advice);
            }
            assert!(output.writer.is_some_and(|writer| writer.flush(WAIT)));
            let text = std::fs::read_to_string(&path).expect("it was written");
            let value: Value = serde_json::from_str(&text).expect("one line of JSON");
            assert_eq!((&value["rate_bps"], &value["safe_bps"]), (&json!(2_000_000), &json!(1_000_000)));
            assert_eq!((&value["seconds"], text.lines().count()), (&json!(1.5), 1), "run {run_of_it}");
        }
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 1);
        std::fs::remove_dir_all(folder).expect("it is there");
    }

    #[test]
    fn a_file_with_other_content_is_refused() {
        let path = place("other");
        std::fs::write(&path, "the only copy").expect("a temporary file");
        let refused = AdviceOutput::open(Some(&path)).expect_err("it has other content");
        assert!(refused.to_string().contains("name another file"), "{refused}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"the only copy");
        std::fs::remove_file(&path).expect("it is there");
        assert!(AdviceOutput::open(Some(&place("absent/file"))).is_err(), "there is no such folder");
    }

    #[test]
    fn without_a_file_nothing_is_written() {
        let mut none = AdviceOutput::open(None).expect("nothing is opened");
        none.write(0.0, Advice { rate_bps: 1, safe_bps: 1 });
        assert!(none.writer.is_none());
    }
}
