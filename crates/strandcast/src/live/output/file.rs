//! A file, a device, a pipe, or standard output. Writing uses tokio's threads for blocking calls.

use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinHandle;

use super::sink::{Batch, Output};
use crate::error::Error;
use crate::files::{Opened, open_output};
use crate::text::why;

/// Longest piece that is copied for a writing thread, in bytes. A file keeps a buffer of this size.
const PIECE: usize = 16 << 10;

/// Writes everything to one file, pipe or device.
#[derive(Debug)]
pub struct File {
    to: State,
    name: String,
    /// The file's content is cut when the first byte is written.
    truncate: bool,
}

#[derive(Debug)]
enum State {
    Open(tokio::fs::File),
    /// A named pipe, which waits for a reader.
    Opening(JoinHandle<io::Result<std::fs::File>>),
}

impl File {
    /// Opens a file, a device or a named pipe. A file with content is accepted only with `overwrite`, and loses it with
    /// the first message. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Usage`]: the file has content; [`Error::Media`]: it cannot be written; [`Error::Store`]: it is a file
    /// of keys.
    pub fn open(path: &Path, overwrite: bool) -> Result<File, Error> {
        let name = path.display().to_string();
        let file = match open_output(path, false)? {
            Opened::File(file) => file,
            Opened::Pipe(opening) => {
                let to = State::Opening(tokio::task::spawn_blocking(opening));
                return Ok(File { to, name, truncate: false });
            }
        };
        let cannot = |e: io::Error| Error::Media(format!("cannot write {name}: {}", why(&e)));
        let seen = file.metadata().map_err(cannot)?;
        if seen.is_file() && seen.len() > 0 && !overwrite {
            return Err(Error::Usage(format!(
                "{name} has content: name another file, or one for each stream as in %Y%m%d-%H%M%S.ts, or overwrite it with \
                 --overwrite"
            )));
        }
        let to = State::Open(pieces(file));
        Ok(File { to, name, truncate: seen.is_file() })
    }

    /// Opens standard output.
    ///
    /// # Errors
    /// [`Error::Media`]: it is closed.
    pub fn stdout() -> Result<File, Error> {
        let name = "standard output".to_owned();
        let out = io::stdout().as_fd().try_clone_to_owned();
        let out = out.map_err(|e| Error::Media(format!("cannot write {name}: {}", why(&e))))?;
        let to = State::Open(pieces(out.into()));
        Ok(File { to, name, truncate: false })
    }
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

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let file = match &mut self.to {
            State::Open(file) => file,
            State::Opening(opening) => {
                let file = opening.await.map_err(io::Error::other)??;
                self.to = State::Open(pieces(file));
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
