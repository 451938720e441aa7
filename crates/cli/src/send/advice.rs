//! `--advice`: the rates that an encoder should choose, one line of JSON for each change.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use strandcast_proto::policy::Advice;

use crate::error::{CliError, why};

/// The file or pipe that is written, if any.
#[derive(Debug, Default)]
pub(super) struct AdviceOutput(Option<(File, PathBuf)>);

impl AdviceOutput {
    /// Opens `path`. A pipe may have no reader yet; what does not fit it is dropped, since newer advice follows.
    ///
    /// # Errors
    /// [`CliError::Media`]: it can't be written.
    pub(super) fn open(path: Option<&Path>) -> Result<AdviceOutput, CliError> {
        let Some(path) = path else { return Ok(AdviceOutput(None)) };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path);
        let file =
            file.map_err(|e| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e))))?;
        Ok(AdviceOutput(Some((file, path.to_owned()))))
    }

    /// Writes `advice`, given `seconds` after the start of the command. The first error ends the output and is returned as a
    /// line to report.
    pub(super) fn write(&mut self, seconds: f64, advice: Advice) -> Option<String> {
        let (file, path) = self.0.as_mut()?;
        let Advice { rate_bps, safe_bps } = advice;
        let line = serde_json::json!({ "seconds": seconds, "rate_bps": rate_bps, "safe_bps": safe_bps });
        match file.write_all(format!("{line}\n").as_bytes()) {
            Err(e) if e.kind() != ErrorKind::WouldBlock => {
                let told = format!("advice stopped: cannot write {}: {}", path.display(), why(&e));
                self.0 = None;
                Some(told)
            }
            _ => None,
        }
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
            assert_eq!(output.write(1.5, advice), None);
        }
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
        assert_eq!(none.write(0.0, Advice { rate_bps: 1, safe_bps: 1 }), None);
    }
}
