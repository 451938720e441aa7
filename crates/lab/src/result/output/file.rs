//! Files that get their name only when they are complete.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file of results could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct OutputError {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason of the failure.
    pub source: io::Error,
}

/// A file that is still written under a temporary name. The temporary file is next to the final one. The file is
/// deleted if it is dropped before it is complete.
#[derive(Debug)]
pub(super) struct Pending {
    path: PathBuf,
    part: PathBuf,
    complete: bool,
}

impl Pending {
    /// Creates the file.
    pub fn create(path: PathBuf) -> Result<(Self, File), OutputError> {
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        match File::create(&part) {
            Ok(file) => Ok((Pending { path, part, complete: false }, file)),
            Err(source) => Err(OutputError { path, source }),
        }
    }

    /// Gives the file its final name. The caller calls it when all bytes are written.
    pub fn complete(mut self) -> Result<(), OutputError> {
        std::fs::rename(&self.part, &self.path).map_err(|error| self.error(error))?;
        self.complete = true;
        Ok(())
    }

    /// Returns an error that names this file.
    pub fn error(&self, source: io::Error) -> OutputError {
        OutputError { path: self.path.clone(), source }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.complete {
            // No caller remains that could receive an error. The temporary name shows that the file is incomplete.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Creates a folder and its missing parent folders.
pub(super) fn create_folder(path: &Path) -> Result<(), OutputError> {
    std::fs::create_dir_all(path).map_err(|source| OutputError { path: path.into(), source })
}
