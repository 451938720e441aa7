//! Files with keys or cleartext: only their owner can read them, and none of them replaces another by mistake.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The mode of new files.
pub(crate) const MODE: u32 = 0o600;

/// Creates a file that only its owner can read. An existing one loses its content, and others can't read it from now on;
/// a pipe or a device stays as it is.
///
/// # Errors
/// Those of the system: also where the mode can't be changed, and then nothing is lost.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(MODE).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(MODE))?;
        file.set_len(0)?;
    }
    Ok(file)
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
