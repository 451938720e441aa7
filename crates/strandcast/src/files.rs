//! Files that contain keys or decrypted media. Only their owner can read them. Writing never replaces the content of
//! another file by mistake.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::{Error, why};

/// Mode of new files.
pub const MODE: u32 = 0o600;
/// Mode of new files that other users may read. The user's mask removes bits from it.
const NEW_MODE: u32 = 0o666;
/// Word that precedes the version and the key of an identity.
pub const IDENTITY: &str = "strandcast-identity";

/// First words of the files of keys, and text that marks an identity. Output is never written to such a file.
pub const KEY_FILES: [&str; 3] = [
    "# The identity of this Strandcast",
    "# Receivers that this machine may send to",
    "# Who may send to this machine",
];
/// Number of leading bytes that show whether a file is a file of keys.
const HEAD: usize = 4096;

/// An output that has been opened. Opening does not change the content of a file.
pub enum Opened {
    /// A file or a device.
    File(File),
    /// A named pipe. Opening the pipe waits for a reader and therefore needs a separate thread.
    Pipe(Opening),
}

/// Function that opens a named pipe.
pub type Opening = Box<dyn FnOnce() -> io::Result<File> + Send>;

/// Opens a file, a device or a named pipe to write to. If `private` is true, the mode of the file is changed so that
/// only its owner can read it. A private file must belong to this user, must not have another name, and must not be a
/// link.
///
/// # Errors
/// Returns [`Error::Store`] if the file is a file of keys, or belongs to other users as well. Returns [`Error::Media`]
/// if the system refuses to open the file.
pub fn open_output(path: &Path, private: bool) -> Result<Opened, Error> {
    open_checked(path, private, |_| Ok(()))
}

/// Opens an output that must be new or empty. The content of a file is never lost.
///
/// # Errors
/// [`Error::Usage`]: the file has content; else as [`open_output`].
pub fn new_output(path: &Path, private: bool) -> Result<Opened, Error> {
    open_checked(path, private, |seen| spare_content(path, seen))
}

/// Refuses a file that has content.
///
/// # Errors
/// [`Error::Usage`].
pub fn spare_content(path: &Path, seen: &Metadata) -> Result<(), Error> {
    match seen.is_file() && seen.len() > 0 {
        true => Err(Error::Usage(format!("{} has content: name another file", path.display()))),
        false => Ok(()),
    }
}

/// Does work on files on another thread, because disks may be slow and the calling task may carry media. Returns the
/// result of `work`, or continues its panic. Call it inside a tokio runtime.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn open_checked(
    path: &Path,
    private: bool,
    check: impl FnOnce(&Metadata) -> Result<(), Error>,
) -> Result<Opened, Error> {
    let cannot = |e: io::Error| Error::Media(format!("cannot write {}: {}", path.display(), why(&e)));
    let there = std::fs::metadata(path);
    if there.as_ref().is_ok_and(|there| there.file_type().is_fifo()) {
        let path = path.to_owned();
        return Ok(Opened::Pipe(Box::new(move || OpenOptions::new().write(true).open(path))));
    }
    // Descriptors of a process look like links. No other user can have put a link to a file there.
    let follows = !private || there.is_ok_and(|there| !there.is_file());
    let file = open(path, private, follows).map_err(|error| match error.raw_os_error() {
        Some(error) if error == Errno::LOOP.raw_os_error() => {
            Error::Store(format!("{} is a link: name the file itself", path.display()))
        }
        _ => cannot(error),
    })?;
    let seen = file.metadata().map_err(cannot)?;
    if !seen.is_file() {
        return Ok(Opened::File(file));
    }
    if begins_as_keys(&file) {
        return Err(Error::Store(format!("{} is a file of keys: name another one", path.display())));
    }
    if private {
        refuse_if_shared(path, &seen)?;
    }
    check(&seen)?;
    if private {
        file.set_permissions(Permissions::from_mode(MODE)).map_err(cannot)?;
    }
    Ok(Opened::File(file))
}

/// Opens an output to which lines are added. If the last line has no line feed, as after a crash, a line feed is added
/// first.
///
/// # Errors
/// The errors of [`open_output`].
pub fn append_output(path: &Path, private: bool) -> Result<Opened, Error> {
    let opened = open_output(path, private)?;
    if let Opened::File(file) = &opened {
        let appends = fcntl_getfl(file).and_then(|flags| fcntl_setfl(file, flags | OFlags::APPEND));
        appends.map_err(|e| Error::Media(format!("cannot write {}: {}", path.display(), why(&e.into()))))?;
        if ends_within_a_line(file) {
            // The first line shows whether the output can be written. An output that fails at the first line also fails
            // later.
            let mut file = file;
            let _ = file.write_all(b"\n");
        }
    }
    Ok(opened)
}

/// Returns whether the last line of a file lacks its line feed.
fn ends_within_a_line(file: &File) -> bool {
    let last = file.metadata().ok().filter(|seen| seen.is_file()).and_then(|seen| seen.len().checked_sub(1));
    let mut end = [b'\n'];
    // A file that cannot be read does not change.
    last.is_some_and(|last| file.read_at(&mut end, last).is_ok_and(|_| end != [b'\n']))
}

fn open(path: &Path, private: bool, follows: bool) -> io::Result<File> {
    let flags = OFlags::NOCTTY | if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).custom_flags(flags.bits() as i32);
    if private {
        options.mode(MODE);
    }
    // The file is also opened for reading, so that its content can be inspected. Some outputs can only be written.
    options.clone().read(true).open(path).or_else(|_| options.open(path))
}

/// Refuses a path that leads to a file of keys, because the keys would be lost.
///
/// # Errors
/// [`Error::Store`].
pub fn spare_keys(path: &Path) -> Result<(), Error> {
    match path.is_file() && File::open(path).is_ok_and(|file| begins_as_keys(&file)) {
        true => Err(Error::Store(format!("{} is a file of keys: name another one", path.display()))),
        false => Ok(()),
    }
}

fn begins_as_keys(file: &File) -> bool {
    let mut head = [0; HEAD];
    // Files of keys can always be read. A file that cannot be read is therefore not a file of keys.
    let len = file.read_at(&mut head, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&head[..len]);
    KEY_FILES.iter().any(|begin| text.starts_with(begin)) || text.contains(IDENTITY)
}

/// Refuses a file that belongs to another user or has another name, because another user could then read the output.
///
/// # Errors
/// [`Error::Store`].
pub fn refuse_if_shared(path: &Path, seen: &Metadata) -> Result<(), Error> {
    refuse_if_foreign(path, seen)?;
    match seen.nlink() {
        0 | 1 => Ok(()),
        _ => Err(Error::Store(format!(
            "{} also has other names: name a file that has only one",
            path.display()
        ))),
    }
}

/// Refuses a file that belongs to another user.
///
/// # Errors
/// [`Error::Store`].
pub fn refuse_if_foreign(path: &Path, seen: &Metadata) -> Result<(), Error> {
    let (owner, own) = (seen.uid(), geteuid().as_raw());
    match owner == own {
        true => Ok(()),
        false => Err(Error::Store(format!(
            "{} belongs to another user ({owner}, not {own}): name another file, or run chown {own} {0}",
            path.display()
        ))),
    }
}

/// Returns whether two names stand for one file. The file need not exist yet.
pub fn same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => a.file_name() == b.file_name() && folder(a).is_some_and(|f| Some(f) == folder(b)),
        _ => false,
    }
}

/// Folder of a file. The name may be relative or absolute.
fn folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // The folder need not exist either, because the file is only compared.
    folder.canonicalize().or_else(|_| std::path::absolute(folder)).ok()
}

/// A private file that replaces another one once it is complete. An incomplete file is removed.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    /// Path of the temporary file, which is in the same folder. `None` if `path` is a pipe or a device.
    temporary: Option<PathBuf>,
}

/// Replaces the whole content of a file. A reader sees either the old or the new content. After an error the file has
/// the old content. If the path is a link, the link remains and leads to the new content. The mode of the file does not
/// change.
///
/// # Errors
/// The errors of the system.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (replacement, mut file) = Replacement::alike(path)?;
    file.write_all(bytes)?;
    replacement.keep()
}

impl Replacement {
    /// Creates the file in the folder of `path`. Only its owner can read it.
    ///
    /// # Errors
    /// The errors of the system.
    pub fn create(path: &Path) -> io::Result<(Replacement, File)> {
        Replacement::create_as(path, MODE)
    }

    /// Creates the file in the folder of `path`, with the mode of the file at `path`. If no file exists at `path`, the
    /// user's mask determines the mode.
    ///
    /// # Errors
    /// The errors of the system.
    pub fn alike(path: &Path) -> io::Result<(Replacement, File)> {
        let (replacement, file) = Replacement::create_as(path, NEW_MODE)?;
        if let (Some(_), Ok(there)) = (&replacement.temporary, std::fs::metadata(path)) {
            file.set_permissions(there.permissions())?;
        }
        Ok((replacement, file))
    }

    fn create_as(path: &Path, mode: u32) -> io::Result<(Replacement, File)> {
        // A link remains a link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            let file = OpenOptions::new().write(true).open(&path)?;
            return Ok((Replacement { path, temporary: None }, file));
        }
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(name);
        // A file with this name can only come from a program that crashed and had the same process number. A link is
        // removed, not followed.
        match std::fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        Ok((Replacement { path, temporary: Some(temporary) }, file))
    }

    /// Moves the complete file to its place.
    ///
    /// # Errors
    /// The errors of the system.
    pub fn keep(mut self) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        std::fs::rename(temporary, &self.path)?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The incomplete file is useless. If it cannot be removed, the outcome is the same.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_with_its_mode_and_behind_its_link() {
        let folder = std::env::temp_dir().join(format!("strandcast-replace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, link, other) = (folder.join("a.prom"), folder.join("link.prom"), folder.join("other"));
        std::fs::write(&file, "old and longer").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        // The temporary name may already exist: as a file that a crash has left, or as a link that another user has
        // made.
        std::fs::write(&other, "not to be written").unwrap();
        symlink(&other, folder.join(format!("a.prom.{}.part", std::process::id()))).unwrap();
        let mut reader = File::open(&file).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&other).unwrap(), b"not to be written");
        let mut old = String::new();
        io::Read::read_to_string(&mut reader, &mut old).unwrap();
        assert_eq!(old, "old and longer", "a reader has the old content");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3, "nothing else is left");
        assert!(replace(&folder.join("absent/file"), b"new").is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
