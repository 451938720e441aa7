//! `--keylog`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::store::{Store, refuse_if_public};
use crate::args::SealArgs;
use crate::error::{CliError, why};
use crate::writer::{Plain, Writer};
use crate::{print, private};

/// How each line of a key log begins.
const LABEL: &[u8] = b"STRANDCAST1 ";
/// Maximum queue for the key log in bytes.
const MOST: usize = 256 << 10;

/// The file of the keys of all connections of a command, if requested. With it anyone can read a recorded stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyLogFile(Option<Writer>);

/// Takes lines.
type Sink = Box<dyn FnMut(&str) + Send>;

impl KeyLogFile {
    /// Opens the file, which only its owner can read; an existing key log goes on.
    ///
    /// # Errors
    /// [`CliError::Media`], [`CliError::Store`]: others can read it, or it is something else.
    pub(super) fn open(args: &SealArgs, store: &Store) -> Result<KeyLogFile, CliError> {
        let Some(path) = args.keylog.clone() else { return Ok(KeyLogFile(None)) };
        store.spare(&path)?;
        let cannot = |e: io::Error| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e)));
        let mut options = OpenOptions::new();
        // A pipe would wait for somebody who reads; it is refused below.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.read(true).append(true).create(true).mode(private::MODE).custom_flags(flags.bits() as i32);
        let file = options.open(&path).map_err(cannot)?;
        let seen = file.metadata().map_err(cannot)?;
        if !seen.is_file() {
            let why = format!("{} is no regular file: name another one with --keylog", path.display());
            return Err(CliError::Media(why));
        }
        refuse_if_public(&path, &seen)?;
        private::refuse_if_shared(&path, &seen)?;
        if !begins_as_key_log(&file).map_err(cannot)? {
            return Err(not_a_key_log(&path));
        }
        let tell = print::troubles("key log", "key", &path.display().to_string());
        let writer = Writer::start("keylog", MOST, move || Plain::new(Ok(file), tell));
        Ok(KeyLogFile(Some(writer.map_err(cannot)?)))
    }

    /// Takes the lines of a driver. A log that can no longer be written ends with a line.
    pub(super) fn sink(&self) -> Option<Sink> {
        let writer = self.0.clone()?;
        Some(Box::new(move |line| {
            // What finds no room is counted there.
            writer.put(format!("{line}\n").as_bytes());
        }))
    }
}

/// Whether a file is empty, or begins as a key log does.
fn begins_as_key_log(file: &File) -> io::Result<bool> {
    let mut begin = Vec::new();
    file.take(LABEL.len() as u64).read_to_end(&mut begin)?;
    Ok(begin.is_empty() || begin == LABEL)
}

fn not_a_key_log(path: &Path) -> CliError {
    CliError::Media(format!("{} is no key log: name a new file with --keylog", path.display()))
}
