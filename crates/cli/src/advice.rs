//! `--advice`: the rates that an encoder should choose, one line of JSON for each change.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use strandcast::files::{Opened, append_output};
use strandcast_proto::policy::Advice;

use crate::error::{CliError, why};
use crate::print;
use crate::writer::{Plain, Writer};

/// Maximum queue for the file in bytes.
const MOST: usize = 64 << 10;

/// The file or pipe that is written, if any.
#[derive(Debug, Default)]
pub(crate) struct AdviceOutput(Option<Writer>);

impl AdviceOutput {
    /// Opens `path`. The content of a file stays. A pipe may have no reader yet; lines that do not fit it are dropped,
    /// since newer advice follows.
    ///
    /// # Errors
    /// [`CliError::Media`]: it can't be written; [`CliError::Store`]: it is a file of keys.
    pub(crate) fn open(path: Option<&Path>) -> Result<AdviceOutput, CliError> {
        let Some(path) = path else { return Ok(AdviceOutput(None)) };
        let name = path.display().to_string();
        let cannot = |e| CliError::Media(format!("cannot write {name}: {}", why(&e)));
        let file = match append_output(path, false)? {
            Opened::File(file) => file,
            Opened::Pipe(_) => {
                // Also for reading, so that it need not have a reader.
                let flags = OFlags::NONBLOCK.bits() as i32;
                OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map_err(cannot)?
            }
        };
        let tell = print::troubles("advice", "line", &name);
        let writer = Writer::start("advice", MOST, move || Plain::new(Ok(Newest(file)), tell));
        Ok(AdviceOutput(Some(writer.map_err(cannot)?)))
    }

    /// Writes `advice`, given `seconds` after the start of the command.
    pub(crate) fn write(&mut self, seconds: f64, advice: Advice) {
        let Some(writer) = &self.0 else { return };
        let Advice { rate_bps, safe_bps } = advice;
        let line = serde_json::json!({ "seconds": seconds, "rate_bps": rate_bps, "safe_bps": safe_bps });
        // Lines that do not fit are counted there.
        writer.put(format!("{line}\n").as_bytes());
    }
}

/// A pipe that is full gets nothing.
struct Newest<W>(W);

impl<W: Write> Write for Newest<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_a_line() {
        let path = std::env::temp_dir().join(format!("strandcast-advice-{}", std::process::id()));
        let mut output = AdviceOutput::open(Some(&path)).expect("a temporary file");
        for rate_bps in [3_000_000, 2_000_000] {
            let advice = Advice { rate_bps, safe_bps: 1_000_000 };
            output.write(1.5, advice);
        }
        assert!(output.0.is_some_and(|writer| writer.flush(std::time::Duration::from_secs(10))));
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(
            text,
            "{\"rate_bps\":3000000,\"safe_bps\":1000000,\"seconds\":1.5}\n\
             {\"rate_bps\":2000000,\"safe_bps\":1000000,\"seconds\":1.5}\n"
        );
    }

    #[test]
    fn without_a_file_nothing_is_written() {
        let mut none = AdviceOutput::open(None).expect("nothing is opened");
        none.write(0.0, Advice { rate_bps: 1, safe_bps: 1 });
        assert!(none.0.is_none());
    }
}
