//! Files that only their owner may read. They are checked on each read, and replaced completely on each write.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use zeroize::Zeroizing;

use crate::error::{Error, why};
use crate::files::refuse_if_foreign;

/// Mode bits for users other than the owner.
const OTHERS: u32 = 0o077;
/// Size of the largest file that is read, in bytes. A file of this size holds thousands of senders.
const LARGEST: u64 = 4 << 20;
/// Number of bytes at the beginning of a file that show its kind.
const HEAD: usize = 512;
/// Time to wait for another process that writes.
const LOCK: Duration = Duration::from_secs(5);
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Reads a private file. Returns `None` if the file does not exist.
///
/// # Errors
/// Returns [`Error::Store`] if the file cannot be read, or other users can read the file.
pub(super) fn read(path: &Path) -> Result<Option<Zeroizing<String>>, Error> {
    read_if(path, |_| Ok(()))
}

/// Reads a file as [`read`] does. `fits` inspects the first bytes and may refuse the file before any other check.
///
/// # Errors
/// The errors of `fits`, and of [`read`].
pub(super) fn read_if(
    path: &Path,
    fits: impl FnOnce(&[u8]) -> Result<(), Error>,
) -> Result<Option<Zeroizing<String>>, Error> {
    let refuse = |what: &str| Error::Store(format!("{} {what}", path.display()));
    // The check and the read use the same descriptor. Opening a pipe does not wait for a writer.
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot("read", path, &error)),
    };
    let seen = file.metadata().map_err(|e| cannot("read", path, &e))?;
    if !seen.is_file() {
        return Err(refuse("is not a regular file: name another one, or move it away"));
    }
    let mut head = Zeroizing::new([0; HEAD]);
    let len = file.read_at(&mut *head, 0).map_err(|e| cannot("read", path, &e))?;
    fits(&head[..len])?;
    refuse_if_foreign(path, &seen)?;
    refuse_if_public(path, &seen)?;
    if seen.len() > LARGEST {
        return Err(refuse("is too large: restore it from a copy"));
    }
    // The buffer is as large as the file. A smaller buffer would be moved, and would leave a part of a secret in
    // memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(seen.len() as usize + 1));
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|e| cannot("read", path, &e))?;
    let text = String::from_utf8(std::mem::take(&mut *bytes));
    let text = text.map_err(|_| refuse("is not text: restore it from a copy"))?;
    Ok(Some(Zeroizing::new(text)))
}

/// Refuses a file that other users can read or write.
///
/// # Errors
/// [`Error::Store`].
pub fn refuse_if_public(path: &Path, seen: &Metadata) -> Result<(), Error> {
    if seen.mode() & OTHERS == 0 {
        return Ok(());
    }
    let (mode, path) = (seen.mode() & 0o777, path.display());
    Err(Error::Store(format!("{path} can be read by others (mode {mode:o}): run chmod 600 {path}")))
}

/// Replaces a private file. After a crash the file has either its old or its new content.
///
/// # Errors
/// Returns [`Error::Store`] if the disk is full, or the folder cannot be written.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let temporary = with_suffix(path, "new");
    let written = try_write(&temporary, path, text);
    written.map_err(|error| {
        // The file of a failed write is useless. If it cannot be removed, the outcome is the same.
        let _ = std::fs::remove_file(&temporary);
        cannot("write", path, &error)
    })
}

fn try_write(temporary: &Path, path: &Path, text: &str) -> io::Result<()> {
    // A crash may have left the file, perhaps with another mode.
    match std::fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = create_private(temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(temporary, path)?;
    if let Some(folder) = path.parent() {
        // Without this, a power failure may lose the new name. Some file systems do not support this.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Writes a private file that must not exist yet. No part of it is left after an error.
///
/// # Errors
/// [`Error::Store`].
pub fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = create_private(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Error::Store(format!("{} exists and stays as it is: choose another name", path.display()))
        }
        _ => cannot("write", path, &error),
    })?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| {
        // The file of a failed write is useless.
        let _ = std::fs::remove_file(path);
        cannot("write", path, &error)
    })
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates the folder of a file for its owner alone, unless it exists.
///
/// # Errors
/// [`Error::Store`].
pub(super) fn create_folder_of(path: &Path) -> Result<(), Error> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| cannot("create", folder, &e))
}

/// Lock that prevents other processes from writing until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for other writers of the store's files at `path`.
    ///
    /// # Errors
    /// Returns [`Error::Store`] if the folder cannot be written, or another process has held the lock for seconds.
    pub(super) fn of(path: &Path) -> Result<Lock, Error> {
        let name = with_suffix(path, "lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&name);
        let file = file.map_err(|e| cannot("write", &name, &e))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK => std::thread::sleep(LOCK_POLL),
                Err(TryLockError::WouldBlock) => {
                    let name = name.display();
                    return Err(Error::Store(format!("another strandcast process uses {name}: try again")));
                }
                Err(TryLockError::Error(error)) => return Err(cannot("lock", &name, &error)),
            }
        }
    }
}

/// Properties of a file that change when it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64, u64, i64, i64, u32);

impl Stamp {
    /// Returns the stamp of the present file; `None` if there is no file.
    pub(super) fn of(path: &Path) -> Option<Stamp> {
        let seen: Metadata = std::fs::metadata(path).ok()?;
        Some(Stamp(seen.ino(), seen.size(), seen.mtime(), seen.mtime_nsec(), seen.mode()))
    }
}

/// Returns `path` with a suffix after its name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns an error with the name of the file and the remedy.
fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ": name another identity",
        _ => "",
    };
    Error::Store(format!("cannot {what} {}: {}{remedy}", path.display(), why(error)))
}

#[cfg(test)]
mod tests {
    use super::super::test_folder::TestFolder;
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn files_are_private_and_replaced_as_a_whole() {
        let folder = TestFolder::new("private");
        let path = folder.path().join("deep/er/file");
        create_folder_of(&path).unwrap();
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(read(&path).unwrap(), None);
        // A file that a crash has left has no effect.
        std::fs::write(with_suffix(&path, "new"), "half").unwrap();
        for text in ["first", "second", ""] {
            let before = Stamp::of(&path);
            write(&path, text).unwrap();
            assert_eq!((read(&path).unwrap().unwrap().as_str(), mode(&path)), (text, 0o600));
            assert_ne!(Stamp::of(&path), before);
        }
        let names = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(names.count(), 1, "no other file is left");
    }

    #[test]
    fn files_that_others_can_read_are_refused() {
        let folder = TestFolder::new("modes");
        let path = folder.path().join("file");
        write(&path, "secret").unwrap();
        for bad in [0o644, 0o640, 0o604, 0o660, 0o610] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bad)).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("chmod 600") && error.contains(&format!("{bad:o}")), "{error}");
            assert!(error.contains(path.to_str().unwrap()) && !error.contains("secret"), "{error}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
        assert!(read(&path).unwrap().is_some(), "a file need not be writable");
    }

    #[test]
    fn folders_and_bytes_that_are_no_text_are_refused() {
        let folder = TestFolder::new("odd");
        assert!(read(folder.path()).is_err());
        let path = folder.path().join("file");
        write(&path, "").unwrap();
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("not text"));
    }

    #[test]
    fn a_lock_excludes_another_writer() {
        let folder = TestFolder::new("lock");
        let path = folder.path().join("file");
        let held = Lock::of(&path).unwrap();
        let other = OpenOptions::new().write(true).open(with_suffix(&path, "lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(held);
        other.try_lock().unwrap();
    }
}
