//! `--keylog`.

use crate::args::SealArgs;
use crate::error::{CliError, why};
use crate::print;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The file of the keys of all connections of a command, if requested. With it anyone can read a recorded stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyLogFile(Option<Shared>);

/// Takes lines.
type Sink = Box<dyn FnMut(&str) + Send>;

#[derive(Clone, Debug)]
struct Shared {
    /// `None` after the first error.
    file: Arc<Mutex<Option<File>>>,
    path: PathBuf,
}

impl KeyLogFile {
    /// Opens the file, which only its owner can read; an existing one goes on.
    ///
    /// # Errors
    /// [`CliError::Media`].
    pub(super) fn open(args: &SealArgs) -> Result<KeyLogFile, CliError> {
        let Some(path) = args.keylog.clone() else { return Ok(KeyLogFile(None)) };
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let file =
            file.map_err(|e| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e))))?;
        Ok(KeyLogFile(Some(Shared { file: Arc::new(Mutex::new(Some(file))), path })))
    }

    /// Takes the lines of a driver. A log that can no longer be written ends with a line.
    pub(super) fn sink(&self) -> Option<Sink> {
        let Shared { file, path } = self.0.clone()?;
        Some(Box::new(move |line| {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let written = file.as_mut().map(|file| file.write_all(format!("{line}\n").as_bytes()));
            if let Some(Err(error)) = written {
                *file = None;
                print::line(&format!("key log stopped: cannot write {}: {}", path.display(), why(&error)));
            }
        }))
    }
}
