//! A file.

use std::io;
use std::path::{Path, PathBuf};

use strandcast_media::MediaTime;
use strandcast_media::ingest::Ingest;
use strandcast_media::pace::PaceConfig;
use strandcast_media::pack::PackConfig;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::source::Input;
use crate::error::Error;
use crate::text::why;

/// Number of bytes of one read.
const CHUNK: usize = 64 << 10;

/// A file, which is sent at the rate of its clock.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    file: tokio::fs::File,
    /// True if the file begins again at its end.
    repeats: bool,
    /// True if data were read since the beginning of the file.
    read: bool,
}

impl File {
    /// Opens a file and inspects its beginning. A file that is not a transport stream is refused.
    ///
    /// # Errors
    /// [`Error::Media`].
    pub async fn open(path: impl Into<PathBuf>) -> Result<File, Error> {
        File::open_at(path, None).await
    }

    /// Opens a file as [`File::open`] does. The sender paces the file with this rate in bit/s instead of the file's
    /// clock.
    ///
    /// # Errors
    /// [`Error::Media`].
    pub async fn open_at(path: impl Into<PathBuf>, rate_bps: Option<u64>) -> Result<File, Error> {
        let path = path.into();
        let look = path.clone();
        let file = tokio::task::spawn_blocking(move || {
            let cannot = |e| unreadable(&look, &e);
            let mut file = std::fs::File::open(&look).map_err(cannot)?;
            look_into(&look, &mut file, rate_bps)?;
            // This is the same file, even if its name leads to another file by now.
            io::Seek::rewind(&mut file).map_err(cannot)?;
            Ok::<_, Error>(file)
        });
        let file = tokio::fs::File::from_std(file.await.map_err(|_| Error::Aborted)??);
        Ok(File { path, file, repeats: false, read: false })
    }

    /// Makes the file begin again whenever it ends.
    #[must_use]
    pub fn repeated(self) -> File {
        File { repeats: true, ..self }
    }
}

impl Input for File {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn is_live(&self) -> bool {
        false
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read(buffer).await?;
        // If a file has become empty, its stream ends.
        if len == 0 && self.repeats && std::mem::take(&mut self.read) {
            self.file.rewind().await?;
            let len = self.file.read(buffer).await?;
            self.read = len > 0;
            return Ok(len);
        }
        self.read |= len > 0;
        Ok(len)
    }

    async fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind().await.map(drop)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::Media(format!("cannot read {}: {}", path.display(), why(error)))
}

/// Reads a part of the file. The part is long enough to recognise a transport stream with a clock.
fn look_into(path: &Path, file: &mut std::fs::File, rate_bps: Option<u64>) -> Result<(), Error> {
    use std::io::Read;
    let refuse = |why: String| Error::Media(format!("cannot send {}: {why}", path.display()));
    let mut ingest =
        Ingest::paced(MediaTime::ZERO, PaceConfig { rate_bps, ..PaceConfig::default() }, PackConfig::new(0));
    let mut chunk = vec![0; CHUNK];
    loop {
        let n = file.read(&mut chunk).map_err(|e| unreadable(path, &e))?;
        let taken = match n {
            0 => ingest.finish(MediaTime::ZERO),
            n => ingest.push(MediaTime::ZERO, &chunk[..n]),
        };
        taken.map_err(|e| refuse(e.to_string()))?;
        if n == 0 || ingest.poll(MediaTime::MAX).is_some() {
            return Ok(());
        }
    }
}
