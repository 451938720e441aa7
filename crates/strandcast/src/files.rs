//! Files with keys or cleartext: only their owner can read them, and none of them replaces another by mistake.

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

/// The mode of new files.
pub const MODE: u32 = 0o600;
/// The word in front of the version and the key of an identity.
pub const IDENTITY: &str = "strandcast-identity";

/// How the files of keys begin, and what the identity has in it: none of them is ever an output.
pub const KEY_FILES: [&str; 3] = [
    "# The identity of this Strandcast",
    "# Receivers that this machine may send to",
    "# Who may send to this machine",
];
/// Bytes at the beginning of a file that tell whether it is one of keys.
const HEAD: usize = 4096;

/// An output that was opened. What was in a file still is.
pub enum Opened {
    /// A file or a device.
    File(File),
    /// A named pipe: opening it waits for a reader, for which only a thread of its own has time.
    Pipe(Opening),
}

/// Opens a named pipe.
pub type Opening = Box<dyn FnOnce() -> io::Result<File> + Send>;

/// Opens a file, a device or a named pipe to write to. With `private` only its owner can read it, whatever it was before: a
/// file must belong to this user, and have no other name and be no link.
///
/// # Errors
/// [`Error::Store`]: it is a file of keys, or not this user's alone; [`Error::Media`]: those of the system.
pub fn open_output(path: &Path, private: bool) -> Result<Opened, Error> {
    open_checked(path, private, |_| Ok(()))
}

/// The same for an output that has to be new or empty: a file that has content keeps it.
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
    // A process's descriptors look like links, and are none to a file that anyone could have put there.
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

/// Opens an output of lines that are added to what is there. A last line that lacks its line feed, as after a crash, gets one.
///
/// # Errors
/// As [`open_output`].
pub fn append_output(path: &Path, private: bool) -> Result<Opened, Error> {
    let opened = open_output(path, private)?;
    if let Opened::File(file) = &opened {
        let appends = fcntl_getfl(file).and_then(|flags| fcntl_setfl(file, flags | OFlags::APPEND));
        appends.map_err(|e| Error::Media(format!("cannot write {}: {}", path.display(), why(&e.into()))))?;
        if ends_within_a_line(file) {
            // What cannot be written now cannot be written later: the first line tells.
            let mut file = file;
            let _ = file.write_all(b"\n");
        }
    }
    Ok(opened)
}

/// Whether the last line of a file lacks its line feed.
fn ends_within_a_line(file: &File) -> bool {
    let last = file.metadata().ok().filter(|seen| seen.is_file()).and_then(|seen| seen.len().checked_sub(1));
    let mut end = [b'\n'];
    // What cannot be read is not mended.
    last.is_some_and(|last| file.read_at(&mut end, last).is_ok_and(|_| end != [b'\n']))
}

fn open(path: &Path, private: bool, follows: bool) -> io::Result<File> {
    let flags = OFlags::NOCTTY | if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).custom_flags(flags.bits() as i32);
    if private {
        options.mode(MODE);
    }
    // Read to see what is in it; some can only be written.
    options.clone().read(true).open(path).or_else(|_| options.open(path))
}

/// Refuses a place whose content would be lost and is one of keys.
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
    // What cannot be read is no file of keys, since these can.
    let len = file.read_at(&mut head, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&head[..len]);
    KEY_FILES.iter().any(|begin| text.starts_with(begin)) || text.contains(IDENTITY)
}

/// Refuses a file that belongs to another user, or has another name: who made it may read what is written to it.
///
/// # Errors
/// [`Error::Store`].
pub fn refuse_if_shared(path: &Path, seen: &Metadata) -> Result<(), Error> {
    refuse_if_foreign(path, seen)?;
    match seen.nlink() {
        0 | 1 => Ok(()),
        _ => Err(Error::Store(format!("{} has other names, too: name a file that has none", path.display()))),
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

/// Whether two names stand for one file, which need not be there yet.
pub fn same_file(a: &Path, b: &Path) -> bool {
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
pub struct Replacement {
    path: PathBuf,
    /// Beside it; none if what is at `path` is no file, but a pipe or a device.
    temporary: Option<PathBuf>,
}

impl Replacement {
    /// Creates the file beside `path`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(path: &Path) -> io::Result<(Replacement, File)> {
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
            // What is left of it is of no use; that it cannot be removed either changes nothing.
            let _ = std::fs::remove_file(temporary);
        }
    }
}
