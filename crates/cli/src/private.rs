//! Files with keys or cleartext: only their owner can read them, and none of them replaces another by mistake.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The mode of new files.
pub(crate) const MODE: u32 = 0o600;

/// Creates a file that only its owner can read. An existing one loses its content and keeps its mode.
///
/// # Errors
/// Those of the system.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(path)
}

/// Whether two names stand for one file, which need not be there yet.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => a.file_name() == b.file_name() && folder(a).is_some_and(|f| Some(f) == folder(b)),
        _ => false,
    }
}

/// The folder of a file, however it is named.
fn folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // It need not be there either.
    folder.canonicalize().or_else(|_| std::path::absolute(folder)).ok()
}

/// A private file that takes the place of another one once it is complete; else nothing of it is left.
#[derive(Debug)]
pub(crate) struct Replacement {
    path: PathBuf,
    /// Beside it; none if what is at `path` is no file, but a pipe or a device.
    temporary: Option<PathBuf>,
}

impl Replacement {
    /// Creates the file beside `path`.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn create(path: &Path) -> io::Result<(Replacement, File)> {
        // A link stays one.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            let file = OpenOptions::new().write(true).open(&path)?;
            return Ok((Replacement { path, temporary: None }, file));
        }
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&temporary)?;
        Ok((Replacement { path, temporary: Some(temporary) }, file))
    }

    /// It is complete: puts it in its place.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        std::fs::rename(temporary, &self.path)?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // What is left of it is of no use; that it cannot be removed either changes nothing.
            let _ = std::fs::remove_file(temporary);
        }
    }
}
