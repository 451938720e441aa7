//! `--keylog`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use strandcast::files;
use strandcast::pairing::{KeyLog, Store, refuse_if_public};

use crate::args::SealArgs;
use crate::error::{CliError, why};
use crate::print;
use crate::writer::{Plain, Writer};

/// First bytes of each line of a key log.
const LABEL: &[u8] = b"STRANDCAST1 ";
/// Maximum size of the queue for the key log, in bytes.
const MOST: usize = 256 << 10;

/// If the user requests a key log, opens its file for the keys of all connections of a command. Only the owner of the
/// file can read it. If the file is a key log already, it continues. With the keys in this file anyone can read a
/// recorded stream. If the file can no longer be written, a line reports the error.
///
/// # Errors
/// Returns [`CliError::Media`] or [`CliError::Store`] if other users can read the file, or the file is not a key log.
pub(super) fn key_log(args: &SealArgs, store: &Store) -> Result<Option<KeyLog>, CliError> {
    let Some(path) = args.keylog.clone() else { return Ok(None) };
    store.spare(&path)?;
    let cannot = |e: io::Error| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e)));
    let mut options = OpenOptions::new();
    // Opening a pipe would wait for a reader. A pipe is refused below.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).append(true).create(true).mode(files::MODE).custom_flags(flags.bits() as i32);
    let file = options.open(&path).map_err(cannot)?;
    let seen = file.metadata().map_err(cannot)?;
    if !seen.is_file() {
        let why = format!("{} is not a regular file: name another one with --keylog", path.display());
        return Err(CliError::Media(why));
    }
    refuse_if_public(&path, &seen)?;
    files::refuse_if_shared(&path, &seen)?;
    if !begins_as_key_log(&file).map_err(cannot)? {
        return Err(not_a_key_log(&path));
    }
    let tell = print::troubles("key log", "key", &path.display().to_string());
    let writer = Writer::start("keylog", MOST, move || Plain::new(Ok(file), tell)).map_err(cannot)?;
    // The writer counts the lines that do not fit into its queue.
    Ok(Some(KeyLog::new(move |line| {
        writer.put(format!("{line}\n").as_bytes());
    })))
}

/// Returns whether a file is empty or begins with the label of a key log.
fn begins_as_key_log(file: &File) -> io::Result<bool> {
    let mut begin = Vec::new();
    file.take(LABEL.len() as u64).read_to_end(&mut begin)?;
    Ok(begin.is_empty() || begin == LABEL)
}

fn not_a_key_log(path: &Path) -> CliError {
    CliError::Media(format!("{} is not a key log: name a new file with --keylog", path.display()))
}
