//! `--metrics`: writes the figures in Prometheus's text format. Each time, the whole file is replaced at once.

use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strandcast::files::{append_output, replace};
use strandcast::live::Role;
use strandcast::live::lines::{ended, metrics};

use crate::error::{CliError, why};
use crate::print;
use crate::writer::{Sink, Writer};

/// Beginning of each file of metrics.
const BEGIN: &str = "# HELP strandcast_";

/// The file of the metrics, if the user requests metrics.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Option<Running>);

/// The file of the metrics. When the command ends, the file reports that it has ended.
#[derive(Debug)]
struct Running {
    writer: Writer,
    /// Name of the file without its ending.
    instance: String,
    /// The last line with figures of each stream.
    last: Vec<Value>,
}

impl Metrics {
    /// Opens the file that `--metrics` names. A file with other content is not replaced.
    ///
    /// # Errors
    /// Returns [`CliError::Usage`] if the file has other content. Returns [`CliError::Media`] if the file cannot be
    /// written. Returns [`CliError::Store`] if the file is a file of keys.
    pub(crate) fn open(path: Option<&Path>, role: Role) -> Result<Metrics, CliError> {
        let Some(path) = path else { return Ok(Metrics(None)) };
        let name = path.display().to_string();
        let usage = |why: &str| CliError::Usage(format!("--metrics: {name} {why}"));
        let cannot = |e: &io::Error| CliError::Media(format!("cannot write {name}: {}", why(e)));
        if let Ok(seen) = std::fs::metadata(path) {
            if seen.file_type().is_fifo() {
                return Err(usage("is a pipe: metrics replace a file each second"));
            }
            if !seen.is_file() {
                return Err(usage("is not a file"));
            }
            let content = std::fs::read(path).map_err(|e| cannot(&e))?;
            if !content.is_empty() && !content.starts_with(BEGIN.as_bytes()) {
                return Err(usage("has other content: name another file"));
            }
        }
        // Checks that the file can be written.
        append_output(path, false)?;
        let instance = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let place = path.to_owned();
        let writer = Writer::start("metrics", 0, move || Replaced { path: place, failed: false });
        let (writer, last) = (writer.map_err(|e| cannot(&e))?, vec![json!({ "role": role })]);
        Ok(Metrics(Some(Running { writer, instance, last })))
    }

    /// Returns whether metrics are written to a file.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Writes the metrics from lines of figures and from lines without figures. There is one line for each stream.
    pub(crate) fn write(&mut self, lines: Vec<Value>) {
        let Some(running) = &mut self.0 else { return };
        // If older metrics are still waiting to be written, the new metrics replace them.
        running.writer.table(vec![metrics(&lines, &running.instance)]);
        running.keep(lines);
    }
}

impl Running {
    /// Keeps the last figures of each of these streams.
    fn keep(&mut self, lines: Vec<Value>) {
        let mut before = std::mem::take(&mut self.last);
        let kept = |line: Value| match before.iter_mut().find(|last| last["name"] == line["name"]) {
            Some(last) if !line["media"].is_object() => last.take(),
            _ => line,
        };
        self.last = lines.into_iter().map(kept).collect();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.writer.table(vec![ended(&self.last, &self.instance)]);
    }
}

/// A file that is replaced by each write.
struct Replaced {
    path: PathBuf,
    /// True if the last attempt failed. The failure was reported.
    failed: bool,
}

impl Sink for Replaced {
    fn write(&mut self, _: &[u8], text: Option<Vec<String>>) -> io::Result<()> {
        let Some(text) = text else { return Ok(()) };
        let name = self.path.display().to_string();
        match replace(&self.path, text.concat().as_bytes()) {
            Ok(()) if self.failed => {
                print::line(&format!("metrics: writing {name} works again"));
                self.failed = false;
            }
            Err(error) if !self.failed => {
                print::line(&format!("metrics: cannot write {name}: {}; trying again", why(&error)));
                self.failed = true;
            }
            Ok(()) | Err(_) => {}
        }
        Ok(())
    }

    fn dropped(&mut self, _: u64) {}

    fn failed(&mut self, _: &io::Error) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_something_else_is_refused_and_stays() {
        let path = std::env::temp_dir().join(format!("strandcast-metrics-{}.prom", std::process::id()));
        std::fs::write(&path, "the only copy").unwrap();
        let refused = Metrics::open(Some(&path), Role::Send).unwrap_err();
        assert!(matches!(&refused, CliError::Usage(line) if line.contains("other content")), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"the only copy");
        std::fs::write(&path, metrics(&[json!({ "role": "send" })], "old")).unwrap();
        let opened = Metrics::open(Some(&path), Role::Send).unwrap();
        let Metrics(Some(running)) = &opened else { panic!("a file") };
        let writer = running.writer.clone();
        drop(opened);
        assert!(writer.flush(std::time::Duration::from_secs(10)));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(BEGIN) && text.ends_with("role=\"send\"} 0\n"), "{text}");
        std::fs::remove_file(&path).unwrap();
        let folder = path.parent().unwrap();
        let left = std::fs::read_dir(folder).unwrap().filter_map(Result::ok);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!left.map(|entry| entry.file_name()).any(|other| other.to_string_lossy().contains(&name)));
    }
}
