//! A file, a device, a pipe, or standard output. Writing uses tokio's threads for blocking calls.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinHandle;

use super::sink::{Batch, Output};
use crate::error::Error;
use crate::files::{Opened, open_output};
use crate::text::why;

/// Length in bytes of the longest piece that is copied for a writing thread. A file keeps a buffer of this size.
const PIECE: usize = 16 << 10;

/// Interval between attempts to open a named pipe that has no reader.
const TRY: Duration = Duration::from_millis(50);

/// Output that writes everything to one file, pipe or device.
#[derive(Debug)]
pub struct File {
    to: State,
    name: String,
    /// True if the content of the file must be removed when the first byte is written.
    truncate: bool,
    /// True if the output is a file on a disk. No program reads such a file while it is written.
    records: bool,
}

#[derive(Debug)]
enum State {
    Open(tokio::fs::File),
    /// A named pipe, which waits for a reader.
    Opening(Opening),
}

/// A task that opens a named pipe, and a flag. The flag is true once the output has taken the result of the task, which
/// is the open pipe or an error. If this value is dropped, the task ends.
#[derive(Debug)]
struct Opening(JoinHandle<io::Result<std::fs::File>>, bool);

impl Drop for Opening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Opens a named pipe once it has a reader. It polls, because a blocking call would occupy a thread even after the
/// output is dropped.
async fn open_pipe(path: PathBuf) -> io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    loop {
        match options.open(&path) {
            Ok(pipe) => {
                fcntl_setfl(&pipe, fcntl_getfl(&pipe)? - OFlags::NONBLOCK)?;
                return Ok(pipe);
            }
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                tokio::time::sleep(TRY).await;
            }
            Err(error) => return Err(error),
        }
    }
}

impl File {
    /// Opens a file, a device or a named pipe. A file with content is accepted only with `overwrite`. The content of
    /// the file is removed when the first message is written. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the file has content. Returns [`Error::Media`] if the file cannot be written.
    /// Returns [`Error::Store`] if the file is a file of keys.
    pub fn open(path: &Path, overwrite: bool) -> Result<File, Error> {
        let name = path.display().to_string();
        let file = match open_output(path, false)? {
            Opened::File(file) => file,
            Opened::Pipe(_) => {
                let to = State::Opening(Opening(tokio::spawn(open_pipe(path.to_owned())), false));
                return Ok(File { to, name, truncate: false, records: false });
            }
        };
        let cannot = |e: io::Error| Error::Media(format!("cannot write {name}: {}", why(&e)));
        let seen = file.metadata().map_err(cannot)?;
        if seen.is_file() && seen.len() > 0 && !overwrite {
            return Err(Error::Usage(format!(
                "{name} has content: name another file, or one for each stream as in %Y%m%d-%H%M%S.ts, or overwrite it"
            )));
        }
        let to = State::Open(pieces(file));
        Ok(File { to, name, truncate: seen.is_file(), records: seen.is_file() })
    }

    /// Opens standard output.
    ///
    /// # Errors
    /// Returns [`Error::Media`] if the output is closed.
    pub fn stdout() -> Result<File, Error> {
        let name = "standard output".to_owned();
        let cannot = |why: String| Error::Media(format!("cannot write {name}: {why}"));
        let out = io::stdout().as_fd().try_clone_to_owned().map_err(|e| cannot(why(&e)))?;
        if is_substitute(&out) {
            return Err(cannot("it is closed".to_owned()));
        }
        let records = fstat(&out).is_ok_and(|seen| FileType::from_raw_mode(seen.st_mode).is_file());
        let to = State::Open(pieces(out.into()));
        Ok(File { to, name, truncate: false, records })
    }
}

/// Returns whether the runtime opened this file to replace a closed descriptor. Such a file is `/dev/null`, open for
/// reading and writing.
fn is_substitute(out: &OwnedFd) -> bool {
    let both = fcntl_getfl(out).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    let null = std::fs::metadata("/dev/null").map(|null| null.rdev());
    let same = fstat(out).is_ok_and(|seen| null.is_ok_and(|null| seen.st_rdev == null && null != 0));
    both && same
}

/// Returns a file that is written in pieces of [`PIECE`].
pub(super) fn pieces(file: std::fs::File) -> tokio::fs::File {
    let mut file = tokio::fs::File::from_std(file);
    file.set_max_buf_size(PIECE);
    file
}

impl Output for File {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn takes_slate(&self) -> bool {
        !self.records
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let file = match &mut self.to {
            State::Open(file) => file,
            State::Opening(opening) => {
                // A task that has ended must not be awaited again.
                if opening.1 {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                let opened = (&mut opening.0).await;
                opening.1 = true;
                self.to = State::Open(pieces(opened.map_err(io::Error::other)??));
                let State::Open(file) = &mut self.to else { unreachable!("it was opened") };
                file
            }
        };
        if std::mem::take(&mut self.truncate) {
            file.set_len(0).await?;
        }
        file.write_all(batch.bytes()).await?;
        file.flush().await
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::Command;

    use super::*;

    fn pipe(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("strandcast-{name}-{}", std::process::id()));
        assert!(Command::new("mkfifo").arg(&path).status().is_ok_and(|made| made.success()));
        path
    }

    #[tokio::test]
    async fn a_named_pipe_waits_for_a_reader() {
        let path = pipe("waits");
        let mut output = File::open(&path, false).expect("it is there");
        tokio::time::sleep(2 * TRY).await;
        let from = path.clone();
        let read = tokio::task::spawn_blocking(move || {
            let mut text = String::new();
            std::fs::File::open(from)?.read_to_string(&mut text).map(|_| text)
        });
        let mut batch = Batch::default();
        batch.push(b"media");
        output.write(&batch).await.expect("it has a reader");
        drop(output);
        assert_eq!(read.await.expect("it ends").expect("it can be read"), "media");
        std::fs::remove_file(path).expect("it was made");
    }

    #[test]
    fn a_named_pipe_without_a_reader_keeps_no_thread() {
        let path = pipe("dropped");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let output = runtime.block_on(async {
            let output = File::open(&path, false).expect("it is there");
            tokio::time::sleep(TRY).await;
            output
        });
        drop(output);
        let begun = std::time::Instant::now();
        runtime.shutdown_timeout(Duration::from_secs(10));
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::fs::remove_file(path).expect("it was made");
    }
}
